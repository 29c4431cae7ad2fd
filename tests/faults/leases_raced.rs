//! Law 6: of processes that race for a lease exactly one wins, tokens rise, and no write with a stale
//! token lands.
//!
//! Many agents, each a chain of real processes, want the same few resources. All that they were
//! answered is recorded and held against what is promised ([`crate::history_check`]). Short leases run
//! out all the time; processes and agents are held up until after that.

use std::collections::BTreeSet;
use std::process::{Output, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use mk::store::sqlite::Durability;
use mk::store::{Engine, Sqlite, StoreError};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::history_check::{self, Act, Answer, Breach, Moment};
use crate::power::Chance;
use crate::project::{Deadline, Project, Waits, answer, rounds};

/// Two sessions of each of three agents, and one more.
const AGENTS: usize = 7;

/// Commands of each in one history.
const COMMANDS: usize = 30;

const RESOURCES: [&str; 6] = ["src/", "src/a.rs", "src/a/", "src/a/x.rs", "lib.rs", "service:db"];

/// The clock of the machine, which leases go by, held against one that nobody sets.
struct Watch {
    begun: Instant,
    at: Moment,
}

impl Watch {
    fn new() -> Self {
        Self { begun: Instant::now(), at: wall_clock() }
    }

    fn now(&self) -> Moment {
        let (now, passed) = (wall_clock(), micros(self.begun.elapsed()));
        let drift = (now - self.at - passed).abs();
        assert!(drift < 100_000, "the clock of this machine was set by {drift} µs");
        now
    }
}

fn wall_clock() -> Moment {
    micros(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap())
}

fn micros(time: Duration) -> Moment {
    i64::try_from(time.as_micros()).unwrap()
}

/// The microseconds of a time that is answered in seconds.
fn moment(seconds: &Value) -> Moment {
    (seconds.as_f64().unwrap() * 1e6).round() as Moment
}

#[derive(Clone)]
struct Held {
    resource: String,
    token: u64,
    ttl: Duration,
}

/// One that wants leases, and what came of it.
struct Racer<'a> {
    project: &'a Project,
    watch: &'a Watch,
    agent: String,
    session: String,
    chance: Chance,
    held: Vec<Held>,
    history: Vec<Act>,
    /// Notes that were acknowledged.
    notes: BTreeSet<String>,
    stopped: usize,
    waits: Waits,
}

impl<'a> Racer<'a> {
    fn new(project: &'a Project, watch: &'a Watch, number: usize, seed: u64) -> Self {
        Self {
            project,
            watch,
            agent: format!("agent-{}", number / 2),
            session: format!("session-{}", number % 2),
            chance: Chance(seed << 8 | number as u64),
            held: Vec::new(),
            history: Vec::new(),
            notes: BTreeSet::new(),
            stopped: 0,
            waits: Waits::default(),
        }
    }

    fn is(&mut self, percent: usize) -> bool {
        self.chance.below(100) < percent
    }

    fn between(&mut self, least_ms: usize, most_ms: usize) -> Duration {
        Duration::from_millis((least_ms + self.chance.below(most_ms - least_ms)) as u64)
    }

    fn go_on(&mut self) {
        if self.held.is_empty() || self.is(15) {
            return self.acquire();
        }
        let index = self.chance.below(self.held.len());
        let held = self.held[index].clone();
        if self.is(25) {
            // It believes in what it has, whatever the time.
            thread::sleep(held.ttl + self.between(0, 150));
        }
        match self.chance.below(10) {
            0..=2 => self.renew(&held),
            3..=6 => self.fenced_note(&held),
            7 | 8 => self.release(&held),
            _ => self.held.clear(),
        }
    }

    fn acquire(&mut self) {
        let ttl = match self.is(80) {
            true => self.between(100, 700),
            false => Duration::from_secs(2),
        };
        let mut wanted = vec![RESOURCES[self.chance.below(RESOURCES.len())]];
        if self.is(25) {
            wanted.push(RESOURCES[self.chance.below(RESOURCES.len())]);
            wanted.dedup();
        }
        let mut args = vec!["lease", "acquire"];
        args.extend(&wanted);
        let (ttl_text, wait) = (ttl.as_secs_f64().to_string(), self.between(100, 900));
        let wait = wait.as_secs_f64().to_string();
        args.extend(["--ttl", &ttl_text]);
        if self.is(50) {
            args.extend(["--wait", &wait]);
        }
        let take_over = self.is(30);
        if take_over {
            args.push("--takeover");
        }
        let (asked, output, answered) = self.mk(&args);
        let said = answer(&output);
        if let Some(leases) = said["leases"].as_array() {
            for lease in leases {
                let (resource, until) = (text(&lease["resource"]), moment(&lease["expires_at"]));
                let token = lease["fencing_token"].as_u64().unwrap();
                let answer = match lease["renewed"].as_bool().unwrap() {
                    true => Answer::Renewed { until },
                    false => Answer::Granted { until, take_over },
                };
                self.record((&resource, token), (asked, answered), answer);
                self.held.retain(|held| held.resource != resource);
                self.held.push(Held { resource, token, ttl });
            }
            return;
        }
        let error = &said["error"];
        assert_eq!(error["code"], "lease-held", "{said}");
        // One that others wait for names no lease.
        if let Some(token) = error["details"]["token"].as_u64() {
            let resource = text(&error["details"]["resource"]);
            self.record((&resource, token), (asked, answered), Answer::Refused);
        }
    }

