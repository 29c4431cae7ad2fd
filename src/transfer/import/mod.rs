//! Events into a store: the union of what it holds and what the lines hold.
//!
//! Lines may come in any order and more than once. An event is stored when the one before it is; until
//! then it waits in memory. Branches get their names when all is known, so that the order of the lines
//! decides nothing.
//!
//! Memory: a few hundred lines, and those that come before the event they follow.

mod place;
mod report;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::time::Duration;
use std::{io, thread};

use super::line::{self, Arrival, LINE_MAX, Line};
use super::names::{self, Wish};
use crate::branch::Act;
use crate::code::{Code, Coded};
use crate::erase::{self, Recorded};
use crate::event::Event;
use crate::id::{BranchName, EventId, Hash, LineageId};
use crate::lines::{self, Next};
use crate::log::{Log, LogError, Outside};
use crate::mkep::ledger::Ledger;
use crate::store::{Branch, Lease, ReadTxn, StoreError, WriteTxn};
use crate::time::Timestamp;
use crate::tokens::Tokenizer;
use crate::workspace::{self, snapshot};

pub use report::{Branched, Change, Imported, SECRETS_LISTED, Secret};

/// Lines, and bytes of them, that go from the reading thread to the storing one at once.
const CHUNK_LINES: usize = 256;
const CHUNK_BYTES: usize = 1 << 20;

