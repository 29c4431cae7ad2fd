//! What the server does for a request, whatever way it came.

use std::collections::{HashMap, HashSet};
use std::env;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mk::canon::{Object, Value as Canonical};
use mk::code::Code;
use mk::id::{AgentId, BranchName, EventId, shown};
use mk::revision::distance;
use serde_json::json;

use super::agents::agent_of;
use super::body::Body;
use super::given::Given;
use super::kept::{Answers, Asked};
use super::message::{Fault, Members};
use super::revision::{Client, Revision, server_info};
use super::tool::{Output, Tool};
use super::{Compat, answer, bounds, completion, instructions, prompts, resources};
use crate::Answer;
use crate::cli::{Caller, Clocks, Context, Failure, Global, News, Seen, Session, Stores};

/// How long clients may keep lists that never change.
///
/// Rule: docs/spec/mcp.md, section 7.4.
pub const HOUR_MS: u64 = 3_600_000;

/// What the server was started with.
pub struct Options {
    pub global: Global,
    pub clocks: Clocks,
    /// Those that are listed, by name.
    pub tools: Vec<&'static Tool>,
    /// Those that are not, since they write.
    pub hidden: Vec<&'static Tool>,
    /// The peer whose tools they are, if it is not `mk`.
    pub compat: Option<Compat>,
    pub read_only: bool,
    pub max_tokens: u64,
    /// Whether answers tell what others did.
    pub news: bool,
    /// The name of the session of who names none.
    pub session: String,
}

/// A session: the agent, if that is known from elsewhere than the request, and its name.
type Who = (Option<AgentId>, String);

pub struct Server {
    options: Options,
    /// The result of `tools/list`.
    list: Body,
    instructions: String,
    /// Sessions of which an event tells the client.
    introduced: Mutex<HashSet<String>>,
    /// Where sessions stand that cannot leave it in the store, by agent and name.
    stands: Mutex<HashMap<Who, BranchName>>,
    seen: Seen,
    answers: Answers,
    stores: Arc<Stores>,
    /// The newest event when the server was started.
    start: EventId,
}

/// What is read without a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    Resources,
    Resource,
    Prompt,
    Completion,
}

/// A request on its way.
#[derive(Debug, Clone)]
pub struct Call {
    pub revision: Revision,
    pub client: Option<Client>,
    /// Who calls, if that is known from elsewhere than the request.
    pub agent: Option<AgentId>,
    /// What the session is called if the request does not say.
    pub session: Option<String>,
    pub meta: Members,
    pub params: Members,
}

/// Tools that go through all of a store.
const SLOW: &[&str] = &["mk_verify", "mk_gc", "memkernel_trigger_gc", "memkernel_sync_now"];

/// A call of a tool, ready to run.
pub struct Order {
    pub(super) tool: &'static Tool,
    pub(super) given: Result<Given, Failure>,
    pub(super) call: Call,
}

impl Order {
    pub fn name(&self) -> &'static str {
        self.tool.name
    }

    pub fn reads(&self) -> bool {
        self.tool.reads()
    }

    /// How long it may wait for others.
    pub fn wait(&self) -> Duration {
        let wait = self.given.as_ref().map(|given| (self.tool.wait)(given));
        wait.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// What the client calls the progress of the call, as JSON, if it wants to hear of it and the call
    /// may take long.
    pub fn progress_token(&self) -> Option<String> {
        let is_slow = SLOW.contains(&self.tool.name) || !self.wait().is_zero();
        let token = self.call.meta.get("progressToken").filter(|_| is_slow)?.get();
        (!token.starts_with(['{', '[', 't', 'f'])).then(|| token.to_owned())
    }

    /// The same without a wait.
    pub fn at_once(&self) -> Self {
        let mut given = self.given.clone();
        if let Ok(given) = &mut given {
            given.take("wait_s");
        }
        Self { tool: self.tool, given, call: self.call.clone() }
    }
}

/// Why a call is not taken on.
pub enum Refused {
    ByProtocol(Fault),
    ByTool(Failure),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::ByProtocol(fault)
    }
}