    fn renew(&mut self, held: &Held) {
        let token = held.token.to_string();
        let (asked, output, answered) =
            self.mk(&["lease", "renew", &held.resource, "--token", &token]);
        let said = answer(&output);
        let answer = match output.status.success() {
            true => Answer::Renewed { until: moment(&said["expires_at"]) },
            false => self.lost(held, &said),
        };
        self.record((&held.resource, held.token), (asked, answered), answer);
    }

    fn fenced_note(&mut self, held: &Held) {
        let note = format!("{} {} {}", self.agent, self.session, self.history.len());
        let fence = format!("{}:{}", held.resource, held.token);
        let (asked, output, answered) = self.mk(&["note", &note, "--fence", &fence]);
        let said = answer(&output);
        let answer = match output.status.success() {
            true => {
                self.notes.insert(note);
                Answer::Fenced { ttl: micros(held.ttl) }
            }
            false => self.lost(held, &said),
        };
        self.record((&held.resource, held.token), (asked, answered), answer);
    }

    fn release(&mut self, held: &Held) {
        let token = held.token.to_string();
        let (asked, output, answered) =
            self.mk(&["lease", "release", &held.resource, "--token", &token]);
        let said = answer(&output);
        let answer = match output.status.success() {
            true => Answer::Released,
            false => self.lost(held, &said),
        };
        // It may be used once more all the same.
        if self.is(70) {
            self.held.retain(|other| other.resource != held.resource);
        }
        self.record((&held.resource, held.token), (asked, answered), answer);
    }

    /// What a refusal means; half of the time it is believed.
    fn lost(&mut self, held: &Held, said: &Value) -> Answer {
        assert_eq!(said["error"]["code"], "lease-lost", "{said}");
        if self.is(50) {
            self.held.retain(|other| other.resource != held.resource);
        }
        Answer::Lost
    }

    fn record(&mut self, lease: (&str, u64), (asked, answered): (Moment, Moment), answer: Answer) {
        self.history.push(Act {
            agent: self.agent.clone(),
            session: self.session.clone(),
            lease: (lease.0.to_owned(), lease.1),
            asked,
            answered,
            answer,
        });
    }

