//! What looks like a secret is taken out, or refused, before a byte of it is stored.

use std::fs;

use crate::sandbox::Sandbox;

/// Of the form of a GitHub token; put together here so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// No file of the store has a byte of it, but for the first four, which say what it is.
fn is_nowhere(repo: &Sandbox) {
    let secret = token();
    for entry in fs::read_dir(repo.store()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let found = bytes.windows(secret.len() - 4).any(|part| part == &secret.as_bytes()[4..]);
        assert!(!found, "{} has the secret", path.display());
    }
}

#[test]
fn a_secret_in_a_value_is_taken_out_and_told_of() {
    let mut repo = Sandbox::new();
    let secret = token();
    repo.input = format!("{{\"a\":[\"token {secret}\",{{\"b\":\"{secret}\"}}]}}").into_bytes();
    for (line, id) in [
        (format!("note 'use {secret} here'"), 1),
        (format!("decide auth 'the token {secret}' -m 'see {secret}'"), 2),
        (format!("note x --meta '{{\"header\":\"Bearer {secret}\"}}'"), 3),
        (format!("task 'log in with {secret}' -c 'never print {secret}'"), 4),
        ("append --payload -".to_owned(), 5),
        (format!("fork try -m 'token {secret}'"), 6),
        (format!("fact token={secret}"), 7),
    ] {
        let done = repo.mk(&format!("--json {line}")).success();
        let (stdout, stderr) = (&done.get_output().stdout, &done.get_output().stderr);
        let warning = String::from_utf8_lossy(stderr);
        let start = format!("warning: event {id}: a secret was taken out (");
        assert!(warning.starts_with(&start) && warning.lines().count() == 1, "{line}: {warning}");
        let answer: serde_json::Value = serde_json::from_slice(stdout).unwrap();
        let event = if id == 6 { &answer["event"] } else { &answer };
        let shown = repo.json(&format!("show {id}"));
        assert_eq!(shown["events"][0]["metadata"]["redacted"], event["redacted"]);
        assert!(event["redacted"].as_array().is_some_and(|rules| rules.len() == 1), "{answer}");
        is_nowhere(&repo);
    }
    let text = repo.mk("context --full").success().get_output().stdout.clone();
    assert!(!String::from_utf8(text).unwrap().contains(&secret));
}

#[test]
fn a_secret_in_a_batch_is_taken_out_of_its_line() {
    let mut repo = Sandbox::new();
    repo.input = format!("{{}}\n{{\"payload\":{{\"note\":\"{}\"}}}}\n", token()).into_bytes();
    let done = repo.mk("append --batch").success();
    let warning = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(warning.starts_with("warning: event 2: a secret was taken out ("), "{warning}");
    is_nowhere(&repo);
}

#[test]
fn a_secret_in_a_name_can_only_be_refused() {
    let repo = Sandbox::new();
    let secret = token();
    for (line, place) in [
        (format!("decide {secret} x"), "payload.decision_key"),
        (format!("fact {secret}=x"), "the name of a member"),
        (format!("append --payload '{{\"{secret}\":1}}'"), "the name of a member"),
        (format!("note x --meta '{{\"a\":{{\"{secret}\":1}}}}'"), "the name of a member"),
    ] {
        is_refused(&repo, &line, place);
    }
}

/// `line` is refused for a secret at `place`, which is not printed.
fn is_refused(repo: &Sandbox, line: &str, place: &str) {
    let before = repo.files();
    let error = repo.refusal(line);
    assert_eq!(error["code"], "secret-refused", "{line}: {error}");
    assert_eq!(error["hint"], "take it out; see `mk config core.secrets`");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("{place} holds what looks like a secret (")), "{message}");
    assert!(!error.to_string().contains(&token()[4..]));
    assert_eq!(repo.files(), before, "{line} wrote something");
    is_nowhere(repo);
}

#[test]
fn under_the_policy_refuse_nothing_with_a_secret_is_written() {
    let mut repo = Sandbox::new();
    repo.mk("config core.secrets refuse").success();
    is_refused(&repo, &format!("note 'use {}'", token()), "payload.note");
    is_refused(&repo, &format!("note x --meta '{{\"h\":\"{}\"}}'", token()), "metadata.h");
    repo.input = format!("{{}}\n{{\"payload\":{{\"note\":\"{}\"}}}}\n", token()).into_bytes();
    is_refused(&repo, "append --batch", "line 2: payload.note");
}

#[test]
fn under_the_policy_off_everything_is_kept_as_it_is() {
    let repo = Sandbox::new();
    repo.mk("config core.secrets off").success();
    let secret = token();
    repo.mk(&format!("decide {secret} {secret}")).success().stderr("");
    let shown = repo.json("show");
    assert_eq!(shown["events"][0]["payload"]["decision_value"], secret);
    assert_eq!(shown["events"][0]["metadata"], serde_json::json!({}));
}

#[test]
fn a_batch_that_is_refused_warns_of_nothing() {
    let mut repo = Sandbox::new();
    repo.input = format!("{{\"payload\":{{\"note\":\"{}\"}}}}\n1\n", token()).into_bytes();
    repo.mk("append --batch")
        .code(129)
        .stderr("fatal: line 2: the event is a number, not a JSON object\n");
    repo.input.clear();
    repo.sh(&format!("mk note {} 2> /dev/full", token())).success();
}
