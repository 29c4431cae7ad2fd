//! `mk detach`

use mk::attach::agents::{AGENTS, Agent};

use crate::Answer;
use crate::cli::attach::{self, Direction, Scope, Selection, Wish, answer, surroundings};
use crate::cli::{Context, Failure};

/// Take out what `mk attach` put into the configuration of agents
///
/// The entry, the hooks and the block of instructions go; files are as they were before, to the byte.
/// What somebody changed since stays, and is told.
#[derive(Debug, clap::Args)]
pub struct Detach {
    #[command(flatten)]
    selection: Selection,
    /// Also what somebody changed
    #[arg(long)]
    force: bool,
}

pub fn run(args: &Detach, ctx: &mut Context) -> Result<Answer, Failure> {
    let selection = &args.selection;
    if selection.agents.is_empty() && !selection.all {
        return Err(Failure::usage("no agent is named").hint("name those you mean, or --all"));
    }
    let around = surroundings(ctx, &ctx.store_path()?)?;
    let chosen: Vec<&'static Agent> = match selection.all {
        true => AGENTS.iter().collect(),
        false => selection.agents.clone(),
    };
    let wish = |agent: &'static Agent| Wish {
        agent,
        scope: selection.scope,
        name: selection.name.clone(),
        agent_id: None,
        command: None,
        options: Vec::new(),
        approved: false,
        hooks: true,
        shared: false,
        instructions: true,
    };
    let has_files = |wish: &Wish| match wish.scope {
        Some(scope) if selection.all => !around.all_files(wish.agent, scope).is_empty(),
        Some(Scope::Project | Scope::User) | None => true,
    };
    let wishes: Vec<Wish> = chosen.into_iter().map(wish).filter(has_files).collect();
    let direction = Direction::Out { force: args.force };
    let prepared = attach::prepare(&wishes, direction, &around)?;
    let report = prepared.carry_out(&around, ctx.now(), selection.dry_run);
    ctx.print(&report)?;
    Ok(answer(&report))
}
