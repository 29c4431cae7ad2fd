//! Whether what many processes were answered about leases is what docs/leases.md promises.
//!
//! This knows nothing of how leases are kept: it sees who asked what, what the answer was, and when
//! either was, by the clock of the machine. Between the two moments the act took effect, nobody knows
//! when; so only what is certain counts against a history.

use std::collections::BTreeMap;

/// Microseconds since 1970.
pub type Moment = i64;

/// A lease: the resource and the token of its grant.
pub type Key = (String, u64);

/// One answer, about one resource.
#[derive(Debug, Clone)]
pub struct Act {
    pub agent: String,
    pub session: String,
    pub lease: Key,
    pub asked: Moment,
    pub answered: Moment,
    pub answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A new lease, until then; with `take_over` even if the agent had one in another session.
    Granted {
        until: Moment,
        take_over: bool,
    },
    /// The lease holds until then.
    Renewed {
        until: Moment,
    },
    /// A write that depended on the lease was done, which renewed it for its time, in µs.
    Fenced {
        ttl: i64,
    },
    Released,
    /// The agent does not hold the lease (any more).
    Lost,
    /// The agent did not get `asked`, because of the lease of another.
    Refused,
}

/// How a history breaks the promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// Two had the same at once.
    TwoHolders,
    /// A token was given twice.
    TokenTwice,
    /// A later grant has a token that is not above the earlier one's.
    TokenFell,
    /// A lease was used that nobody granted to this agent.
    NeverGranted,
    /// A lease was used although another grant had ended it.
    Stale,
    /// A lease was used after it was given back.
    AfterRelease,
    /// A lease was used after its time.
    AfterItsTime,
    /// A lease was called lost while it was held.
    LostWhileHeld,
    /// A lease that was over stood in the way.
    HeldByNobody,
}

/// What is known of one lease.
struct Known<'a> {
    grant: &'a Act,
    take_over: bool,
    /// It was held at least from `grant.answered` to here.
    certain_end: Moment,
    /// The acts that prolonged it, each with when it was asked and how long it can hold by it.
    prolonged: Vec<(usize, Moment, Moment)>,
    /// When the first release was answered.
    released: Option<Moment>,
}

impl Known<'_> {
    /// Whether it was held all the time from `begin` to `end`.
    fn is_held(&self, begin: Moment, end: Moment) -> bool {
        self.grant.answered <= begin && end < self.certain_end
    }

    /// The last moment that it can have been in force, by what others than `act` asked before `by`.
    fn possible_end(&self, act: usize, by: Moment) -> Moment {
        let earlier =
            self.prolonged.iter().filter(|(other, asked, _)| *other != act && *asked < by);
        earlier.map(|(_, _, until)| *until).max().unwrap_or(Moment::MIN)
    }

    fn is_of(&self, act: &Act) -> bool {
        self.grant.agent == act.agent
    }
}

