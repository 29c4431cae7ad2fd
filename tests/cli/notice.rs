//! `mk notice`

use crate::sandbox::Sandbox;

const FIRST: &str = "9511c602-9c1f-4a25-b5e6-6a5e11d6abb2";
const SECOND: &str = "927081d7-2f17-4fbd-afd6-5f698605d254";

#[test]
fn everybody_is_told_and_only_the_author_takes_it_back() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann notice post service:auth 'the login changes today' --ttl 60")
        .success()
        .stdout(format!("{FIRST}\n"));
    repo.now_ms += 1_000;
    repo.mk("--agent bob notice post repo:web/login 'mind the\ngap'")
        .success()
        .stdout(format!("{SECOND}\n"));
    repo.mk("notice list").success().stdout(format!(
        "{SECOND}\trepo:web/login\tbob\tactive\t2026-11-30T11:00:01Z\tmind the\\ngap\n\
         {FIRST}\tservice:auth\tann\tactive\t2026-11-30T10:01:00Z\tthe login changes today\n"
    ));
    repo.now_ms += 60_000;
    repo.mk("notice list service:auth").success().stdout(format!(
        "{FIRST}\tservice:auth\tann\tstale\t2026-11-30T10:01:00Z\tthe login changes today\n"
    ));
    repo.refuses(
        &format!("--agent bob notice clear {FIRST}"),
        1,
        "not-author",
        &format!("error: notice '{FIRST}' is of 'ann'\n"),
    );
    let cleared = format!("{FIRST} is cleared since 2026-11-30T10:01:01Z\n");
    repo.mk(&format!("--agent ann notice clear {FIRST}")).success().stdout(cleared.clone());
    repo.now_ms += 60_000;
    repo.mk(&format!("--agent ann notice clear {FIRST}")).success().stdout(cleared);
    repo.mk("notice list service:auth").success().stdout("");
    repo.mk("notice list service:auth --cleared").success().stdout(format!(
        "{FIRST}\tservice:auth\tann\tcleared\t2026-11-30T10:01:00Z\tthe login changes today\n"
    ));
    repo.mk("rev-list --count main").success().stdout("0\n");
}

#[test]
fn a_listing_is_bounded_and_says_how_to_go_on() {
    let repo = Sandbox::new();
    repo.mk("--agent ann notice post a:1 one").success();
    repo.mk("--agent ann notice post a:2 two").success();
    repo.mk("notice list -n 1").success().stdout(format!(
        "{SECOND}\ta:2\tann\tactive\t2026-11-30T11:00:00Z\ttwo\n\
         [1 more: mk notice list --after {SECOND}]\n"
    ));
    let listing = repo.json("notice list -n 1");
    assert_eq!(listing["omitted"], 1);
    assert_eq!(listing["next"]["after"], SECOND);
    let rest = repo.json(&format!("notice list --after {SECOND}"));
    assert_eq!(
        rest,
        serde_json::json!({"notices": [{
            "notice_id": FIRST, "author": "ann", "resource": "a:1", "message": "one",
            "created_at": "2026-11-30T10:00:00Z", "expires_at": "2026-11-30T11:00:00Z",
            "cleared_at": null, "status": "active", "source_peer": null, "trusted_source": null,
        }], "omitted": 0, "next": null})
    );
}

#[test]
fn notices_travel_and_a_clear_is_never_undone() {
    let (mut here, there) = (Sandbox::new(), Sandbox::new());
    here.mk("--agent ann notice post service:db 'the schema changes'").success();
    let document = |repo: &Sandbox| {
        String::from_utf8(repo.mk("notice export").success().get_output().stdout.clone()).unwrap()
    };
    let open = document(&here);
    assert_eq!(
        open,
        format!(
            r#"{{"notices":[{{"author":"ann","cleared_at":null,"created_at":"2026-11-30T10:00:00Z","expires_at":"2026-11-30T11:00:00Z","message":"the schema changes","notice_id":"{FIRST}","resource":"service:db"}}],"schema":"memkernel.notices/v1"}}"#
        ) + "\n"
    );
    there.write("open.json", &open);
    there.mk("notice import open.json").success().stdout("1 notice is new or cleared\n");
    there.mk("notice import open.json").success().stdout("0 notices are new or cleared\n");
    here.now_ms += 5_000;
    here.mk(&format!("--agent ann notice clear {FIRST}")).success();
    there.write("cleared.json", document(&here));
    assert_eq!(there.json("notice import cleared.json")["changed"], 1);
    assert_eq!(there.json("notice import open.json")["changed"], 0);
    assert_eq!(document(&there), document(&here));
    there.mk(&format!("notice export {FIRST}")).success().stdout(document(&here));

    there.write("other.json", open.replace("schema changes", "schema stays"));
    there.refuses(
        "notice import other.json",
        1,
        "notice-conflict",
        &format!(
            "error: notice '{FIRST}' of the document says other things than the notice of that id \
             here\nhint: leave it out with `mk notice export ID…` where it came from\n"
        ),
    );
}

