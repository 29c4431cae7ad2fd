//! Leases against the obvious definition of them, on both engines.

use std::collections::{BTreeMap, BTreeSet};

use mk::canon::Object;
use mk::event::EventType;
use mk::id::{AgentId, BranchName};
use mk::lease::{self, Again, Claimant, LeaseError, Lost, Place, Resource, ResourceError, Ttl};
use mk::log::{Log, Outside};
use mk::store::{Engine, Leases, Origin, ReadTxn, StoreError};
use mk::time::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::engines::{self, File, Salts};

const START: i64 = 1_796_032_800_000_000;

const RESOURCES: [&str; 11] =
    ["a", "a/", "a/b", "a/b/", "a/b/c", "a-b", "ab", "b/c", "s:x", "s:x/", "s:x/y"];

const AGENTS: [&str; 3] = ["ann", "bob", "cyd"];

fn place() -> Place {
    let root = "/project".to_owned();
    Place { here: root.clone(), root, folds_case: false }
}

fn resource(text: &str) -> Resource {
    Resource::locate(text, &place()).unwrap()
}

#[derive(Debug, Clone)]
enum Step {
    Acquire {
        resources: Vec<&'static str>,
        who: (&'static str, &'static str),
        ttl: u32,
        again: Again,
    },
    /// The token is counted down from the last one.
    Renew {
        resource: &'static str,
        agent: &'static str,
        below: u64,
    },
    Release {
        resource: &'static str,
        agent: &'static str,
        below: u64,
    },
    Sweep,
    /// As a restore does.
    Raise,
    /// A clock may be set back.
    Wait {
        seconds: i64,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    let resource = || select(&RESOURCES[..]);
    let who = (select(&AGENTS[..]), select(&["", "s1", "s2"][..]));
    let again = select(vec![Again::Renew, Again::Renew, Again::TakeOver, Again::Refuse]);
    let below = || prop_oneof![4 => Just(0), 1 => 1..3_u64];
    prop_oneof![
        6 => (vec(resource(), 1..3), who, 1..40_u32, again)
            .prop_map(|(resources, who, ttl, again)| Step::Acquire { resources, who, ttl, again }),
        2 => (resource(), select(&AGENTS[..]), below())
            .prop_map(|(resource, agent, below)| Step::Renew { resource, agent, below }),
        3 => (resource(), select(&AGENTS[..]), below())
            .prop_map(|(resource, agent, below)| Step::Release { resource, agent, below }),
        1 => Just(Step::Sweep),
        1 => Just(Step::Raise),
        3 => prop_oneof![4 => 1..20_i64, 1 => -20..0_i64].prop_map(|seconds| Step::Wait { seconds }),
    ]
}

/// The obvious definition: a list of who has what until when.
#[derive(Default)]
struct Model {
    now: i64,
    tokens: BTreeMap<&'static str, u64>,
    held: BTreeMap<&'static str, Holding>,
    /// Every token that was ever granted.
    granted: BTreeSet<(&'static str, u64)>,
}

#[derive(Clone, Copy)]
struct Holding {
    who: (&'static str, &'static str),
    ttl: i64,
    expires: i64,
}

/// Parts of the path, and whether all below it belongs to it.
fn parts(text: &str) -> (Vec<&str>, bool) {
    (text.trim_end_matches('/').split('/').collect(), text.ends_with('/'))
}

fn overlap(a: &str, b: &str) -> bool {
    let ((a, a_tree), (b, b_tree)) = (parts(a), parts(b));
    a == b || (a_tree && b.starts_with(&a)) || (b_tree && a.starts_with(&b))
}

impl Model {
    fn play(&mut self, step: &Step) -> Result<Vec<u64>, String> {
        match step {
            Step::Acquire { resources, who, ttl, again } => {
                let mut unique: Vec<&'static str> = Vec::new();
                for resource in resources {
                    if !unique.contains(resource) {
                        unique.push(resource);
                    }
                }
                for asked in &unique {
                    let stands = |(resource, held): (&&str, &Holding)| {
                        held.expires > self.now
                            && overlap(asked, resource)
                            && match again {
                                Again::Renew => held.who != *who,
                                Again::TakeOver => held.who.0 != who.0,
                                Again::Refuse => true,
                            }
                    };
                    if self.held.iter().any(stands) {
                        return Err("held".to_owned());
                    }
                }
                let ttl = i64::from(*ttl);
                let mut tokens = Vec::new();
                for resource in unique {
                    let held = self.held.get(resource).filter(|held| held.expires > self.now);
                    let last = self.tokens.entry(resource).or_default();
                    let expires = self.now + ttl;
                    match held.filter(|_| *again == Again::Renew) {
                        Some(held) => {
                            let expires = held.expires.max(expires);
                            self.held.insert(resource, Holding { who: *who, ttl, expires });
                        }
                        None => {
                            *last += 1;
                            assert!(self.granted.insert((resource, *last)), "a token came twice");
                            // What had lapsed in its way stays so, even if the clock is set back.
                            for (other, held) in &mut self.held {
                                if *other != resource
                                    && overlap(other, resource)
                                    && held.expires <= self.now
                                {
                                    held.expires = i64::MIN;
                                }
                            }
                            self.held.insert(resource, Holding { who: *who, ttl, expires });
                        }
                    }
                    tokens.push(self.tokens[resource]);
                }
                Ok(tokens)
            }
            Step::Renew { resource, agent, below } => {
                self.bearer(resource, agent, *below, true)?;
                let now = self.now;
                let held = self.held.get_mut(resource).unwrap();
                held.expires = held.expires.max(now + held.ttl);
                Ok(Vec::new())
            }
            Step::Release { resource, agent, below } => {
                self.bearer(resource, agent, *below, false)?;
                self.held.remove(resource);
                Ok(Vec::new())
            }
            Step::Sweep => {
                let now = self.now;
                self.held.retain(|_, held| held.expires > now);
                Ok(Vec::new())
            }
            Step::Raise => {
                self.tokens.values_mut().for_each(|token| *token += 1_000_000);
                Ok(Vec::new())
            }
            Step::Wait { seconds } => {
                self.now += seconds;
                Ok(Vec::new())
            }
        }
    }

