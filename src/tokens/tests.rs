//! What the counts are held against: the recorded ones, the rule word for word, and the exact count.

use proptest::prelude::*;
use serde_json::Value;
use unicode_general_category::get_general_category;

use super::Tokenizer;
use crate::text;

const ALL: [Tokenizer; 2] = [Tokenizer::Heuristic, Tokenizer::Estimate];

/// Texts with runs of each kind of character.
fn mixed() -> impl Strategy<Value = String> {
    let run = prop_oneof![
        "[a-zA-Zé中]{1,9}",
        "[0-9\u{660}]{1,7}",
        "[²½Ⅷ]{1,2}",
        "[ \t\n\u{1f}\u{a0}]{1,3}",
        "[_.,:\"'/=\u{301}\u{200b}🙂-]{1,3}",
        any::<String>(),
    ];
    prop::collection::vec(run, 0..12).prop_map(|runs| runs.concat())
}

/// Section 1 word for word.
fn heuristic_slowly(text: &str) -> u64 {
    let in_category = |c: char, prefixes: &[&str]| {
        let category = get_general_category(c).abbreviation();
        prefixes.iter().any(|prefix| category.starts_with(prefix))
    };
    let run = |text: &[char], prefixes: &[&str]| {
        text.iter().take_while(|&&c| in_category(c, prefixes)).count()
    };
    let chars: Vec<char> = text.chars().collect();
    let mut rest = &chars[..];
    let mut count = 0;
    while let Some(&first) = rest.first() {
        let letters = run(rest, &["L", "Nl", "No"]);
        let digits = run(rest, &["Nd"]).min(3);
        let (length, cost) = if text::is_white(first) {
            (1, 0)
        } else if letters > 0 {
            (letters, if in_category(first, &["L"]) { letters.div_ceil(4) } else { 1 })
        } else if digits > 0 {
            (digits, 1)
        } else {
            (1, 1)
        };
        rest = &rest[length..];
        count += cost;
    }
    count as u64
}

#[test]
fn the_recorded_counts_come_out() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/kernel/unit/tokens.jsonl");
    let cases = std::fs::read_to_string(path).unwrap();
    for case in cases.lines() {
        let case: Value = serde_json::from_str(case).unwrap();
        let text = case["text"].as_str().unwrap();
        assert_eq!(Tokenizer::Heuristic.count(text), case["tokens"], "{case}");
    }
}

#[test]
fn a_name_reads_back() {
    for tokenizer in ALL {
        assert_eq!(tokenizer.to_string().parse(), Ok(tokenizer));
    }
    let error = "Heuristic".parse::<Tokenizer>().unwrap_err();
    assert_eq!(error.to_string(), "unknown tokenizer 'Heuristic'");
}

/// Each text of the corpus.
#[test]
fn the_estimate_is_little_above_the_exact_count() {
    let exact = bpe_openai::o200k_base();
    let mut files = 0;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap();
        if !folder.file_type().unwrap().is_dir() {
            continue;
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let count = Tokenizer::Estimate.count(&text) as f64;
            let ratio = count / exact.count(text.as_str()) as f64;
            assert!((1.0..1.15).contains(&ratio), "{}: {ratio:.3}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 48);
}

/// Common words, numbers, indents and a line break after a word or after punctuation.
#[test]
fn the_estimate_is_exact_on_simple_lines() {
    for line in ["the end of the line\n", "    return x;\n", "n = 1234567\n", "    )\n"] {
        let exact = bpe_openai::o200k_base().count(line) as u64;
        assert_eq!(Tokenizer::Estimate.count(line), exact, "{line:?}");
    }
}

#[test]
fn every_character_can_be_counted() {
    let every: String = ('\0'..=char::MAX).collect();
    for tokenizer in ALL {
        assert!(tokenizer.count(&every) > 100_000, "{tokenizer}");
    }
}

proptest! {
    #[test]
    fn the_automaton_counts_as_the_rule_says(text in mixed()) {
        prop_assert_eq!(Tokenizer::Heuristic.count(&text), heuristic_slowly(&text));
    }

    #[test]
    fn counts_add_up_over_lines(lines in prop::collection::vec(mixed(), 0..6)) {
        let text = lines.join("\n");
        for tokenizer in ALL {
            let sum: u64 = text.split('\n').map(|line| tokenizer.count(line)).sum();
            prop_assert_eq!(tokenizer.count(&text), sum, "{}", tokenizer);
        }
    }
}
