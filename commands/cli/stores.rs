//! Stores that a server keeps open between the calls of its tools.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mk::store::{Sqlite, StoreError};

/// What a store was opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    ToRead,
    ToWrite,
}

/// Most stores that are kept for each purpose.
const MOST: usize = 5;

/// Open stores that nobody uses just now.
#[derive(Default)]
pub struct Stores(Mutex<Vec<(Kept, Sqlite)>>);

impl Stores {
    fn idle(&self) -> MutexGuard<'_, Vec<(Kept, Sqlite)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open store that is still the one at `path`. If one is not, none is kept: as long as one has the
    /// files open that are gone, no other can be opened.
    ///
    /// # Errors
    /// If what is there by now is no store that this program can use.
    pub fn take(&self, kept: Kept, path: &Path) -> Result<Option<Sqlite>, StoreError> {
        loop {
            let mut idle = self.idle();
            let Some(at) = idle.iter().position(|(purpose, _)| *purpose == kept) else {
                return Ok(None);
            };
            let (_, store) = idle.swap_remove(at);
            drop(idle);
            if store.path() != path {
                continue;
            }
            match store.is_current() {
                Ok(true) => return Ok(Some(store)),
                found => {
                    self.idle().retain(|(_, other)| other.path() != path);
                    return found.map(|_| None);
                }
            }
        }
    }

    /// Keeps a store for the next call, if it can be kept.
    pub fn give(&self, kept: Kept, store: Sqlite) {
        if !store.can_be_kept() {
            return;
        }
        let mut idle = self.idle();
        if idle.iter().filter(|(purpose, _)| *purpose == kept).count() < MOST {
            idle.push((kept, store));
        }
    }
}
