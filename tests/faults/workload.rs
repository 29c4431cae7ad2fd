//! What is done to a store while its device fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mk::backup;
use mk::branch::{self, Act};
use mk::canon::{Object, Value};
use mk::code::{Code, Coded};
use mk::compaction::{self, Order, Policy};
use mk::erase;
use mk::event::{EventType, Retractable};
use mk::id::{AgentId, BranchName, EventId, Hash};
use mk::lease::{self, Again, Claimant, Resource, Ttl};
use mk::log::{Draft, Log, Outside};
use mk::revision::Revision;
use mk::store::sqlite::Durability;
use mk::store::{Engine, Identity, Origin, Sqlite, StoreError, WriteTxn};
use mk::time::Timestamp;
use mk::tokens::Tokenizer;
use mk::transfer::{self, Selection};
use mk::verify;
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a step was not done.
#[derive(Debug)]
pub struct Failed {
    pub code: Code,
    #[expect(dead_code, reason = "a failed assertion prints it")]
    pub message: String,
}

impl<E: Coded + std::fmt::Display> From<E> for Failed {
    fn from(error: E) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

/// A step: one transaction, the same in every run.
pub struct Step {
    pub name: &'static str,
    /// Of its number come its salts.
    run: Box<Run>,
}

type Run = dyn Fn(&mut Sqlite, u128) -> Result<(), Failed>;

/// Steps, one after the other, and the store that they begin with.
pub struct Workload {
    pub name: &'static str,
    begin: Vec<Step>,
    pub steps: Vec<Step>,
    /// What no file holds once all steps are acknowledged.
    gone: Option<&'static str>,
}

/// What the log ends with.
pub type Head = Option<(EventId, Hash)>;

/// A directory with a store that a workload begins with, and what the log looks like after each step.
pub struct Stage {
    pub directory: TempDir,
    pub workload: Workload,
    /// Before the first step, and after each.
    pub heads: Vec<Head>,
}

impl Stage {
    /// Runs `workload` once without a fault.
    pub fn set(workload: Workload) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut store = create(directory.path());
        for (index, step) in workload.begin.iter().enumerate() {
            (step.run)(&mut store, 1_000 + index as u128).unwrap();
        }
        drop(store);
        let copy = copy(directory.path());
        let mut store = open(copy.path()).unwrap();
        let mut heads = vec![head(&mut store)];
        for (index, step) in workload.steps.iter().enumerate() {
            (step.run)(&mut store, index as u128).unwrap_or_else(|failed| {
                panic!("{}, {}: {failed:?}", workload.name, step.name);
            });
            heads.push(head(&mut store));
        }
        Self { directory, workload, heads }
    }

    /// Runs the steps on a store in `directory` up to the first that fails; answers how many were
    /// acknowledged, and why the next was not.
    pub fn play(&self, directory: &Path, done: impl Fn(usize)) -> (usize, Option<Failed>) {
        let mut store = match open(directory) {
            Ok(store) => store,
            Err(failed) => return (0, Some(failed)),
        };
        for (index, step) in self.workload.steps.iter().enumerate() {
            if let Err(failed) = (step.run)(&mut store, index as u128) {
                return (index, Some(failed));
            }
            done(index + 1);
        }
        (self.workload.steps.len(), None)
    }

    /// Opens the store in `directory` as the next process would: it must be sound, hold what was
    /// acknowledged, and of the next step everything or nothing.
    pub fn check(&self, directory: &Path, acknowledged: usize, about: &str) {
        let mut store = open(directory).unwrap_or_else(|failed| panic!("{about}: {failed:?}"));
        let found = head(&mut store);
        let allowed = &self.heads[acknowledged..self.heads.len().min(acknowledged + 2)];
        assert!(allowed.contains(&found), "{about}: found {found:?}, not one of {allowed:?}");
        let report = verify::verify(&mut store, &[], &|_, _| {}).unwrap();
        assert!(report.ok, "{about}: {:?}", report.findings);
        if acknowledged == self.workload.steps.len() {
            self.is_gone(directory, about);
        }
    }