    /// Runs a command, stopped for a while in one of ten cases; answers when, and what it said.
    fn mk(&mut self, args: &[&str]) -> (Moment, Output, Moment) {
        let mut command = self.project.mk(args);
        command.args(["--agent", &self.agent, "--json"]).env("MK_SESSION", &self.session);
        let (asked, begun) = (self.watch.now(), Instant::now());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        if self.is(10) {
            let pid = Pid::from_child(&child);
            thread::sleep(self.between(0, 60));
            // It is not waited for yet, so the number is still its own.
            kill_process(pid, Signal::STOP).unwrap();
            thread::sleep(self.between(200, 900));
            kill_process(pid, Signal::CONT).unwrap();
            self.stopped += 1;
        }
        let output = child.wait_with_output().unwrap();
        self.waits.add(begun.elapsed());
        (asked, output, self.watch.now())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What the log says was granted: of each grant the resource and the token.
fn recorded_grants(events: &[Value]) -> BTreeSet<(String, u64)> {
    let grants = events.iter().filter(|event| event["event_type"] == "FILE_CLAIM_ACQUIRED");
    let grants = grants.map(|event| &event["payload"]);
    grants.map(|it| (text(&it["resource"]), it["fencing_token"].as_u64().unwrap())).collect()
}

/// Whether a lease of another agent, put in the middle of one that was held, is found in the history.
fn a_forgery_is_found(history: &[Act]) -> bool {
    let mut granted = history.iter().filter(|act| matches!(act.answer, Answer::Granted { .. }));
    granted.any(|act| {
        let at = act.answered + 1;
        let forged = Act {
            agent: "mallory".to_owned(),
            lease: (act.lease.0.clone(), act.lease.1 + 1_000),
            asked: at,
            answered: at,
            answer: Answer::Granted { until: at + 10_000_000, take_over: false },
            ..act.clone()
        };
        let history = [history, &[forged]].concat();
        history_check::breaches(&history).contains(&Breach::TwoHolders)
    })
}

#[test]
fn a_history_of_many_processes_keeps_the_promise() {
    let histories = rounds().unwrap_or(1);
    let _deadline = Deadline::new("leases", Duration::from_secs(120 * histories));
    let mut counts = [0; 6];
    let (mut all, mut stopped, mut waits) = (0, 0, Waits::default());
    for seed in 0..histories {
        let (project, watch) = (Project::new(), Watch::new());
        let racers: Vec<Racer<'_>> = thread::scope(|scope| {
            let racers = (0..AGENTS).map(|number| {
                let mut racer = Racer::new(&project, &watch, number, seed);
                scope.spawn(move || {
                    (0..COMMANDS).for_each(|_| racer.go_on());
                    racer
                })
            });
            let racers: Vec<_> = racers.collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let (mut history, mut notes) = (Vec::new(), BTreeSet::new());
        for racer in racers {
            stopped += racer.stopped;
            waits.merge(racer.waits);
            history.extend(racer.history);
            notes.extend(racer.notes);
        }
        assert_eq!(history_check::check(&history), [], "seed {seed}");
        assert!(a_forgery_is_found(&history), "seed {seed}");

        let events = project.events();
        let granted: BTreeSet<(String, u64)> = history
            .iter()
            .filter(|act| matches!(act.answer, Answer::Granted { .. }))
            .map(|act| act.lease.clone())
            .collect();
        assert_eq!(recorded_grants(&events), granted, "seed {seed}");
        // Of the fenced notes those that were acknowledged are there, and no others.
        let stored = events.iter().filter_map(|event| event["payload"]["note"].as_str());
        assert_eq!(stored.map(str::to_owned).collect::<BTreeSet<_>>(), notes, "seed {seed}");
        project.sound();

        all += history.len();
        for act in &history {
            counts[match act.answer {
                Answer::Granted { .. } => 0,
                Answer::Renewed { .. } => 1,
                Answer::Fenced { .. } => 2,
                Answer::Released => 3,
                Answer::Lost => 4,
                Answer::Refused => 5,
            }] += 1;
        }
    }
    let [granted, renewed, fenced, released, lost, refused] = counts;
    println!(
        "{histories} histories of {} processes checked, {stopped} of them stopped for a while; {all} \
         answers: {granted} leases granted, {renewed} renewed, {fenced} fenced writes, {released} \
         released, {lost} lost, {refused} refused; breaches: 0; longest command {:.2?}",
        histories * (AGENTS * COMMANDS) as u64,
        waits.worst(),
    );
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn of_many_that_ask_at_once_one_wins() {
    const MANY: usize = 12;
    let _deadline = Deadline::new("a race for one lease", Duration::from_secs(120));
    let project = Project::new();
    for token in 1..=3_u64 {
        let together = Barrier::new(MANY);
        let ask = |number: usize| {
            let agent = format!("agent-{number}");
            let mut command =
                project.mk(&["lease", "acquire", "src/a.rs", "--json", "--agent", &agent]);
            together.wait();
            (number, answer(&command.output().unwrap()))
        };
        let ask = &ask;
        let answers: Vec<(usize, Value)> = thread::scope(|scope| {
            let racing: Vec<_> = (0..MANY).map(|it| scope.spawn(move || ask(it))).collect();
            racing.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let (won, refused): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|(_, answer)| answer["leases"].is_array());
        let [(winner, grant)] = won.as_slice() else { panic!("{} won", won.len()) };
        assert_eq!(grant["leases"][0]["fencing_token"], token);
        let winner = format!("agent-{winner}");
        for (_, refusal) in refused {
            assert_eq!(refusal["error"]["code"], "lease-held");
            assert_eq!(refusal["error"]["details"]["holder"], winner);
        }
        let token = token.to_string();
        project.run(&["lease", "release", "src/a.rs", "--token", &token, "--agent", &winner]);
    }
    project.sound();
}

#[test]
fn those_that_wait_get_their_turn_after_holders_that_died() {
    const MANY: usize = 8;
    let _deadline = Deadline::new("a queue for one lease", Duration::from_secs(120));
    let project = Project::new();
    let ask = |number: usize| {
        let agent = format!("agent-{number}");
        // Nobody gives it back.
        let terms = ["--ttl", "0.1", "--wait", "60", "--agent", &agent];
        let granted = project.json(&[&["lease", "acquire", "src/"][..], &terms].concat());
        granted["leases"][0]["fencing_token"].as_u64().unwrap()
    };
    let ask = &ask;
    let tokens: BTreeSet<u64> = thread::scope(|scope| {
        let waiting: Vec<_> = (0..MANY).map(|it| scope.spawn(move || ask(it))).collect();
        waiting.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(tokens, (1..=MANY as u64).collect());
}

/// A lease counts from when it is granted, however long the write lock was waited for.
#[test]
fn a_lease_is_not_over_when_it_is_granted() {
    let project = Project::new();
    let mut store = Sqlite::open_to_write(
        &project.path().join(".mk/mk.db"),
        Duration::from_secs(5),
        Durability::Full,
    )
    .unwrap();
    let held_up: Result<_, StoreError> = store.write(|_| {
        let mut command = project.mk(&["lease", "acquire", "src/a.rs", "--ttl", "0.5", "--json"]);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(1_500));
        Ok((child, wall_clock()))
    });
    let (child, free_from) = held_up.unwrap();
    let granted = answer(&child.wait_with_output().unwrap());
    assert!(moment(&granted["leases"][0]["expires_at"]) >= free_from + 500_000, "{granted}");
}
