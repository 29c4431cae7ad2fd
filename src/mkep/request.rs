//! A request: the checks of its bytes and of its envelope.
//!
//! Rule: docs/spec/mkep.md, sections 1, 5 and 6 (A and B).

use super::canonical::{self, Arrays};
use super::check;
use super::describe;
use super::error::{Code, Refusal};
use super::json::{self, Json, Members};
use super::moment::Moment;
use super::registry::{ENTRIES, Entry, Kind, Op};
use super::response::{Echo, Response};

/// Most bytes of a request.
pub const REQUEST_MAX: usize = 262_144;

const MEMBERS: &[&str] = &[
    "mkep",
    "kind",
    "request_id",
    "op",
    "now",
    "target",
    "args",
    "precondition",
    "binding",
    "capabilities_digest",
];
const REQUIRED: &[&str] = &["mkep", "kind", "request_id", "op", "target", "args"];
const PRECONDITION: &[&str] =
    &["operation_id", "expect_state", "expect_execution_seq", "fence_token"];
const BINDING: &[&str] =
    &["execution_run_id", "parent_execution_run_id", "holder", "binding_digest"];

/// A request whose envelope is sound.
#[derive(Debug, Clone)]
pub struct Request {
    members: Members,
    pub entry: &'static Entry,
    /// What the response repeats of it.
    pub echo: Echo,
}

impl Request {
    /// Reads the bytes of a request.
    ///
    /// # Errors
    /// The answer that names the first fault.
    pub fn read(bytes: &[u8]) -> Result<Self, Box<Response>> {
        Self::read_offered(bytes, |_| true)
    }

    /// Reads the bytes of a request where only some operations are offered: the others are unknown.
    ///
    /// # Errors
    /// The answer that names the first fault.
    pub fn read_offered(
        bytes: &[u8],
        is_offered: impl Fn(Op) -> bool,
    ) -> Result<Self, Box<Response>> {
        let Some(Json::Object(members)) = json::parse(bytes) else {
            let refusal = Refusal::new(Code::MalformedJson, "a request is one JSON object", []);
            return Err(refused(&Echo::default(), refusal));
        };
        let echo = Echo {
            request_id: echoed(&members, "request_id"),
            op: echoed(&members, "op"),
            digest: canonical::digest(&members, Arrays::Message).ok(),
        };
        if bytes.len() > REQUEST_MAX {
            let message = format!("a request has at most {REQUEST_MAX} bytes");
            let details = [("limit", REQUEST_MAX.into())];
            return Err(refused(&echo, Refusal::new(Code::LimitExceeded, message, details)));
        }
        match check_envelope(&members, is_offered) {
            Ok(entry) => Ok(Self { members, entry, echo }),
            Err(refusal) => Err(refused(&echo, refusal)),
        }
    }

    /// A member of `target`.
    #[must_use]
    pub fn target(&self, key: &str) -> Option<&Json> {
        self.part("target").and_then(|target| target.get(key))
    }

    /// The name in `target` of what the operation is about; empty if it is none.
    #[must_use]
    pub fn target_text(&self, key: &str) -> &str {
        self.target(key).and_then(Json::as_str).unwrap_or_default()
    }

    /// A member of `args`, null or not.
    #[must_use]
    pub fn arg(&self, key: &str) -> Option<&Json> {
        self.part("args").and_then(|args| args.get(key))
    }

    /// A member of `args` that is not null.
    #[must_use]
    pub fn given(&self, key: &str) -> Option<&Json> {
        self.part("args").and_then(|args| args.given(key))
    }

    /// A member of `precondition`, null or not.
    #[must_use]
    pub fn precondition(&self, key: &str) -> Option<&Json> {
        self.part("precondition").and_then(|precondition| precondition.get(key))
    }

    /// What the caller says the request is bound to. Nothing of it was looked at but its keys.
    #[must_use]
    pub fn binding(&self) -> Option<&Members> {
        self.part("binding")
    }