    /// Whether the bearer of the last token, less `below`, has the lease; else why not.
    fn bearer(
        &self,
        resource: &str,
        agent: &str,
        below: u64,
        in_force: bool,
    ) -> Result<(), String> {
        let Some(last) = self.tokens.get(resource) else {
            return Err(Lost::Unknown.as_str().to_owned());
        };
        let held = self.held.get(resource);
        let is_own = held.is_some_and(|held| held.who.0 == agent);
        let lost = match held {
            _ if last.saturating_sub(below).max(1) < *last => {
                if is_own {
                    Lost::WrongToken
                } else {
                    Lost::Taken
                }
            }
            None => Lost::Unknown,
            Some(_) if !is_own => Lost::WrongAgent,
            Some(held) if in_force && held.expires <= self.now => Lost::Expired,
            Some(_) => return Ok(()),
        };
        Err(lost.as_str().to_owned())
    }
}

/// A store on which the steps are played.
struct Player<'a, E> {
    store: &'a mut E,
    now: i64,
    salts: Salts,
}

impl<E: Engine> Player<'_, E> {
    fn play(&mut self, step: &Step) -> Result<Vec<u64>, String> {
        let now = Timestamp::from_micros(START + self.now * 1_000_000);
        let main = BranchName::main();
        let none = Object::new();
        let Self { store, salts, .. } = self;
        let done: Result<Vec<u64>, LeaseError> = store.write(|txn| {
            let mut outside = Outside { now: &mut || now, salt: &mut || salts.next() };
            let last = |txn: &dyn ReadTxn, key: &str, below: u64| {
                let token = txn.lease(key)?.map_or(1, |lease| lease.token);
                Ok::<_, StoreError>(token.saturating_sub(below).max(1))
            };
            match step {
                Step::Acquire { resources, who, ttl, again } => {
                    let mut wanted: Vec<Resource> = Vec::new();
                    for text in resources {
                        if !wanted.contains(&resource(text)) {
                            wanted.push(resource(text));
                        }
                    }
                    let agent: AgentId = who.0.parse().unwrap();
                    let who = Claimant { agent: &agent, session: who.1, origin: Origin::Tool };
                    let terms = (Ttl::from_seconds(f64::from(*ttl)).unwrap(), *again);
                    let mut log = Log::open(txn)?;
                    let at = (now, &mut outside);
                    let granted = lease::acquire(&mut log, &main, &wanted, who, terms, &none, at)?;
                    Ok(granted.leases.iter().map(|lease| lease.fencing_token).collect())
                }
                Step::Renew { resource: key, agent, below } => {
                    let token = last(txn, key, *below)?;
                    lease::renew(txn, &resource(key), token, &agent.parse().unwrap(), now)?;
                    Ok(Vec::new())
                }
                Step::Release { resource: key, agent, below } => {
                    let (key, token) = (resource(key), last(txn, key, *below)?);
                    let agent = agent.parse().unwrap();
                    let mut log = Log::open(txn)?;
                    lease::release(
                        &mut log,
                        None,
                        (&key, token),
                        &agent,
                        &none,
                        (now, &mut outside),
                    )?;
                    Ok(Vec::new())
                }
                Step::Sweep => {
                    let agent = "sweeper".parse().unwrap();
                    let mut log = Log::open(txn)?;
                    assert!(!lease::sweep(&mut log, &agent, &none, (now, &mut outside))?.more);
                    Ok(Vec::new())
                }
                Step::Raise => {
                    txn.raise_lease_tokens(1_000_000)?;
                    Ok(Vec::new())
                }
                Step::Wait { .. } => Ok(Vec::new()),
            }
        });
        if let Step::Wait { seconds } = step {
            self.now += seconds;
        }
        done.map_err(|error| match error {
            LeaseError::Held(_) => "held".to_owned(),
            LeaseError::Lost { lost, .. } => lost.as_str().to_owned(),
            other => panic!("{other}"),
        })
    }

