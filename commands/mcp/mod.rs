//! `mk mcp`
//!
//! A second front end over the commands, with no rule of its own.

mod agents;
mod answer;
mod body;
mod bounds;
mod completion;
mod connection;
mod given;
mod http;
mod instructions;
mod kept;
mod lane;
mod lines;
mod log;
mod message;
mod progress;
mod prompts;
mod resources;
mod revision;
mod server;
mod start;
mod stdio;
mod subscriptions;
mod tool;
mod tools;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process;

use clap::{Subcommand, ValueEnum};
use mk::id::{AgentId, hex};
use serde::Serialize;

use crate::Answer;
use crate::cli::{Chance, Context, Failure, Text};
use connection::Office;
use http::Place;
use server::{Options, Server};
pub use start::tool_set;

/// Serve the memory to a coding agent over the Model Context Protocol
///
/// Speaks on stdin and stdout until the end of input. The project is the one around the directory it
/// is started in; if there is none, it is made at the top of the git work tree. Agents start it
/// themselves: see docs/mcp.md for how to wire it.
#[derive(Debug, clap::Args)]
pub struct Mcp {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Which tools: core, all, or a comma list of names and groups (exec, notice, repair)
    /// [env: MK_MCP_TOOLS] [default: core]
    #[arg(long, value_name = "SET")]
    tools: Option<String>,
    /// Write nothing, and offer no tool that does [env: MK_READ_ONLY]
    #[arg(long)]
    read_only: bool,
    /// Most tokens of an answer if the caller does not say, 256 to 20000 [env: MK_MCP_MAX_TOKENS]
    /// [default: 4000]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Do not tell with each answer what others did
    #[arg(long)]
    no_news: bool,
    /// Serve streamable HTTP there instead; port 0 picks one, which is said on stderr
    #[arg(long, value_name = "ADDR:PORT")]
    http: Option<SocketAddr>,
    /// Who may speak to it: lines AGENT_ID TOKEN, see `mk mcp token`
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,
    /// Let whoever is on this machine speak to it
    #[arg(long, requires = "http", conflicts_with = "tokens")]
    no_auth: bool,
    /// Let other machines reach it
    #[arg(long, requires = "http")]
    listen_anywhere: bool,
    /// Serve the tools of another program instead, under their names, for prompts that know those
    #[arg(long, value_name = "NAME", value_enum, conflicts_with = "tools")]
    compat: Option<Compat>,
    /// How much is said on stderr: error, warn, info, debug or trace [env: MK_LOG] [default: warn]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Make the project in this directory even if it is no git work tree
    #[arg(long)]
    create: bool,
}

/// A program whose tools can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compat {
    /// MemKernel 0.3.0
    Memkernel,
    /// MemKraft 4.5.0: what can be asked of the execution protocol
    Memkraft,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a line for the file that --tokens names
    Token {
        /// Who is to use it
        agent: AgentId,
    },
}

#[derive(Serialize)]
struct Line {
    agent_id: AgentId,
    token: String,
}

impl Text for Line {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} {}", self.agent_id, self.token)
    }
}

pub fn run(args: &Mcp, ctx: &mut Context) -> Result<Answer, Failure> {
    if let Some(Verb::Token { agent }) = &args.verb {
        let token = hex(&Chance::secret());
        ctx.print(&Line { agent_id: agent.clone(), token })?;
        return Ok(Answer::Yes);
    }
    start::log(args.log_level.as_deref(), ctx.clocks())?;
    let read_only = args.read_only || start::is_read_only()?;
    let tools = match args.compat {
        Some(compat) => tools::of_peer(compat),
        None => start::tools(args.tools.as_deref())?,
    };
    let (hidden, tools) = tools.into_iter().partition(|tool| read_only && tool.writes());
    let max_tokens = start::max_tokens(args.max_tokens.as_deref(), args.compat)?;
    start::find_project(ctx, args.create && !read_only, read_only)?;
    // With the process, since a test that wants repeatable hashes repeats what is drawn.
    let session = format!("{}-{}", hex(&ctx.random::<16>()), process::id());
    let (global, clocks) = (ctx.global.clone(), ctx.clocks());
    let news = !args.no_news;
    let compat = args.compat;
    let options =
        Options { global, clocks, tools, hidden, compat, read_only, max_tokens, news, session };
    let office = Office::new(Server::new(options));
    let Some(address) = args.http else { return stdio::serve(&office) };
    if args.tokens.is_none() && !args.no_auth {
        return Err(Failure::usage("--http needs --tokens FILE")
            .hint("make a line of it with `mk mcp token AGENT_ID`"));
    }
    let (anywhere, tokens) = (args.listen_anywhere, args.tokens.clone());
    http::serve(office, &Place { address, anywhere, tokens })
}