    /// The caller's clock.
    ///
    /// # Errors
    /// If it says no time.
    pub fn now(&self) -> Result<Moment, Refusal> {
        Moment::read(self.members.get("now").unwrap_or(&Json::Null))
    }

    /// The key of the operation, unless it has to be made of the record.
    #[must_use]
    pub fn operation_id(&self) -> Option<&str> {
        let own = self.precondition("operation_id").and_then(Json::as_str);
        own.or(self.echo.digest.as_deref())
    }

    fn part(&self, key: &str) -> Option<&Members> {
        self.members.get(key).and_then(Json::as_object)
    }
}

fn refused(echo: &Echo, refusal: Refusal) -> Box<Response> {
    Box::new(Response::new(echo, Err(refusal), None))
}

fn echoed(members: &Members, key: &str) -> Option<String> {
    Some(members.get(key)?.as_text()?.shown().to_owned())
}

fn check_envelope(
    members: &Members,
    is_offered: impl Fn(Op) -> bool,
) -> Result<&'static Entry, Refusal> {
    check::closed("", members, MEMBERS)?;
    check::complete("", members, REQUIRED)?;
    if members.text("mkep") != Some("0") {
        let details = [("path", "mkep".into()), ("supported", vec!["0"].into())];
        return Err(Refusal::new(Code::VersionUnsupported, "only MKEP/0 is spoken here", details));
    }
    let entry = members.text("op").and_then(Entry::find);
    let Some(entry) = entry.filter(|entry| is_offered(entry.op)) else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        let details = [("path", "op".into()), ("supported", names.into())];
        return Err(Refusal::new(Code::UnknownOp, "there is no such operation here", details));
    };
    if members.text("kind") != Some(entry.kind.as_str()) {
        let details = [("path", "kind".into()), ("expected", entry.kind.as_str().into())];
        return Err(Refusal::new(Code::Pattern, "kind is not that of the operation", details));
    }
    if !members.text("request_id").is_some_and(check::is_request_id) {
        return Err(Refusal::at(
            Code::Pattern,
            "request_id",
            "is neither a ULID nor 32 hex digits",
        ));
    }
    check_capabilities(members)?;
    match (entry.op == Op::Describe, members.contains("now")) {
        (true, true) => return Err(Refusal::at(Code::UnknownField, "now", "plays no part here")),
        (false, false) => return Err(Refusal::at(Code::MissingField, "now", "is missing")),
        _ => {}
    }
    let target = object(members, "target")?;
    let args = object(members, "args")?;
    check::closed("target.", target, entry.target)?;
    check::complete("target.", target, entry.target)?;
    check::closed("args.", args, &[entry.required, entry.optional].concat())?;
    check::complete("args.", args, entry.required)?;
    match (entry.kind, members.contains("precondition")) {
        (Kind::Apply, false) => {
            return Err(Refusal::at(Code::MissingField, "precondition", "is missing"));
        }
        (Kind::Apply, true) => {
            check::closed("precondition.", object(members, "precondition")?, PRECONDITION)?;
        }
        (Kind::Query, true) => {
            return Err(Refusal::at(Code::UnknownField, "precondition", "is not for queries"));
        }
        (Kind::Query, false) => {}
    }
    if members.contains("binding") {
        check::closed("binding.", object(members, "binding")?, BINDING)?;
    }
    Ok(entry)
}

fn check_capabilities(members: &Members) -> Result<(), Refusal> {
    let Some(given) = members.given("capabilities_digest") else { return Ok(()) };
    let expected = describe::capabilities_digest();
    if given.as_str() == Some(&expected) {
        return Ok(());
    }
    let details = [("path", "capabilities_digest".into()), ("expected", expected.into())];
    let message = "the capabilities are not those that were expected";
    Err(Refusal::new(Code::CapabilityDrift, message, details))
}

fn object<'a>(members: &'a Members, key: &str) -> Result<&'a Members, Refusal> {
    let found = members.get(key).and_then(Json::as_object);
    found.ok_or_else(|| Refusal::at(Code::Type, key, "is not an object"))
}
