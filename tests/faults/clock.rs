//! The clock of the machine is set, back and forward by hours, during leases and appends: time never
//! runs backwards along a lineage, a lease never has two holders, and nothing hangs.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mk::canon::Object;
use mk::id::{AgentId, BranchName};
use mk::lease::{self, Again, Ask, Claimant, LeaseError, Resource, Ttl};
use mk::log::{Log, Outside};
use mk::store::sqlite::Durability;
use mk::store::{Engine, Origin, Patience, Sqlite};
use mk::time::Timestamp;
use serde_json::Value;

use crate::power::Chance;
use crate::project::{Deadline, Project, answer, rounds};

const HOUR: i64 = 3_600;

/// Seconds that each lease holds.
const TTL: i64 = 60;

/// The clock to begin with, in seconds since 1970.
const BEGIN: i64 = 1_796_040_000;

/// Seconds that the clock goes on by, or is set by: some minutes, or up to three hours, either way.
fn jump(chance: &mut Chance) -> i64 {
    let most = if chance.below(6) == 0 { 3 * HOUR } else { 2 * TTL };
    chance.below(2 * most as usize) as i64 - most
}

fn date(clock: i64) -> String {
    format!("@{clock}")
}

#[test]
fn time_never_runs_backwards_along_a_lineage() {
    const WRITERS: u64 = 6;
    let _deadline = Deadline::new("appends under a clock that jumps", Duration::from_secs(300));
    let each = 8 * rounds().unwrap_or(1);
    let project = Project::new();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let project = &project;
            scope.spawn(move || {
                let (mut chance, mut clock) = (Chance(writer), BEGIN);
                let side = format!("side-{writer}");
                for number in 0..each {
                    clock += jump(&mut chance);
                    let args: &[&str] = match number % 4 {
                        2 => &["fork", &format!("{side}-{number}"), "--from", "main"],
                        3 => &["note", "x", "--branch", &format!("{side}-{}", number - 1)],
                        _ => &["note", "x"],
                    };
                    let mut command = project.mk(args);
                    command.env("MK_DATE", date(clock)).stdout(Stdio::null());
                    assert!(command.status().unwrap().success());
                }
            });
        }
    });
    let events = project.events();
    let of_hash = |hash: &Value| events.iter().find(|event| event["hash"] == *hash);
    let mut held_back = 0;
    for event in &events {
        let stamp = event["timestamp"].as_str().unwrap();
        if let Some(parent) = of_hash(&event["prev"]) {
            let before = parent["timestamp"].as_str().unwrap();
            assert!(before <= stamp, "{before} before {stamp}");
            held_back += usize::from(before == stamp);
        }
    }
    project.sound();
    println!("{} events under a clock that jumps, {held_back} of them held back", events.len());
    assert!(held_back > 0);
}

/// What a clock, wherever it is set, makes of the leases: the plain definition.
#[derive(Default)]
struct Model {
    /// The last token of each resource.
    tokens: BTreeMap<&'static str, u64>,
    /// Leases that were granted and not ended by another: resource to holder, token and end.
    granted: BTreeMap<&'static str, (String, u64, i64)>,
}

impl Model {
    fn in_the_way(&self, resource: &str, agent: &str, clock: i64) -> bool {
        let other = |(key, (holder, _, end)): (&&str, &(String, u64, i64))| {
            overlap(key, resource) && holder != agent && *end > clock
        };
        self.granted.iter().any(other)
    }

    /// What `agent` must get who asks for `resource`: its token, or none.
    fn acquire(&mut self, resource: &'static str, agent: &str, clock: i64) -> Option<u64> {
        if self.in_the_way(resource, agent, clock) {
            return None;
        }
        if let Some((holder, token, end)) = self.granted.get_mut(resource)
            && holder == agent
            && *end > clock
        {
            *end = (*end).max(clock + TTL);
            return Some(*token);
        }
        // What had run out is over for good, wherever the clock goes from here.
        self.granted.retain(|key, (_, _, end)| !overlap(key, resource) || *end > clock);
        let token = self.tokens.entry(resource).or_default();
        *token += 1;
        self.granted.insert(resource, (agent.to_owned(), *token, clock + TTL));
        Some(*token)
    }

    /// Whether a fenced write of `agent` goes through.
    fn fence(&mut self, resource: &str, agent: &str, token: u64, clock: i64) -> bool {
        match self.granted.get_mut(resource) {
            Some((holder, current, end))
                if holder == agent && *current == token && *end > clock =>
            {
                *end = (*end).max(clock + TTL);
                true
            }
            _ => false,
        }
    }
}

fn overlap(one: &str, other: &str) -> bool {
    one == other
        || (one.ends_with('/') && other.starts_with(one))
        || (other.ends_with('/') && one.starts_with(other))
}

