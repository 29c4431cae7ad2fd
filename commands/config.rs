//! `mk config`

use std::collections::BTreeMap;
use std::io::{self, Write};

use mk::setting::{ALIAS, Setting};
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Print or change a setting of the project
///
/// Of a setting that is not set nothing is printed, and the exit status is 1, as with git config.
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
///   hook.enforce     what an agent's edit meets of a file that another holds: deny (default), ask the
///                    person, warn, off
///   hook.record      which commands hooks record: all, failures, off, or those that a regular
///                    expression fits (default: all but those that only look, such as ls)
///   hook.strict      true: an edit is refused too if the memory cannot be asked; false (default)
///   alias.NAME       what `mk NAME` stands for: words of mk, or after ! a command for the shell
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
    let setting = Setting::named(key)?;
    let one = |value: Option<String>| BTreeMap::from([(key.clone(), value)]);
    if args.value.is_none() && !args.unset {
        let value = ctx.read(|txn| Ok(txn.setting(key)?))?;
        let answer = if value.is_some() { Answer::Yes } else { Answer::No };
        ctx.print(&Report { settings: one(value), form: Form::Value })?;
        return Ok(answer);
    }
    if let Some(value) = &args.value {
        setting.check(value)?;
        if let Some(name) = key.strip_prefix(ALIAS)
            && crate::whole_definition().find_subcommand(name).is_some()
        {
            let message = format!("there is a command 'mk {name}', which an alias cannot replace");
            return Err(Failure::usage(message));
        }
    }
    ctx.write(|txn, _, _| Ok(txn.set_setting(key, args.value.as_deref())?))?;
    ctx.print(&Report { settings: one(args.value.clone()), form: Form::Silent })?;
    Ok(Answer::Yes)
}
