//! The policy of the signed exchange that a project takes part in.

use std::io::{self, Write};
use std::path::Path;

use mk::store::{FolderError, ReadTxn};
use mk::sync::{self, Policy, SyncError};

use super::Failure;

/// The policy that the store is bound to; none if it is bound to none, or the file is gone.
///
/// # Errors
/// If there is a file, and it cannot be used.
pub fn policy(txn: &dyn ReadTxn) -> Result<Option<Policy>, Failure> {
    let Some(bound) = txn.binding()? else { return Ok(None) };
    match sync::read_policy(Path::new(&bound.policy)) {
        Ok(policy) => Ok(Some(policy)),
        Err(SyncError::Folder(FolderError::Io { source, .. }))
            if source.kind() == io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The same for reading, which goes on without a policy that cannot be used, and says so.
pub fn policy_to_read_by(txn: &dyn ReadTxn) -> Result<Option<Policy>, Failure> {
    policy(txn).or_else(|failure| {
        // There is nobody left to tell if stderr is closed.
        let _ = writeln!(io::stderr(), "warning: no notice is trusted: {}", failure.message());
        Ok(None)
    })
}
