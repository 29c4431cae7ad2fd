//! The `mk` program. Each command is a file: it parses, opens, calls the library once, and renders.

mod cli;

mod anchor;
mod append;
mod attach;
mod backup;
mod blame;
mod branch;
mod cat_event;
mod completions;
mod config;
mod context;
mod decide;
mod demo;
mod detach;
mod diff;
mod doctor;
mod erase;
mod exec;
mod export;
mod fact;
mod fold;
mod for_each_branch;
mod fork;
mod gc;
mod generate;
mod help;
mod hook;
mod import;
mod init;
mod lease;
mod log;
mod mcp;
mod merge;
mod merge_base;
mod note;
mod notice;
mod restore;
mod retract;
mod rev_list;
mod rev_parse;
mod rollback;
mod run;
mod search;
mod show;
mod stats;
mod status;
mod switch;
mod sync;
mod task;
mod undo;
mod verify;
mod watch;
mod with;

use std::ffi::OsString;
use std::io;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use cli::{Context, Failure, Global};
use mk::code::Code;

/// Shared, branchable memory for teams of coding agents
///
/// One hash-chained log of events per project, with forks, rollback and diff. Agents append what
/// they do, decide and find out; anyone reads what it adds up to.
#[derive(Debug, Parser)]
#[command(name = "mk", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(allow_external_subcommands = true)]
struct Mk {
    #[command(flatten)]
    global: Global,
}

/// A command.
struct Entry {
    name: &'static str,
    /// Adds its arguments and its help.
    arguments: fn(clap::Command) -> clap::Command,
    run: fn(&ArgMatches, &mut Context) -> Result<Answer, Failure>,
}

macro_rules! entry {
    ($name:literal, $module:ident::$args:ident) => {
        Entry {
            name: $name,
            arguments: $module::$args::augment_args,
            run: |matches, ctx| {
                let args = $module::$args::from_arg_matches(matches)
                    .map_err(|error| cli::usage_failure(&error, concat!("mk ", $name)))?;
                $module::run(&args, ctx)
            },
        }
    };
}

/// All commands, in the order in which they are listed.
const COMMANDS: &[Entry] = &[
    entry!("init", init::Init),
    entry!("append", append::Append),
    entry!("task", task::Task),
    entry!("decide", decide::Decide),
    entry!("fact", fact::Fact),
    entry!("note", note::Note),
    entry!("run", run::Run),
    entry!("fork", fork::Fork),
    entry!("switch", switch::Switch),
    entry!("rollback", rollback::Rollback),
    entry!("undo", undo::Undo),
    entry!("retract", retract::Retract),
    entry!("merge", merge::MergeArgs),
    entry!("lease", lease::Lease),
    entry!("with", with::With),
    entry!("notice", notice::Notice),
    entry!("sync", sync::Sync),
    entry!("status", status::Status),
    entry!("branch", branch::BranchArgs),
    entry!("log", log::Log),
    entry!("show", show::Show),
    entry!("search", search::Search),
    entry!("watch", watch::Watch),
    entry!("blame", blame::Blame),
    entry!("stats", stats::Stats),
    entry!("diff", diff::DiffArgs),
    entry!("context", context::Context),
    entry!("fold", fold::Fold),
    entry!("cat-event", cat_event::CatEvent),
    entry!("rev-parse", rev_parse::RevParse),
    entry!("rev-list", rev_list::RevList),
    entry!("merge-base", merge_base::MergeBase),
    entry!("for-each-branch", for_each_branch::ForEachBranch),
    entry!("gc", gc::Gc),
    entry!("exec", exec::Exec),
    entry!("mcp", mcp::Mcp),
    entry!("verify", verify::Verify),
    entry!("anchor", anchor::Anchor),
    entry!("erase", erase::Erase),
    entry!("backup", backup::Backup),
    entry!("restore", restore::Restore),
    entry!("export", export::Export),
    entry!("import", import::Import),
    Entry {
        // What the entry starts must take the tools that it names.
        arguments: |command| {
            attach::Attach::augment_args(command).mut_args(|arg| match arg.get_id().as_str() {
                "tools" => arg.value_parser(mcp::tool_set),
                _ => arg,
            })
        },
        ..entry!("attach", attach::Attach)
    },
    entry!("detach", detach::Detach),
    entry!("hook", hook::Hook),
    entry!("doctor", doctor::Doctor),
    entry!("config", config::Config),
    entry!("demo", demo::Demo),
    entry!("completions", completions::Completions),
    entry!("generate", generate::Generate),
    entry!("help", help::Help),
];

