//! `mk doctor`

mod agents;
mod project;
mod server;

use std::io::{self, Write};

use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text, line};

/// Check everything that agents need: project, store, server, configurations, hooks
///
/// Computed anew, and nothing is written. The server is started as each attached agent would start it,
/// but with --read-only. Exits with status 1 if anything fails; each line that is not well says what to
/// do about it.
#[derive(Debug, clap::Args)]
pub struct Doctor {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warn,
    Fail,
    /// Not applicable.
    None,
}

/// What was looked at, and how it is.
#[derive(Debug, Serialize)]
struct Check {
    area: &'static str,
    level: Level,
    what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// The checks of an area, as they are made.
#[derive(Debug, Default, Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
}

impl Report {
    fn add(&mut self, area: &'static str, level: Level, what: impl Into<String>) -> &mut Check {
        self.checks.push(Check { area, level, what: what.into(), remedy: None });
        self.checks.last_mut().expect("it was just put there")
    }
}

impl Check {
    fn remedy(&mut self, remedy: impl Into<String>) {
        self.remedy = Some(remedy.into());
    }
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for Check { area, level, what, remedy } in &self.checks {
            let level = match level {
                Level::Ok => "ok",
                Level::Warn => "warn",
                Level::Fail => "FAIL",
                Level::None => "--",
            };
            write!(out, "{level}\t{area}\t{}", line(what))?;
            match remedy {
                Some(remedy) => writeln!(out, "; {}", line(remedy))?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}

pub fn run(_: &Doctor, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut report = Report::default();
    if let Some(store) = project::check(&mut report, ctx)? {
        agents::check(&mut report, ctx, &store)?;
    }
    project::tokenizer(&mut report);
    report.ok = report.checks.iter().all(|check| check.level != Level::Fail);
    ctx.print(&report)?;
    Ok(if report.ok { Answer::Yes } else { Answer::No })
}
