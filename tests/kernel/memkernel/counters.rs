//! Of the leases of the peer the counters come over, to the keys that their resources have here.

use mk::canon::{Object, Value};
use mk::id::{AgentId, BranchName};
use mk::lease::{self, Again, Claimant, DEFAULT_TTL, Granted, LeaseError, Lost, Resource};
use mk::log::Log;
use mk::memkernel::{ImportError, Options};
use mk::store::{Engine, Origin, StoreError};

use super::source::{Peer, at_work};
use super::{agent, database, expected, import, now, place, prefixed, store};
use crate::engines;

#[test]
fn counters_of_leases_are_moved_past_what_the_peer_granted() {
    let mut store = store();
    import(&mut *store, &database("medium"), &Options::default()).unwrap();
    let expected = expected(&database("medium"));
    store
        .read(|txn| {
            for recorded in expected.get("leases").and_then(Value::as_array).unwrap() {
                let key = recorded.get("resource_key").and_then(Value::as_str).unwrap();
                let last = recorded.get("fencing_token").and_then(Value::as_i64).unwrap();
                let lease = txn.lease(key)?.expect(key);
                assert_eq!(lease.token, last.unsigned_abs() + 1_000_000);
                assert_eq!(lease.holder, None);
            }
            Ok::<_, ImportError>(())
        })
        .unwrap();
}

/// A database of the peer in which these tokens were granted last.
fn with_leases(granted: &[(&str, i64)]) -> Peer {
    let peer = Peer::new();
    for (resource, token) in granted {
        let sql = "INSERT INTO leases VALUES (?1, 'peer', ?2, 30.0, 0.0, 30.0)";
        peer.connection.execute(sql, (resource, token)).unwrap();
    }
    peer
}

fn acquire<E: Engine>(store: &mut E, agent: &str, key: &str) -> Result<Granted, LeaseError> {
    let (agent, main): (AgentId, _) = (agent.parse().unwrap(), BranchName::main());
    let who = Claimant { agent: &agent, session: "", origin: Origin::Command };
    let (wanted, none) = ([Resource::locate(key, &place()).unwrap()], Object::new());
    at_work(|outside| {
        store.write(|txn| {
            let (mut log, terms) = (Log::open(txn)?, (DEFAULT_TTL, Again::Renew));
            lease::acquire(&mut log, &main, &wanted, who, terms, &none, (now(), outside))
        })
    })
}

fn meets_a_lease<E: Engine>(store: &mut E) {
    let peer = with_leases(&[
        ("src/a.rs", 7),
        ("/project/src/a.rs", 9),
        ("/elsewhere/b.rs", 3),
        ("service:auth", 4),
        (".", 2),
    ]);
    let granted = acquire(store, "ann", "a.rs").unwrap();
    assert_eq!(granted.leases[0].fencing_token, 1);
    let plan = import(store, &peer.path(), &prefixed("peer")).unwrap();
    let counters = plan.planned_actions.iter().find(|action| action.kind == "raise_counters");
    assert_eq!(counters.unwrap().count, 3);
    let warned = plan.warnings.listed.iter().map(|it| (it.kind, it.object.as_str()));
    assert_eq!(warned.collect::<Vec<_>>(), [("lease_left_out", "."), ("lease_raised", "src/a.rs")]);
    let read: Result<_, StoreError> =
        store.read(|txn| txn.leases(mk::store::Leases::All, "", None, 9));
    let tokens = read.unwrap().into_iter().map(|lease| (lease.resource, lease.token));
    assert_eq!(
        tokens.collect::<Vec<_>>(),
        [
            ("/elsewhere/b.rs".to_owned(), 1_000_003),
            ("service:auth".to_owned(), 1_000_004),
            ("src/a.rs".to_owned(), 1_000_009),
        ]
    );
    // It is still the holder's, but no token of before goes through.
    let resource = Resource::locate("a.rs", &place()).unwrap();
    let ann = "ann".parse().unwrap();
    let renewed = store.write(|txn| lease::renew(txn, &resource, 1, &ann, now()));
    assert!(matches!(renewed, Err(LeaseError::Lost { lost: Lost::WrongToken, .. })), "{renewed:?}");
    assert!(matches!(acquire(store, "bob", "a.rs"), Err(LeaseError::Held(_))));
    let again = acquire(store, "ann", "a.rs").unwrap().leases.remove(0);
    assert_eq!((again.fencing_token, again.renewed), (1_000_009, true));
    let released = at_work(|outside| {
        store.write(|txn| {
            let (which, none) = ((&resource, 1_000_009), Object::new());
            lease::release(&mut Log::open(txn)?, None, which, &ann, &none, (now(), outside))
        })
    });
    assert_eq!(released.unwrap().resource, "src/a.rs");
    let granted = acquire(store, "bob", "a.rs").unwrap();
    assert_eq!(granted.leases[0].fencing_token, 1_000_010);
    let plan = import(store, &peer.path(), &prefixed("peer")).unwrap();
    assert_eq!(plan.planned_actions, [], "what was granted since is above it");
}

#[test]
fn an_imported_counter_meets_a_lease_here() {
    meets_a_lease(&mut *store());
    meets_a_lease(&mut engines::memory(now(), &agent()));
}
