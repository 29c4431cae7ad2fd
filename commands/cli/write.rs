//! What the commands that append one event share.

use std::fs::File;
use std::io::{self, Read, Write as _};

use mk::canon::{Object, Value};
use mk::code::Code;
use mk::compaction;
use mk::event::{self, EventType};
use mk::id::{EventId, shown};
use mk::lease::{self, Fence};
use mk::log::{Appended, Draft, Expect, Log};
use mk::operation::{Once, OpId, once};
use mk::revision::Revision;

use super::{Context, Failure, FenceArg, Text, compact_due};
use crate::Answer;

/// Most bytes of a payload, metadata or text that are read from a file or from stdin: content of the
/// allowed size fits with every character escaped.
const INPUT_MAX: u64 = 2 << 20;

/// Options of the commands that append one event.
#[derive(Debug, Clone, clap::Args)]
pub struct WriteArgs {
    /// Metadata, a JSON object: the text, `-` for stdin, or @FILE
    #[arg(long, value_name = "JSON")]
    pub meta: Option<String>,
    /// Append only if this is the head of the branch; `none` for an empty branch
    #[arg(long, value_name = "HEAD", value_parser = expect)]
    pub expect: Option<Expect>,
    /// Append only while this lease is held with this token, and renew it; any number of times
    #[arg(long, value_name = "PATH:TOKEN")]
    pub fence: Vec<FenceArg>,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

fn expect(text: &str) -> Result<Expect, String> {
    if text == "none" {
        return Ok(Expect::Empty);
    }
    text.parse::<Revision>().map(Expect::Head).map_err(|error| error.to_string())
}

/// An event to append.
pub struct Write {
    pub kind: EventType,
    pub payload: Object,
}

impl Write {
    /// Appends it to the current branch and, unless `quiet`, prints its hash.
    pub fn run(self, args: &WriteArgs, quiet: bool, ctx: &mut Context) -> Result<Answer, Failure> {
        let metadata = match &args.meta {
            Some(given) => read_object("metadata", given)?,
            None => Object::new(),
        };
        let mut due = Ok(Vec::new());
        let done = ctx.write(|txn, actor, outside| {
            let fences = actor.whereabouts.fences(txn, &args.fence)?;
            let metadata = Fence::stamped(&fences, metadata);
            let request = request([
                ("verb", "append".into()),
                ("branch", actor.branch.as_str().into()),
                ("agent", actor.agent.as_str().into()),
                ("type", self.kind.as_str().into()),
                ("payload", self.payload.clone().into()),
                ("metadata", metadata.clone().into()),
            ]);
            once(txn, args.op_id.as_ref(), &request, |txn| {
                let mut log = Log::open(txn)?;
                lease::pass(&mut log, &fences, &actor.agent, actor.lease_now())?;
                let draft = Draft {
                    kind: self.kind,
                    agent: actor.agent.clone(),
                    payload: self.payload,
                    metadata: actor.stamped(metadata),
                };
                let appended = log.append(&actor.branch, draft, args.expect.as_ref(), outside)?;
                due = compaction::due(log.txn(), log.growth());
                Ok::<_, Failure>(appended)
            })
        })?;
        warn_of_secrets(done.report.event_id, &done.report.redacted);
        if !quiet {
            ctx.print(&done)?;
        }
        // The answer does not wait for what comes after.
        ctx.out.flush()?;
        compact_due(ctx, due);
        Ok(Answer::Yes)
    }
}

/// The members that make two requests under one op id the same.
pub fn request<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(members.collect())
}

/// Says on stderr what was taken out of an event, once it is stored.
pub fn warn_of_secrets(event: EventId, rules: &[String]) {
    if !rules.is_empty() {
        let rules = rules.join(", ");
        // The event is there, whether stderr can be written or not.
        let _ = writeln!(io::stderr(), "warning: event {event}: a secret was taken out ({rules})");
    }
}

impl Text for Once<Appended> {
    fn text(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", self.report.hash)
    }
}

/// A JSON object given as an argument, as `-` or as @FILE.
pub fn read_object(what: &'static str, given: &str) -> Result<Object, Failure> {
    let bytes = read_bytes(what, given)?;
    Ok(event::read_object(what, &bytes)?)
}

/// Facts given as KEY=VALUE. A value that reads as JSON is kept as that, unless `as_text`.
pub fn facts(given: &[String], as_text: bool) -> Result<Object, Failure> {
    let mut facts = Object::new();
    for fact in given {
        let (key, value) = fact
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| Failure::usage(format!("'{}' is not KEY=VALUE", shown(fact))))?;
        let value = match Value::parse(value.as_bytes()) {
            Ok(value) if !as_text => value,
            _ => Value::from(value),
        };
        if facts.insert(key, value).is_some() {
            return Err(Failure::usage(format!("'{}' is given twice", shown(key))));
        }
    }
    Ok(facts)
}

/// All of stdin, as a text.
pub fn read_stdin(what: &str) -> Result<String, Failure> {
    String::from_utf8(read_bytes(what, "-")?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!("{what} is not UTF-8 at byte {at}"))
    })
}

/// The bytes of an argument, or with `-` those of stdin, or with `@FILE` those of a file. `@@TEXT` is
/// the text `@TEXT`.
pub fn read_bytes(what: &str, given: &str) -> Result<Vec<u8>, Failure> {
    let failed = |from: &str, error: io::Error| {
        Failure::new(Code::of_io(&error), format!("cannot read {what} from {from}: {error}"))
    };
    let (from, bytes) = if given == "-" {
        ("stdin".to_owned(), limited(io::stdin().lock()).map_err(|error| failed("stdin", error))?)
    } else if let Some(text) = given.strip_prefix("@@") {
        return Ok(format!("@{text}").into_bytes());
    } else if let Some(path) = given.strip_prefix('@') {
        let from = format!("'{path}'");
        let bytes = File::open(path).and_then(limited).map_err(|error| failed(&from, error))?;
        (from, bytes)
    } else {
        return Ok(given.as_bytes().to_owned());
    };
    if bytes.len() as u64 > INPUT_MAX {
        let message = format!("{what} from {from} has more than {INPUT_MAX} bytes");
        return Err(Failure::new(Code::TOO_LARGE, message));
    }
    Ok(bytes)
}

fn limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(INPUT_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