    /// What failed, and was told of, leaves no files of its own; a backup that is there is whole.
    pub fn check_copies(&self, directory: &Path, about: &str) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            assert!(
                !name.contains(".new") && !name.contains("-restore"),
                "{about}: {name} is left"
            );
            if name == COPY || name.starts_with("mk.db-before-") {
                let mut copy = Sqlite::open_to_read(&path)
                    .unwrap_or_else(|error| panic!("{about}: {name}: {error}"));
                let report = verify::verify(&mut copy, &[], &|_, _| {}).unwrap();
                assert!(report.ok, "{about}: {name}: {:?}", report.findings);
            }
        }
    }

    fn is_gone(&self, directory: &Path, about: &str) {
        let Some(gone) = self.workload.gone else { return };
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(gone.len()).any(|window| window == gone.as_bytes());
            assert!(!found, "{about}: {gone:?} is in {}", path.display());
        }
    }

    /// Does again what is missing in `directory`, and the rest.
    pub fn go_on(&self, directory: &Path, about: &str) {
        let mut store = open(directory).unwrap();
        let reached = head(&mut store);
        // A step that writes no event is done again.
        let from = self.heads.iter().position(|head| *head == reached).unwrap();
        for (index, step) in self.workload.steps.iter().enumerate().skip(from) {
            (step.run)(&mut store, index as u128)
                .unwrap_or_else(|failed| panic!("{about}, then {}: {failed:?}", step.name));
        }
        assert_eq!(head(&mut store), *self.heads.last().unwrap(), "{about}");
        self.is_gone(directory, about);
    }
}

/// Copies the files of a store, but for the shared memory, which no file system keeps.
pub fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
        }
    }
    to
}

/// The file that backups are made to, beside the store.
const COPY: &str = "copy.db";

fn file(directory: &Path) -> PathBuf {
    directory.join("mk.db")
}

fn create(directory: &Path) -> Sqlite {
    try_create(directory).unwrap();
    open(directory).unwrap()
}

/// Makes a store, as `mk init` does.
pub fn try_create(directory: &Path) -> Result<bool, Failed> {
    let identity = Identity {
        project_id: "0123456789abcdef0123456789abcdef".to_owned(),
        root: "/project".to_owned(),
        tokenizer: Tokenizer::Heuristic,
        key: [7; 32],
    };
    Ok(Sqlite::create(&file(directory), &identity, at(0), &agent("ann"), TIMEOUT)?)
}

/// Opens a store to write to.
pub fn open(directory: &Path) -> Result<Sqlite, Failed> {
    Ok(Sqlite::open_to_write(&file(directory), TIMEOUT, Durability::Full)?)
}

fn head(store: &mut Sqlite) -> Head {
    let head: Result<Head, StoreError> = store.read(|txn| txn.log_head());
    head.unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_796_040_000_000_000 + second * 1_000_000)
}

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

/// A step that writes events: with time and salts of its own, so that their hashes are the same in
/// every run.
fn step(
    name: &'static str,
    body: impl Fn(&mut Log<'_>, &mut Outside<'_>) -> Result<(), Failed> + 'static,
) -> Step {
    transaction(name, move |txn, outside| body(&mut Log::open(txn)?, outside))
}

