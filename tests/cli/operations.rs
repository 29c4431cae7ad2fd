//! `--op-id`: a retry after a lost answer does nothing twice.

use crate::sandbox::Sandbox;

#[test]
fn a_retry_gives_the_first_answer_and_writes_nothing() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann note first").success();
    for line in [
        "decide db sqlite -m why --op-id a1",
        "append --payload '{\"x\":1}' --op-id a2",
        "fork try --op-id a3",
        "rollback HEAD~1 --op-id a4",
        "undo --op-id a5",
        "retract decision db --op-id a6",
    ] {
        if line.starts_with("retract") {
            repo.mk("--agent ann decide db sqlite").success();
        }
        let line = format!("--agent ann {line}");
        let mut first = repo.json(&line);
        let before = repo.files();
        repo.now_ms += 1_000;
        let again = repo.json(&line);
        assert_eq!(repo.files(), before, "{line}");
        first["already_applied"] = true.into();
        assert_eq!(again, first, "{line}");
    }
}

#[test]
fn an_id_stands_for_one_request() {
    let repo = Sandbox::new();
    repo.mk("--agent ann decide db sqlite --op-id a1").success();
    for line in [
        "--agent ann decide db postgres --op-id a1",
        "--agent bob decide db sqlite --op-id a1",
        "--agent ann decide db sqlite --op-id a1 --meta '{\"a\":1}'",
        "--agent ann fork try --op-id a1",
        "--agent ann undo --op-id a1",
    ] {
        repo.refuses(
            line,
            1,
            "op-conflict",
            "error: op id 'a1' was used before for another request\n\
             hint: use another op id for another request\n",
        );
    }
}

#[test]
fn an_id_that_was_refused_is_free() {
    let repo = Sandbox::new();
    repo.mk("fork try --from nope --op-id a1").code(128);
    repo.mk("fork try --op-id a1").success();
}

#[test]
fn a_rollback_does_not_free_an_id() {
    let repo = Sandbox::new();
    repo.mk("note first").success();
    repo.mk("note x --op-id a1").success();
    repo.mk("undo").success();
    let again = repo.json("note x --op-id a1");
    assert_eq!((&again["event_id"], &again["already_applied"]), (&2.into(), &true.into()));
}

#[test]
fn a_batch_is_one_operation() {
    let mut repo = Sandbox::new();
    repo.input = b"{}\n{\"payload\":{\"note\":\"b\"}}\n".to_vec();
    let first = repo.mk("append --batch --op-id a1").success().get_output().stdout.clone();
    let before = repo.files();
    repo.mk("append --batch --op-id a1").success().stdout(first);
    assert_eq!(repo.files(), before);
    repo.input = b"{}\n".to_vec();
    repo.refuses(
        "append --batch --op-id a1",
        1,
        "op-conflict",
        "error: op id 'a1' was used before for another request\n\
         hint: use another op id for another request\n",
    );
}

#[test]
fn an_id_is_printable() {
    let repo = Sandbox::new();
    for (id, shown) in [("'a b'", "a b"), ("''", ""), ("é", "é")] {
        let stderr = format!(
            "fatal: invalid value '{shown}' for '--op-id <ID>': \
             op id '{shown}' is not 1 to 128 printable ASCII characters without spaces\n\
             hint: see `mk note --help`\n"
        );
        repo.refuses(&format!("note x --op-id {id}"), 129, "invalid-argument", &stderr);
    }
}
