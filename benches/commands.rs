//! Whole commands beside their limits and peers, in turn, in one run.
//!
//! Each line compares the medians of two kinds of process that are started alternately, so that what
//! else the machine does meets both. Peers: git, and with `MK_PEER=VENV` the MemKernel of that Python
//! environment. `benches/run.sh` runs this with what it needs.

#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mk::canon::{Object, Value};
use rusqlite::Connection;
use support::{SIZES, create, directory, event, store};

/// A program as it is after its installation: a copy. What the linker wrote lies in the cache of the system
/// in pieces, and is slower to start.
fn installed(program: &Path) -> PathBuf {
    let copy = directory().join(program.file_name().expect("a program"));
    fs::copy(program, &copy).expect("room for a copy");
    copy
}

static MK: LazyLock<PathBuf> = LazyLock::new(|| installed(Path::new(env!("CARGO_BIN_EXE_mk"))));

/// A comparison: what, at which size, what it is compared with, and at most which ratio it may have.
struct Row {
    path: &'static str,
    size: u64,
    other: &'static str,
    bar: String,
    mk: Duration,
    limit: Duration,
    note: String,
}

impl Row {
    fn print(&self) {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{:<22} {:>9} {:>10.3} ms {:>10.3} ms {:>7.2}  {:<18} {} {}",
            self.path,
            self.size,
            ms(self.mk),
            ms(self.limit),
            ms(self.mk) / ms(self.limit),
            self.bar,
            self.other,
            self.note,
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Runs both kinds in turn.
fn compare(
    rounds: usize,
    mut a: impl FnMut() -> Command,
    mut b: impl FnMut() -> Command,
) -> (Duration, Duration) {
    let time = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let begun = Instant::now();
        let status = command.status().expect("the program is there");
        let took = begun.elapsed();
        assert!(status.success(), "{command:?}: {status}");
        took
    };
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let pair = (time(&mut a()), time(&mut b()));
        // The first pair warms up.
        if round > 0 {
            of_a.push(pair.0);
            of_b.push(pair.1);
        }
    }
    (median(of_a), median(of_b))
}

fn mk(store: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(&*MK);
    command.arg("--db").arg(store).args(args).current_dir(directory());
    command.env("MK_AGENT", "bench").env_remove("MK_BRANCH").env_remove("MK_DATE");
    command
}

fn copy(size: u64, name: &str) -> PathBuf {
    let to = directory().join(name);
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let _ = fs::remove_file(format!("{}{suffix}", to.display()));
    }
    let from = store(size);
    // Copied into the main file first, so that one file is the whole store.
    let checkpoint = Connection::open(&from).expect("a store");
    checkpoint.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).expect("a checkpoint");
    drop(checkpoint);
    fs::copy(from, &to).expect("room for a copy");
    to
}

fn main() {
    // `cargo bench --bench commands -- batch` runs one part.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    println!(
        "{:<22} {:>9} {:>13} {:>13} {:>7}  {:<18} compared with",
        "path", "events", "mk", "other", "ratio", "bar"
    );
    let parts: [(&str, fn()); 10] = [
        ("version", version),
        ("append", || SIZES.into_iter().for_each(append)),
        ("lease", || SIZES.into_iter().for_each(lease)),
        ("wait", wait),
        ("hook", hook),
        ("reads", reads),
        ("batch", batch),
        ("verify", verify),
        ("transfer", transfer),
        ("memkernel", memkernel),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}

fn version() {
    let (mk, limit) = compare(
        40,
        || {
            let mut command = Command::new(&*MK);
            command.arg("--version");
            command
        },
        || Command::new("/bin/true"),
    );
    let bar = "<= 2x + 2 ms".to_owned();
    Row { path: "--version", size: 0, other: "/bin/true", bar, mk, limit, note: String::new() }
        .print();
}