    /// Who holds what, and the state's claims.
    fn holders(&mut self) -> BTreeMap<String, (String, String, u64)> {
        let now = Timestamp::from_micros(START + self.now * 1_000_000);
        let leases: Result<_, StoreError> =
            self.store.read(|txn| txn.leases(Leases::Active(now), "", None, usize::MAX));
        let row = |lease: mk::store::Lease| {
            let holder = lease.holder.unwrap();
            (lease.resource, (holder.agent.to_string(), holder.session, lease.token))
        };
        leases.unwrap().into_iter().map(row).collect()
    }
}

fn plays_as_defined<E: Engine>(store: &mut E, steps: &[Step]) {
    let mut model = Model::default();
    let mut player = Player { store, now: 0, salts: Salts::default() };
    for step in steps {
        assert_eq!(player.play(step), model.play(step), "{step:?}");
        let active = model.held.iter().filter(|(_, held)| held.expires > model.now);
        let expected = active.map(|(resource, held)| {
            let holder = (held.who.0.to_owned(), held.who.1.to_owned(), model.tokens[resource]);
            ((*resource).to_owned(), holder)
        });
        assert_eq!(player.holders(), expected.collect(), "after {step:?}");
    }
    // Each grant, and each giving back, has its event.
    let kinds: Result<Vec<EventType>, StoreError> = player.store.read(|txn| {
        let last = txn.log_head()?.map_or(0, |(id, _)| id.0);
        (1..=last).map(|id| Ok(txn.known_event(mk::id::EventId(id))?.kind)).collect()
    });
    let grants = kinds.unwrap().into_iter().filter(|kind| *kind == EventType::ClaimAcquired);
    assert_eq!(grants.count(), model.granted.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// No two agents hold overlapping resources, no token comes twice, every refusal has its reason.
    #[test]
    fn leases_are_what_a_list_of_holders_says(steps in vec(any_step(), 1..60)) {
        let (now, agent) = (Timestamp::from_micros(START), "ann".parse().unwrap());
        plays_as_defined(&mut engines::memory(now, &agent), &steps);
        plays_as_defined(&mut *File::new(now, &agent), &steps);
    }

    /// The rows of any prefix, page by page, are those that a look at each gives.
    #[test]
    fn leases_are_listed_by_prefix_and_page(
        keys in vec("[a-c\u{d7ff}\u{e000}\u{10ffff}/]{1,4}", 1..30),
        prefix in "[a-c\u{d7ff}\u{e000}\u{10ffff}/]{0,2}",
        limit in 1..5_usize,
    ) {
        let (now, agent) = (Timestamp::from_micros(START), "ann".parse().unwrap());
        let mut memory = engines::memory(now, &agent);
        let mut file = File::new(now, &agent);
        let put = |txn: &mut dyn mk::store::WriteTxn| {
            keys.iter().try_for_each(|key| lease::raise_token(txn, key, 7))
        };
        memory.write(put).map_err(|error: StoreError| error).unwrap();
        file.write(put).map_err(|error: StoreError| error).unwrap();
        let sorted: BTreeSet<&String> = keys.iter().filter(|key| key.starts_with(&prefix)).collect();
        let pages = |txn: &dyn ReadTxn| {
            let mut found: Vec<String> = Vec::new();
            loop {
                let after = found.last().map(String::as_str);
                let page = txn.leases(Leases::All, &prefix, after, limit)?;
                if page.is_empty() {
                    return Ok::<_, StoreError>(found);
                }
                assert!(page.len() <= limit);
                found.extend(page.into_iter().map(|lease| lease.resource));
            }
        };
        prop_assert!(memory.read(pages).unwrap().iter().eq(sorted.iter().copied()));
        prop_assert!(file.read(pages).unwrap().iter().eq(sorted.iter().copied()));
    }

    /// Two resources overlap if and only if some path belongs to both.
    #[test]
    fn resources_overlap_as_their_paths_do(a in "[ab]{1,2}(/[ab]){0,3}/?", b in "[ab]{1,2}(/[ab]){0,3}/?") {
        prop_assert_eq!(resource(&a).overlaps(&resource(&b)), overlap(&a, &b));
        prop_assert_eq!(resource(&b).overlaps(&resource(&a)), overlap(&a, &b));
    }

    /// Whatever is between the parts, it is the same file; and a key is its own spelling.
    #[test]
    fn all_spellings_of_a_file_are_one_key(
        parts in vec("[a-zé.:]{1,5}", 1..5),
        between in vec(select(vec!["/", "//", "\\", "/./", "/x/../", "\\.\\"]), 4),
        start in select(vec!["", "./", "x/../", "/project/", "//project//", "../project/"]),
    ) {
        prop_assume!(parts.iter().all(|part| part.chars().any(|c| c != '.')));
        let plain = format!("./{}", parts.join("/"));
        let mut spelt = start.to_owned();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                spelt.push_str(between[index - 1]);
            }
            spelt.push_str(part);
        }
        // Without anything before it, the first part may be a scheme.
        prop_assume!(!start.is_empty() || !parts[0].contains(':'));
        let key = resource(&plain);
        prop_assert_eq!(&resource(&spelt), &key);
        prop_assert_eq!(&resource(key.as_str()), &key);
        let decomposed = plain.replace('é', "e\u{301}");
        prop_assert_eq!(&resource(&decomposed), &key);
    }

    #[test]
    fn any_text_is_a_resource_or_refused(text in "\\PC{0,20}|[a-z:/\\\\.~ \n]{0,12}") {
        if let Ok(resource) = Resource::locate(&text, &place()) {
            prop_assert!(!resource.as_str().contains(char::is_control));
            prop_assert!(!resource.as_str().split('/').any(|part| part == ".."));
            prop_assert_eq!(Resource::locate(resource.as_str(), &place()), Ok(resource));
        }
        let _ = Resource::of_peer(&text);
    }
}

