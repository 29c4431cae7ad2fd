//! Which commands are worth remembering.
//!
//! Rule: docs/spec/attach.md, section 6.2.

use regex_lite::Regex;

/// Commands that only look.
const LOOKS: &[&str] = &[
    "cat", "cd", "date", "df", "du", "file", "find", "grep", "head", "less", "ls", "pwd", "rg",
    "stat", "tail", "tree", "type", "wc", "which", "whoami",
];

/// Those of git that do.
const GIT_LOOKS: &[&str] = &["branch", "diff", "log", "show", "status"];

/// As `hook.record` says it.
#[derive(Debug)]
pub enum Which {
    /// All but those that only look.
    Telling,
    All,
    Failures,
    Matching(Regex),
    None,
}

impl Which {
    /// As the setting says it; what is no pattern is as if nothing were set.
    #[must_use]
    pub fn of(setting: Option<&str>) -> Self {
        match setting {
            None => Self::Telling,
            Some("all") => Self::All,
            Some("failures") => Self::Failures,
            Some("off") => Self::None,
            Some(pattern) => Regex::new(pattern).map_or(Self::Telling, Self::Matching),
        }
    }

    #[must_use]
    pub fn has(&self, command: &str, exit_code: Option<i64>) -> bool {
        match self {
            Self::Telling => !only_looks(command),
            Self::All => true,
            Self::Failures => exit_code.is_some_and(|code| code != 0),
            Self::Matching(pattern) => pattern.is_match(command),
            Self::None => false,
        }
    }
}

/// Whether nothing of a shell's that could do more is in `command`, and it is one that only looks.
fn only_looks(command: &str) -> bool {
    if command.contains(|c: char| ";|&<>$`(\n".contains(c)) {
        return false;
    }
    let mut words = command.split_whitespace();
    match words.next() {
        Some("git") => words.next().is_some_and(|verb| GIT_LOOKS.contains(&verb)),
        Some("find") => !words.any(|word| word.starts_with("-exec") || word == "-delete"),
        Some(program) => LOOKS.contains(&program),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_looks_is_not_recorded() {
        for command in
            ["ls", " ls -la src", "git status -s", "cat a b", "pwd", "", "find . -name x"]
        {
            assert!(!Which::of(None).has(command, Some(1)), "{command}");
            assert!(Which::of(Some("all")).has(command, Some(0)), "{command}");
        }
        for command in [
            "cargo test",
            "cat a > b",
            "ls; rm x",
            "git commit",
            "find . -delete",
            "lsof",
            "cat $(x)",
        ] {
            assert!(Which::of(None).has(command, Some(0)), "{command}");
            assert!(!Which::of(Some("off")).has(command, Some(1)), "{command}");
        }
        let failures = Which::of(Some("failures"));
        assert_eq!(
            [Some(0), Some(1), None].map(|code| failures.has("x", code)),
            [false, true, false]
        );
        let matching = Which::of(Some("^(cargo|npm) "));
        assert_eq!(["cargo test", "ls"].map(|it| matching.has(it, None)), [true, false]);
    }
}
