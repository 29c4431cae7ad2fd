//! Characters, lines and cuts of text, the same on every machine and in every locale.
//!
//! Rule: docs/spec/kernel.md, section 1.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether `c` is white space: the set W, which has U+001C–001F and leaves out
/// U+200B and U+FEFF.
#[must_use]
pub const fn is_white(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r'
            | '\u{1c}'..='\u{20}'
            | '\u{85}'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
    )
}

/// How many there are of what `noun` calls one: `1 event`, `2 events`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        noun if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// `text` without the white space of [`is_white`] at both ends.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white)
}

/// The lines of `text`, without their breaks.
///
/// A break is LF, CR, CR LF (one), U+000B, 000C, 001C–001E, 0085, 2028 or 2029.
/// One at the end adds no empty line; an empty text has no lines.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (end, width) = first_break(rest.as_bytes());
        let line = &rest[..end];
        rest = &rest[end + width..];
        Some(line)
    })
}

/// Where the first line break of `bytes` stands and how many bytes it has; the end
/// and 0 if there is none. `bytes` are UTF-8, and so is what lies on each side.
fn first_break(bytes: &[u8]) -> (usize, usize) {
    for (at, &byte) in bytes.iter().enumerate() {
        let width = match byte {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
            b'\n'..=b'\r' | 0x1c..=0x1e => 1,
            0xc2 if bytes[at + 1] == 0x85 => 2,
            0xe2 if bytes[at + 1] == 0x80 && matches!(bytes[at + 2], 0xa8 | 0xa9) => 3,
            _ => continue,
        };
        return (at, width);
    }
    (bytes.len(), 0)
}

/// Whether `c` is a word character: general category L*, Nd, Nl or No, or `_`.
/// Combining marks are not.
#[must_use]
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    use GeneralCategory::{
        DecimalNumber, LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, OtherNumber,
        TitlecaseLetter, UppercaseLetter,
    };
    matches!(
        get_general_category(c),
        UppercaseLetter
            | LowercaseLetter
            | TitlecaseLetter
            | ModifierLetter
            | OtherLetter
            | DecimalNumber
            | LetterNumber
            | OtherNumber
    )
}

/// The first `n` code points of `text`, or all of it if it has fewer.
#[must_use]
pub fn head_chars(text: &str, n: usize) -> &str {
    match text.char_indices().nth(n) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The last `n` code points of `text`, or all of it if it has fewer.
#[must_use]
pub fn tail_chars(text: &str, n: usize) -> &str {
    let mut after = text.chars();
    for _ in 0..n {
        if after.next_back().is_none() {
            return text;
        }
    }
    &text[after.as_str().len()..]
}

/// Whether a terminal would obey `c` and not show it: control characters, and marks that reorder
/// what is shown.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    // Besides what reorders: what breaks a line or cannot be seen, but for the joiners of scripts and
    // emoji.
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// `text` with what is unsafe escaped, but for tabs and line feeds.
///
/// Rule: docs/spec/mcp.md, section 5.5.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' => out.push(c),
            c if is_unsafe(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_is_no_plural() {
        let counts = [(0, "event"), (1, "event"), (2, "event"), (1, "branch"), (3, "branch")];
        let told = counts.map(|(count, noun)| counted(count, noun));
        assert_eq!(told, ["0 events", "1 event", "2 events", "1 branch", "3 branches"]);
    }

    /// Texts thick with line breaks, white space and characters of several bytes.
    fn breaky() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a=\u{a0}é\u{82}\u{2027}\u{2030}\n\r\u{b}\u{c}\u{1c}-\u{1f}\u{85}\u{2028}\u{2029}]{0,12}",
        ]
    }

    #[test]
    fn the_white_space_is_the_set_of_the_specification() {
        let spec = "\u{9}\u{a}\u{b}\u{c}\u{d}\u{1c}\u{1d}\u{1e}\u{1f}\u{20}\u{85}\u{a0}\u{1680}\
            \u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\
            \u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";
        let found: String = ('\0'..=char::MAX).filter(|&c| is_white(c)).collect();
        assert_eq!(found, spec);
    }

    #[test]
    fn a_word_has_letters_numbers_and_the_low_line_but_no_marks() {
        for c in '\0'..=char::MAX {
            let category = get_general_category(c).abbreviation();
            assert_eq!(is_word(c), category.starts_with(['L', 'N']) || c == '_', "{c:?}");
        }
        for c in "aZ0_ßǅʰª中\u{661}Ⅷ²½\u{1d49c}".chars() {
            assert!(is_word(c), "{c:?}");
        }
        for c in "-:= \u{301}\u{94d}\u{200b}🙂€‿".chars() {
            assert!(!is_word(c), "{c:?}");
        }
    }

    #[test]
    fn a_break_at_the_end_adds_no_line() {
        let all = |text| lines(text).collect::<Vec<_>>();
        assert_eq!(all(""), [""; 0]);
        assert_eq!(all("\n"), [""]);
        assert_eq!(all("a\r\n\r\nb\n\rc\r\n"), ["a", "", "b", "", "c"]);
        assert_eq!(all("a\u{85}b\u{2028}c\u{1f}d\u{2029}"), ["a", "b", "c\u{1f}d"]);
    }

    proptest! {
        /// CR LF becomes one break, every other break ends a line by itself.
        #[test]
        fn lines_are_those_of_a_split_at_each_break(text in breaky()) {
            let single = text.replace("\r\n", "\n");
            let breaks = "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
            let slow: Vec<_> = single.split_terminator(|c| breaks.contains(c)).collect();
            prop_assert_eq!(lines(&text).collect::<Vec<_>>(), slow);
        }

        #[test]
        fn trim_takes_white_space_off_both_ends(text in breaky()) {
            let chars: Vec<char> = text.chars().collect();
            let first = chars.iter().position(|&c| !is_white(c));
            let last = chars.iter().rposition(|&c| !is_white(c));
            let slow: String = match (first, last) {
                (Some(first), Some(last)) => chars[first..=last].iter().collect(),
                _ => String::new(),
            };
            prop_assert_eq!(trim(&text), slow);
        }

        #[test]
        fn cuts_count_code_points(text: String, n in 0usize..40) {
            let chars: Vec<char> = text.chars().collect();
            let n_or_all = n.min(chars.len());
            let head: String = chars[..n_or_all].iter().collect();
            let tail: String = chars[chars.len() - n_or_all..].iter().collect();
            prop_assert_eq!(head_chars(&text, n), head);
            prop_assert_eq!(tail_chars(&text, n), tail);
        }
    }
}