impl Server {
    pub fn new(options: Options) -> Self {
        let tools: Vec<_> = options.tools.iter().map(|tool| tool.listed()).collect();
        let list = Body::new().with("tools", &tools);
        let instructions = instructions::text(&options.tools, options.read_only, options.compat);
        let (introduced, stands, stores) = Default::default();
        let (seen, answers, start) = (Seen::default(), Answers::default(), EventId(0));
        let mut server =
            Self { options, list, instructions, introduced, stands, seen, answers, stores, start };
        let head = server.own_context().read(|txn| Ok(txn.log_head()?));
        // A store that cannot be read is told of with each call.
        server.start = head.ok().flatten().map_or(start, |(id, _)| id);
        server
    }

    /// What it is, for the log.
    pub fn account(&self) -> String {
        let (version, tools) = (env!("CARGO_PKG_VERSION"), self.options.tools.len());
        let bound = if self.options.read_only { ", read-only" } else { "" };
        format!("mk {version} serves {tools} tools{bound}")
    }

    /// The tool of that name, if it is listed.
    fn tool(&self, name: &str) -> Option<&'static Tool> {
        self.options.tools.iter().find(|tool| tool.name == name).copied()
    }

    /// Opens a connection for a client that named `version`.
    pub fn initialize(&self, revision: Revision) -> Body {
        Body::new()
            .with("protocolVersion", &revision.name())
            .with("capabilities", &capabilities())
            .with("serverInfo", &server_info())
            .with("instructions", &self.instructions)
    }

    pub fn discover(&self) -> Body {
        let body = Body::new()
            .with("supportedVersions", &Revision::ALL.map(Revision::name))
            .with("capabilities", &capabilities())
            .with("instructions", &self.instructions);
        Revision::V2026.cached(body, HOUR_MS)
    }

    /// # Errors
    /// If a page is asked for: there is one only.
    pub fn list_tools(&self, call: &Call) -> Result<Body, Fault> {
        no_cursor(&call.params)?;
        Ok(call.revision.cached(self.list.clone(), HOUR_MS))
    }

    /// # Errors
    /// If a page is asked for: there is one only.
    pub fn list_prompts(&self, call: &Call) -> Result<Body, Fault> {
        no_cursor(&call.params)?;
        let list = match self.options.compat {
            None => prompts::list(),
            Some(_) => Body::new().with_json("prompts", "[]"),
        };
        Ok(call.revision.cached(list, HOUR_MS))
    }

    /// What a `tools/call` asks for.
    ///
    /// # Errors
    /// If it is not of the form of one, or there is no such tool.
    pub fn order(&self, call: Call) -> Result<Order, Refused> {
        let name = call.params.required_text("name")?;
        let arguments = call.params.get("arguments").map(|raw| raw.get());
        if arguments.is_some_and(|text| !text.starts_with('{')) {
            return Err(Fault::params("arguments is no object").into());
        }
        let tool = self.tool(&name).ok_or_else(|| self.unknown(&name))?;
        let given = Given::read(tool, arguments, self.options.max_tokens);
        Ok(Order { tool, given, call })
    }

    fn unknown(&self, name: &str) -> Refused {
        if self.options.read_only && self.options.hidden.iter().any(|tool| tool.name == name) {
            return Refused::ByTool(answer::read_only());
        }
        let nearest = self.options.tools.iter().min_by_key(|tool| distance(name, tool.name));
        let near = nearest.filter(|tool| distance(name, tool.name) <= 3);
        let near = near.map_or(String::new(), |tool| format!(", did you mean {}?", tool.name));
        let message = format!("unknown tool '{}'{near}", shown(name));
        match self.options.compat {
            Some(Compat::Memkernel) => Refused::ByTool(Failure::usage(message)),
            Some(Compat::Memkraft) | None => Refused::ByProtocol(Fault::params(message)),
        }
    }

    /// Runs the command of a tool, which waits for others at most until it is given up. Beside the
    /// answer it gives the context, for what is left to do.
    ///
    /// # Errors
    /// What the call is refused with.
    pub fn run(
        &self,
        order: &Order,
        given_up: &Arc<AtomicBool>,
    ) -> Result<(Body, Context), Failure> {
        let Order { tool, given, call } = order;
        let given = given.as_ref().map_err(Clone::clone)?;
        let mut ctx = self.context(call, given_up);
        // So that tests can see what a bug comes to.
        if cfg!(debug_assertions) && env::var("MK_MCP_PANIC").is_ok_and(|name| name == tool.name) {
            panic!("asked for by MK_MCP_PANIC");
        }
        // Where it must be said, it is not where the tool works but what it is about.
        if tool.param("branch").is_some_and(|branch| !branch.required) {
            ctx.global.branch = given.parsed("branch")?.or_else(|| ctx.global.branch.take());
        }
        // What fails here fails in the tool too, which says it better.
        let asked = Asked::of(order, self.session(call), &ctx).ok().flatten();
        if let Some(body) = asked.as_ref().and_then(|asked| self.answers.find(asked)) {
            return Ok((body, ctx));
        }
        let ran = (tool.run)(given, &mut ctx)?;
        if let Some(branch) = ctx.take_move() {
            self.stands().insert(self.who(call), branch.clone());
            // What is new is told of the branch that is left for.
            ctx.global.branch = Some(branch);
        }
        let report = String::from_utf8(ctx.out.take()).expect("commands write UTF-8");
        let report = report.trim_ascii_end().to_owned();
        // What any other negative report says is in its members; the exit status is for shells.
        if tool.output == Output::Response {
            return Ok((answer::response(&report, ran != Answer::Yes), ctx));
        }
        if ctx.has_written() {
            self.introduced().insert(self.session(call).name().to_owned());
        }
        // What cannot be told is no reason for a call to fail.
        let told = self.news(&ctx);
        let is_news = !matches!(told, Ok(None));
        let mut news = told.ok().flatten();
        let mut beside = added(tool.reads(), news.as_ref());
        let most = given.max_tokens;
        // No token is shorter than a byte. What a write answers is short, but for lists of what it did.
        let tokenizer = match tool.reads() || (report.len() + beside.len()) as u64 > most {
            true => Some(ctx.read(|txn| Ok::<_, Failure>(txn.identity()?.tokenizer))?),
            false => None,
        };
        // What was asked for gets half of the answer at least.
        while let (Some(news), Some(tokenizer)) = (&mut news, tokenizer)
            && tokenizer.count(&beside) > most / 2
            && news.shorten()
        {
            beside = added(tool.reads(), Some(news));
        }
        let fitted = |report: String| match tokenizer {
            Some(tokenizer) => {
                let most = most.saturating_sub(tokenizer.count(&beside));
                bounds::fit(report, most, tokenizer)
            }
            None => report,
        };
        let body = match tool.output {
            Output::Value(_) => answer::value(&report, &beside),
            Output::Quoted => answer::quoted(&joined(fitted(report), &beside)),
            Output::Document(_) => {
                let tokens = tokenizer.map_or(0, |tokenizer| tokenizer.count(&report));
                if tokens > most {
                    return Err(answer::too_large(tokens, most));
                }
                answer::document(&report, &beside)
            }
            Output::Report(_) | Output::Response => {
                answer::success(&joined(fitted(report), &beside))
            }
        };
        if let Some(asked) = asked.filter(|_| !is_news) {
            self.answers.keep(asked, &body, &ctx);
        }
        Ok((body, ctx))
    }

    /// What others did that the caller was not told of.
    fn news(&self, ctx: &Context) -> Result<Option<News>, Failure> {
        if !self.options.news {
            return Ok(None);
        }
        let news = self.seen.news(ctx, self.start, !self.options.read_only)?;
        Ok(news.map(|news| match self.options.compat {
            Some(_) => news.with_more_in("memkernel_history"),
            None => news,
        }))
    }

    /// What a call is answered with that was refused or failed.
    pub fn failed(&self, failure: &Failure) -> Body {
        answer::failure(failure, self.options.compat)
    }

    /// What a command runs with that nobody called.
    pub fn own_context(&self) -> Context {
        let call = Call {
            revision: Revision::V2026,
            client: None,
            agent: None,
            session: None,
            meta: Members::default(),
            params: Members::default(),
        };
        self.context(&call, &Arc::default())
    }

    /// The result of a request that only reads, and may take a while.
    ///
    /// # Errors
    /// What the request is refused with.
    pub fn look_up(&self, wanted: Lookup, call: &Call) -> Result<Body, Fault> {
        let mut ctx = self.context(call, &Arc::default());
        let Options { tools, max_tokens, .. } = &self.options;
        match wanted {
            Lookup::Resources => resources::list(&ctx, call.revision),
            Lookup::Resource => {
                let uri = call.params.required_text("uri")?;
                resources::read(&uri, &mut ctx, tools, (call.revision, *max_tokens))
            }
            // Theirs name tools that are not here.
            Lookup::Prompt if self.options.compat.is_some() => {
                Err(prompts::unknown(&call.params.required_text("name")?))
            }
            Lookup::Prompt => prompts::get(&call.params, &mut ctx, *max_tokens),
            Lookup::Completion => completion::complete(&call.params, tools, &ctx),
        }
    }

    /// What a command runs with that is called so.
    pub fn context(&self, call: &Call, given_up: &Arc<AtomicBool>) -> Context {
        let agent = match &call.client {
            Some(client) => agent_of(&client.name),
            None => agent_of(""),
        };
        let session = self.session(call);
        let mut metadata = Object::new();
        let tool_use = ["claudecode/toolUseId", "callId"];
        let text = |name: &&str| call.meta.text(name).ok().flatten();
        if let Some(id) = tool_use.iter().find_map(text).filter(|id| id.len() <= ID_MAX) {
            metadata.insert("tool_use_id", id);
        }
        if let Some(client) = &call.client
            && !self.introduced().contains(session.name())
        {
            metadata.insert("client", shortened(client));
        }
        let (mut global, clocks) = (self.options.global.clone(), self.options.clocks);
        if call.agent.is_some() {
            global.agent.clone_from(&call.agent);
        }
        if let Some(branch) = self.stands().get(&self.who(call)) {
            global.branch = Some(branch.clone());
        }
        let (given_up, stores) = (Arc::clone(given_up), Arc::clone(&self.stores));
        let read_only = self.options.read_only;
        let caller = Caller { agent, session, metadata, given_up, stores, read_only };
        Context::for_caller(global, clocks, caller)
    }

    fn who(&self, call: &Call) -> Who {
        (call.agent.clone(), self.session(call).name().to_owned())
    }

    fn stands(&self) -> MutexGuard<'_, HashMap<Who, BranchName>> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rule: docs/spec/mcp.md, section 10.
    fn session(&self, call: &Call) -> Session {
        let text = |name| call.meta.text(name).ok().flatten();
        match (text("sessionId"), call.meta.contains("threadId")) {
            (Some(session), true) => Session::Given(session),
            _ => Session::Own(call.session.as_ref().unwrap_or(&self.options.session).clone()),
        }
    }

    fn introduced(&self) -> MutexGuard<'_, HashSet<String>> {
        self.introduced.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The members that the server adds to a report, as JSON text.
