//! The one line that tells why a command failed.

use crate::text;

/// Most code points a description has.
const MAX_CHARS: usize = 300;

/// The line of `output` that best tells why the command that printed it failed, or
/// `exit code N` if it printed nothing; at most 300 code points.
///
/// `exit_code` is the code in decimal digits. Takes one pass over `output`.
///
/// Rule: docs/spec/kernel.md, section 8, "Blocker description".
#[must_use]
pub fn describe(output: &str, exit_code: &str) -> String {
    let mut exception = None;
    let mut sign = None;
    let mut last = None;
    for line in text::lines(output) {
        let line = text::trim(text::trim(line).trim_matches('='));
        if line.is_empty() {
            continue;
        }
        if starts_with_verdict(line) {
            return text::head_chars(line, MAX_CHARS).to_owned();
        }
        if exception.is_none() {
            if names_exception(line) {
                exception = Some(line);
            } else if has_sign(line) {
                sign = Some(line);
            }
        }
        last = Some(line);
    }
    match exception.or(sign).or(last) {
        Some(line) => text::head_chars(line, MAX_CHARS).to_owned(),
        None => text::head_chars(&format!("exit code {exit_code}"), MAX_CHARS).to_owned(),
    }
}

/// Whether `line` begins with the word `FAILED` or `ERROR`.
fn starts_with_verdict(line: &str) -> bool {
    ["FAILED", "ERROR"]
        .iter()
        .filter_map(|verdict| line.strip_prefix(verdict))
        .any(|rest| !rest.starts_with(text::is_word))
}

/// Whether a word of `line` ends in `Error` or `Exception` and a colon follows.
fn names_exception(line: &str) -> bool {
    let colons = line.bytes().enumerate().filter(|&(_, byte)| byte == b':');
    colons.map(|(at, _)| &line[..at]).any(|s| s.ends_with("Error") || s.ends_with("Exception"))
}

/// Whether `line` holds a word of bad news, in any case: `err` whole, the others
/// wherever they stand.
fn has_sign(line: &str) -> bool {
    line.bytes().enumerate().any(|(at, byte)| {
        let follows = |sign| strip_prefix_any_case(&line[at..], sign);
        match byte | 0x20 {
            b'e' => {
                let whole = |after: &str| {
                    !after.starts_with(text::is_word) && !line[..at].ends_with(text::is_word)
                };
                follows("error").is_some()
                    || follows("exception").is_some()
                    || follows("err").is_some_and(whole)
            }
            b'f' => follows("fail").is_some() || follows("fatal").is_some(),
            b'p' => follows("panic").is_some(),
            b't' => follows("traceback").is_some(),
            _ => false,
        }
    })
}

/// What follows `prefix` in `text`, cases not minded; `prefix` is in small ASCII
/// letters. U+212A KELVIN SIGN, which has `k` as its small letter, counts as one.
fn strip_prefix_any_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for want in prefix.chars() {
        let got = rest.next()?;
        if got.to_ascii_lowercase() != want && !(got == '\u{212a}' && want == 'k') {
            return None;
        }
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Section 8 word for word, a list of lines and a search of it per rule.
    fn describe_slowly(output: &str, exit_code: &str) -> String {
        let lines: Vec<&str> = text::lines(output)
            .map(|line| text::trim(text::trim(line).trim_matches('=')))
            .filter(|line| !line.is_empty())
            .collect();
        let words = |line: &str| -> Vec<String> {
            line.split(|c| !text::is_word(c)).map(str::to_lowercase).collect()
        };
        let verdict = |line: &&&str| {
            let word: String = line.chars().take_while(|&c| text::is_word(c)).collect();
            word == "FAILED" || word == "ERROR"
        };
        let exception = |line: &&&str| line.contains("Error:") || line.contains("Exception:");
        let sign = |line: &&&str| {
            let small = line.to_lowercase();
            let signs = ["error", "fail", "exception", "traceback", "fatal", "panic"];
            signs.iter().any(|sign| small.contains(sign)) || words(line).contains(&"err".to_owned())
        };
        let found = (lines.iter().find(verdict))
            .or_else(|| lines.iter().find(exception))
            .or_else(|| lines.iter().rfind(sign))
            .or_else(|| lines.last());
        match found {
            Some(line) => line.chars().take(300).collect(),
            None => format!("exit code {exit_code}"),
        }
    }

    #[test]
    fn the_recorded_descriptions_come_out() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/kernel/unit/blockers.jsonl");
        let cases = std::fs::read_to_string(path).unwrap();
        for case in cases.lines() {
            let case: Value = serde_json::from_str(case).unwrap();
            let output = case["output"].as_str().unwrap();
            assert_eq!(describe(output, &case["exit_code"].to_string()), case["out"], "{case}");
        }
    }

    #[test]
    fn err_counts_as_a_whole_word_only() {
        assert_eq!(describe("x ERR: y\nerrs, xerr, err_\nz", "1"), "x ERR: y");
        assert_eq!(describe("é-err\u{301}\néerr\nerré", "1"), "é-err\u{301}");
    }

    #[test]
    fn the_kelvin_sign_is_a_k() {
        assert_eq!(describe("TracebAc\u{212a}\nlast", "1"), "TracebAc\u{212a}");
    }

    proptest! {
        #[test]
        fn one_pass_finds_what_a_pass_per_rule_finds(
            parts in prop::collection::vec(
                prop_oneof![
                    "FAILED|ERROR|Error:|Exception:|Exception|[Ee][Rr][Rr]|erro[rR]|[Ff]ail|FATAL",
                    "tracebac[kK\u{212a}]|[pP]anic|=|[ \t\u{a0}]|\n|\n|\r\n|\u{2028}",
                    "[a_1é\u{301}:.-]",
                    any::<char>().prop_map(String::from),
                ],
                0..16,
            ),
        ) {
            let output = parts.concat();
            prop_assert_eq!(describe(&output, "-9"), describe_slowly(&output, "-9"));
        }
    }
}