#[test]
fn what_lies_outside_is_refused() {
    for text in ["..", "../x", "a/../../x", "/", "/etc", "/projects/x", "\\etc", "/project/../x"] {
        let refused = Resource::locate(text, &place());
        let expected = ResourceError::Outside { text: text.to_owned(), root: place().root };
        assert_eq!(refused, Err(expected), "{text}");
    }
    for text in [".", "./", "a/..", "/project", "/project/", "../project"] {
        let refused = Resource::locate(text, &place());
        assert_eq!(refused, Err(ResourceError::Root(text.to_owned())), "{text}");
    }
    let longest = "é".repeat(1_024);
    assert_eq!(resource(&longest).as_str(), longest);
    let start = "é".repeat(32);
    let too_long = Err(ResourceError::TooLong { start, length: 1_025 });
    assert_eq!(Resource::locate(&format!("{longest}é"), &place()), too_long);
}

#[test]
fn relative_paths_begin_where_the_caller_is() {
    let here = Place { here: "/project/src".to_owned(), ..place() };
    let key = |text: &str| Resource::locate(text, &here).unwrap().as_str().to_owned();
    assert_eq!(key("a.rs"), "src/a.rs");
    assert_eq!(key("../a.rs"), "a.rs");
    assert_eq!(key("."), "src");
    assert_eq!(key("./"), "src/");
    assert_eq!(key("service:auth"), "service:auth");
    assert_eq!(key("/project/service:auth"), "./service:auth");
    let folds = Place { folds_case: true, ..here };
    let key = |text: &str| Resource::locate(text, &folds).unwrap().as_str().to_owned();
    assert_eq!(key("/Project/SRC/É.rs"), "src/é.rs");
    assert_eq!(key("service:Auth"), "service:Auth");
}
