use mk::id::BranchName;
use mk::revision::{Range, Revision};
use mk::store::ReadTxn;
use mk::store::memory::Memory;

use super::assert_is_message;
use super::store::small;

thread_local! {
    static STORE: Memory = small();
}

/// A revision prints as it was typed, and an event that it names has the same name again.
pub fn revision(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = text.parse::<Range>() {
        assert_is_message(&error);
    }
    let revision = match text.parse::<Revision>() {
        Ok(revision) => revision,
        Err(error) => return assert_is_message(&error),
    };
    assert_eq!(revision.to_string(), text);
    let main = BranchName::main();
    STORE.with(|store| match revision.resolve(store, &main) {
        Ok(id) => {
            let hash = store.known_event(id).unwrap().hash.to_string();
            for name in [id.to_string(), hash] {
                let again = name.parse::<Revision>().unwrap();
                assert_eq!(again.resolve(store, &main).unwrap(), id, "{name}");
            }
        }
        Err(error) => assert_is_message(&error),
    });
}
