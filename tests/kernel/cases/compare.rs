//! When two answers are the same.
//!
//! Rule: tests/cases/kernel/README.md, "Comparing".

use mk::canon::Value;
use mk::id::shown;
use mk::time::Timestamp;

/// Where `actual` differs from `expected`, and how. Members at the top that only `actual` has are no
/// difference.
pub fn difference(expected: &Value, actual: &Value) -> Option<String> {
    let (Value::Object(of_peer), Value::Object(of_mk)) = (expected, actual) else {
        return below("answer", expected, actual);
    };
    let missing = |name: &str| format!("{name} is missing in {}", shown(&actual.canonical()));
    of_peer.iter().find_map(|(name, expected)| match of_mk.get(name) {
        None => Some(missing(name)),
        Some(actual) => below(name, expected, actual),
    })
}

fn below(path: &str, expected: &Value, actual: &Value) -> Option<String> {
    match (expected, actual) {
        (Value::Object(a), Value::Object(b)) if a.iter().map(|(name, _)| name).eq(names(b)) => {
            let mut pairs = a.iter().zip(b.iter());
            pairs.find_map(|((name, a), (_, b))| below(&format!("{path}.{name}"), a, b))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| below(&format!("{path}[{index}]"), a, b))
        }
        (Value::Float(a), Value::Float(b)) if path.ends_with("reduction_ratio") => {
            // The last place of four is a matter of how a tie is rounded.
            ((a - b).abs() > 1.5e-4).then(|| format!("{path} is {b}, not {a}"))
        }
        _ if expected.same(actual)
            || moment(expected).is_some_and(|at| moment(actual) == Some(at)) =>
        {
            None
        }
        _ => {
            let (actual, expected) = (actual.canonical(), expected.canonical());
            Some(format!("{path} is {}, not {}", shown(&actual), shown(&expected)))
        }
    }
}

fn names(object: &mk::canon::Object) -> impl Iterator<Item = &str> {
    object.iter().map(|(name, _)| name)
}

/// The instant that a text of date and time means.
fn moment(value: &Value) -> Option<Timestamp> {
    value.as_str().filter(|text| text.contains('T'))?.parse().ok()
}
