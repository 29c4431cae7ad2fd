//! Requests under an id of the caller's choice: a retry after a lost answer does nothing twice.

use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

use crate::canon::Value;
use crate::code::{Code, Coded};
use crate::id::{Hash, shown};
use crate::store::{Operation, ReadTxn, StoreError, WriteTxn};

/// Longest op id, in characters.
pub const OP_ID_MAX: usize = 128;

/// An id that a caller gives to a request: 1 to 128 printable ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpId(String);

/// A text that is no op id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpIdError {
    #[error("op id '{}' is not 1 to {OP_ID_MAX} printable ASCII characters without spaces", shown(.0))]
    Malformed(String),
    /// It is stored as it is, and a secret in it could not be taken out.
    #[error("the op id holds what looks like a secret ({0})")]
    Secret(&'static str),
}

impl FromStr for OpId {
    type Err = OpIdError;

    fn from_str(text: &str) -> Result<Self, OpIdError> {
        if let Some(found) = crate::secret::find(text).first() {
            return Err(OpIdError::Secret(found.rule));
        }
        let fits = (1..=OP_ID_MAX).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(OpIdError::Malformed(text.to_owned())) }
    }
}

/// Why a request under an op id was not carried out again.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    #[error("op id '{0}' was used before for another request")]
    Conflict(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Coded for OperationError {
    fn code(&self) -> Code {
        match self {
            Self::Conflict(_) => Code::OP_CONFLICT,
            Self::Store(error) => error.code(),
        }
    }
}

/// A report, and whether it is that of an earlier request.
#[derive(Debug, Clone, Serialize)]
pub struct Once<R> {
    #[serde(flatten)]
    pub report: R,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_applied: bool,
}

/// The digest of a request under the key of the store, made a piece at a time.
pub struct Request(Hmac<Sha256>);

impl Request {
    /// # Errors
    /// Those of the store.
    pub fn new(txn: &dyn ReadTxn) -> Result<Self, StoreError> {
        let key = txn.identity()?.key;
        Ok(Self(Hmac::new_from_slice(&key).expect("HMAC takes keys of any length")))
    }

    /// Adds to what makes two requests the same.
    pub fn add(&mut self, value: &Value) {
        self.0.update(value.canonical().as_bytes());
        // No canonical JSON holds a line break, so pieces cannot run together.
        self.0.update(b"\n");
    }

    #[must_use]
    pub fn digest(self) -> Hash {
        Hash(self.0.finalize().into_bytes().into())
    }
}

/// The report of the request that was carried out under `id`; none if there was none.
///
/// # Errors
/// [`OperationError::Conflict`] if it was another request.
pub fn applied<R: DeserializeOwned>(
    txn: &dyn ReadTxn,
    OpId(id): &OpId,
    digest: Hash,
) -> Result<Option<R>, OperationError> {
    let Some(before) = txn.operation(id)? else { return Ok(None) };
    if before.digest != digest {
        return Err(OperationError::Conflict(id.clone()));
    }
    let report = serde_json::from_str(&before.report)
        .map_err(|_| StoreError::damaged(format!("the report of op id '{id}' is not readable")))?;
    Ok(Some(report))
}

/// Remembers that the request was carried out under `id`, and how it was answered.
///
/// # Errors
/// Those of the store.
pub fn remember<R: Serialize>(
    txn: &mut dyn WriteTxn,
    OpId(id): &OpId,
    digest: Hash,
    report: &R,
) -> Result<(), StoreError> {
    let report = serde_json::to_string(report).expect("a report has string keys only");
    txn.put_operation(id, &Operation { digest, report })
}

/// Runs `act` unless a request with this id was carried out before; then answers with its report.
///
/// `request` is all that makes two requests the same. Only its digest is kept, and only if `act`
/// succeeds.
///
/// # Errors
/// Those of `act`; [`OperationError::Conflict`] if the id stands for another request.
///
/// Rule: docs/design.md, section 2, "Idempotency".
pub fn once<R, E>(
    txn: &mut dyn WriteTxn,
    id: Option<&OpId>,
    request: &Value,
    act: impl FnOnce(&mut dyn WriteTxn) -> Result<R, E>,
) -> Result<Once<R>, E>
where
    R: Serialize + DeserializeOwned,
    E: From<OperationError> + From<StoreError>,
{
    let Some(id) = id else {
        return Ok(Once { report: act(txn)?, already_applied: false });
    };
    let mut digest = Request::new(txn)?;
    digest.add(request);
    let digest = digest.digest();
    if let Some(report) = applied(txn, id, digest)? {
        return Ok(Once { report, already_applied: true });
    }
    let report = act(txn)?;
    remember(txn, id, digest, &report)?;
    Ok(Once { report, already_applied: false })
}
