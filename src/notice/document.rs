//! Notices as a document that travels between stores.
//!
//! Rule: docs/spec/kernel.md, section 14.

use std::collections::BTreeSet;

use super::value::{Message, NoticeId, Topic};
use crate::canon::{JsonError, Object, Value};
use crate::code::{Code, Coded};
use crate::id::{AgentId, IdError, shown};
use crate::store::Notice;
use crate::time::Timestamp;

pub const SCHEMA: &str = "memkernel.notices/v1";

/// Most notices, and bytes, of a document.
pub const NOTICES_MAX: usize = 1_000;
pub const BYTES_MAX: usize = 1_048_576;

const MEMBERS: [&str; 7] =
    ["author", "cleared_at", "created_at", "expires_at", "message", "notice_id", "resource"];

/// Why a document was refused, whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the document has {0} bytes, {BYTES_MAX} are allowed")]
    Bytes(usize),
    #[error("the document has {0} notices, {NOTICES_MAX} are allowed")]
    Notices(usize),
    #[error("the document is not JSON as it must be: {0}")]
    Json(#[from] JsonError),
    #[error("the document is not {{\"notices\": […], \"schema\": \"{SCHEMA}\"}}: {0}")]
    Shape(String),
    /// `at` is the place of the notice in the document, from 1 on.
    #[error("notice {at} of the document: {why}")]
    Notice { at: usize, why: String },
}

impl Coded for DocumentError {
    fn code(&self) -> Code {
        Code::INVALID_ARGUMENT
    }
}

/// A moment as documents and reports have it: without a fraction that is zero.
#[must_use]
pub fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match text.strip_suffix(".000000Z") {
        Some(whole) => format!("{whole}Z"),
        None => text,
    }
}

/// The document of `notices`, which are sorted by id.
///
/// # Errors
/// If it is too large.
pub fn write(notices: &[Notice]) -> Result<String, DocumentError> {
    if notices.len() > NOTICES_MAX {
        return Err(DocumentError::Notices(notices.len()));
    }
    let items: Vec<Value> = notices.iter().map(written).collect();
    let document = Object::from_iter([("notices", items.into()), ("schema", Value::from(SCHEMA))]);
    let text = document.canonical();
    if text.len() > BYTES_MAX { Err(DocumentError::Bytes(text.len())) } else { Ok(text) }
}

/// A notice as it stands in a document.
#[must_use]
pub fn written(notice: &Notice) -> Value {
    let members = Object::from_iter([
        ("notice_id", Value::from(notice.id.as_str())),
        ("author", notice.author.as_str().into()),
        ("resource", notice.resource.as_str().into()),
        ("message", notice.message.as_str().into()),
        ("created_at", moment(notice.created_at).into()),
        ("expires_at", moment(notice.expires_at).into()),
        ("cleared_at", notice.cleared_at.map(moment).into()),
    ]);
    members.into()
}

/// The notices of a document, in its order.
///
/// # Errors
/// If anything in it is not as it must be.
pub fn read(bytes: &[u8]) -> Result<Vec<Notice>, DocumentError> {
    if bytes.len() > BYTES_MAX {
        return Err(DocumentError::Bytes(bytes.len()));
    }
    let document = Value::parse(bytes)?;
    let shape = |why: &str| DocumentError::Shape(why.to_owned());
    let members = document.as_object().ok_or_else(|| shape("it is no object"))?;
    if let Some((name, _)) = members.iter().find(|(name, _)| !["notices", "schema"].contains(name))
    {
        return Err(shape(&format!("it has a member '{}'", shown(name))));
    }
    if members.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        return Err(shape("its schema is another, or missing"));
    }
    let items = members.get("notices").and_then(Value::as_array);
    let items = items.ok_or_else(|| shape("notices is no array"))?;
    if items.len() > NOTICES_MAX {
        return Err(DocumentError::Notices(items.len()));
    }
    read_notices(items)
}

