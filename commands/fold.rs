//! `mk fold`

use std::io::{self, Write};

use mk::id::{BranchName, EventId, Hash};
use mk::lease::{self, Claims};
use mk::revision::Revision;
use mk::workspace;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Answer;
use crate::cli::{Context, Failure, Text, head_of, note_erased, raw};

/// Print what a branch adds up to: tasks, decisions, facts, blockers, claims
///
/// JSON either way: indented for people, or under --json on one line, with where it was read, and
/// what became of the leases behind the claims.
#[derive(Debug, clap::Args)]
pub struct Fold {
    /// A branch, or an event to stop at [default: the current branch]
    pub revision: Option<Revision>,
    /// Print the SHA-256 of the state instead, equal wherever the same events are
    #[arg(long)]
    pub digest: bool,
}

#[derive(Serialize)]
struct Report {
    branch_id: BranchName,
    head_event_id: Option<EventId>,
    head_hash: Option<Hash>,
    digest: Option<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Box<RawValue>>,
    /// What the leases say of the claims of the state; no part of it, nor of its digest.
    #[serde(flatten)]
    claims: Option<Claims>,
    #[serde(skip)]
    text: String,
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.text)
    }
}

pub fn run(args: &Fold, ctx: &mut Context) -> Result<Answer, Failure> {
    let report = ctx.read(|txn| {
        let actor = ctx.actor(txn)?;
        let (branch, head) = head_of(txn, args.revision.as_ref(), &actor)?;
        let state = workspace::state(txn, head)?;
        note_erased(txn, head)?;
        let json = ctx.out.json;
        let digest = (json || args.digest).then(|| state.digest());
        let text = match digest {
            _ if json => String::new(),
            Some(digest) => digest.to_string(),
            None => state.report().to_pretty(),
        };
        let claims = (json && !args.digest).then(|| lease::claims(txn, &state, ctx.lease_now()));
        let claims = claims.transpose()?;
        let state = (json && !args.digest).then(|| raw(state.report().canonical()));
        let head_hash = head.map(|id| txn.known_event(id).map(|event| event.hash)).transpose()?;
        Ok(Report {
            branch_id: branch,
            head_event_id: head,
            head_hash,
            digest,
            state,
            claims,
            text,
        })
    })?;
    ctx.print(&report)?;
    Ok(Answer::Yes)
}
