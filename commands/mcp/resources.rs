//! What can be read by URI.
//!
//! Rule: docs/spec/mcp.md, section 7.1.

use std::time::Duration;

use mk::code::Code;
use mk::id::BranchName;
use mk::lease::AT_ONCE;
use mk::revision::Revision as Event;
use mk::store::{Branch, ReadTxn, StoreError};
use mk::time::Timestamp;
use serde_json::{Map, Value, json};

use super::body::Body;
use super::bounds;
use super::message::Fault;
use super::revision::Revision;
use super::tool::Tool;
use super::tools::{self, newest};
use crate::cli::{Context, Failure};
use crate::{branch, context, fold, lease, notice, show};

/// Branches that are listed, and how long ago one must have had its last event.
const LISTED: usize = 50;
const RECENT: Duration = Duration::from_secs(30 * 86_400);

/// Events of `mk://log/…`.
const NEWEST: u64 = 50;

/// Most bytes of an event that is given whole.
const EVENT_MAX: u64 = 1 << 20;

/// How long clients may keep the list, and what never changes.
///
/// Rule: docs/spec/mcp.md, section 7.4.
const LIST_MS: u64 = 5_000;
const FOR_EVER_MS: u64 = 86_400_000;

const JSON: &str = "application/json";

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uri {
    Branches,
    Leases,
    Notices,
    Context(BranchName),
    State(BranchName),
    Log(BranchName),
    Event(String),
    Schema(String),
}

impl Uri {
    /// None if `uri` is none of those.
    pub fn read(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix("mk://")?;
        let Some((kind, part)) = rest.split_once('/') else {
            return match rest {
                "branches" => Some(Self::Branches),
                "leases" => Some(Self::Leases),
                "notices" => Some(Self::Notices),
                _ => None,
            };
        };
        let part = unescaped(part)?;
        match kind {
            "context" => part.parse().ok().map(Self::Context),
            "state" => part.parse().ok().map(Self::State),
            "log" => part.parse().ok().map(Self::Log),
            "event" => is_event(&part).then_some(Self::Event(part)),
            "schema" => Some(Self::Schema(part)),
            _ => None,
        }
    }

    /// The branch that it is about.
    pub fn branch(&self) -> Option<&BranchName> {
        match self {
            Self::Context(name) | Self::State(name) | Self::Log(name) => Some(name),
            Self::Branches | Self::Leases | Self::Notices | Self::Event(_) | Self::Schema(_) => {
                None
            }
        }
    }

    /// Whether it can read otherwise one day.
    pub fn changes(&self) -> bool {
        !matches!(self, Self::Event(_) | Self::Schema(_))
    }

    fn mime_type(&self) -> &'static str {
        match self {
            Self::Context(_) => "text/plain",
            Self::Schema(_) => "application/schema+json",
            _ => JSON,
        }
    }
}

/// An event id, or a hash of which at least 8 digits are given.
fn is_event(text: &str) -> bool {
    let is_id = text.parse::<u64>().is_ok() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash = (8..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_id || is_hash
}

/// One segment of a path, its percent escapes read.
fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'/' | b'?' | b'#' => return None,
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
                rest = &rest[2..];
            }
            byte => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

fn of_branch(kind: &str, name: &BranchName) -> String {
    format!("mk://{kind}/{}", name.as_str().replace('/', "%2F"))
}

/// The result of `resources/templates/list`.
pub fn templates() -> Body {
    let template = |uri: &str, name: &str, about: &str, mime: &str| json!({ "uriTemplate": uri, "name": name, "description": about, "mimeType": mime });
    Body::new().with(
        "resourceTemplates",
        &[
            template("mk://context/{branch}", "context", "What an agent should read", "text/plain"),
            template("mk://state/{branch}", "state", "What holds now", JSON),
            template("mk://log/{branch}", "log", "The newest 50 events", JSON),
            template("mk://event/{event}", "event", "An event, by id or hash", JSON),
            template(
                "mk://schema/{tool}",
                "schema",
                "Input and output of a tool",
                "application/schema+json",
            ),
        ],
    )
}