fn transaction(
    name: &'static str,
    body: impl Fn(&mut dyn WriteTxn, &mut Outside<'_>) -> Result<(), Failed> + 'static,
) -> Step {
    on_store(name, move |store, outside| store.write(|txn| body(txn, outside)))
}

fn on_store(
    name: &'static str,
    body: impl Fn(&mut Sqlite, &mut Outside<'_>) -> Result<(), Failed> + 'static,
) -> Step {
    let run = move |store: &mut Sqlite, number: u128| {
        let mut drawn = number << 64;
        let mut outside = Outside {
            now: &mut || at(60),
            salt: &mut || {
                drawn += 1;
                drawn.to_be_bytes()
            },
        };
        body(store, &mut outside)
    };
    Step { name, run: Box::new(run) }
}

fn notes(name: &'static str, on: &'static str, count: usize, bytes: usize) -> Step {
    step(name, move |log, outside| {
        for index in 0..count {
            let text = format!("{index} {}", "n".repeat(bytes));
            append(log, outside, on, EventType::Note, [("note", text.into())])?;
        }
        Ok(())
    })
}

fn append<const N: usize>(
    log: &mut Log<'_>,
    outside: &mut Outside<'_>,
    on: &str,
    kind: EventType,
    members: [(&str, Value); N],
) -> Result<(), Failed> {
    let draft = Draft {
        kind,
        agent: agent("ann"),
        payload: members.into_iter().collect(),
        metadata: Object::new(),
    };
    log.append(&branch(on), draft, None, outside)?;
    Ok(())
}

fn decide(key: &'static str, value: &'static str) -> Step {
    step("decide", move |log, outside| {
        let members = [("decision_key", key.into()), ("decision_value", value.into())];
        append(log, outside, "main", EventType::Decision, members)
    })
}

/// Appends, one by one and many at once, with a checkpoint among them.
pub fn appends() -> Workload {
    Workload {
        name: "appends",
        begin: vec![notes("before", "main", 100, 200)],
        steps: vec![
            notes("a note", "main", 1, 10),
            decide("db", "sqlite"),
            notes("a long note", "main", 1, 30_000),
            notes("a batch", "main", 60, 300),
            notes("a note after", "main", 1, 10),
        ],
        gone: None,
    }
}

/// Forks, rollbacks and what else is done with branches.
pub fn branches() -> Workload {
    Workload {
        name: "branches",
        begin: vec![notes("before", "main", 5, 100), decide("db", "sqlite")],
        steps: vec![
            step("fork", move |log, outside| {
                branch::fork(log, &branch("side"), &BranchName::main(), None, act(), outside)?;
                Ok(())
            }),
            notes("on the fork", "side", 2, 50),
            step("rollback", move |log, outside| {
                let target: Revision = "main~2".parse().unwrap();
                branch::rollback(log, &branch("side"), &target, true, act(), outside)?;
                Ok(())
            }),
            notes("to be undone", "main", 1, 50),
            step("undo", move |log, outside| {
                branch::undo(log, &BranchName::main(), 1, act(), outside)?;
                Ok(())
            }),
            step("retract", move |log, outside| {
                let main = BranchName::main();
                branch::retract(log, &main, Retractable::Decision, "db", act(), outside)?;
                Ok(())
            }),
        ],
        gone: None,
    }
}

fn act() -> Act<'static> {
    static ANN: OnceLock<AgentId> = OnceLock::new();
    Act { agent: ANN.get_or_init(|| agent("ann")), reason: "", metadata: Object::new() }
}

/// Writes that make the WAL so long that it is copied into the main file and emptied.
pub fn long_wal() -> Workload {
    Workload {
        name: "a long WAL",
        begin: vec![notes("before", "main", 9, 50_000)],
        steps: vec![
            notes("the write that finds it long", "main", 1, 60_000),
            notes("the first in an empty WAL", "main", 1, 100),
        ],
        gone: None,
    }
}

/// A lease is taken, renewed and given back.
pub fn leases() -> Workload {
    fn resource() -> Resource {
        Resource::of_key("src/auth.rs").unwrap()
    }
    let acquire = || {
        step("acquire", |log, outside| {
            let act = act();
            let who = Claimant { agent: act.agent, session: "", origin: Origin::Command };
            let terms = (Ttl::from_seconds(60.0)?, Again::Renew);
            let main = BranchName::main();
            lease::acquire(log, &main, &[resource()], who, terms, &act.metadata, (at(1), outside))?;
            Ok(())
        })
    };
    let release = |token| {
        step("release", move |log, outside| {
            let act = act();
            let moment = (at(3), outside);
            lease::release(log, None, (&resource(), token), act.agent, &act.metadata, moment)?;
            Ok(())
        })
    };
    Workload {
        name: "leases",
        begin: vec![notes("before", "main", 3, 50)],
        steps: vec![
            acquire(),
            transaction("renew", |txn, _| {
                lease::renew(txn, &resource(), 1, act().agent, at(2))?;
                Ok(())
            }),
            release(1),
            acquire(),
            release(2),
        ],
        gone: None,
    }
}

/// A branch is compacted.
pub fn compaction() -> Workload {
    Workload {
        name: "compaction",
        begin: vec![decide("db", "sqlite"), notes("before", "main", 120, 150)],
        steps: vec![
            on_store("gc", |store, outside| {
                let main = BranchName::main();
                let agent = agent(compaction::AGENT);
                let policy = Policy::with_threshold(500);
                let order = Order {
                    branch: &main,
                    policy: &policy,
                    force: true,
                    dry_run: false,
                    agent: &agent,
                };
                compaction::collect(store, &order, None, outside)?;
                Ok(())
            }),
            notes("a note after", "main", 1, 10),
        ],
        gone: None,
    }
}

/// An event is erased, and nothing of it is left anywhere.
pub fn erasure() -> Workload {
    const GONE: &str = "the-words-that-must-go";
    Workload {
        name: "erasure",
        begin: vec![
            notes("before", "main", 130, 60),
            step("what is erased", |log, outside| {
                append(log, outside, "main", EventType::Note, [("note", GONE.into())])
            }),
            notes("after", "main", 130, 60),
        ],
        steps: vec![
            transaction("erase", |txn, outside| {
                let target: Revision = "main@131".parse().unwrap();
                let main = BranchName::main();
                erase::erase(txn, &[target], &main, false, &act(), outside)?;
                Ok(())
            }),
            on_store("scrub", |store, _| Ok(store.scrub()?)),
            notes("a note after", "main", 1, 10),
        ],
        gone: Some(GONE),
    }
}

/// The export of another project is imported.
pub fn import() -> Workload {
    let other = tempfile::tempdir().unwrap();
    let mut store = create(other.path());
    for (index, step) in
        [notes("there", "main", 140, 80), decide("db", "sqlite")].iter().enumerate()
    {
        (step.run)(&mut store, 2_000 + index as u128).unwrap();
    }
    let mut export = Vec::new();
    store.read(|txn| transfer::export(txn, &Selection::default(), &mut export)).unwrap();
    Workload {
        name: "import",
        begin: vec![notes("before", "main", 3, 50)],
        steps: vec![
            transaction("import", move |txn, outside| {
                transfer::import(txn, &export[..], "", &act(), outside)?;
                Ok(())
            }),
            notes("a note after", "main", 1, 10),
        ],
        gone: None,
    }
}

/// A backup, made again over the first, and a restore that takes events away, which are kept in a file.
pub fn backups() -> Workload {
    let backup = || {
        on_store("backup", |store, _| {
            let to = store.path().with_file_name(COPY);
            backup::backup(store, &to, true)?;
            Ok(())
        })
    };
    Workload {
        name: "backups",
        begin: vec![notes("before", "main", 40, 200)],
        steps: vec![
            backup(),
            notes("a batch", "main", 20, 300),
            backup(),
            notes("lost", "main", 2, 50),
            on_store("restore", |store, _| {
                // What is kept has a name that is not taken, also when the step is done again.
                static STAMP: AtomicU32 = AtomicU32::new(0);
                let stamp = STAMP.fetch_add(1, Ordering::Relaxed).to_string();
                let from = store.path().with_file_name(COPY);
                backup::restore(&from, store.path(), true, &stamp, TIMEOUT)?;
                Ok(())
            }),
            notes("after", "main", 1, 50),
        ],
        gone: None,
    }
}
