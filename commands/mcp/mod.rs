//! `mk mcp`
//!
//! A second front end over the commands, with no rule of its own.

mod answer;
mod body;
mod bounds;
mod completion;
mod connection;
mod given;
mod instructions;
mod lane;
mod lines;
mod message;
mod news;
mod prompts;
mod resources;
mod revision;
mod server;
mod start;
mod stdio;
mod subscriptions;
mod tool;
mod tools;

use std::process;

use mk::id::hex;

use crate::Answer;
use crate::cli::{Context, Failure};
use connection::Office;
use server::{Options, Server};

/// Serve the memory to a coding agent over the Model Context Protocol
///
/// Speaks on stdin and stdout until the end of input. The project is the one around the directory it
/// is started in; if there is none, it is made at the top of the git work tree. Agents start it
/// themselves: see docs/mcp.md for how to wire it.
#[derive(Debug, clap::Args)]
pub struct Mcp {
    /// Which tools: core, all, or a comma list of names and groups (notice, repair)
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
    /// Make the project in this directory even if it is no git work tree
    #[arg(long)]
    create: bool,
}

pub fn run(args: &Mcp, ctx: &mut Context) -> Result<Answer, Failure> {
    let read_only = args.read_only || start::is_read_only()?;
    let tools = start::tools(args.tools.as_deref(), read_only)?;
    let max_tokens = start::max_tokens(args.max_tokens.as_deref())?;
    start::find_project(ctx, args.create && !read_only, read_only)?;
    // With the process, since a test that wants repeatable hashes repeats what is drawn.
    let session = format!("{}-{}", hex(&ctx.random::<16>()), process::id());
    let (global, clocks) = (ctx.global.clone(), ctx.clocks());
    let news = !args.no_news;
    let options = Options { global, clocks, tools, read_only, max_tokens, news, session };
    stdio::serve(&Office::new(Server::new(options)))
}
