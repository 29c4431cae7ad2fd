//! Answers no larger than was asked for; what is left out is said inside.
//!
//! Rule: docs/spec/mcp.md, section 5.4.

use mk::tokens::Tokenizer;
use serde_json::{Map, Value, json};

/// Bytes that are not worth cutting.
const SMALL: usize = 160;

/// Tries to come below the bound; each takes the largest part down.
const TRIES: usize = 64;

/// Tokens kept free for what says what was left out.
const SAID: u64 = 60;

/// `report`, if it has at most `most` tokens; else with its longest lists and texts cut until it has.
pub fn fit(report: String, most: u64, tokenizer: Tokenizer) -> String {
    // No token is shorter than a byte.
    if report.len() as u64 <= most || tokenizer.count(&report) <= most {
        return report;
    }
    let Ok(Value::Object(mut members)) = serde_json::from_str(&report) else { return report };
    let mut left_out = LeftOut::default();
    for _ in 0..TRIES {
        let text = left_out.told(&members);
        let tokens = tokenizer.count(&text);
        if tokens <= most {
            return text;
        }
        let share = most.saturating_sub(SAID) as f64 / tokens as f64;
        if !left_out.shorten(&mut members, share.min(0.95)) {
            break;
        }
    }
    left_out.told(&members)
}

#[derive(Default)]
struct LeftOut {
    /// Items of lists and records.
    items: u64,
    /// Texts that were cut: where, at which byte, of how many.
    texts: Vec<(String, usize, usize)>,
}

impl LeftOut {
    fn told(&self, members: &Map<String, Value>) -> String {
        let mut members = members.clone();
        if self.items > 0 {
            let before = members.get("omitted").and_then(Value::as_u64).unwrap_or(0);
            members.insert("omitted".to_owned(), (before + self.items).into());
        }
        if !self.texts.is_empty() {
            let texts = self
                .texts
                .iter()
                .map(|(member, at, of)| json!({ "member": member, "at": at, "of": of }));
            members.insert("cut".to_owned(), texts.collect());
        }
        Value::Object(members).to_string()
    }

    /// Takes the largest part that can be cut down to `share` of itself; answers whether there was one.
    fn shorten(&mut self, members: &mut Map<String, Value>, share: f64) -> bool {
        let mut best: Option<(usize, String)> = None;
        for (name, value) in members.iter() {
            look(value, format!("/{}", escaped(name)), &mut best);
        }
        let Some((_, path)) = best else { return false };
        let part = members.get_mut(&unescaped(path[1..].split('/').next().unwrap_or_default()));
        let rest = path[1..].find('/').map_or("", |at| &path[1 + at..]);
        let Some(part) = part.and_then(|part| part.pointer_mut(rest)) else { return false };
        let kept = |count: usize| ((count as f64 * share) as usize).min(count - 1);
        match part {
            Value::String(text) => {
                let mut at = kept(text.len());
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                let whole = text.len();
                text.truncate(at);
                let path = path.replace("~1", "/");
                match self.texts.iter_mut().find(|(known, ..)| *known == path) {
                    Some(cut) => cut.1 = at,
                    None => self.texts.push((path, at, whole)),
                }
            }
            Value::Array(items) => {
                let kept = kept(items.len()).max(1);
                self.items += (items.len() - kept) as u64;
                items.truncate(kept);
            }
            Value::Object(records) => {
                let kept = kept(records.len()).max(1);
                self.items += (records.len() - kept) as u64;
                let names: Vec<String> = records.keys().skip(kept).cloned().collect();
                names.iter().for_each(|name| drop(records.remove(name)));
            }
            _ => return false,
        }
        true
    }
}

/// Finds the largest list of several items, object of several records, or text below `value`.
fn look(value: &Value, path: String, best: &mut Option<(usize, String)>) {
    let size = value.to_string().len();
    if size <= SMALL || best.as_ref().is_some_and(|(best, _)| *best >= size) {
        return;
    }
    match value {
        Value::String(_) => *best = Some((size, path)),
        Value::Array(items) if items.len() > 1 => *best = Some((size, path)),
        Value::Array(items) => {
            items.iter().for_each(|item| look(item, format!("{path}/0"), best));
        }
        // Records by key, all of one shape; an object of members is looked into instead.
        Value::Object(records) if records.len() > 1 && records.values().all(Value::is_object) => {
            *best = Some((size, path));
        }
        Value::Object(members) => {
            for (name, value) in members {
                look(value, format!("{path}/{}", escaped(name)), best);
            }
        }
        _ => {}
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        let report = r#"{"b":1,"a":2}"#.to_owned();
        assert_eq!(fit(report.clone(), 256, Tokenizer::Estimate), report);
    }

    #[test]
    fn what_does_not_fit_is_cut_below_the_bound_and_says_so() {
        let word = "shared memory of agents ".repeat(4_000);
        let list: Vec<Value> = (0..3_000).map(|n| json!({ "event_id": n })).collect();
        let records: Map<String, Value> =
            (0..3_000).map(|n| (format!("a/key~{n}"), json!({ "value": n }))).collect();
        for report in [
            json!({ "text": word, "tokens": 1 }),
            json!({ "ahead": list, "name": "main" }),
            json!({ "only": records }),
            json!({ "events": [{ "payload": { "a/b": word, "~": word } }], "ahead": list }),
        ] {
            for most in [256, 1_000, 4_000] {
                let text = fit(report.to_string(), most, Tokenizer::Estimate);
                let tokens = Tokenizer::Estimate.count(&text);
                assert!(tokens <= most, "{tokens} > {most}: {text}");
                assert!(tokens > most / 3, "{tokens} of {most}: {text}");
                let cut: Value = serde_json::from_str(&text).unwrap();
                assert!(cut["omitted"].is_u64() || cut["cut"].is_array(), "{text}");
                if let Some(kept) = cut["ahead"].as_array() {
                    let whole = report["ahead"].as_array().unwrap();
                    assert!(whole.starts_with(kept));
                    let omitted = cut["omitted"].as_u64().unwrap_or(0);
                    assert_eq!(kept.len() as u64 + omitted, whole.len() as u64);
                }
                for place in cut["cut"].as_array().into_iter().flatten() {
                    assert_eq!(place["of"], word.len());
                }
            }
        }
    }
}
