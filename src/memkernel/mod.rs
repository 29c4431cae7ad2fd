//! Moving in from MemKernel: its database is verified by its own rules, then imported whole.
//!
//! [`MemKernel::open`] reads and checks the database, [`MemKernel::plan`] says what an import into a
//! project would do, [`MemKernel::import`] does it in the caller's transaction. The old chain can be
//! recomputed from the log afterwards: each imported event keeps what the peer hashed.
//!
//! Rule: docs/spec/migrations.md, section 8.1; docs/design.md, section 10, "MemKernel import".

mod apply;
mod chain;
mod original;
mod plan;
mod sections;

use std::path::Path;

use crate::code::{Code, Coded};
use crate::id::{AgentId, BranchName, EventId, IdError};
use crate::lease::Place;
use crate::log::{Log, LogError, Outside};
use crate::store::memkernel::{Source, SourceError};
use crate::store::memory::Memory;
use crate::store::{Engine, ReadTxn, StoreError, WriteTxn};
use crate::time::Timestamp;
use chain::Checked;

pub use chain::Finding;
pub use original::{MEMBER, peer_hash};
pub use plan::{Action, Mode, Options, Plan, Warning, Warnings};
pub use sections::peer_state;

/// Why a database was not imported. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the project has events of its own, so imported branches need a prefix")]
    PrefixRequired,
    #[error(transparent)]
    Name(#[from] IdError),
    #[error("a branch named '{0}' exists")]
    BranchExists(BranchName),
    #[error("'{branch}' has events of its own since the last import, from event {head} back")]
    Diverged { branch: BranchName, head: EventId },
    #[error("{}", blocked(.findings, *.count))]
    Blocked { findings: Vec<Finding>, count: u64 },
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn blocked(findings: &[Finding], count: u64) -> String {
    let first = findings.first().map_or(String::new(), ToString::to_string);
    match count {
        0 | 1 => format!("the source is broken: {first}"),
        more => format!("the source is broken in {more} places, first: {first}"),
    }
}

impl Coded for ImportError {
    fn code(&self) -> Code {
        match self {
            Self::Source(error) => error.code(),
            Self::PrefixRequired => Code::PREFIX_REQUIRED,
            Self::Name(_) => Code::INVALID_ARGUMENT,
            Self::BranchExists(_) => Code::BRANCH_EXISTS,
            Self::Diverged { .. } => Code::IMPORT_DIVERGED,
            Self::Blocked { .. } => Code::PLAN_BLOCKED,
            Self::Log(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// A MemKernel database that was read and checked.
pub struct MemKernel {
    source: Source,
    checked: Checked,
}

impl MemKernel {
    /// Reads the database at `path`, of which nothing is changed, and verifies every branch.
    ///
    /// # Errors
    /// [`SourceError`] if there is no MemKernel database of a known format. What is wrong with its
    /// rows blocks the plan instead.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let source = Source::open(path)?;
        let checked = Checked::read(&source)?;
        Ok(Self { source, checked })
    }

    /// What an import into the project would do; leases of the source are on what their keys spell at
    /// the root of `place`.
    ///
    /// # Errors
    /// If it cannot be done, but for blockers, which stand in the plan.
    pub fn plan(
        &self,
        txn: &dyn ReadTxn,
        options: &Options,
        place: &Place,
    ) -> Result<Plan, ImportError> {
        let at_root = Place { here: place.root.clone(), ..place.clone() };
        plan::plan(&self.source, &self.checked, txn, options, &at_root)
    }

    /// The plan as a dry run prints it, with the warnings that only an import comes upon. For those,
    /// the database is imported into a store in memory, which is dropped.
    ///
    /// # Errors
    /// Those of [`MemKernel::plan`], or if the source was written to meanwhile.
    pub fn rehearse(
        &self,
        txn: &dyn ReadTxn,
        options: &Options,
        place: &Place,
        agent: &AgentId,
    ) -> Result<Plan, ImportError> {
        let mut plan = self.plan(txn, options, place)?;
        if !plan.planned_actions.is_empty() {
            let now = Timestamp::from_micros(0);
            let mut scratch = Memory::new(txn.identity()?, now, agent);
            let mut outside = Outside { now: &mut || now, salt: &mut || [0; 16] };
            let options = Options { prefix: None, allow_corrupt: true };
            let rehearsed = scratch.write(|txn| {
                let plan = self.plan(txn, &options, place)?;
                self.carry_out(plan, txn, agent, &mut outside)
            })?;
            plan.warnings.extend_beyond(rehearsed.warnings);
        }
        self.source.check_unchanged()?;
        Ok(plan)
    }

    /// Imports what the project does not have yet. Nothing is appended if it has everything.
    ///
    /// # Errors
    /// Those of [`MemKernel::plan`]; [`ImportError::Blocked`] if the database is not sound and
    /// `options` do not allow that.
    pub fn import(
        &self,
        txn: &mut dyn WriteTxn,
        options: &Options,
        place: &Place,
        agent: &AgentId,
        outside: &mut Outside<'_>,
    ) -> Result<Plan, ImportError> {
        let plan = self.plan(txn, options, place)?;
        if plan.blockers_total > 0 {
            let (findings, count) = (plan.blockers, plan.blockers_total);
            return Err(ImportError::Blocked { findings, count });
        }
        let done = match plan.planned_actions.is_empty() {
            true => Plan { mode: Mode::Apply, applied: Some(false), ..plan },
            false => self.carry_out(plan, txn, agent, outside)?,
        };
        // The last moment at which a torn copy can still be told from a whole one.
        self.source.check_unchanged()?;
        Ok(done)
    }

    fn carry_out(
        &self,
        plan: Plan,
        txn: &mut dyn WriteTxn,
        agent: &AgentId,
        outside: &mut Outside<'_>,
    ) -> Result<Plan, ImportError> {
        let mut log = Log::open(txn)?;
        apply::apply(plan, &self.source, &self.checked, &mut log, agent, outside)
    }
}
