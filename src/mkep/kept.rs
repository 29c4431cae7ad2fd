//! The row that is kept of a goal, under a seal.
//!
//! The fold in it stands for records that are not read again, so it is believed only if this store wrote
//! it so. The seal is made with the key of the store: it tells a row that was changed, or copied from
//! another goal or store, from one that was not. Against somebody who reads the key it is no protection;
//! `mk verify` computes every fold anew.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::fold::Goal;
use crate::id::hex;
use crate::store::{ExecGoal, ReadTxn, StoreError};

/// The folds of a goal: of all records, and of those that can be seen if some cannot.
pub type Folds = (Goal, Option<Goal>);

/// What seals rows.
#[derive(Debug, Clone)]
pub struct Seal(Hmac<Sha256>);

impl Seal {
    /// That of a store.
    ///
    /// # Errors
    /// Those of the store.
    pub fn of(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let key = txn.identity()?.key;
        Ok(Self(Hmac::new_from_slice(&key).expect("HMAC takes keys of any length")))
    }

    /// The row of the goal `name`.
    #[must_use]
    pub fn row(&self, name: &str, whole: &Goal, visible: Option<&Goal>) -> ExecGoal {
        let (whole, visible) = (whole.encoded(), visible.map(Goal::encoded));
        let seal = hex(&self.over(name, &whole, visible.as_deref()).finalize().into_bytes());
        ExecGoal { whole: format!("{seal} {whole}"), visible }
    }

    /// The folds in the row of the goal `name`; none if this store did not write it so.
    pub(super) fn read(&self, name: &str, row: &ExecGoal) -> Option<Folds> {
        let (seal, whole) = row.whole.split_once(' ')?;
        let seal = crate::id::unhex(seal)?;
        self.over(name, whole, row.visible.as_deref()).verify_slice(&seal).ok()?;
        let visible = row.visible.as_deref().map(|visible| Goal::decode(visible).ok_or(()));
        Some((Goal::decode(whole)?, visible.transpose().ok()?))
    }

    fn over(&self, name: &str, whole: &str, visible: Option<&str>) -> Hmac<Sha256> {
        // No JSON on one line holds a line break, so the parts cannot run together.
        let mut mac = self.0.clone();
        for part in [whole, "\n", visible.unwrap_or_default(), "\n", name] {
            mac.update(part.as_bytes());
        }
        mac
    }
}
