//! The sessions in README.md print what it says. They are one session: each goes on where the one
//! before ended.
//!
//! A command begins with `$ ` and goes on in lines that begin with `> `. A line `...` in an answer
//! stands for any number of lines that differ from one time to the next. The directory of the session
//! is shown as `/home/ann`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::sandbox::Sandbox;

const README: &str = include_str!("../../README.md");
const FENCE: &str = "```console\n";

/// Ends what a command prints.
const END: char = '\u{1e}';

/// A command as it is typed, and what it prints.
struct Step {
    command: String,
    answer: String,
}

fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: format!("{command}\n"), answer: String::new() });
            continue;
        }
        let step = steps.last_mut().expect("a session begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if step.answer.is_empty() => step.command += &format!("{more}\n"),
            _ => step.answer += &format!("{line}\n"),
        }
    }
    steps
}

/// The page in pieces: text, and sessions between.
fn pieces(page: &str) -> Vec<(&str, Option<Vec<Step>>)> {
    let (first, rest) = page.split_once(FENCE).unwrap();
    let mut pieces = vec![(first, None)];
    for piece in rest.split(FENCE) {
        let (block, text) = piece.split_once("```\n").expect("a session ends");
        pieces.push((block, Some(steps(block))));
        pieces.push((text, None));
    }
    pieces
}

/// Runs the commands in one shell, a minute apart, and answers what each printed.
fn run(steps: &[&Step]) -> Vec<String> {
    let sandbox = Sandbox::empty();
    let mut script = "exec 2>&1\n".to_owned();
    for (minute, step) in steps.iter().enumerate() {
        let date = format!("2026-11-30T{:02}:{:02}:00Z", 10 + minute / 60, minute % 60);
        // The exit status of the command before is still there for the command to see.
        script += &format!("export MK_DATE={date}; (exit ${{status:-0}})\n{}", step.command);
        script += &format!("status=$?; printf '\\x{:x}'\n", u32::from(END));
    }
    let bash = sandbox.command("bash").args(["-c", &script]).stdin(Stdio::null()).output();
    let printed = String::from_utf8(bash.unwrap().stdout).unwrap();
    let printed = printed.replace(&*sandbox.path("").to_string_lossy(), "/home/ann/");
    let answers: Vec<String> = printed.split(END).map(str::to_owned).collect();
    assert_eq!(answers.len(), steps.len() + 1, "{printed}");
    answers[..steps.len()].to_vec()
}

/// `actual`, or `expected` if the two differ only where `expected` has `...`.
fn settled<'a>(expected: &'a str, actual: &'a str) -> &'a str {
    let parts: Vec<&str> = expected.split("...\n").collect();
    let [first, .., last] = parts.as_slice() else { return actual };
    let mut rest = match actual.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) {
        Some(rest) => rest,
        None => return actual,
    };
    for part in &parts[1..parts.len() - 1] {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return actual,
        }
    }
    expected
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "hashes are repeatable in debug builds only")]
fn the_sessions_of_the_readme_print_what_it_says() {
    let pieces = pieces(README);
    let steps: Vec<&Step> =
        pieces.iter().filter_map(|(_, steps)| steps.as_ref()).flatten().collect();
    let mut answers = run(&steps).into_iter();
    let mut replayed = String::new();
    for (text, steps) in &pieces {
        let Some(steps) = steps else {
            replayed += text;
            continue;
        };
        replayed += FENCE;
        for Step { command, answer } in steps {
            replayed += &format!("$ {}\n", command.trim_end().replace('\n', "\n> "));
            replayed += settled(answer, &answers.next().unwrap());
        }
        replayed += "```\n";
    }
    if replayed != README {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("README.md");
        fs::write(&file, &replayed).unwrap();
        let pairs = README.lines().zip(replayed.lines());
        let (number, (says, is)) =
            pairs.enumerate().find(|(_, (says, is))| says != is).unwrap_or((0, ("", "")));
        panic!(
            "README.md, line {}:\n  says {says:?}\n  is   {is:?}\nas it should be: {}",
            number + 1,
            file.display()
        );
    }
}