#[test]
fn a_lease_never_has_two_holders_wherever_the_clock_is_set() {
    let _deadline = Deadline::new("leases under a clock that jumps", Duration::from_secs(300));
    let steps = 70 * rounds().unwrap_or(1);
    let project = Project::new();
    let (mut chance, mut clock, mut model) = (Chance(4), BEGIN, Model::default());
    let mut tokens: Vec<(&'static str, String, u64)> = Vec::new();
    let (mut granted, mut refused, mut passed, mut stopped) = (0, 0, 0, 0);
    for step in 0..steps {
        if step % 3 == 0 {
            clock += jump(&mut chance);
        }
        let run = |args: &[&str]| {
            let mut command = project.mk(args);
            answer(&command.env("MK_LEASE_DATE", date(clock)).arg("--json").output().unwrap())
        };
        let resource = ["src/", "src/a.rs", "src/b.rs"][chance.below(3)];
        let agent = format!("agent-{}", chance.below(3));
        let about = format!("step {step}, clock {clock}");
        if tokens.is_empty() || chance.below(5) < 3 {
            let ttl = TTL.to_string();
            let got = run(&["lease", "acquire", resource, "--ttl", &ttl, "--agent", &agent]);
            let got = got["leases"][0]["fencing_token"].as_u64();
            assert_eq!(got, model.acquire(resource, &agent, clock), "{about}");
            match got {
                Some(token) => tokens.push((resource, agent, token)),
                None => refused += 1,
            }
            granted += usize::from(got.is_some());
        } else {
            // Mostly one of the last tokens, of which more are still good.
            let back = 1 + chance.below(tokens.len().min(4));
            let (resource, agent, token) = tokens[tokens.len() - back].clone();
            let fence = format!("{resource}:{token}");
            let done = run(&["note", "x", "--fence", &fence, "--agent", &agent]);
            let goes_through = model.fence(resource, &agent, token, clock);
            assert_eq!(done["hash"].is_string(), goes_through, "{about}: {done}");
            match goes_through {
                true => passed += 1,
                false => stopped += 1,
            }
        }
        let held = run(&["lease", "list"]);
        let held = held["leases"].as_array().unwrap();
        for (index, one) in held.iter().enumerate() {
            for other in &held[index + 1..] {
                let key = |lease: &Value| lease["resource_key"].as_str().unwrap().to_owned();
                let same = one["holder_agent_id"] == other["holder_agent_id"];
                assert!(same || !overlap(&key(one), &key(other)), "{about}: {held:?}");
            }
        }
    }
    project.sound();
    println!(
        "{steps} steps under a clock that jumps: {granted} leases granted, {refused} refused, {passed} \
         fenced writes done, {stopped} refused; two holders: 0"
    );
    assert!(granted > 0 && refused > 0 && passed > 0 && stopped > 0);
}

/// Agents in one process share a clock that is set while they wait.
struct Agents<'a> {
    project: &'a Project,
    clock: &'a AtomicI64,
    salts: AtomicU64,
}

impl Agents<'_> {
    fn store(&self) -> Sqlite {
        let file = self.project.path().join(".mk/mk.db");
        Sqlite::open_to_write(&file, Duration::from_secs(15), Durability::Full).unwrap()
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::SeqCst) * 1_000_000)
    }

    fn outside<T>(&self, body: impl FnOnce(&mut Outside<'_>) -> T) -> T {
        let mut salt = || u128::from(self.salts.fetch_add(1, Ordering::SeqCst)).to_be_bytes();
        body(&mut Outside { now: &mut || self.now(), salt: &mut salt })
    }

    fn acquire(&self, agent: &str, wait: Duration) -> Result<u64, LeaseError> {
        let agent: AgentId = agent.parse().unwrap();
        let ask = Ask {
            branch: &BranchName::main(),
            resources: &[Resource::of_key("src/a.rs").unwrap()],
            who: Claimant { agent: &agent, session: "", origin: Origin::Command },
            ttl: Ttl::from_seconds(TTL as f64).unwrap(),
            again: Again::Renew,
            metadata: &Object::new(),
            op_id: None,
        };
        let granted = self.outside(|outside| {
            lease::acquire_in_turn(
                &mut self.store(),
                ask,
                Patience::new(wait),
                &mut || self.now(),
                outside,
            )
        })?;
        Ok(granted.report.leases[0].fencing_token)
    }

    fn release(&self, agent: &str, token: u64) {
        let (agent, metadata) = (agent.parse().unwrap(), Object::new());
        let which = (&Resource::of_key("src/a.rs").unwrap(), token);
        self.outside(|outside| {
            self.store().write(|txn| {
                let (mut log, when) = (Log::open(txn)?, (self.now(), outside));
                lease::release(&mut log, None, which, &agent, &metadata, when)
            })
        })
        .unwrap();
    }
}

#[test]
fn a_wait_ends_wherever_the_clock_is_set() {
    let _deadline = Deadline::new("waits under a clock that jumps", Duration::from_secs(120));
    let (project, clock) = (Project::new(), AtomicI64::new(BEGIN));
    let agents = Agents { project: &project, clock: &clock, salts: AtomicU64::new(0) };
    assert_eq!(agents.acquire("ann", Duration::ZERO).unwrap(), 1);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| agents.acquire("bob", Duration::from_secs(60)));
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(100));
            clock.fetch_sub(2 * HOUR, Ordering::SeqCst);
        }
        assert!(!waiting.is_finished());
        // Given back, it goes to the one that waits, at once.
        agents.release("ann", 1);
        assert_eq!(waiting.join().unwrap().unwrap(), 2);
    });
    // A wait is measured by a clock that nobody sets.
    for hours in [-5, 0] {
        clock.fetch_add(hours * HOUR, Ordering::SeqCst);
        let begun = Instant::now();
        let refused = agents.acquire("cal", Duration::from_millis(300));
        assert!(matches!(refused, Err(LeaseError::Held(_))), "{refused:?}");
        assert!(begun.elapsed() >= Duration::from_millis(300));
    }
    // Set forward, it ends the lease; set back, that stays so.
    clock.fetch_add(9 * HOUR, Ordering::SeqCst);
    assert_eq!(agents.acquire("cal", Duration::ZERO).unwrap(), 3);
    clock.fetch_sub(9 * HOUR, Ordering::SeqCst);
    assert!(matches!(agents.acquire("bob", Duration::ZERO), Err(LeaseError::Held(_))));
    project.sound();
}