/// Notices as they stand in a document, in their order.
///
/// # Errors
/// If one is not as it must be, or there twice.
pub fn read_notices(items: &[Value]) -> Result<Vec<Notice>, DocumentError> {
    let mut ids = BTreeSet::new();
    let mut notices = Vec::with_capacity(items.len());
    for (at, item) in (1..).zip(items) {
        let notice = notice(item).and_then(|notice| match ids.insert(notice.id.clone()) {
            true => Ok(notice),
            false => Err(format!("its id '{}' was there before", notice.id)),
        });
        notices.push(notice.map_err(|why| DocumentError::Notice { at, why })?);
    }
    Ok(notices)
}

fn notice(item: &Value) -> Result<Notice, String> {
    let members = item.as_object().ok_or("it is no object")?;
    if let Some((name, _)) = members.iter().find(|(name, _)| !MEMBERS.contains(name)) {
        return Err(format!("it has a member '{}'", shown(name)));
    }
    let member = |name| members.get(name).ok_or_else(|| format!("{name} is missing"));
    let text = |name| member(name)?.as_str().ok_or_else(|| format!("{name} is no text"));
    let time = |name| {
        let text = text(name)?;
        read_moment(text).ok_or_else(|| format!("{name} is no time with an offset (RFC 3339)"))
    };
    let cleared_at = match member("cleared_at")? {
        Value::Null => None,
        _ => Some(time("cleared_at")?),
    };
    let notice = Notice {
        id: text("notice_id")?.to_owned(),
        author: text("author")?.parse().map_err(|error: IdError| error.to_string())?,
        resource: text("resource")?.to_owned(),
        message: text("message")?.to_owned(),
        created_at: time("created_at")?,
        expires_at: time("expires_at")?,
        cleared_at,
        source: None,
    };
    misfit(&notice).map_or(Ok(notice), Err)
}

/// What is wrong with a notice.
#[must_use]
pub fn misfit(notice: &Notice) -> Option<String> {
    let author = notice.author.as_str().parse::<AgentId>().map(|_| ());
    let checked = (notice.id.parse::<NoticeId>().map(|_| ()))
        .and_then(|()| notice.resource.parse::<Topic>().map(|_| ()))
        .and_then(|()| notice.message.parse::<Message>().map(|_| ()));
    let why = match (author, checked) {
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => error.to_string(),
        _ if notice.expires_at <= notice.created_at => {
            "expires_at is not after created_at".to_owned()
        }
        _ if notice.cleared_at.is_some_and(|cleared| cleared < notice.created_at) => {
            "cleared_at is before created_at".to_owned()
        }
        _ if notice.source.as_ref().is_some_and(|peer| {
            !notice.id.strip_prefix(peer.as_str()).is_some_and(|rest| rest.starts_with(':'))
        }) =>
        {
            "its id does not begin with its peer".to_owned()
        }
        _ => return None,
    };
    Some(why)
}

/// Date, `T` or a space, time with seconds, offset. A [`Timestamp`] reads more than that.
#[must_use]
pub fn read_moment(text: &str) -> Option<Timestamp> {
    let (date, clock) = text.split_at_checked(10)?;
    let clock = clock.strip_prefix(['T', ' '])?;
    let has_seconds = clock.as_bytes().get(5) == Some(&b':') && clock.len() > 8;
    if date.starts_with('@') || !has_seconds { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_and_have_an_offset() {
        for text in ["2026-03-02T09:00:00Z", "2026-03-02 10:00:00.0+01:00"] {
            assert_eq!(read_moment(text).map(moment), Some("2026-03-02T09:00:00Z".to_owned()));
        }
        for text in ["2026-03-02", "2026-03-02T09:00Z", "2026-03-02T09:00:00", "@1772442000.0000"] {
            assert_eq!(read_moment(text), None, "{text}");
        }
    }
}