/// How far the tokens of leases go up when a store takes in another one's history: no token granted in
/// either is granted again.
pub const TOKENS_APART: u64 = 1_000_000;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("line {line}: {why}")]
    BadLine { line: u64, why: String },
    #[error("line {line}: '{branch}' has gone on otherwise here, and cannot be joined")]
    Diverged { line: u64, branch: BranchName },
    #[error("cannot read the export: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for ImportError {
    fn code(&self) -> Code {
        match self {
            Self::BadLine { .. } => Code::BAD_LINE,
            Self::Diverged { .. } => Code::RESERVED_BRANCH,
            Self::Read(error) => Code::of_io(error),
            Self::Log(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// Stores the events that the lines of `input` hold and `txn` does not, under the hashes, times and
/// names they were born with. `prefix` comes before the local names of branches that are new.
///
/// A branch here moves only forward. What left it elsewhere becomes a branch of its own, named
/// `NAME.from-` and the first digits of its first hash. What was erased, here or there, is erased
/// after: `act` is for the events that record what went with it.
///
/// # Errors
/// The first line that is not as an export has it, or has no place here. Nothing is kept then, if the
/// caller drops the transaction.
///
/// Rule: docs/design.md, section 4.
pub fn import(
    txn: &mut dyn WriteTxn,
    input: impl BufRead + Send,
    prefix: &str,
    act: &Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<Imported, ImportError> {
    let tokenizer = txn.identity()?.tokenizer;
    let gathered = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(16);
        let (back, stored) = channel();
        scope.spawn(move || send_lines(input, tokenizer, &sender, &stored));
        let mut import = Import::open(txn, prefix)?;
        while let Ok(chunk) = receiver.recv() {
            for (number, line) in chunk? {
                import.take(number, line)?;
            }
            // After the last line was read, nobody takes them back.
            let _ = back.send(std::mem::take(&mut import.stored));
        }
        import.gathered()
    })?;
    gathered.settle(txn, prefix, act, outside)
}

type Chunk = Result<Vec<(u64, Line)>, ImportError>;

/// Reads and checks lines until the input ends, a line is bad, or nobody listens, and frees what is `stored`.
fn send_lines(
    mut input: impl BufRead,
    tokenizer: Tokenizer,
    sender: &SyncSender<Chunk>,
    stored: &Receiver<Vec<Line>>,
) {
    let mut text = Vec::new();
    let (mut number, mut chunk, mut bytes) = (0, Vec::new(), 0);
    loop {
        number += 1;
        let bad = |why| ImportError::BadLine { line: number, why };
        let read = match lines::next(&mut input, &mut text, LINE_MAX) {
            Ok(Next::End) => break,
            Ok(Next::Line) => line::read(&text, tokenizer).map_err(bad),
            Ok(Next::TooLong) => Err(bad(format!("it has more than {LINE_MAX} bytes"))),
            Err(error) => Err(error.into()),
        };
        match read {
            Ok(line) => chunk.push((number, line)),
            Err(error) => {
                // What comes before it is looked at first, so that the first fault is named.
                let _ = sender.send(Ok(chunk));
                let _ = sender.send(Err(error));
                return;
            }
        }
        bytes += text.len();
        if chunk.len() >= CHUNK_LINES || bytes >= CHUNK_BYTES {
            bytes = 0;
            stored.try_iter().for_each(drop);
            if sender.send(Ok(std::mem::take(&mut chunk))).is_err() {
                return;
            }
        }
    }
    let _ = sender.send(Ok(chunk));
}

/// An import while lines come in.
struct Import<'t> {
    log: Log<'t>,
    /// All branches, with the heads they had when they were read.
    branches: HashMap<LineageId, Branch>,
    /// Branches by the names they may be called in a fork: born and local.
    by_name: HashMap<String, Vec<LineageId>>,
    /// The branches whose newest event has that hash.
    tips: HashMap<Hash, LineageId>,
    /// By the hash of the event they follow.
    waiting: HashMap<Hash, Vec<(u64, Box<Arrival>)>>,
    /// What the reading thread is to free.
    stored: Vec<Line>,
    erased: Recorded,
    with_prefix: bool,
    /// Of the execution log.
    ledger: Ledger,
    gathered: Gathered,
}

/// What is known when all lines are in.
#[derive(Default)]
struct Gathered {
    imported: Imported,
    /// Branches that were made, in that order.
    made: BTreeSet<LineageId>,
    /// Branches that were here, with the head they had.
    moved: BTreeMap<LineageId, Option<EventId>>,
    heads: Vec<(u64, BranchName, Hash)>,
    /// The highest token of each resource that a line names.
    tokens: BTreeMap<String, u64>,
    /// Lines without content.
    stripped: Vec<(u64, Event)>,
    /// Lines that are snapshots.
    snapshots: Vec<(u64, EventId)>,
    /// The events of this import that record erasures name these.
    erases: HashSet<Hash>,
}

impl<'t> Import<'t> {
    fn open(txn: &'t mut dyn WriteTxn, prefix: &str) -> Result<Self, StoreError> {
        let erased = Recorded::read(txn)?;
        let all = txn.branches()?;
        let mut tips = HashMap::new();
        for branch in &all {
            // The head of a branch without events of its own is another branch's.
            if let Some(head) =
                branch.head.filter(|_| branch.head_sequence > branch.fork_sequence())
            {
                tips.insert(txn.known_event(head)?.hash, branch.id);
            }
        }
        let mut import = Self {
            log: Log::open(txn)?,
            branches: HashMap::new(),
            by_name: HashMap::new(),
            tips,
            waiting: HashMap::new(),
            stored: Vec::new(),
            erased,
            with_prefix: !prefix.is_empty(),
            ledger: Ledger::default(),
            gathered: Gathered::default(),
        };
        all.into_iter().for_each(|branch| import.know(branch));
        Ok(import)
    }

    fn know(&mut self, branch: Branch) {
        self.by_name.entry(branch.born.as_str().to_owned()).or_default().push(branch.id);
        if branch.name != branch.born {
            self.by_name.entry(branch.name.as_str().to_owned()).or_default().push(branch.id);
        }
        self.branches.insert(branch.id, branch);
    }

    fn take(&mut self, number: u64, line: Line) -> Result<(), ImportError> {
        match line {
            Line::Nothing => Ok(()),
            Line::Head { branch, head } => {
                self.gathered.heads.push((number, branch, head));
                Ok(())
            }
            Line::Token { resource, token } => {
                let highest = self.gathered.tokens.entry(resource).or_default();
                *highest = token.max(*highest);
                Ok(())
            }
            Line::Event(arrival) => self.place_all(number, arrival),
        }
    }

    fn gathered(mut self) -> Result<Gathered, ImportError> {
        let first = self
            .waiting
            .iter()
            .flat_map(|(prev, lines)| lines.iter().map(move |(number, _)| (*number, prev)));
        if let Some((line, prev)) = first.min() {
            let why =
                format!("the event before it, {}, is neither here nor in the store", prev.short());
            return Err(ImportError::BadLine { line, why });
        }
        for (line, name, head) in &self.gathered.heads {
            if self.log.txn().by_hash(head)?.is_none() {
                let why = format!("the head of '{name}' is missing: the export was cut");
                return Err(ImportError::BadLine { line: *line, why });
            }
        }
        for (line, event) in &self.gathered.stripped {
            if let Some(why) = self.erased.misfit(event) {
                return Err(ImportError::BadLine { line: *line, why: why.to_owned() });
            }
        }
        self.ledger.store(self.log.txn_mut())?;
        Ok(self.gathered)
    }
}

impl Gathered {
    /// Erases what is to be, checks what needs all events, and names branches.
    fn settle(
        self,
        txn: &mut dyn WriteTxn,
        prefix: &str,
        act: &Act<'_>,
        outside: &mut Outside<'_>,
    ) -> Result<Imported, ImportError> {
        let Self { mut imported, made, moved, heads, tokens, snapshots, erases, .. } = self;
        let erased = erase_what_is_gone(txn, &erases, &snapshots, act, outside)?;
        imported.erased = erased;
        for (line, id) in snapshots {
            let event = txn.known_event(id)?;
            check_snapshot(txn, &event).map_err(|error| match error {
                snapshot::SnapshotError::Store(error) => error.into(),
                why => {
                    ImportError::BadLine { line, why: format!("the snapshot is refused: {why}") }
                }
            })?;
        }
        let wishes: Vec<Wish> =
            heads.into_iter().map(|(_, name, head)| Wish { name, head }).collect();
        raise_tokens(txn, tokens, imported.events > 0)?;
        names::settle(txn, &made, &moved, &wishes, prefix)?;
        for (id, before) in moved {
            let branch = txn.lineage(id)?;
            let change = if before.is_none() { Change::Filled } else { Change::Forwarded };
            imported.branches.push(Branched::new(txn, branch, change)?);
        }
        for id in made {
            let branch = txn.lineage(id)?;
            imported.branches.push(Branched::new(txn, branch, Change::Made)?);
        }
        Ok(imported)
    }
}

/// Takes the content of the events that an erasure of this import names, and of the snapshots that hold
/// what any erased event said. Answers how many there were.
fn erase_what_is_gone(
    txn: &mut dyn WriteTxn,
    erases: &HashSet<Hash>,
    arrived: &[(u64, EventId)],
    act: &Act<'_>,
    outside: &mut Outside<'_>,
) -> Result<u64, ImportError> {
    let mut doomed = BTreeSet::new();
    let mut all = BTreeSet::new();
    let recorded = Recorded::read(txn)?;
    for hash in recorded.targets() {
        let Some(id) = txn.by_hash(hash)? else { continue };
        let event = txn.known_event(id)?;
        if recorded.misfit(&event).is_some() {
            continue;
        }
        all.insert(id);
        if erases.contains(hash) && event.content.is_some() {
            doomed.insert(id);
        }
    }
    let mut holding: BTreeMap<EventId, EventId> =
        erase::snapshots_of(txn, &doomed)?.into_iter().collect();
    for (_, id) in arrived {
        if let Some(event) = erase::covered(txn, &txn.known_event(*id)?, &all)? {
            holding.insert(*id, event);
        }
    }
    holding.retain(|snapshot, _| !doomed.contains(snapshot));
    let mut recorded = Vec::new();
    for (snapshot, of) in &holding {
        recorded.push((txn.known_event(*snapshot)?, Some(txn.known_event(*of)?.hash)));
    }
    erase::record(txn, &recorded, act, outside)?;
    doomed.extend(holding.into_keys());
    erase::remove(txn, &doomed)?;
    Ok(doomed.len() as u64)
}

/// Raises the counters of leases over all that was granted here or there.
///
/// Every grant is an event, so without a new one the higher counter of each is enough; and two stores
/// that import each other in turn come to rest.
///
/// Rule: docs/design.md, section 10, "Tokens of leases".
fn raise_tokens(
    txn: &mut dyn WriteTxn,
    tokens: BTreeMap<String, u64>,
    any_event: bool,
) -> Result<(), StoreError> {
    for (resource, token) in tokens {
        let known = txn.lease(&resource)?;
        if known.as_ref().is_some_and(|lease| lease.token >= token) {
            continue;
        }
        let lease = match known {
            Some(lease) => Lease { token, holder: None, ..lease },
            None => Lease {
                resource,
                token,
                ttl: Duration::ZERO,
                expires_at: Timestamp::from_micros(0),
                holder: None,
            },
        };
        txn.put_lease(&lease)?;
    }
    if any_event {
        txn.raise_lease_tokens(TOKENS_APART)?;
    }
    Ok(())
}

fn check_snapshot(txn: &dyn ReadTxn, event: &Event) -> Result<(), snapshot::SnapshotError> {
    let Some(payload) = event.members() else { return Ok(()) };
    // Of MemKernel's, whose folds are its own, only the insights are read.
    if snapshot::is_peers(&payload) {
        return Ok(());
    }
    let before = txn.link(event.id)?.live_parent;
    let covers = snapshot::covered(txn, before, &payload)?;
    snapshot::compare(&payload, &workspace::state(txn, Some(covers))?)
}
