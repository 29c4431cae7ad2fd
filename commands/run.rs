//! `mk run`

use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Stdio};

use mk::canon::Object;
use mk::code::Code;
use mk::event::EventType;
use mk::id::shown;
use mk::lease;
use mk::log::LogError;
use mk::operation::OpId;
use mk::store::Engine;
use mk::workspace::event::{self, Run as Ran};
use mk::workspace::output::{Kept, Output};

use crate::Answer;
use crate::cli::{
    Child, Context, Failure, FenceArg, Stream, Write, WriteArgs, command_line, exit_status, facts,
};

/// Run a command and record it: what it printed, its exit status, how long it took
///
/// Its output is passed on as it is printed, and its exit status is that of `mk run`. Recorded are the
/// first 8 KiB and the last 24 KiB of what it prints. An interrupt ends the command, and what it printed
/// until then is recorded. With --record nothing is run: it ran elsewhere.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The command and its arguments; with --record a single one is the whole command line
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Only record it
    #[arg(long, requires = "exit_code")]
    pub record: bool,
    /// Its exit status, 0 to 255; 128 + N if signal N ended it
    #[arg(long, requires = "record", value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=255))]
    pub exit_code: Option<i64>,
    /// What it printed: the text, `-` for stdin, or @FILE
    #[arg(long, requires = "record", value_name = "TEXT")]
    pub output: Option<String>,
    /// How long it took, in milliseconds
    #[arg(long, requires = "record", value_name = "MS")]
    pub duration: Option<u64>,
    /// What was found out by it, any number of times; a value that reads as JSON is kept as that
    #[arg(long, value_name = "KEY=VALUE")]
    pub fact: Vec<String>,
    /// Record it only while this lease is held with this token, and renew it; any number of times
    #[arg(long, value_name = "PATH:TOKEN")]
    pub fence: Vec<FenceArg>,
    /// Record it once, however often it is asked for under ID
    #[arg(long, requires = "record", value_name = "ID")]
    pub op_id: Option<OpId>,
}

pub fn run(args: &Run, ctx: &mut Context) -> Result<Answer, Failure> {
    let facts = facts(&args.fact, false)?;
    if args.record {
        let ran = Ran {
            command: match args.command.as_slice() {
                [line] => line.clone(),
                words => command_line(words),
            },
            exit_code: args.exit_code.expect("clap asks for it"),
            output: match &args.output {
                Some(given) => read_output(given)?,
                None => Output::of(""),
            },
            facts,
            duration_ms: args.duration,
        };
        return record(&ran, &args.write_args(), false, ctx);
    }
    // Before anything runs: a command whose end cannot be recorded is not begun.
    let (mut store, actor) = ctx.open_to_write()?;
    store.read(|txn| {
        let branch = mk::revision::branch(txn, actor.branch.as_str())?;
        for fence in actor.whereabouts.fences(txn, &args.fence)? {
            lease::held(txn, &fence.resource, fence.token, &actor.agent, actor.lease_now())?;
        }
        match branch.name.is_reserved() {
            true => Err(Failure::from(LogError::ReservedBranch(branch.name))),
            false => Ok(()),
        }
    })?;
    drop(store);
    let (ran, status) = pass_on(args, facts, ctx)?;
    match record(&ran, &args.write_args(), !ctx.out.json, ctx) {
        Ok(_) => Ok(Answer::Status(status)),
        // It is recorded, and who has stopped reading may still ask how it ended.
        Err(failure) if failure.is_closed_pipe() => Ok(Answer::Status(status)),
        Err(failure) => {
            let failure = match failure.is_unanswered() {
                true => failure,
                false => {
                    failure.at(&format!("the command ended with {status}, but is not recorded"))
                }
            };
            // What became of the command is the answer, unless that would pass for a recorded success.
            Err(if status == 0 { failure } else { failure.exit(status) })
        }
    }
}

/// Runs the command. Under `--json` stdout is for the report, and all that it prints goes to stderr.
fn pass_on(args: &Run, facts: Object, ctx: &mut Context) -> Result<(Ran, u8), Failure> {
    let (program, words) = args.command.split_first().expect("clap asks for one word at least");
    let mut command = Command::new(program);
    ctx.hand_on(&mut command)?;
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Child::start(&mut command)?;
    let mut kept = Kept::default();
    let (mut stderr, mut also_stderr) = (io::stderr(), io::stderr());
    let json = ctx.out.json;
    let out: &mut dyn io::Write = if json { &mut also_stderr } else { ctx.out.writer() };
    let tos: [&mut dyn io::Write; 2] = [out, &mut stderr];
    let streams = child.outputs().into_iter().zip(tos);
    let streams = streams.filter_map(|(from, to)| Some(Stream { from: from?, to })).collect();
    let status = exit_status(child.pass_on(streams, &mut kept)?);
    let ran = Ran {
        command: command_line(&args.command),
        exit_code: status.into(),
        output: kept.finish(),
        facts,
        duration_ms: Some(u64::try_from(child.lasted().as_millis()).unwrap_or(u64::MAX)),
    };
    Ok((ran, status))
}

impl Run {
    fn write_args(&self) -> WriteArgs {
        let (fence, op_id) = (self.fence.clone(), self.op_id.clone());
        WriteArgs { meta: None, expect: None, fence, op_id }
    }
}

/// Records a command that ran.
pub fn record(
    ran: &Ran,
    write: &WriteArgs,
    quiet: bool,
    ctx: &mut Context,
) -> Result<Answer, Failure> {
    Write { kind: EventType::ToolLog, payload: event::run(ran) }.run(write, quiet, ctx)
}

/// Most bytes that are read of a file.
const OUTPUT_MAX: u64 = 1 << 30;

/// An output given as a text, as `-` or as @FILE. `@@TEXT` is the text `@TEXT`.
fn read_output(given: &str) -> Result<Output, Failure> {
    let mut kept = Kept::default();
    let failed = |from: &str, error| {
        Failure::new(
            Code::of_io(&error),
            format!("cannot read the output from '{}': {error}", shown(from)),
        )
    };
    match given.strip_prefix('@') {
        None if given == "-" => {
            // However much it is: who writes it has an end.
            io::copy(&mut io::stdin().lock(), &mut kept).map_err(|error| failed("stdin", error))?;
        }
        None => return Ok(Output::of(given)),
        Some(text) if text.starts_with('@') => return Ok(Output::of(text)),
        Some(path) => {
            let read = File::open(path)
                .and_then(|file| io::copy(&mut file.take(OUTPUT_MAX + 1), &mut kept))
                .map_err(|error| failed(path, error))?;
            if read > OUTPUT_MAX {
                let path = shown(path);
                let message = format!("the output from '{path}' has more than {OUTPUT_MAX} bytes");
                return Err(Failure::new(Code::TOO_LARGE, message));
            }
        }
    }
    Ok(kept.finish())
}