/// The result of `resources/list`.
pub fn list(ctx: &Context, revision: Revision) -> Result<Body, Fault> {
    let now = ctx.now();
    let listed = ctx.read(|txn| {
        let mut resources = vec![
            json!({
                "uri": "mk://branches", "name": "branches", "mimeType": JSON,
                "description": "Branches, where they forked, and their heads",
            }),
            json!({
                "uri": "mk://leases", "name": "leases", "mimeType": JSON,
                "description": "Who holds what just now",
            }),
            json!({
                "uri": "mk://notices", "name": "notices", "mimeType": JSON,
                "description": "What agents told about resources and did not clear",
            }),
        ];
        for (branch, modified) in recent(txn, now)? {
            for (kind, mime, about) in [
                ("context", "text/plain", "What an agent should read"),
                ("state", JSON, "What holds now"),
                ("log", JSON, "The newest 50 events"),
            ] {
                let priority = match kind {
                    "context" if branch.name == BranchName::main() => 1.0,
                    "state" => 0.8,
                    _ => 0.3,
                };
                let mut annotations = Map::new();
                annotations.insert("priority".to_owned(), priority.into());
                annotations.insert("audience".to_owned(), json!(["assistant", "user"]));
                if let Some(modified) = modified {
                    annotations.insert("lastModified".to_owned(), json!(modified));
                }
                resources.push(json!({
                    "uri": of_branch(kind, &branch.name),
                    "name": format!("{kind} of {}", branch.name),
                    "description": about,
                    "mimeType": mime,
                    "annotations": annotations,
                }));
            }
        }
        Ok(resources)
    });
    let listed = listed.map_err(|failure| unread(&failure))?;
    Ok(revision.cached(Body::new().with("resources", &listed), LIST_MS))
}

/// `main`, and the branches that had an event lately, the newest first.
fn recent(
    txn: &dyn ReadTxn,
    now: Timestamp,
) -> Result<Vec<(Branch, Option<Timestamp>)>, StoreError> {
    let since = now.micros().saturating_sub(i64::try_from(RECENT.as_micros()).unwrap_or(i64::MAX));
    let mut branches = Vec::new();
    for branch in txn.branches()? {
        if branch.name.is_reserved() {
            continue;
        }
        let modified = match branch.head {
            Some(head) => Some(txn.known_event(head)?.timestamp),
            None => None,
        };
        let is_recent = modified.is_some_and(|modified| modified.micros() >= since);
        if is_recent || branch.name == BranchName::main() {
            branches.push((branch, modified));
        }
    }
    branches.sort_by_key(|(branch, _)| {
        (branch.name != BranchName::main(), std::cmp::Reverse(branch.head))
    });
    branches.truncate(LISTED);
    Ok(branches)
}