fn added(is_of_others: bool, news: Option<&News>) -> String {
    let mut body = Body::new();
    if is_of_others {
        body = body.with("untrusted", &true);
    }
    if let Some(news) = news {
        body = body.with("news", news);
    }
    body.json()
}

/// One object of the members of two, each the JSON text of one.
fn joined(mut object: String, more: &str) -> String {
    let more = &more[1..];
    if more != "}" {
        let closed = object.pop();
        debug_assert_eq!(closed, Some('}'), "an object ends so");
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(more);
    }
    object
}

/// Most bytes of what a client says of itself or of a call that goes into metadata.
const ID_MAX: usize = 200;

fn shortened(client: &Client) -> Canonical {
    let part = |text: &str| Canonical::from(text.chars().take(100).collect::<String>());
    let members = [("name", part(&client.name)), ("version", part(&client.version))];
    Canonical::Object(members.into_iter().collect())
}

fn capabilities() -> serde_json::Value {
    json!({
        "tools": { "listChanged": false },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": false },
        "completions": {},
    })
}

/// # Errors
/// If there is a cursor: nothing here has a second page.
pub fn no_cursor(params: &Members) -> Result<(), Fault> {
    match params.text("cursor")? {
        Some(cursor) => Err(Fault::params(format!("unknown cursor '{}'", shown(&cursor)))),
        None => Ok(()),
    }
}

/// What a call is answered with that cannot be taken on now.
pub fn busy() -> Failure {
    Failure::new(Code::BUSY, "too many requests are in work")
}
