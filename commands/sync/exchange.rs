//! `mk sync enable`, `mk sync run`, `mk sync status` and `mk sync audit`

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use mk::store::{Engine, ReadTxn};
use mk::sync::{self, AuditReport, ExchangeStatus, Policy};
use mk::time::Timestamp;
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
    let Policy { workspace, peer, .. } = exchange.policy;
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
    let run = run_now(ctx)?;
    ctx.print(&run)?;
    Ok(if run.errors.is_empty() { Answer::Yes } else { Answer::No })
}

/// Publishes and takes in once.
pub fn run_now(ctx: &mut Context) -> Result<sync::Run, Failure> {
    let (path, place) = (policy_path(None, ctx)?, ctx.store_path()?);
    let exchange = sync::open(&path, &place)?;
    let (mut store, actor) = ctx.open_to_write()?;
    let run = sync::run(&mut store, &exchange, actor.lease_now())?;
    ctx.note_written();
    for id in &run.secrets_in {
        // It is taken in, whether stderr can be written or not.
        let _ = writeln!(io::stderr(), "warning: notice {id} holds what looks like a secret");
    }
    Ok(run)
}

/// Show the peers and how fresh what they published is
#[derive(Debug, clap::Args)]
pub struct Status {}

/// Whether there is an exchange, and how it stands.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Standing {
    On(ExchangeStatus),
    Off {
        enabled: bool,
        /// Whether the project is bound to an exchange, and its policy is gone.
        policy_required: bool,
    },
}

impl Standing {
    /// How it stands by `policy`, if there is one.
    pub fn new(
        txn: &dyn ReadTxn,
        policy: Option<&Policy>,
        now: Timestamp,
    ) -> Result<Self, Failure> {
        let policy_required = txn.binding()?.is_some();
        match policy {
            Some(policy) => Ok(Self::On(sync::status(txn, policy, now)?)),
            None => Ok(Self::Off { enabled: false, policy_required }),
        }
    }
}

impl Text for Standing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let status = match self {
            Self::On(status) => status,
            Self::Off { policy_required: true, .. } => {
                return writeln!(
                    out,
                    "the policy is gone: nobody can post, clear or import notices"
                );
            }
            Self::Off { .. } => return writeln!(out, "no exchange"),
        };
        writeln!(out, "{} in {}", status.peer_id, status.workspace_id)?;
        for (peer, it) in &status.peers {
            let sent = it.sent_at.as_deref().unwrap_or("-");
            let error = it.last_error.as_deref().unwrap_or("-");
            writeln!(out, "{peer}\t{}\t{sent}\t{error}", it.status)?;
        }
        Ok(())
    }
}

pub fn status(_: &Status, ctx: &mut Context) -> Result<Answer, Failure> {
    let standing = ctx.read(|txn| Standing::new(txn, policy(txn)?.as_ref(), ctx.lease_now()))?;
    ctx.print(&standing)?;
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
