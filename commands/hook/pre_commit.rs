//! `mk hook git-pre-commit`

use std::io::{self, Write};
use std::process::Command;

use mk::code::Code;
use mk::lease::{LeaseReport, Resource, ResourceError, holding, overlapping};
use mk::store::{Lease, Leases, ReadTxn};
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text, line};

/// The staged files that others hold.
#[derive(Serialize)]
struct Report {
    ok: bool,
    leases: Vec<LeaseReport>,
    #[serde(skip)]
    warn: bool,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for lease in &self.leases {
            let holder = lease.holder_agent_id.as_ref().map_or("", |holder| holder.as_str());
            let (key, left) = (line(&lease.resource_key), lease.expires_in_seconds.ceil());
            writeln!(out, "'{key}' is leased to '{holder}' for {left} s more")?;
        }
        match self.ok || self.warn {
            true => Ok(()),
            false => writeln!(out, "commit without them, later, or all the same with --no-verify"),
        }
    }
}

pub fn run(warn: bool, ctx: &mut Context) -> Result<Answer, Failure> {
    let leases = match blocking(ctx) {
        Ok(leases) => leases,
        // Where there is no memory, or none that can be asked, a commit is no concern of it.
        Err(failure) if failure.code == Code::NO_PROJECT => Vec::new(),
        Err(failure) => {
            failure.tell_in_a_line("mk hook");
            Vec::new()
        }
    };
    let report = Report { ok: leases.is_empty(), leases, warn };
    ctx.print(&report)?;
    Ok(if report.ok || warn { Answer::Yes } else { Answer::No })
}

fn blocking(ctx: &Context) -> Result<Vec<LeaseReport>, Failure> {
    // First: outside of a project git need not be there.
    ctx.store_path()?;
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let top = top.strip_suffix('\n').unwrap_or(&top);
    // As two files, a renamed one counts by both names.
    let staged = git(&["diff", "--cached", "--name-only", "--no-renames", "-z"])?;
    let staged = staged.split('\0').filter(|file| !file.is_empty());
    ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let place = actor.whereabouts.place(txn)?;
        let mut found: Vec<LeaseReport> = Vec::new();
        for file in staged {
            let path = format!("{top}/{file}");
            let now = Leases::Active(ctx.lease_now());
            let leases = match Resource::locate(&path, &place) {
                Ok(resource) => overlapping(txn, &resource, now)?,
                Err(ResourceError::Outside { .. } | ResourceError::Root(_)) => continue,
                // What cannot be leased may lie in a subtree that is.
                Err(_) => match Resource::above(&path, &place) {
                    Some(directory) => holding(txn, &directory, now)?,
                    None => continue,
                },
            };
            for lease in of_others(txn, leases, &actor.agent, &actor.session, ctx)? {
                if !found.iter().any(|known| known.resource_key == lease.resource_key) {
                    found.push(lease);
                }
            }
        }
        Ok(found)
    })
}

/// Those of `leases` that belong to other sessions. A shell that an agent runs is in the agent's session,
/// whatever its name is there.
fn of_others(
    txn: &dyn ReadTxn,
    leases: Vec<Lease>,
    agent: &mk::id::AgentId,
    session: &str,
    ctx: &Context,
) -> Result<Vec<LeaseReport>, Failure> {
    let now = ctx.lease_now();
    let mut found = Vec::new();
    for lease in leases {
        let is_own = lease.active(now).is_some_and(|holder| {
            holder.session == session && (!session.is_empty() || holder.agent == *agent)
        });
        if !is_own {
            found.push(LeaseReport::new(txn, &lease, now)?);
        }
    }
    Ok(found)
}

fn git(words: &[&str]) -> Result<String, Failure> {
    let failed = |why: String| Failure::new(Code::IO, format!("`git {}` {why}", words[0]));
    let output = Command::new("git")
        .args(words)
        .output()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("failed: {}", told.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
