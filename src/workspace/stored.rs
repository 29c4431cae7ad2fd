//! A state as a checkpoint keeps it: bytes that are read back faster, and are three times fewer, than
//! its JSON. The form is local and may change with any version: a checkpoint that does not read is as
//! good as none.
//!
//! A count or a length is a LEB128 number; a text is its length and its UTF-8; a source is the id, the
//! sequence and the 32 bytes of the hash; values and whole numbers of any size are canonical JSON.

use std::collections::BTreeMap;

use super::fold::{Blocker, Claim, Decision, Deprecated, Fact, Run, Source, State, Task};
use crate::canon::{Int, Value};
use crate::id::{EventId, Hash};

/// The first byte: the form.
const FORM: u8 = 1;

/// `state` as bytes.
#[must_use]
pub fn write(state: &State) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(4_096));
    out.0.push(FORM);
    out.map(&state.tasks, |out, _, task| {
        out.text(&task.agent);
        out.text(&task.directive);
        out.texts(&task.constraints);
        out.source(&task.event);
    });
    out.map(&state.decisions, |out, _, decision| {
        out.text(&decision.key);
        out.text(&decision.value);
        out.text(&decision.rationale);
        out.text(&decision.agent);
        out.source(&decision.event);
        out.count(decision.supersedes.is_some().into());
        decision.supersedes.iter().for_each(|source| out.source(source));
    });
    out.map(&state.facts, |out, key, fact| {
        out.text(key);
        out.value(&fact.value);
        out.text(&fact.agent);
        out.source(&fact.event);
    });
    out.map(&state.blockers, |out, _, blocker| {
        out.text(&blocker.key);
        out.text(&blocker.description);
        out.int(&blocker.exit_code);
        out.text(&blocker.agent);
        out.source(&blocker.first_seen);
        out.source(&blocker.last_seen);
        out.count(blocker.occurrences);
    });
    out.map(&state.claims, |out, _, claim| {
        out.text(&claim.resource);
        out.text(&claim.agent);
        out.int(&claim.token);
        out.source(&claim.event);
    });
    out.map(&state.digest, |out, _, run| {
        out.text(&run.command);
        out.count(run.runs);
        out.count(run.failed_runs);
        out.int(&run.last_exit_code);
        out.text(&run.last_agent);
        out.source(&run.last);
    });
    out.count(state.deprecated.len() as u64);
    for old in &state.deprecated {
        out.text(&old.kind);
        out.text(&old.key);
        out.value(&old.value);
        out.value(&old.replaced_by);
        out.source(&old.deprecated_by);
        out.text(&old.agent);
    }
    out.texts(&state.insights);
    out.0
}

/// The state that [`write()`] made `bytes` of; none if they are anything else.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<State> {
    let mut from = Reader(bytes.strip_prefix(&[FORM])?);
    let state = State {
        tasks: from.map(|from| {
            let task = Task {
                agent: from.text()?,
                directive: from.text()?,
                constraints: from.list(Reader::text)?,
                event: from.source()?,
            };
            Some((task.agent.clone(), task))
        })?,
        decisions: from.map(|from| {
            let decision = Decision {
                key: from.text()?,
                value: from.text()?,
                rationale: from.text()?,
                agent: from.text()?,
                event: from.source()?,
                supersedes: match from.count()? {
                    0 => None,
                    _ => Some(from.source()?),
                },
            };
            Some((decision.key.clone(), decision))
        })?,
        facts: from.map(|from| {
            let key = from.text()?;
            let fact = Fact { value: from.value()?, agent: from.text()?, event: from.source()? };
            Some((key, fact))
        })?,
        blockers: from.map(|from| {
            let blocker = Blocker {
                key: from.text()?,
                description: from.text()?,
                exit_code: from.int()?,
                agent: from.text()?,
                first_seen: from.source()?,
                last_seen: from.source()?,
                occurrences: from.count()?,
            };
            Some((blocker.key.clone(), blocker))
        })?,
        claims: from.map(|from| {
            let claim = Claim {
                resource: from.text()?,
                agent: from.text()?,
                token: from.int()?,
                event: from.source()?,
            };
            Some((claim.resource.clone(), claim))
        })?,
        digest: from.map(|from| {
            let run = Run {
                command: from.text()?,
                runs: from.count()?,
                failed_runs: from.count()?,
                last_exit_code: from.int()?,
                last_agent: from.text()?,
                last: from.source()?,
            };
            Some((run.command.clone(), run))
        })?,
        deprecated: from
            .list(|from| {
                Some(Deprecated {
                    kind: from.text()?,
                    key: from.text()?,
                    value: from.value()?,
                    replaced_by: from.value()?,
                    deprecated_by: from.source()?,
                    agent: from.text()?,
                })
            })?
            .into(),
        insights: from.list(Reader::text)?,
    };
    from.0.is_empty().then_some(state)
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.count(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.count(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }

    fn value(&mut self, value: &Value) {
        self.text(&value.canonical());
    }

    fn int(&mut self, number: &Int) {
        self.text(&number.to_string());
    }

    fn source(&mut self, source: &Source) {
        self.count(source.id.0.unsigned_abs());
        self.count(source.sequence);
        self.0.extend_from_slice(&source.hash.0);
    }

    fn map<T>(
        &mut self,
        records: &BTreeMap<String, T>,
        mut write: impl FnMut(&mut Self, &str, &T),
    ) {
        self.count(records.len() as u64);
        records.iter().for_each(|(key, record)| write(self, key, record));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?.try_into().ok()?;
        std::str::from_utf8(self.take(length)?).ok().map(str::to_owned)
    }

    fn value(&mut self) -> Option<Value> {
        Value::parse(self.text()?.as_bytes()).ok()
    }

    fn int(&mut self) -> Option<Int> {
        match self.value()? {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    fn source(&mut self) -> Option<Source> {
        Some(Source {
            id: EventId(self.count()?.try_into().ok()?),
            sequence: self.count()?,
            hash: Hash(self.take(32)?.try_into().ok()?),
        })
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        // Not reserved ahead: a damaged count may be anything.
        (0..count).map(|_| read(self)).collect()
    }

    fn map<T>(
        &mut self,
        read: impl FnMut(&mut Self) -> Option<(String, T)>,
    ) -> Option<BTreeMap<String, T>> {
        Some(self.list(read)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any bytes are read or not, and what is read is written as the same bytes or fewer.
        #[test]
        fn any_bytes_are_a_state_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut form = vec![FORM];
            form.extend(&bytes);
            if let Some(state) = read(&form) {
                prop_assert_eq!(read(&write(&state)), Some(state));
            }
            let _ = read(&bytes);
        }
    }

    #[test]
    fn the_empty_state_is_a_form_and_eight_counts() {
        assert_eq!(write(&State::default()), [FORM, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(read(&[FORM, 0, 0, 0, 0, 0, 0, 0, 0]), Some(State::default()));
        assert_eq!(read(&[FORM, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(read(&[FORM + 1, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