fn append(size: u64) {
    let (ours, floor) = (copy(size, "append.db"), copy(size, "floor.db"));
    let note = "n".repeat(300);
    let floor_program =
        Path::new(env!("CARGO_BIN_EXE_mk")).with_file_name("examples").join("floor");
    let program = installed(&floor_program);
    let (mk_time, limit) = compare(
        60,
        || mk(&ours, &["note", &note]),
        || {
            let mut command = Command::new(&program);
            command.arg(&floor);
            command
        },
    );
    Row {
        path: "append",
        size,
        other: "floor (one durable insert)",
        bar: "<= 1.3".to_owned(),
        mk: mk_time,
        limit,
        note: String::new(),
    }
    .print();
    let repository = git_repository();
    let (mk_time, limit) = compare(
        40,
        || mk(&ours, &["note", &note]),
        || {
            let mut command = Command::new("git");
            command.args(["commit", "-q", "--allow-empty", "-m", "x"]).current_dir(&repository);
            command
        },
    );
    Row {
        path: "append",
        size,
        other: "git commit --allow-empty",
        bar: "< 1".to_owned(),
        mk: mk_time,
        limit,
        note: String::new(),
    }
    .print();
}

/// Each round leases another file, as an agent does that goes through a project.
fn lease(size: u64) {
    let store = copy(size, "lease.db");
    let (mut leased, note) = (0, "n".repeat(300));
    let (mk_time, limit) = compare(
        60,
        || {
            leased += 1;
            mk(&store, &["lease", "acquire", &format!("src/file-{leased}.rs")])
        },
        || mk(&store, &["note", &note]),
    );
    Row {
        path: "lease acquire",
        size,
        other: "mk note",
        bar: "<= 1.2".to_owned(),
        mk: mk_time,
        limit,
        note: String::new(),
    }
    .print();
}

/// How long a process that waits for a lease takes to answer with its token, from when the process that
/// gives the lease back is started: its start and its commit are in the time.
fn wait() {
    const ROUNDS: usize = 50;
    let path = directory().join("wait.db");
    drop(create(&path));
    let room = directory().join("wait.db-waiting");
    let acquire = ["--agent", "agent-0", "lease", "acquire", "a", "--ttl", "600"];
    assert!(mk(&path, &acquire).stdout(Stdio::null()).status().expect("mk runs").success());
    let mut times = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let (holder, next) = (format!("agent-{round}"), format!("agent-{}", round + 1));
        let waits = ["--agent", &next, "lease", "acquire", "a", "--ttl", "600", "--wait", "60"];
        let mut waiter = mk(&path, &waits).stdout(Stdio::piped()).spawn().expect("mk runs");
        // Its bell hangs in the room before it sleeps.
        while fs::read_dir(&room).map_or(0, Iterator::count) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20));
        let token = (round + 1).to_string();
        let begun = Instant::now();
        let mut releaser = mk(&path, &["--agent", &holder, "lease", "release", "a"]);
        releaser.args(["--token", &token]).stdout(Stdio::null());
        let mut releaser = releaser.spawn().expect("mk runs");
        let mut answer = [0];
        waiter.stdout.take().expect("a pipe").read_exact(&mut answer).expect("a token");
        times.push(begun.elapsed());
        assert!(releaser.wait().expect("mk runs").success());
        assert!(waiter.wait().expect("mk runs").success());
    }
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:<22} {ROUNDS:>9} {:>10.3} ms {:>42} worst {:.3} ms",
        "release to grant",
        ms(times[ROUNDS / 2]),
        "<= 20 ms",
        ms(times[ROUNDS - 1]),
    );
}

/// How long an agent waits for its hook, from start to exit: before it edits a file that it does not hold
/// yet, and after a command.
fn hook() {
    const ROUNDS: usize = 100;
    const SIZE: u64 = 1_000;
    let project = directory().join("hook");
    fs::create_dir_all(project.join(".mk")).expect("room for a directory");
    copy(SIZE, "hook/.mk/mk.db");
    let call = |event: &str, tool: &str, input: serde_json::Value| {
        let mut call = serde_json::json!({
            "session_id": "bench", "cwd": project, "hook_event_name": event, "tool_name": tool,
            "tool_input": input, "tool_use_id": "toolu_1",
        });
        if event == "PostToolUse" {
            let output = "test result: ok. 3 passed\n".repeat(40);
            call["tool_response"] = serde_json::json!({ "stdout": output, "stderr": "" });
        }
        call.to_string()
    };
    let before = |round: usize| {
        let file = project.join(format!("src/file-{round}.rs"));
        call("PreToolUse", "Write", serde_json::json!({ "file_path": file, "content": "x" }))
    };
    let after = |round: usize| {
        let command = format!("cargo test case_{round}");
        call("PostToolUse", "Bash", serde_json::json!({ "command": command }))
    };
    let kinds: [(&str, &dyn Fn(usize) -> String); 2] =
        [("hook PreToolUse", &before), ("hook PostToolUse", &after)];
    for (path, call) in kinds {
        let mut times = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            let input = call(round);
            let mut command = Command::new(&*MK);
            command.args(["hook", "claude-code"]).current_dir(&project);
            command.env_remove("MK_AGENT").env_remove("MK_BRANCH").env_remove("MK_DATE");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let begun = Instant::now();
            let mut hook = command.spawn().expect("mk runs");
            hook.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
            let answer = hook.wait_with_output().expect("mk runs");
            times.push(begun.elapsed());
            // It always succeeds; what went wrong is on stderr.
            assert!(answer.stderr.is_empty(), "{}", String::from_utf8_lossy(&answer.stderr));
        }
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{path:<22} {SIZE:>9} {:>10.3} ms {:>42} p95 {:.3} ms",
            ms(times[ROUNDS / 2]),
            "<= 25 ms",
            ms(times[ROUNDS * 95 / 100]),
        );
    }
}

