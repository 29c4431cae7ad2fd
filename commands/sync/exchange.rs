//! `mk sync enable`, `mk sync run`, `mk sync status` and `mk sync audit`

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use mk::store::Engine;
use mk::sync::{self, AuditReport, ExchangeStatus};
use serde::Serialize;

use super::policy_path;
use crate::Answer;
use crate::cli::{Context, Failure, Text, line, policy};

/// Take part in the exchange of a policy, for good
///
/// From now on the agents of the policy alone post and clear notices here, and `mk notice import` is
/// refused. The project can join no other exchange and be no other peer.
#[derive(Debug, clap::Args)]
pub struct Enable {
    /// The policy file that `mk sync init` made
    policy: PathBuf,
}

#[derive(Serialize)]
struct Enabled {
    workspace_id: String,
    peer_id: String,
}

impl Text for Enabled {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} takes part in {}", self.peer_id, self.workspace_id)
    }
}

pub fn enable(args: &Enable, ctx: &mut Context) -> Result<Answer, Failure> {
    let store = ctx.store_path()?;
    let exchange = sync::open(&args.policy, &store)?;
    let path = fs::canonicalize(&args.policy)?;
    let path = path
        .to_str()
        .ok_or_else(|| Failure::usage(format!("'{}' is not UTF-8", path.display())))?;
    ctx.write(|txn, _, _| Ok(sync::enable(txn, &exchange.policy, path)?))?;
    let mk::sync::Policy { workspace, peer, .. } = exchange.policy;
    ctx.print(&Enabled { workspace_id: workspace, peer_id: peer })?;
    Ok(Answer::Yes)
}

/// Publish the notices of this peer, and take in those of the others: exit 1 if a peer has an error
#[derive(Debug, clap::Args)]
pub struct Run {}

impl Text for sync::Run {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let published = if self.published { "published" } else { "not published" };
        let changed = match self.changed {
            1 => "1 notice is".to_owned(),
            changed => format!("{changed} notices are"),
        };
        writeln!(out, "{published}; {changed} new or cleared")?;
        self.errors.iter().try_for_each(|(peer, reason)| writeln!(out, "{peer}: {reason}"))
    }
}

pub fn run(_: &Run, ctx: &mut Context) -> Result<Answer, Failure> {
    let (path, place) = (policy_path(None, ctx)?, ctx.store_path()?);
    let exchange = sync::open(&path, &place)?;
    let (mut store, actor) = ctx.open_to_write()?;
    let run = sync::run(&mut store, &exchange, actor.lease_now())?;
    ctx.note_written();
    for id in &run.secrets_in {
        // It is taken in, whether stderr can be written or not.
        let _ = writeln!(io::stderr(), "warning: notice {id} holds what looks like a secret");
    }
    ctx.print(&run)?;
    Ok(if run.errors.is_empty() { Answer::Yes } else { Answer::No })
}

/// Show the peers and how fresh what they published is
#[derive(Debug, clap::Args)]
pub struct Status {}

/// What is said where the exchange does not stand.
#[derive(Serialize)]
struct Off {
    enabled: bool,
    /// Whether the project is bound to an exchange, and its policy is gone.
    policy_required: bool,
}

impl Text for Off {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.policy_required {
            true => writeln!(out, "the policy is gone: nobody can post, clear or import notices"),
            false => writeln!(out, "no exchange"),
        }
    }
}

impl Text for ExchangeStatus {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} in {}", self.peer_id, self.workspace_id)?;
        for (peer, it) in &self.peers {
            let sent = it.sent_at.as_deref().unwrap_or("-");
            let error = it.last_error.as_deref().unwrap_or("-");
            writeln!(out, "{peer}\t{}\t{sent}\t{error}", it.status)?;
        }
        Ok(())
    }
}

pub fn status(_: &Status, ctx: &mut Context) -> Result<Answer, Failure> {
    let status = ctx.read(|txn| {
        let is_bound = txn.binding()?.is_some();
        match policy(txn)? {
            Some(policy) => Ok(Ok(sync::status(txn, &policy, ctx.lease_now())?)),
            None => Ok(Err(Off { enabled: false, policy_required: is_bound })),
        }
    })?;
    match status {
        Ok(status) => ctx.print(&status)?,
        Err(off) => ctx.print(&off)?,
    }
    Ok(Answer::Yes)
}

/// List what was published, accepted and rejected, the newest first
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Most that are listed, 1 to 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(1..=sync::AUDIT_MAX))]
    limit: u64,
}

impl Text for AuditReport {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.rows.iter().try_for_each(|row| {
            let sequence = row.sequence.map_or("-".to_owned(), |sequence| sequence.to_string());
            let reason = if row.reason.is_empty() { "-" } else { row.reason.as_str() };
            let (at, peer) = (&row.timestamp, line(&row.peer_id));
            let (direction, outcome, changed) = (&row.direction, &row.outcome, row.changed);
            writeln!(out, "{at}\t{peer}\t{direction}\t{outcome}\t{reason}\t{sequence}\t{changed}")
        })
    }
}

pub fn audit(args: &Audit, ctx: &mut Context) -> Result<Answer, Failure> {
    let audit = ctx.open_to_read()?.read(|txn| sync::audit(txn, args.limit))?;
    ctx.print(&audit)?;
    Ok(Answer::Yes)
}
