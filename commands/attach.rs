//! `mk attach`

use std::io::{self, Write};
use std::path::Path;

use mk::attach::agents::{AGENTS, Agent, Trust};
use mk::attach::document::{parse, whole};
use mk::id::AgentId;
use mk::store::location;
use mk::tokens::Tokenizer;
use serde::Serialize;

use crate::Answer;
use crate::cli::attach::{
    self, Direction, Scope, Selection, Surroundings, Wish, agent, answer, check_trust, file,
    is_detected, printed, surroundings,
};
use crate::cli::{Context, Failure, Text, is_everybodys, line, make_project, store_in};

/// Let agents use this project: put `mk mcp` into their configuration
///
/// The entry goes into a file of the project where the agent has one, else of the user; nothing else
/// in the file changes by a byte. The project is made if there is none. Without agents and options,
/// says which agents are found here.
#[derive(Debug, clap::Args)]
pub struct Attach {
    #[command(flatten)]
    selection: Selection,
    /// The agents that are found here
    #[arg(long, conflicts_with_all = ["agents", "all"])]
    detected: bool,
    /// Also let the agent take leases before it edits, and record what it runs, through its hooks
    #[arg(long)]
    hooks: bool,
    /// With --hooks, for all who have the repository, and not only for you
    #[arg(long, requires = "hooks")]
    shared: bool,
    /// Also add a block about the memory to the agent's instruction file
    #[arg(long)]
    instructions: bool,
    /// Who the agent is, instead of its own name
    #[arg(long, value_name = "ID")]
    agent_id: Option<AgentId>,
    /// The program in the entry [default: `mk` in the project, this one's path in files of the user]
    #[arg(long, value_name = "PATH", conflicts_with = "portable")]
    command: Option<String>,
    /// Write `mk` in files of the user too
    #[arg(long)]
    portable: bool,
    /// The tools that are offered, as `mk mcp --tools` takes them
    #[arg(long, value_name = "SET")]
    tools: Option<String>,
    /// Offer only tools that read
    #[arg(long)]
    read_only: bool,
    /// Let the agent call the tools without asking
    #[arg(long)]
    approve: bool,
    /// Also agents of which only others' documentation is known
    #[arg(long)]
    experimental: bool,
    /// List every agent that mk knows
    #[arg(long, conflicts_with_all = ["agents", "all", "detected", "print"])]
    list: bool,
    /// Print the entry for AGENT, and write nothing
    #[arg(long, value_name = "AGENT", value_parser = agent, conflicts_with_all = ["agents", "all"])]
    print: Option<&'static Agent>,
}

/// The agents, and where they stand.
#[derive(Debug, Serialize)]
struct Listing {
    agents: Vec<Row>,
    #[serde(skip)]
    only_detected: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    agent: &'static str,
    trust: &'static str,
    checked: &'static str,
    detected: bool,
    files: Vec<Place>,
    hooks: bool,
}

#[derive(Debug, Serialize)]
struct Place {
    scope: Scope,
    path: String,
    attached: bool,
}

impl Text for Listing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.only_detected {
            let found: Vec<&str> = self.agents.iter().map(|row| row.agent).collect();
            if found.is_empty() {
                return writeln!(out, "no agent is found here; see `mk attach --list`");
            }
            writeln!(out, "found: {}", found.join(" "))?;
            return writeln!(
                out,
                "attach them with `mk attach --detected`, or name those you mean"
            );
        }
        for row in &self.agents {
            let found = if row.detected { "found" } else { "-" };
            let hooks = if row.hooks { "hooks" } else { "-" };
            writeln!(out, "{}\t{found}\t{}\t{hooks}", row.agent, row.trust)?;
            for file in &row.files {
                let attached = if file.attached { "attached" } else { "-" };
                writeln!(out, "\t{attached}\t{}\t{}", file.scope, line(&file.path))?;
            }
        }
        Ok(())
    }
}

#[derive(Debug, Serialize)]
struct Printed {
    agent: &'static str,
    path: String,
    document: String,
}

impl Text for Printed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.document.as_bytes())
    }
}

