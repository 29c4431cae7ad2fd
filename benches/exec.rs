//! The speeds of the execution protocol that docs/exec.md and the README promise, beside their bars.
//!
//! `cargo bench --bench exec`. With MK_MKRAFT=VENV, a Python environment with memkraft 4.5.0, beside that
//! program too.

#![expect(clippy::disallowed_methods, reason = "a bench measures time")]

#[expect(dead_code, reason = "stores of events are not needed here")]
mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mk::mkep::ledger;
use mk::mkep::lint::Surroundings;
use mk::mkep::request::Request;
use mk::mkep::{self, Desk, Examined};
use mk::store::{Engine, Sqlite, StoreError};
use support::{create, directory, outside};

const GOAL: &str = "team/alpha";

/// A request number `number` to a goal with one gate: a receipt, but for the first two.
fn request(number: u64) -> String {
    let (op, target, args) = match number {
        0 => (
            "goal.declare",
            "",
            r#"{"title":"t","intent":"i","constraints":[],"success_criteria":[]}"#,
        ),
        1 => (
            "gate.declare",
            r#","gate_id":"build""#,
            r#"{"description":"d","verification":{"check_kind":"command","check_ref":"make"}}"#,
        ),
        _ => (
            "receipt.record",
            r#","gate_id":"build""#,
            r#"{"verdict":"pass","content_sha256":"1111111111111111111111111111111111111111111111111111111111111111","summary":"all tests pass on this commit","observed_at":null,"provenance_id":"run-1"}"#,
        ),
    };
    format!(
        r#"{{"mkep":"0","kind":"apply","request_id":"{number:032x}","op":"{op}","now":"2026-08-04T11:22:33Z","target":{{"goal_id":"{GOAL}"{target}}},"args":{args},"precondition":{{}}}}"#
    )
}

fn read_request(text: &str) -> Request {
    Request::read(text.as_bytes()).expect("a sound request")
}

