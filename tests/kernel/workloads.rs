//! Context sizes on the recorded workloads, beside those of the peer.

use mk::canon::Value;

use crate::engines;
use crate::history::beginning;
use crate::workload::{self, NAMES};

#[test]
fn the_context_of_a_workload_is_no_longer_than_the_peers_and_its_state_is_whole() {
    for name in NAMES {
        let mut store = engines::memory(beginning(), &"mk".parse().unwrap());
        let measured = workload::play(&mut store, name).unwrap();
        let peer = workload::of_peer(name, "heuristic");
        let peer = |member: &str| peer.get(member).and_then(Value::as_i64).unwrap() as u64;
        assert!(measured.state_equivalent, "{name}");
        assert_eq!(measured.raw_tokens, peer("raw_tokens"), "{name}");
        assert!(measured.context_tokens <= peer("context_tokens"), "{name}: {measured:?}");
        assert!(
            measured.peak_context_tokens <= peer("peak_context_tokens"),
            "{name}: {measured:?}"
        );
        assert!(measured.reduction_percent() > 89.0, "{name}: {measured:?}");
        assert!(measured.snapshots <= peer("snapshots"), "{name}: {measured:?}");
    }
}