pub fn run(args: &Attach, ctx: &mut Context) -> Result<Answer, Failure> {
    let selection = &args.selection;
    let store = match ctx.named_store()? {
        Some(store) => store,
        None => {
            let here = ctx.directory()?;
            location::discover(&here).unwrap_or_else(|_| {
                location::home(&here).join(location::DIRECTORY).join(location::FILE)
            })
        }
    };
    let around = surroundings(ctx, &store)?;
    if args.list {
        let agents = AGENTS.iter().map(|agent| row(agent, &selection.name, &around)).collect();
        ctx.print(&Listing { agents, only_detected: false })?;
        return Ok(Answer::Yes);
    }
    if let Some(agent) = args.print {
        let wish = args.wish(agent, &around);
        let scope = wish.scope.unwrap_or(around.default_scope(agent));
        let path = around.entry_files(agent, scope).into_iter().next().unwrap_or_default();
        let document = whole(&printed(&wish, &around)?, agent.format);
        ctx.print(&Printed { agent: agent.name, path: path.display().to_string(), document })?;
        return Ok(Answer::Yes);
    }
    let chosen: Vec<&'static Agent> = match (selection.all, args.detected) {
        (true, _) => AGENTS.iter().collect(),
        (false, true) => AGENTS.iter().filter(|agent| is_detected(agent, &around)).collect(),
        (false, false) => selection.agents.clone(),
    };
    let is_named = !selection.agents.is_empty();
    if !is_named && !selection.all && !args.detected {
        let detected = AGENTS.iter().filter(|agent| is_detected(agent, &around));
        let agents = detected.map(|agent| row(agent, &selection.name, &around)).collect();
        ctx.print(&Listing { agents, only_detected: true })?;
        return Ok(Answer::Yes);
    }
    let mut wishes = Vec::new();
    for agent in chosen {
        match check_trust(agent, args.experimental) {
            Err(error) if is_named => return Err(error.into()),
            Err(_) => continue,
            Ok(()) => {}
        }
        let mut wish = args.wish(agent, &around);
        if !is_named {
            // Of many, each gets what there is for it.
            wish.hooks &= agent.hooks.is_some();
            wish.instructions &= agent.instructions.is_some();
            if around.all_files(agent, wish.scope.unwrap_or(Scope::Project)).is_empty() {
                wish.scope = None;
            }
        }
        wishes.push(wish);
    }
    if args.agent_id.is_some() && wishes.len() > 1 {
        return Err(Failure::usage("--agent-id is for one agent: two cannot be the same"));
    }
    let prepared = attach::prepare(&wishes, Direction::In, &around)?;
    let home = around.store.parent().and_then(Path::parent).unwrap_or(&around.root);
    if !around.store.exists() && is_everybodys(home) {
        let home = home.display();
        let message = format!("a project in '{home}' would be shared by all that lie below");
        return Err(Failure::usage(message).hint("go to the directory of a project first"));
    }
    if !selection.dry_run && !around.store.exists() {
        let store = match ctx.named_store()? {
            Some(store) => store,
            None => store_in(home)?,
        };
        make_project(&store, Tokenizer::default(), ctx)?;
    }
    let report = prepared.carry_out(&around, ctx.now(), selection.dry_run);
    ctx.print(&report)?;
    Ok(answer(&report))
}

impl Attach {
    fn wish(&self, agent: &'static Agent, around: &Surroundings<'_>) -> Wish {
        let mut options = Vec::new();
        if let Some(tools) = &self.tools {
            options.extend(["--tools".to_owned(), tools.clone()]);
        }
        if self.read_only {
            options.push("--read-only".to_owned());
        }
        let scope = self.selection.scope.unwrap_or(around.default_scope(agent));
        let portable = (self.portable && scope == Scope::User).then(|| "mk".to_owned());
        Wish {
            agent,
            scope: self.selection.scope,
            name: self.selection.name.clone(),
            agent_id: self.agent_id.as_ref().map(ToString::to_string),
            command: self.command.clone().or(portable),
            options,
            approved: self.approve,
            hooks: self.hooks,
            shared: self.shared,
            instructions: self.instructions,
        }
    }
}

fn row(agent: &'static Agent, name: &str, around: &Surroundings<'_>) -> Row {
    let path: Vec<&str> = agent.place.iter().copied().chain([name]).collect();
    let mut files = Vec::new();
    for scope in [Scope::Project, Scope::User] {
        for file in around.entry_files(agent, scope) {
            let text = file::read(&file).ok().flatten().map(|original| original.text);
            let document = text.and_then(|text| parse(&text, agent.format).ok().flatten());
            let attached = document.is_some_and(|document| document.at(&path).is_some());
            files.push(Place { scope, path: file.display().to_string(), attached });
        }
    }
    let trust = match agent.trust {
        Trust::Seen => "seen",
        Trust::Documented => "documented",
        Trust::Reported => "experimental",
    };
    Row {
        agent: agent.name,
        trust,
        checked: agent.checked,
        detected: is_detected(agent, around),
        files,
        hooks: agent.hooks.is_some(),
    }
}
