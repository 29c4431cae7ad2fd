//! `mk config`

use std::collections::BTreeMap;
use std::io::{self, Write};

use mk::compaction::NUMBER_MAX;
use mk::id::AgentId;
use mk::revision::distance;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, SUMMARIZER_SECONDS_MAX, Text};

/// Print or change a setting of the project
///
/// The settings:
///   agent.id         who acts if neither --agent nor MK_AGENT says
///   core.durability  full (default): what was answered survives a power cut; normal: it survives
///                    the death of the process
///   core.git         on (default): events carry the git commit and worktree they came from; off
///   core.secrets     redact (default): what looks like a secret is taken out before it is stored;
///                    refuse: the write is refused; off
///   gc.auto          on (default): writes compact a branch that has grown over gc.threshold; off
///   gc.threshold     tokens of a context text that are let be (default 4000)
///   gc.low-water     tokens down to which it is compacted (default: half the threshold)
///   gc.retain-events newest events that stay as they are, if that leaves room (default 4)
///   gc.retain-tokens most tokens of those (default: half the threshold)
///   gc.min-gain      tokens that must be won (default: a quarter of the threshold)
///   gc.summarizer    a command that makes insights of what is compacted (docs/compaction.md)
///   gc.summarizer-timeout  seconds it may take, 1 to 3600 (default 10)
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Config {
    /// The setting
    #[arg(required_unless_present = "list")]
    key: Option<String>,
    /// Its new value
    value: Option<String>,
    /// Go back to the default
    #[arg(long, conflicts_with = "value")]
    unset: bool,
    /// Print all that are set
    #[arg(long, conflicts_with_all = ["key", "unset"])]
    list: bool,
    /// With --list, end each with a NUL instead of a line break
    #[arg(short = 'z', requires = "list")]
    nul: bool,
}

enum Kind {
    Agent,
    OneOf(&'static [&'static str]),
    /// A whole number from one to another.
    Number(u64, u64),
    /// A command for the shell.
    Command,
}

/// Most characters of a command.
const COMMAND_MAX: usize = 4_096;

const SETTINGS: &[(&str, Kind)] = &[
    ("agent.id", Kind::Agent),
    ("core.durability", Kind::OneOf(&["full", "normal"])),
    ("core.git", Kind::OneOf(&["on", "off"])),
    ("core.secrets", Kind::OneOf(&["redact", "refuse", "off"])),
    ("gc.auto", Kind::OneOf(&["on", "off"])),
    ("gc.threshold", Kind::Number(1, NUMBER_MAX)),
    ("gc.low-water", Kind::Number(0, NUMBER_MAX)),
    ("gc.retain-events", Kind::Number(0, NUMBER_MAX)),
    ("gc.retain-tokens", Kind::Number(0, NUMBER_MAX)),
    ("gc.min-gain", Kind::Number(0, NUMBER_MAX)),
    ("gc.summarizer", Kind::Command),
    ("gc.summarizer-timeout", Kind::Number(1, SUMMARIZER_SECONDS_MAX)),
];

#[derive(Serialize)]
struct Report {
    settings: BTreeMap<String, Option<String>>,
    #[serde(skip)]
    form: Form,
}

enum Form {
    Silent,
    Value,
    List(&'static str),
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (key, value) in &self.settings {
            match (&self.form, value) {
                (Form::Value, Some(value)) => writeln!(out, "{value}")?,
                (Form::List(end), Some(value)) => write!(out, "{key}={value}{end}")?,
                _ => {}
            }
        }
        Ok(())
    }
}

pub fn run(args: &Config, ctx: &mut Context) -> Result<Answer, Failure> {
    let Some(key) = &args.key else {
        let all = ctx.read(|txn| Ok(txn.settings()?))?;
        let settings = all.into_iter().map(|(key, value)| (key, Some(value))).collect();
        let form = Form::List(if args.nul { "\0" } else { "\n" });
        ctx.print(&Report { settings, form })?;
        return Ok(Answer::Yes);
    };
    let kind = kind(key)?;
    let one = |value: Option<String>| BTreeMap::from([(key.clone(), value)]);
    if args.value.is_none() && !args.unset {
        let value = ctx.read(|txn| Ok(txn.setting(key)?))?;
        let answer = if value.is_some() { Answer::Yes } else { Answer::No };
        ctx.print(&Report { settings: one(value), form: Form::Value })?;
        return Ok(answer);
    }
    if let Some(value) = &args.value {
        check(key, kind, value)?;
    }
    ctx.write(|txn, _, _| Ok(txn.set_setting(key, args.value.as_deref())?))?;
    ctx.print(&Report { settings: one(args.value.clone()), form: Form::Silent })?;
    Ok(Answer::Yes)
}

fn kind(key: &str) -> Result<&'static Kind, Failure> {
    if let Some((_, kind)) = SETTINGS.iter().find(|(name, _)| *name == key) {
        return Ok(kind);
    }
    let failure = Failure::usage(format!("'{}' is no setting", mk::id::shown(key)));
    let nearest = SETTINGS.iter().min_by_key(|(name, _)| distance(name, key));
    Err(match nearest.filter(|(name, _)| distance(name, key) <= 3) {
        Some((name, _)) => failure.hint(format!("did you mean {name}?")),
        None => failure.hint("see `mk config --help`"),
    })
}

fn check(key: &str, kind: &Kind, value: &str) -> Result<(), Failure> {
    match kind {
        Kind::Agent => match value.parse::<AgentId>() {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::usage(format!("{key}: {error}"))),
        },
        Kind::Number(least, most) => match value.parse::<u64>() {
            Ok(number) if (*least..=*most).contains(&number) => Ok(()),
            _ => {
                let value = mk::id::shown(value);
                let message = format!("{key}: '{value}' is no whole number from {least} to {most}");
                Err(Failure::usage(message))
            }
        },
        Kind::Command => {
            let is_blank = mk::text::trim(value).is_empty();
            match is_blank || value.contains('\0') || value.chars().count() > COMMAND_MAX {
                false => Ok(()),
                true => Err(Failure::usage(format!(
                    "{key}: a command has 1 to {COMMAND_MAX} characters and no NUL"
                ))),
            }
        }
        Kind::OneOf(values) if values.contains(&value) => Ok(()),
        Kind::OneOf(values) => Err(Failure::usage(format!(
            "{key}: '{}' is not one of {}",
            mk::id::shown(value),
            values.join(", ")
        ))),
    }
}