/// The result of `resources/read`.
pub fn read(
    uri: &str,
    ctx: &mut Context,
    tools: &[&'static Tool],
    (revision, max_tokens): (Revision, u64),
) -> Result<Body, Fault> {
    let wanted = Uri::read(uri).ok_or_else(|| unknown(uri, revision))?;
    let text = content(&wanted, ctx, tools, max_tokens).map_err(|failure| {
        let codes = [Code::BRANCH_NOT_FOUND, Code::EVENT_NOT_FOUND, Code::AMBIGUOUS_EVENT];
        if codes.contains(&failure.code) { unknown(uri, revision) } else { unread(&failure) }
    })?;
    let Some(text) = text else { return Err(unknown(uri, revision)) };
    let content = json!({ "uri": uri, "mimeType": wanted.mime_type(), "text": text });
    let ttl = if wanted.changes() { 0 } else { FOR_EVER_MS };
    Ok(revision.cached(Body::new().with("contents", &[content]), ttl))
}

/// That there is nothing under `uri`.
pub fn unknown(uri: &str, revision: Revision) -> Fault {
    let code = if revision.is_stateless() { Fault::PARAMS } else { Fault::NO_RESOURCE };
    let message = format!("there is no resource '{}'", mk::id::shown(uri));
    Fault::new(code, message).with(json!({ "uri": uri }))
}

/// That the store could not be read.
pub fn unread(failure: &Failure) -> Fault {
    let error: Value = serde_json::from_str(&failure.json(failure.next_step())).unwrap_or_default();
    Fault::new(Fault::INTERNAL, failure.message()).with(error)
}

fn content(
    uri: &Uri,
    ctx: &mut Context,
    tools: &[&'static Tool],
    max_tokens: u64,
) -> Result<Option<String>, Failure> {
    if let Some(name) = uri.branch() {
        ctx.global.branch = Some(name.clone());
    }
    match uri {
        Uri::Branches => {
            let (prefix, limit) = (String::new(), AT_ONCE as u64);
            branch::run(&branch::BranchArgs { prefix, all: false, after: None, limit }, ctx)?;
        }
        Uri::Leases => {
            let limit = AT_ONCE as u64;
            let list = lease::list::List { path: None, all: false, after: None, nul: false, limit };
            lease::list::run(&list, ctx)?;
        }
        Uri::Notices => {
            let limit = AT_ONCE as u64;
            let list = notice::list::List { resource: None, cleared: false, after: None, limit };
            notice::list::run(&list, ctx)?;
        }
        Uri::Context(_) => {
            return context_text(ctx, max_tokens.clamp(100, tools::TOKENS.1)).map(Some);
        }
        Uri::State(_) => {
            fold::run(&fold::Fold { revision: None, digest: false }, ctx)?;
        }
        Uri::Log(_) => newest(NEWEST, max_tokens, ctx)?,
        Uri::Event(text) => {
            let revision: Event = text
                .parse()
                .map_err(|_| Failure::new(Code::EVENT_NOT_FOUND, format!("no event '{text}'")))?;
            show::run(&show::Show { revisions: vec![revision] }, ctx)?;
            let report: Value = serde_json::from_slice(&ctx.out.take()).unwrap_or_default();
            let tokenizer = ctx.read(|txn| Ok(txn.identity()?.tokenizer))?;
            return Ok(Some(bounds::fit(report["events"][0].to_string(), EVENT_MAX, tokenizer)));
        }
        Uri::Schema(name) => {
            let Some(tool) = tools.iter().find(|tool| tool.name == name) else { return Ok(None) };
            let mut schema = json!({ "input": tool.input_schema() });
            if let Some(output) = tool.output_schema() {
                schema["output"] = output;
            }
            return Ok(Some(schema.to_string()));
        }
    }
    let report = String::from_utf8(ctx.out.take()).expect("commands write UTF-8");
    let tokenizer = ctx.read(|txn| Ok(txn.identity()?.tokenizer))?;
    Ok(Some(bounds::fit(report.trim_ascii_end().to_owned(), max_tokens, tokenizer)))
}

/// The context of the current branch as text, of at most `budget` tokens.
pub fn context_text(ctx: &mut Context, budget: u64) -> Result<String, Failure> {
    let args = context::Context {
        branch_name: None,
        budget: Some(budget),
        full: false,
        resource: None,
        goal: None,
        exec_budget: 0,
    };
    context::run(&args, ctx)?;
    let mut report: Value =
        serde_json::from_slice(&ctx.out.take()).expect("a report is one JSON document");
    match report["text"].take() {
        Value::String(text) => Ok(text),
        _ => unreachable!("the report of a context has its text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_one_thing_or_nothing() {
        let main = BranchName::main();
        for (uri, expected) in [
            ("mk://branches", Some(Uri::Branches)),
            ("mk://state/main", Some(Uri::State(main.clone()))),
            ("mk://state/%6dain", Some(Uri::State(main))),
            ("mk://log/try%2Fit", Some(Uri::Log("try/it".parse().unwrap()))),
            ("mk://event/42", Some(Uri::Event("42".to_owned()))),
            ("mk://event/deadbeef", Some(Uri::Event("deadbeef".to_owned()))),
            ("mk://event/deadbee", None),
            ("mk://event/main", None),
            ("mk://state/try/it", None),
            ("mk://state/", None),
            ("mk://state", None),
            ("mk://branches/", None),
            ("mk://state/%2", None),
            ("mk://state/%zz", None),
            ("mk://state/%+1", None),
            ("mk://state/%ff", None),
            ("mk://state/@exec", None),
            ("MK://state/main", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(Uri::read(uri), expected, "{uri}");
        }
    }
}