/// The definition of `mk`, with the commands that `wanted` picks.
fn definition(wanted: impl Fn(&str) -> bool) -> clap::Command {
    let picked = COMMANDS.iter().filter(|entry| wanted(entry.name));
    picked.fold(Mk::command(), |mk, entry| {
        mk.subcommand((entry.arguments)(clap::Command::new(entry.name)))
    })
}

/// The definition of `mk`, whole.
pub fn whole_definition() -> clap::Command {
    definition(|_| true)
}

/// What a command that ran answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Done, or yes.
    Yes,
    /// No: differences, findings, nothing there.
    No,
    /// A status of the command's own.
    Status(u8),
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let message = format!("a fault in mk itself: {panic}").replace('\n', " ");
        Failure::new(Code::INTERNAL, message)
            .hint("please report this, with the command that was run")
            .tell(false);
        std::process::exit(Code::INTERNAL.exit.into());
    }));
    let words: Vec<OsString> = std::env::args_os().collect();
    let answer = parse(&words).and_then(|matches| {
        let Some(matches) = matches else { return Ok(Answer::Yes) };
        let mut ctx = Context::new(global(&matches)?)?;
        let answer = run(&matches, &mut ctx).and_then(|answer| {
            match ctx.out.flush() {
                // Who has seen enough of the answer may still ask what it was.
                Err(failure) if !failure.is_closed_pipe() => Err(failure),
                _ => Ok(answer),
            }
        });
        answer.map_err(|failure| failure.after_write(ctx.has_written()))
    });
    match answer {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Ok(Answer::Status(status)) => ExitCode::from(status),
        // The reader of the answer has seen enough.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) if is_hook(&words) && hook::fails_open(&words) => {
            failure.tell_in_a_line("mk hook");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // Before there are arguments, whether JSON is wanted can only be seen in their text.
            let mut before_dashes = words.iter().take_while(|word| *word != "--");
            failure.tell(before_dashes.any(|word| word == "--json"));
            ExitCode::from(match failure.code.exit {
                129 if command_among(&words) == "mk exec" => exec::USAGE,
                _ => failure.exit_status(),
            })
        }
    }
}

/// The arguments; none if they asked for help or the version, which is printed then.
fn parse(words: &[OsString]) -> Result<Option<ArgMatches>, Failure> {
    use clap::error::ErrorKind;
    // To define all commands takes longer than most of them run. The one that is meant is among those
    // whose names are among the words; only where that goes wrong are the others missed.
    let mut quick = ManuallyDrop::new(definition(|name| words.iter().any(|word| word == name)));
    let matches = quick.try_get_matches_from_mut(words).or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => whole_definition().try_get_matches_from_mut(words),
    });
    match matches {
        Ok(matches) => Ok(Some(matches)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                error.print().and_then(|()| io::Write::flush(&mut io::stdout()))?;
                Ok(None)
            }
            _ => Err(cli::usage_failure(&error, &command_among(words))),
        },
    }
}

/// Whether `words` call `mk hook`, however wrong the others are. Looked at without the definition of the
/// command: a hook fails in haste too.
fn is_hook(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "hook") && command_among(words) == "mk hook"
}

fn global(matches: &ArgMatches) -> Result<Global, Failure> {
    Global::from_arg_matches(matches).map_err(|error| cli::usage_failure(&error, "mk"))
}

/// Runs the command that was given.
fn run(matches: &ArgMatches, ctx: &mut Context) -> Result<Answer, Failure> {
    let (name, matches) = matches.subcommand().expect("clap asks for a command");
    match COMMANDS.iter().find(|entry| entry.name == name) {
        Some(entry) => (entry.run)(matches, ctx),
        None => {
            let words = matches.get_many::<OsString>("").unwrap_or_default();
            cli::external(name, words, ctx)
        }
    }
}

/// `mk NAME`, where `words` name a command, however wrong the others are.
fn command_among(words: &[OsString]) -> String {
    let mk = whole_definition();
    let known = mk.clone().ignore_errors(true).try_get_matches_from(words).ok();
    let name = known.as_ref().and_then(|matches| matches.subcommand_name());
    match name.filter(|name| mk.find_subcommand(name).is_some()) {
        Some(name) => format!("mk {name}"),
        None => "mk".to_owned(),
    }
}
