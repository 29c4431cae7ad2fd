//! `mk for-each-branch`

use std::io::{self, Write};

use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::store::{Branch, ReadTxn, StoreError};
use mk::time::Timestamp;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Format, Text};

/// Print all branches, the oldest first, a line each
#[derive(Debug, clap::Args)]
pub struct ForEachBranch {
    /// What to print: text with %(name) %(hash) %(event_id) %(sequence) %(parent) %(fork_point)
    /// %(created_at) %(created_by) and %%
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "%(hash)\t%(name)",
        conflicts_with = "json"
    )]
    format: String,
    /// End each with a NUL instead of a line break
    #[arg(short = 'z')]
    nul: bool,
}

#[derive(Serialize)]
struct Row {
    branch_id: BranchName,
    head_event_id: Option<EventId>,
    head_hash: Option<Hash>,
    head_sequence: u64,
    parent_branch_id: Option<BranchName>,
    fork_event_id: Option<EventId>,
    fork_sequence: u64,
    snapshot_event_id: Option<EventId>,
    created_at: Timestamp,
    created_by: AgentId,
}

#[derive(Serialize)]
struct Report {
    branches: Vec<Row>,
    #[serde(skip)]
    format: Format,
    #[serde(skip)]
    end: &'static str,
}

const FIELDS: &[&str] =
    &["name", "hash", "event_id", "sequence", "parent", "fork_point", "created_at", "created_by"];

impl Row {
    fn new(txn: &dyn ReadTxn, branch: Branch) -> Result<Self, StoreError> {
        let head = branch.head.map(|id| txn.known_event(id)).transpose()?;
        let parent = branch.parent.map(|id| txn.lineage(id)).transpose()?;
        Ok(Self {
            head_event_id: branch.head,
            head_hash: head.as_ref().map(|event| event.hash),
            head_sequence: branch.head_sequence,
            parent_branch_id: parent.map(|parent| parent.name),
            fork_event_id: branch.fork_point.map(|point| point.event),
            fork_sequence: branch.fork_sequence(),
            snapshot_event_id: head
                .map_or(Ok(None), |head| txn.link(head.id).map(|link| link.snapshot))?,
            created_at: branch.created_at,
            created_by: branch.created_by,
            branch_id: branch.name,
        })
    }

    /// A field as text; nothing where there is nothing, zeros for the hash of an empty branch.
    fn field(&self, name: &str) -> String {
        fn optional(value: Option<&impl ToString>) -> String {
            value.map_or(String::new(), ToString::to_string)
        }
        match name {
            "name" => self.branch_id.to_string(),
            "hash" => self.head_hash.unwrap_or(Hash::ZERO).to_string(),
            "event_id" => optional(self.head_event_id.as_ref()),
            "sequence" => self.head_sequence.to_string(),
            "parent" => optional(self.parent_branch_id.as_ref()),
            "fork_point" => optional(self.fork_event_id.as_ref()),
            "created_at" => self.created_at.to_string(),
            _ => self.created_by.to_string(),
        }
    }
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.branches {
            self.format.write(out, |name| row.field(name))?;
            out.write_all(self.end.as_bytes())?;
        }
        Ok(())
    }
}

pub fn run(args: &ForEachBranch, ctx: &mut Context) -> Result<Answer, Failure> {
    let format = Format::read(&args.format, FIELDS)?;
    let branches = ctx.read(|txn| {
        let rows = txn.branches()?.into_iter().map(|branch| Row::new(txn, branch));
        Ok(rows.collect::<Result<Vec<_>, StoreError>>()?)
    })?;
    ctx.print(&Report { branches, format, end: if args.nul { "\0" } else { "\n" } })?;
    Ok(Answer::Yes)
}