fn git_repository() -> PathBuf {
    let repository = directory().join("git");
    if !repository.exists() {
        fs::create_dir_all(&repository).expect("room for a directory");
        let git = |args: &[&str]| {
            let status = Command::new("git").args(args).current_dir(&repository).status();
            assert!(status.expect("git is installed").success());
        };
        git(&["init", "-q"]);
        git(&["config", "user.name", "bench"]);
        git(&["config", "user.email", "bench@example.invalid"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    }
    repository
}

fn reads() {
    let store = copy(50_000, "read.db");
    let repository = git_repository();
    for args in [&["fold"][..], &["context"], &["log", "-n", "20"]] {
        let (mk_time, limit) = compare(
            40,
            || mk(&store, args),
            || {
                let mut command = Command::new("git");
                command.args(["rev-parse", "HEAD"]).current_dir(&repository);
                command
            },
        );
        Row {
            path: match args[0] {
                "fold" => "fold",
                "context" => "context",
                _ => "log -n 20",
            },
            size: 50_000,
            other: "git rev-parse HEAD",
            bar: "<= 3".to_owned(),
            mk: mk_time,
            limit,
            note: String::new(),
        }
        .print();
    }
}

/// `mk append --batch` of 100k events beside bare prepared inserts of the same rows.
fn batch() {
    const EVENTS: u64 = 100_000;
    let input = directory().join("batch.ndjson");
    let mut text = String::new();
    for index in 0..EVENTS {
        text.push_str(&line(index));
        text.push('\n');
    }
    fs::write(&input, text).expect("room for the input");
    let path = directory().join("batch.db");
    let rows = {
        drop(create(&path));
        run_batch(&path, &input);
        Rows::read(&path)
    };
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        drop(create(&path));
        let begun = Instant::now();
        run_batch(&path, &input);
        ours.push(begun.elapsed());
        drop(create(&path));
        bare.push(rows.insert(&path));
    }
    let (mk, limit) = (median(ours), median(bare));
    let rate = EVENTS as f64 / mk.as_secs_f64() / 1e3;
    Row {
        path: "append --batch",
        size: EVENTS,
        other: "prepared inserts of the same rows",
        bar: "<= 1.67 (60 %)".to_owned(),
        mk,
        limit,
        note: format!("({rate:.0}k events/s)"),
    }
    .print();
}

/// Event `index` of the made-up history as a line for `mk append --batch`.
fn line(index: u64) -> String {
    let (kind, agent, payload) = event(index);
    let members: Object = [
        ("event_type", Value::from(kind.as_str())),
        ("agent_id", agent.into()),
        ("payload", payload.into()),
    ]
    .into_iter()
    .collect();
    members.canonical()
}

fn run_batch(path: &Path, input: &Path) {
    let mut command = mk(path, &["append", "--batch", "--quiet"]);
    command.stdin(File::open(input).expect("the input"));
    assert!(command.status().expect("mk runs").success());
}

type Cells = Vec<rusqlite::types::Value>;

/// The rows of a store, in memory.
struct Rows {
    events: Vec<Cells>,
    links: Vec<Cells>,
}

impl Rows {
    fn read(path: &Path) -> Self {
        let store = Connection::open(path).expect("a store");
        let table = |name: &str| {
            let mut statement =
                store.prepare(&format!("SELECT * FROM {name} ORDER BY id")).expect("a table");
            let width = statement.column_count();
            let rows = statement.query_map((), |row| (0..width).map(|at| row.get(at)).collect());
            rows.expect("rows").collect::<Result<Vec<Cells>, _>>().expect("rows")
        };
        Self { events: table("event"), links: table("link") }
    }

    /// How long it takes to insert all of them in one durable transaction.
    fn insert(&self, path: &Path) -> Duration {
        let begun = Instant::now();
        let mut store = Connection::open(path).expect("a store");
        store
            .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;")
            .expect("pragmas");
        let txn = store.transaction().expect("a transaction");
        for (table, rows) in [("event", &self.events), ("link", &self.links)] {
            let marks = vec!["?"; rows[0].len()].join(",");
            let mut insert =
                txn.prepare(&format!("INSERT INTO {table} VALUES ({marks})")).expect("a table");
            for row in rows {
                insert.execute(rusqlite::params_from_iter(row)).expect("a new row");
            }
        }
        txn.commit().expect("a commit");
        begun.elapsed()
    }
}

fn verify() {
    for size in SIZES {
        let path = store(size);
        let begun = Instant::now();
        let status = mk(&path, &["verify"]).stdout(Stdio::null()).status().expect("mk runs");
        let took = begun.elapsed();
        assert!(status.success());
        let rate = size as f64 / took.as_secs_f64() / 1e3;
        println!(
            "{:<22} {size:>9} {:>10.3} ms {:>42} {rate:.0}k events/s",
            "verify",
            took.as_secs_f64() * 1e3,
            ">= 300k events/s",
        );
        std::io::stdout().flush().expect("stdout");
    }
}

/// Export, import and backup of the largest store; the last beside `cp`.
fn transfer() {
    let size = SIZES[SIZES.len() - 1];
    let path = copy(size, "transfer.db");
    let (export, other) = (directory().join("transfer.ndjson"), directory().join("imported.db"));
    let (export_name, other_name) = (export.display().to_string(), other.display().to_string());
    let timed = |command: &mut Command| {
        let begun = Instant::now();
        let status = command.stdout(Stdio::null()).status().expect("mk runs");
        assert!(status.success());
        begun.elapsed()
    };
    let exports = timed(&mut mk(&path, &["export", &export_name]));
    drop(create(&other));
    let imports = timed(&mut mk(&other, &["import", &export_name]));
    for (path, took) in [("export", exports), ("import", imports)] {
        let rate = size as f64 / took.as_secs_f64() / 1e3;
        println!(
            "{path:<22} {size:>9} {:>10.3} ms {:>42} {rate:.0}k events/s",
            took.as_secs_f64() * 1e3,
            ">= 100k events/s",
        );
    }
    let (mk_time, limit) = compare(
        5,
        || mk(&path, &["backup", "--force", &other_name]),
        || {
            let mut command = Command::new("cp");
            command.arg(&path).arg(directory().join("cp.db"));
            command
        },
    );
    Row {
        path: "backup",
        size,
        other: "cp",
        bar: "<= 2".to_owned(),
        mk: mk_time,
        limit,
        note: String::new(),
    }
    .print();
}

/// A database of MemKernel with 50,000 events, made by the script of the recorded cases.
fn memkernel() {
    const EVENTS: u64 = 50_000;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/kernel/db/make_large.py");
    let (source, path) = (directory().join("memkernel.db"), directory().join("moved.db"));
    let mut make = Command::new("python3");
    let made = make.arg(script).arg(&source).stdout(Stdio::null()).status();
    assert!(made.expect("python3 is installed").success());
    let source = source.display().to_string();
    let mut times = Vec::new();
    for _ in 0..3 {
        drop(create(&path));
        let mut import = mk(&path, &["import", "memkernel", &source]);
        import.stdout(Stdio::null());
        let begun = Instant::now();
        assert!(import.status().expect("mk runs").success());
        times.push(begun.elapsed());
    }
    let took = median(times);
    println!(
        "{:<22} {EVENTS:>9} {:>10.3} ms {:>42} {:.0}k events/s",
        "import memkernel",
        took.as_secs_f64() * 1e3,
        "",
        EVENTS as f64 / took.as_secs_f64() / 1e3,
    );
}