/// All breaches, each with what was found. None: the history is sound.
pub fn check(history: &[Act]) -> Vec<(Breach, String)> {
    let mut breaches = Vec::new();
    let known = known(history, &mut breaches);
    let leases: Vec<(&Key, &Known<'_>)> = known.iter().collect();
    for (index, one) in leases.iter().enumerate() {
        for other in &leases[index + 1..] {
            check_pair(*one, *other, &mut breaches);
        }
    }
    for (number, act) in history.iter().enumerate() {
        check_act(number, act, &known, &mut breaches);
    }
    breaches
}

/// The kinds of breach in a history.
pub fn breaches(history: &[Act]) -> Vec<Breach> {
    let mut kinds: Vec<Breach> = check(history).into_iter().map(|(breach, _)| breach).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn known<'a>(history: &'a [Act], breaches: &mut Vec<(Breach, String)>) -> BTreeMap<Key, Known<'a>> {
    let mut known: BTreeMap<Key, Known<'a>> = BTreeMap::new();
    for (number, act) in history.iter().enumerate() {
        let Answer::Granted { until, take_over } = act.answer else { continue };
        if let Some(first) = known.get(&act.lease) {
            breaches.push((Breach::TokenTwice, format!("{:?} and {act:?}", first.grant)));
            continue;
        }
        let lease = Known {
            grant: act,
            take_over,
            certain_end: until,
            prolonged: vec![(number, act.asked, until)],
            released: None,
        };
        known.insert(act.lease.clone(), lease);
    }
    for (number, act) in history.iter().enumerate() {
        let Some(lease) = known.get_mut(&act.lease).filter(|lease| lease.is_of(act)) else {
            continue;
        };
        let (certain, possible) = match act.answer {
            Answer::Renewed { until } => (until, until),
            Answer::Fenced { ttl } => (act.asked + ttl, act.answered + ttl),
            _ => continue,
        };
        lease.certain_end = lease.certain_end.max(certain);
        lease.prolonged.push((number, act.asked, possible));
    }
    for act in history {
        let Some(lease) = known.get_mut(&act.lease).filter(|lease| lease.is_of(act)) else {
            continue;
        };
        if act.answer == Answer::Released {
            lease.certain_end = lease.certain_end.min(act.asked);
            lease.released = Some(lease.released.map_or(act.answered, |it| it.min(act.answered)));
        }
    }
    // Who takes over ends what it had.
    let takes_over = |act: &&Act| matches!(act.answer, Answer::Granted { take_over: true, .. });
    for act in history.iter().filter(takes_over) {
        let (resource, token) = &act.lease;
        let below = (resource.clone(), 0)..(resource.clone(), *token);
        for (_, lease) in known.range_mut(below).filter(|(_, lease)| lease.is_of(act)) {
            lease.certain_end = lease.certain_end.min(act.asked);
        }
    }
    known
}