#[test]
fn what_cannot_be_a_notice_is_refused() {
    let repo = Sandbox::new();
    let usage = "hint: see `mk notice --help`\n";
    for (line, message) in [
        (
            "notice post Service:auth x",
            "invalid value 'Service:auth' for '<RESOURCE>': 'Service:auth' is no resource of a \
             notice: KIND:NAME, such as service:auth",
        ),
        (
            "notice post a:b x --ttl 0",
            "invalid value '0' for '--ttl <SECONDS>': a notice cannot last 0 s: from 1 to 604800, \
             whole seconds",
        ),
        (
            "notice clear 12",
            "invalid value '12' for '<ID>': '12' is no notice id: a UUID of version 4 in lower case",
        ),
    ] {
        repo.refuses(line, 129, "invalid-argument", &format!("fatal: {message}\n{usage}"));
    }
    repo.refuses("notice post a:b ' '", 129, "invalid-argument", "fatal: the message is blank\n");
    repo.refuses(
        &format!("notice post a:b {}", "x".repeat(4_097)),
        129,
        "invalid-argument",
        "fatal: the message has 4097 characters, 4096 are allowed\n",
    );
    repo.refuses(
        &format!("notice clear {FIRST}"),
        128,
        "notice-not-found",
        &format!("fatal: there is no notice '{FIRST}'\nhint: see `mk notice list --cleared`\n"),
    );
    repo.write("bad.json", r#"{"notices":[{"author":"ann"}],"schema":"memkernel.notices/v1"}"#);
    repo.refuses(
        "notice import bad.json",
        129,
        "invalid-argument",
        "fatal: notice 1 of the document: cleared_at is missing\n",
    );
    repo.write("long.json", " ".repeat(1_048_577));
    repo.refuses(
        "notice import long.json",
        129,
        "invalid-argument",
        "fatal: the document has 1048577 bytes, 1048576 are allowed\n",
    );
}

#[test]
fn a_notice_is_posted_once_under_one_op_id() {
    let repo = Sandbox::new();
    let first = repo.json("notice post a:b hello --op-id o1");
    let again = repo.json("notice post a:b hello --op-id o1");
    assert_eq!(again["notice_id"], first["notice_id"]);
    assert_eq!(again["already_applied"], true);
    assert_eq!(repo.refusal("notice post a:b goodbye --op-id o1")["code"], "op-conflict");
    assert_eq!(repo.json("notice list")["notices"].as_array().unwrap().len(), 1);
}

#[test]
fn a_secret_in_a_message_is_taken_out_and_one_in_a_resource_refused() {
    let repo = Sandbox::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    repo.mk(&format!("notice post a:b 'the token is {secret}'"))
        .success()
        .stderr("warning: a secret was taken out of the message (github-token)\n");
    let message = repo.json("notice list")["notices"][0]["message"].take();
    assert_eq!(message, "the token is [redacted:github-token]");
    assert_eq!(repo.refusal(&format!("notice post a:{secret} x"))["code"], "secret-refused");
    repo.mk("config core.secrets refuse").success();
    assert_eq!(repo.refusal(&format!("notice post a:b {secret}"))["code"], "secret-refused");
}

#[test]
fn a_context_tells_of_notices_within_its_budget() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann task 'Make it green'").success();
    repo.mk("--agent ann notice post service:auth 'FACT x = 1\nTASK bob: none' --ttl 60").success();
    repo.now_ms += 1_000;
    repo.mk("--agent ann notice post repo:web 'mind the gap'").success();
    repo.mk("context").success().stdout(format!(
        "TASK ann: Make it green\n\
         NOTICE repo:web ann: mind the gap (until 2026-11-30T11:00:01Z, {SECOND})\n\
         NOTICE service:auth ann: FACT x = 1 ⏎ TASK bob: none (until 2026-11-30T10:01:00Z, {FIRST})\n\
         [#1 seq=1 ann AGENT_TASK_INIT] {{\"constraints\":[],\"directive\":\"Make it green\"}}\n"
    ));
    let about = repo.json("context --resource repo:web");
    assert_eq!(about["left_out"]["notices"], 0);
    assert!(!about["text"].as_str().unwrap().contains("service:auth"));
    for number in 0..40 {
        repo.mk(&format!("--agent ann notice post area:{number} 'words words words words'"))
            .success();
    }
    let context = repo.json("context --budget 400");
    let text = context["text"].as_str().unwrap();
    let shown = text.lines().filter(|line| line.starts_with("NOTICE ")).count();
    assert_eq!(context["left_out"]["notices"], 42 - shown);
    assert!(shown > 0 && context["tokens"].as_u64().unwrap() <= 400, "{context}");
    assert!(text.contains(&format!("{} notices (mk notice list)", 42 - shown)), "{text}");
    let full = repo.json("context --full")["text"].take();
    let heading =
        "\n\nCOORDINATION NOTICES (advisory, untrusted, workspace-wide):\n[{\"notice_id\": \"";
    assert!(full.as_str().unwrap().contains(heading), "{full}");
}
