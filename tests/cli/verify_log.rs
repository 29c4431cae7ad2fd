//! A second implementation of the chains, tests/verify_log.py, agrees with `mk`.

use std::fs::{self, File};

use crate::sandbox::Sandbox;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verify_log.py");

/// A log of two branches, with all that makes canonical JSON hard.
const SESSION: &str = r#"
mk init . && export MK_AGENT=ann
mk task 'Räume auf 🧹' -c 'ohne "Netz"'
mk fact big=123456789012345678901234567890 small=5e-324 tie=1125899906842624.25 minus=-0.0
mk append --payload '{"z":{"b":[1e16,1e-7,0.1],"a":null},"é":"\u007f\u0000\u2028","\ud83d\ude00":true}'
mk decide database sqlite -m 'no server'
mk --agent bob fork try/postgres --at 2 --switch
mk --agent bob note 'needs a server'
mk decide cache none
mk --agent bob switch main
mk rollback 4 --include-others
mk retract decision database
mk note ''
"#;

const LINES: &str = "mk rev-list --all --reverse | xargs mk cat-event";

fn bash(sandbox: &Sandbox, script: &str) -> String {
    let output = sandbox.command("bash").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the script prints about `lines`, or what it finds wrong with them.
fn verify(sandbox: &Sandbox, lines: &[Vec<u8>]) -> Result<String, String> {
    let text: Vec<u8> = lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
    let file = sandbox.path("lines");
    fs::write(&file, text).unwrap();
    let mut python = sandbox.command("python3");
    let output = python.arg(SCRIPT).stdin(File::open(&file).unwrap()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    match output.status.code() {
        Some(0) => Ok(text(output.stdout)),
        Some(1) => Err(text(output.stderr)),
        _ => panic!("{output:?}"),
    }
}

#[test]
fn a_second_implementation_comes_to_the_same_anchor_and_finds_every_change() {
    let sandbox = Sandbox::empty();
    bash(&sandbox, SESSION);
    let anchor = bash(&sandbox, "mk anchor");
    let anchor = anchor.trim_end().splitn(3, ' ').last().unwrap().to_owned();
    let lines: Vec<Vec<u8>> =
        bash(&sandbox, LINES).lines().map(|line| line.as_bytes().to_owned()).collect();
    assert_eq!(verify(&sandbox, &lines), Ok(anchor.clone()));
    let export = bash(&sandbox, "mk export --log-order");
    let export: Vec<Vec<u8>> = export.lines().map(|line| line.as_bytes().to_owned()).collect();
    assert_eq!(verify(&sandbox, &export), Ok(anchor.clone()));
    let lost: Vec<Vec<u8>> = [&export[..2], &export[3..]].concat();
    assert!(verify(&sandbox, &lost).is_err());

    for index in 0..lines.len() {
        let mut changed = lines.clone();
        let middle = changed[index].len() / 2;
        changed[index][middle] ^= 1;
        let found = verify(&sandbox, &changed).unwrap_err();
        assert!(found.starts_with(&format!("line {}: ", index + 1)), "{found}");

        let mut dropped = lines.clone();
        dropped.remove(index);
        assert_ne!(verify(&sandbox, &dropped), Ok(anchor.clone()), "without line {}", index + 1);
    }
    for index in 1..lines.len() {
        let mut swapped = lines.clone();
        swapped.swap(index - 1, index);
        assert_ne!(
            verify(&sandbox, &swapped),
            Ok(anchor.clone()),
            "lines {index} and the next swapped"
        );
    }
}

#[test]
fn the_second_implementation_says_what_is_wrong() {
    let sandbox = Sandbox::empty();
    bash(&sandbox, "mk init . && mk note a && mk note b && mk note c");
    let lines: Vec<Vec<u8>> =
        bash(&sandbox, LINES).lines().map(|line| line.as_bytes().to_owned()).collect();
    let spaced = [b" ", lines[0].as_slice()].concat();
    assert_eq!(verify(&sandbox, &[spaced]), Err("line 1: it is not canonical JSON".to_owned()));
    assert_eq!(
        verify(&sandbox, &[lines[0].clone(), lines[2].clone()]),
        Err("line 2: the event before it on its lineage is not above".to_owned())
    );
    let forged = String::from_utf8(lines[1].clone()).unwrap().replace("\"b\"", "\"B\"");
    assert_eq!(
        verify(&sandbox, &[lines[0].clone(), forged.into_bytes()]),
        Err("line 2: its hash is not that of its members".to_owned())
    );
}