/// Two leases: which was first, and that not both were held at once.
fn check_pair(
    (one_key, one): (&Key, &Known<'_>),
    (other_key, other): (&Key, &Known<'_>),
    breaches: &mut Vec<(Breach, String)>,
) {
    let about = || format!("{:?} and {:?}", one.grant, other.grant);
    if one_key.0 == other_key.0 {
        let (low, high) = if one_key.1 < other_key.1 { (one, other) } else { (other, one) };
        if high.grant.answered < low.grant.asked {
            breaches.push((Breach::TokenFell, about()));
        }
    }
    if !overlap(&one_key.0, &other_key.0) || may_share(one, other) {
        return;
    }
    let begin = one.grant.answered.max(other.grant.answered);
    let both = begin < one.certain_end.min(other.certain_end);
    let within =
        |held: &Known<'_>, new: &Known<'_>| held.is_held(new.grant.asked, new.grant.answered);
    if both || within(one, other) || within(other, one) {
        breaches.push((Breach::TwoHolders, about()));
    }
}

/// What one agent has in one session never stands in its own way, nor what it takes over.
fn may_share(one: &Known<'_>, other: &Known<'_>) -> bool {
    let is_same_session = one.grant.session == other.grant.session;
    one.is_of(other.grant) && (is_same_session || one.take_over || other.take_over)
}

fn check_act(
    number: usize,
    act: &Act,
    known: &BTreeMap<Key, Known<'_>>,
    breaches: &mut Vec<(Breach, String)>,
) {
    let mut breach = |breach, why: &dyn std::fmt::Debug| {
        breaches.push((breach, format!("{act:?}: {why:?}")));
    };
    let lease = known.get(&act.lease);
    match act.answer {
        Answer::Granted { .. } => {}
        Answer::Renewed { .. } | Answer::Fenced { .. } | Answer::Released => {
            let Some(lease) = lease.filter(|lease| lease.is_of(act)) else {
                return breach(Breach::NeverGranted, &"no such grant");
            };
            if act.answered < lease.grant.asked {
                breach(Breach::NeverGranted, lease.grant);
            }
            // A lease whose time ran out may still be given back, whoever had its neighbours.
            let is_release = act.answer == Answer::Released;
            let ended = known.iter().find(|(key, later)| {
                let after = lease.grant.answered < later.grant.asked;
                let before = later.grant.answered < act.asked;
                let same = key.0 == act.lease.0 && key.1 > act.lease.1;
                let other = overlap(&key.0, &act.lease.0) && !may_share(lease, later);
                (same && before) || (!is_release && other && after && before)
            });
            if let Some((_, later)) = ended {
                breach(Breach::Stale, later.grant);
            }
            if lease.released.is_some_and(|released| released < act.asked) {
                breach(Breach::AfterRelease, &lease.released);
            }
            let end = lease.possible_end(number, act.answered);
            if !is_release && end < act.asked {
                breach(Breach::AfterItsTime, &end);
            }
        }
        Answer::Lost => {
            let held = lease.filter(|lease| lease.is_of(act));
            if let Some(lease) = held.filter(|lease| lease.is_held(act.asked, act.answered)) {
                breach(Breach::LostWhileHeld, lease.grant);
            }
        }
        Answer::Refused => {
            let Some(lease) = lease else {
                return breach(Breach::HeldByNobody, &"no such grant");
            };
            let is_later = lease.grant.asked > act.answered;
            let is_released = lease.released.is_some_and(|released| released < act.asked);
            let is_over = lease.possible_end(number, act.answered) < act.asked;
            let after = (act.lease.0.clone(), act.lease.1 + 1)..=(act.lease.0.clone(), u64::MAX);
            let is_taken = known.range(after).any(|(_, later)| later.grant.answered < act.asked);
            if is_later || is_released || is_over || is_taken {
                breach(Breach::HeldByNobody, lease.grant);
            }
        }
    }
}

/// Whether two resources have anything in common: a name that ends in `/` is all that is below, and
/// what it is itself.
fn overlap(one: &str, other: &str) -> bool {
    let within = |tree: &str, it: &str| {
        tree.strip_suffix('/').is_some_and(|path| it.starts_with(tree) || it == path)
    };
    one == other || within(one, other) || within(other, one)
}

#[cfg(test)]
mod tests {
    use super::Answer::{Fenced, Granted, Lost, Refused, Released, Renewed};
    use super::{Act, Answer, Breach, Moment, breaches};

    /// `agent` asked about `src/a.rs` unless told otherwise; all in whole units.
    fn act(agent: &str, token: u64, (asked, answered): (Moment, Moment), answer: Answer) -> Act {
        let lease = ("src/a.rs".to_owned(), token);
        Act { agent: agent.to_owned(), session: String::new(), lease, asked, answered, answer }
    }

    fn on(resource: &str, mut act: Act) -> Act {
        act.lease.0 = resource.to_owned();
        act
    }

    fn granted(until: Moment) -> Answer {
        Granted { until, take_over: false }
    }

    #[test]
    fn a_sound_history_is_accepted() {
        let history = [
            act("ann", 1, (0, 10), granted(100)),
            act("bob", 1, (20, 30), Refused),
            act("ann", 1, (90, 110), Renewed { until: 195 }),
            act("ann", 1, (150, 160), Fenced { ttl: 100 }),
            act("ann", 1, (170, 175), Released),
            act("bob", 2, (171, 180), granted(300)),
            act("ann", 1, (181, 190), Lost),
            // Taken over by another session of the same agent.
            Act {
                session: "2".to_owned(),
                ..act("bob", 3, (200, 210), Granted { until: 400, take_over: true })
            },
            act("bob", 2, (220, 230), Lost),
            // What ran out goes to the next, at the moment itself.
            on("src/", act("cal", 1, (390, 401), granted(500))),
        ];
        assert_eq!(breaches(&history), []);
    }

    #[test]
    fn acts_at_the_same_time_may_have_been_in_either_order() {
        let mut history = vec![
            act("ann", 1, (0, 10), granted(100)),
            act("ann", 1, (80, 120), Released),
            act("ann", 1, (90, 130), Lost),
            act("ann", 1, (85, 125), Fenced { ttl: 100 }),
            act("bob", 1, (85, 125), Refused),
            act("bob", 2, (82, 118), granted(400)),
        ];
        assert_eq!(breaches(&history), []);
        history.reverse();
        assert_eq!(breaches(&history), []);
    }

    #[test]
    fn two_holders_are_found() {
        let first = act("ann", 1, (0, 10), granted(100));
        let second = |asked, answered| act("bob", 2, (asked, answered), granted(200));
        assert_eq!(breaches(&[first.clone(), second(20, 30)]), [Breach::TwoHolders]);
        // Even if it was over when it arrived.
        let short = act("bob", 2, (20, 30), granted(25));
        assert_eq!(breaches(&[first.clone(), short]), [Breach::TwoHolders]);
        for (resource, other) in [("src/", "src/b"), ("src/", "src"), ("src/a/", "src/a/b/")] {
            let tree = on(resource, first.clone());
            assert_eq!(breaches(&[tree, on(other, second(20, 30))]), [Breach::TwoHolders]);
        }
        assert_eq!(breaches(&[on("src/a/", first.clone()), on("src/ab", second(20, 30))]), []);
        // In another session, without taking it over.
        let again = Act { session: "2".to_owned(), ..act("ann", 2, (20, 30), granted(200)) };
        assert_eq!(breaches(&[on("src/", first.clone()), again]), [Breach::TwoHolders]);
        // It was renewed when the other got it.
        let renewed = act("ann", 1, (90, 95), Renewed { until: 190 });
        let history = [first.clone(), renewed, second(110, 120)];
        assert_eq!(breaches(&history), [Breach::TwoHolders]);
        // Given back, but only later.
        let history = [first, second(20, 30), act("ann", 1, (50, 60), Released)];
        assert!(breaches(&history).contains(&Breach::TwoHolders));
    }

    #[test]
    fn tokens_that_do_not_rise_are_found() {
        let first = act("ann", 7, (0, 10), granted(20));
        let second = |token| act("bob", token, (30, 40), granted(50));
        assert_eq!(breaches(&[first.clone(), second(7)]), [Breach::TokenTwice]);
        assert_eq!(breaches(&[first.clone(), second(6)]), [Breach::TokenFell]);
        assert_eq!(breaches(&[first, second(8)]), []);
    }

    #[test]
    fn stale_uses_are_found() {
        let first = act("ann", 1, (0, 10), granted(100));
        let second = act("bob", 2, (110, 120), granted(200));
        for answer in [Fenced { ttl: 100 }, Renewed { until: 230 }] {
            let late = act("ann", 1, (130, 140), answer);
            assert!(breaches(&[first.clone(), second.clone(), late]).contains(&Breach::Stale));
        }
        let late = act("ann", 1, (130, 140), Released);
        assert_eq!(breaches(&[first.clone(), second.clone(), late]), [Breach::Stale]);
        // The subtree around it went to another meanwhile, and is free again.
        let around = on("src/", second);
        let back = on("src/", act("bob", 2, (130, 135), Released));
        let late = act("ann", 1, (140, 150), Fenced { ttl: 100 });
        assert!(breaches(&[first, around, back, late]).contains(&Breach::Stale));
    }

    #[test]
    fn uses_of_what_is_over_are_found() {
        let first = act("ann", 1, (0, 10), granted(100));
        let fenced = |asked, answered| act("ann", 1, (asked, answered), Fenced { ttl: 100 });
        assert_eq!(breaches(&[first.clone(), fenced(90, 120), fenced(215, 230)]), []);
        assert_eq!(breaches(&[first.clone(), fenced(101, 120)]), [Breach::AfterItsTime]);
        let history = [first.clone(), act("ann", 1, (20, 30), Released), fenced(40, 50)];
        assert_eq!(breaches(&history), [Breach::AfterRelease]);
        let history = [first.clone(), act("ann", 2, (20, 30), Fenced { ttl: 9 })];
        assert_eq!(breaches(&history), [Breach::NeverGranted]);
        let history = [first, act("bob", 1, (20, 30), Released)];
        assert_eq!(breaches(&history), [Breach::NeverGranted]);
    }

    #[test]
    fn answers_that_deny_what_is_are_found() {
        let first = act("ann", 1, (0, 10), granted(100));
        let lost = |asked, answered| act("ann", 1, (asked, answered), Lost);
        assert_eq!(breaches(&[first.clone(), lost(20, 30)]), [Breach::LostWhileHeld]);
        assert_eq!(breaches(&[first.clone(), lost(90, 101)]), []);
        let refused = |asked, answered| act("bob", 1, (asked, answered), Refused);
        assert_eq!(breaches(&[first.clone(), refused(90, 130)]), []);
        assert_eq!(breaches(&[first.clone(), refused(101, 130)]), [Breach::HeldByNobody]);
        let released = act("ann", 1, (20, 30), Released);
        let history = [first.clone(), released, refused(31, 40)];
        assert_eq!(breaches(&history), [Breach::HeldByNobody]);
        let history = [first, act("bob", 2, (20, 30), Refused)];
        assert_eq!(breaches(&history), [Breach::HeldByNobody]);
    }
}
