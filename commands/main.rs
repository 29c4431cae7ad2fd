//! The `mk` program. Each command is a file: it parses, opens, calls the library once, and renders.

mod cli;

mod anchor;
mod append;
mod cat_event;
mod completions;
mod config;
mod context;
mod decide;
mod demo;
mod diff;
mod fact;
mod fold;
mod for_each_branch;
mod fork;
mod generate;
mod help;
mod init;
mod log;
mod merge_base;
mod note;
mod retract;
mod rev_list;
mod rev_parse;
mod rollback;
mod show;
mod switch;
mod task;
mod undo;
mod verify;

use std::ffi::OsString;
use std::io;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cli::{Context, Failure, Global};
use mk::code::Code;

/// Shared, branchable memory for teams of coding agents
///
/// One hash-chained log of events per project, with forks, rollback and diff. Agents append what
/// they do, decide and find out; anyone reads what it adds up to.
#[derive(Debug, Parser)]
#[command(name = "mk", version, disable_help_subcommand = true, max_term_width = 100)]
pub struct Mk {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Init),
    Append(append::Append),
    Task(task::Task),
    Decide(decide::Decide),
    Fact(fact::Fact),
    Note(note::Note),
    Fork(fork::Fork),
    Switch(switch::Switch),
    Rollback(rollback::Rollback),
    Undo(undo::Undo),
    Retract(retract::Retract),
    Log(log::Log),
    Show(show::Show),
    Diff(diff::DiffArgs),
    Context(context::Context),
    Fold(fold::Fold),
    CatEvent(cat_event::CatEvent),
    RevParse(rev_parse::RevParse),
    RevList(rev_list::RevList),
    MergeBase(merge_base::MergeBase),
    ForEachBranch(for_each_branch::ForEachBranch),
    Verify(verify::Verify),
    Anchor(anchor::Anchor),
    Config(config::Config),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Generate(generate::Generate),
    Help(help::Help),
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

/// What a command that ran answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Done, or yes.
    Yes,
    /// No: differences, findings, nothing there.
    No,
}

impl Command {
    fn run(&self, ctx: &mut Context) -> Result<Answer, Failure> {
        match self {
            Self::Init(args) => init::run(args, ctx),
            Self::Append(args) => append::run(args, ctx),
            Self::Task(args) => task::run(args, ctx),
            Self::Decide(args) => decide::run(args, ctx),
            Self::Fact(args) => fact::run(args, ctx),
            Self::Note(args) => note::run(args, ctx),
            Self::Fork(args) => fork::run(args, ctx),
            Self::Switch(args) => switch::run(args, ctx),
            Self::Rollback(args) => rollback::run(args, ctx),
            Self::Undo(args) => undo::run(args, ctx),
            Self::Retract(args) => retract::run(args, ctx),
            Self::Log(args) => log::run(args, ctx),
            Self::Show(args) => show::run(args, ctx),
            Self::Diff(args) => diff::run(args, ctx),
            Self::Context(args) => context::run(args, ctx),
            Self::Fold(args) => fold::run(args, ctx),
            Self::CatEvent(args) => cat_event::run(args, ctx),
            Self::RevParse(args) => rev_parse::run(args, ctx),
            Self::RevList(args) => rev_list::run(args, ctx),
            Self::MergeBase(args) => merge_base::run(args, ctx),
            Self::ForEachBranch(args) => for_each_branch::run(args, ctx),
            Self::Verify(args) => verify::run(args, ctx),
            Self::Anchor(args) => anchor::run(args, ctx),
            Self::Config(args) => config::run(args, ctx),
            Self::Demo(args) => demo::run(args, ctx),
            Self::Completions(args) => completions::run(args, ctx),
            Self::Generate(args) => generate::run(args, ctx),
            Self::Help(args) => help::run(args, ctx),
            Self::External(words) => cli::external(words, ctx),
        }
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let message = format!("a fault in mk itself: {panic}").replace('\n', " ");
        Failure::new(Code::INTERNAL, message)
            .hint("please report this, with the command that was run")
            .tell(false);
        std::process::exit(Code::INTERNAL.exit.into());
    }));
    let answer = parse().and_then(|mk| {
        let Some(mk) = mk else { return Ok(Answer::Yes) };
        let mut ctx = Context::new(mk.global)?;
        let answer = mk.command.run(&mut ctx).and_then(|answer| {
            ctx.out.flush()?;
            Ok(answer)
        });
        answer.map_err(|failure| failure.after_write(ctx.has_written()))
    });
    match answer {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        // The reader of the answer has seen enough.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            // Before there are arguments, whether JSON is wanted can only be seen in their text.
            let mut words = std::env::args_os().take_while(|word| word != "--");
            failure.tell(words.any(|word| word == "--json"));
            ExitCode::from(failure.code.exit)
        }
    }
}

/// The arguments; none if they asked for help or the version, which is printed then.
fn parse() -> Result<Option<Mk>, Failure> {
    use clap::error::ErrorKind;
    // Not taken apart again: the process ends first.
    let mut command = ManuallyDrop::new(Mk::command());
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    match matches.and_then(|matches| Mk::from_arg_matches(&matches)) {
        Ok(mk) => Ok(Some(mk)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                error.print().and_then(|()| io::Write::flush(&mut io::stdout()))?;
                Ok(None)
            }
            _ => Err(cli::usage_failure(&error, &command_in_arguments())),
        },
    }
}

/// `mk NAME`, where the arguments name a command, however wrong the others are.
fn command_in_arguments() -> String {
    let mk = Mk::command();
    let known = mk.clone().ignore_errors(true).try_get_matches().ok();
    let name = known.as_ref().and_then(|matches| matches.subcommand_name());
    match name.filter(|name| mk.find_subcommand(name).is_some()) {
        Some(name) => format!("mk {name}"),
        None => "mk".to_owned(),
    }
}