/// Appends records until the goal has `size`, many in a transaction.
fn fill(store: &mut Sqlite, from: u64, size: u64) {
    let agent = "bench".parse().expect("a name");
    let around = Surroundings::default();
    let mut next = from;
    while next < size {
        let upto = size.min(next + 20_000);
        outside(|outside| {
            // Salts, and so ids, must differ between transactions.
            (0..next).for_each(|_| {
                (outside.salt)();
                (outside.salt)();
            });
            store.write(|txn| {
                let mut desk = Desk::open(txn, &agent)?;
                for number in next..upto {
                    let request = read_request(&request(number));
                    let (txn, ledger) = desk.parts();
                    match mkep::examine(txn, ledger, &request, &around)? {
                        Examined::Wanted(change) => {
                            desk.enact(&request, change, outside)?;
                        }
                        Examined::Answered(response) => panic!("{}", response.line()),
                    }
                }
                desk.close()
            })
        })
        .expect("the records are sound");
        next = upto;
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The median times of an apply, as a transaction of its own, on goals of so many records. By turns,
/// so that what else the disk does meets both.
fn apply_latency(sizes: [u64; 2]) -> [Duration; 2] {
    let mut stores = sizes.map(|size| {
        let mut store = create(&directory().join(format!("exec-{size}.db")));
        fill(&mut store, 0, size);
        (store, Vec::new())
    });
    let agent = "bench".parse().expect("a name");
    for (round, nth) in (0..201).flat_map(|round| [(round, 0), (round, 1)]) {
        let (store, times) = &mut stores[nth];
        let size = sizes[nth];
        let request = read_request(&request(10_000_000 + size + round));
        let mut drawn = round;
        let mut salt = || {
            drawn += 1_000;
            (u128::from(drawn) << 64 | u128::from(size)).to_be_bytes()
        };
        let mut now = || mk::time::Timestamp::from_micros(1_796_040_000_000_000);
        let mut outside = mk::log::Outside { now: &mut now, salt: &mut salt };
        let begun = Instant::now();
        let around = Surroundings::default();
        let (response, _) = mkep::call(store, &request, &around, &agent, &mut outside);
        assert_eq!(response.exit_status, 0, "{}", response.line());
        times.push(begun.elapsed());
    }
    stores.map(|(_, times)| median(times))
}

fn mk(base: &Path, options: &[&str], input: &[u8]) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mk"));
    command.args(["exec", "call"]).args(options).arg("--base-dir").arg(base);
    run(command, input)
}

fn run(mut command: Command, input: &[u8]) -> Duration {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads");
    assert!(done.status.success());
    begun.elapsed()
}

fn batch() {
    let base = directory().join("exec-batch");
    let _ = fs::remove_dir_all(&base);
    fs::create_dir_all(&base).expect("target/ can be written");
    let count = 60_000;
    let lines: Vec<String> = (0..count).map(request).collect();
    let took = mk(&base, &["--batch"], (lines.join("\n") + "\n").as_bytes());
    let rate = f64::from(u32::try_from(count).expect("small")) / took.as_secs_f64();
    println!("exec call --batch            {rate:>9.0} applies/s          (bar: 20000)");
}

fn state_read() {
    let base = directory().join("exec-read");
    let _ = fs::remove_dir_all(&base);
    fs::create_dir_all(&base).expect("target/ can be written");
    let lines: Vec<String> = (0..100).map(request).collect();
    mk(&base, &["--batch"], (lines.join("\n") + "\n").as_bytes());
    let query = format!(
        r#"{{"mkep":"0","kind":"query","request_id":"{:032x}","op":"state.read","now":"2026-08-04T11:22:33Z","target":{{"goal_id":"{GOAL}"}},"args":{{}}}}"#,
        0
    );
    let ours = median((0..31).map(|_| mk(&base, &[], query.as_bytes())).collect());
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    print!("state.read, whole process    {:>9.2} ms", ms(ours));
    let Some(peer) = std::env::var_os("MK_MKRAFT") else {
        println!("                (set MK_MKRAFT for the reference)");
        return;
    };
    let theirs = directory().join("exec-theirs");
    let _ = fs::remove_dir_all(&theirs);
    let mut export = Command::new(env!("CARGO_BIN_EXE_mk"));
    export.args(["exec", "export"]).arg(&theirs).arg("--base-dir").arg(&base);
    run(export, b"");
    let read = |_| {
        let mut command = Command::new(Path::new(&peer).join("bin/memkraft"));
        command.args(["exec", "call", "--base-dir"]).arg(&theirs);
        run(command, query.as_bytes())
    };
    let reference = median((0..7).map(read).collect());
    let ratio = reference.as_secs_f64() / ours.as_secs_f64();
    println!("   MemKraft {:>7.1} ms   {ratio:>4.0} x (bar: 10 x)", ms(reference));
}

fn projection() {
    let size = 1_000_000;
    let path = directory().join("exec-million.db");
    let is_there = path.exists();
    let mut store = if is_there { support::open(&path) } else { create(&path) };
    if !is_there {
        fill(&mut store, 0, size);
    }
    drop(store);
    let mut store = Sqlite::open_to_read(&path).expect("a store");
    let begun = Instant::now();
    let read =
        store.read(|txn| ledger::Ledger::default().seen(txn, GOAL).map(|goal| goal.execution_seq));
    assert_eq!(read.map_err(|error: StoreError| error).expect("it reads"), size as i64);
    println!(
        "projection of 1M records     {:>9.2} ms, as it is kept  (bar: 2000)",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let mut anew = || {
        let begun = Instant::now();
        let fold = store.read(|txn| ledger::refold(txn, GOAL, false)).expect("it reads").0;
        assert_eq!(fold.execution_seq, size as i64);
        begun.elapsed()
    };
    println!(
        "projection of 1M records     {:>9.0} ms, from the first record on (bar: 2000)",
        median((0..3).map(|_| anew()).collect()).as_secs_f64() * 1e3
    );
}

fn main() {
    let [few, many] = apply_latency([100, 100_000]);
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    println!(
        "apply at 100 and 100k records {:>8.0} and {:.0} µs   {ratio:.2} x (bar: 1.5 x)",
        us(few),
        us(many)
    );
    batch();
    state_read();
    projection();
}
