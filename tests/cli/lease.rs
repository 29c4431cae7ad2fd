//! `lease`, `--fence`, and what becomes of claims.

use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::locks::start;
use crate::sandbox::Sandbox;

/// A project in which leases go by the real clock.
fn real_time() -> Sandbox {
    let mut repo = Sandbox::new();
    repo.set("MK_LEASE_DATE", "");
    repo
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Starts to wait for `src/a.rs` as `agent`, and answers once it stands in the queue.
fn start_to_wait(repo: &Sandbox, agent: &str, waiting_before: usize) -> Child {
    let mk = start(repo, &format!("--agent {agent} lease acquire src/a.rs --wait 60 --ttl 600"));
    let begun = Instant::now();
    while waiting(repo) <= waiting_before {
        assert!(begun.elapsed() < Duration::from_secs(20), "{agent} never began to wait");
        thread::sleep(Duration::from_millis(5));
    }
    mk
}

/// How many bells hang in the waiting room.
fn waiting(repo: &Sandbox) -> usize {
    let Ok(entries) = std::fs::read_dir(repo.store().join("mk.db-waiting")) else { return 0 };
    entries.filter(|it| it.as_ref().unwrap().path().extension().is_some()).count()
}

#[test]
fn a_lease_is_held_by_one() {
    Sandbox::new().session(
        r#"
        $ mk --agent ann lease acquire src/auth.rs src/session.rs --ttl 60
        1
        1
        $ mk --agent bob lease acquire src/auth.rs
        ! error: 'src/auth.rs' is leased to 'ann' for 60 s more
        ! hint: take other work, or wait for it with `mk lease acquire --wait`
        [1]
        $ mk --agent bob lease acquire README.md ./src//x/../session.rs --json
        {"error":{"code":"lease-held","message":"'src/session.rs' is leased to 'ann' for 60 s more","hint":"take other work, or wait for it with `mk lease acquire --wait`","retryable":true,"retry_after_ms":60000,"details":{"expires_in_s":60.0,"holder":"ann","resource":"src/session.rs","token":1}}}
        ! error: 'src/session.rs' is leased to 'ann' for 60 s more
        ! hint: take other work, or wait for it with `mk lease acquire --wait`
        [1]
        $ mk --agent bob lease acquire src/
        ! error: 'src/' overlaps with 'src/auth.rs', which is leased to 'ann' for 60 s more
        ! hint: take other work, or wait for it with `mk lease acquire --wait`
        [1]
        $ mk --agent bob lease check README.md src/auth.rs src/
        README.md is free
        src/auth.rs is leased to 'ann' for 60 s more (token 1)
        src/ overlaps with src/auth.rs, which is leased to 'ann' for 60 s more (token 1)
        src/ overlaps with src/session.rs, which is leased to 'ann' for 60 s more (token 1)
        [1]
        $ mk --agent ann lease check README.md src/auth.rs src/
        README.md is free
        src/auth.rs is leased to 'ann' for 60 s more (token 1)
        src/ overlaps with src/auth.rs, which is leased to 'ann' for 60 s more (token 1)
        src/ overlaps with src/session.rs, which is leased to 'ann' for 60 s more (token 1)
        $ mk --agent ann lease acquire src/auth.rs --json
        {"leases":[{"resource":"src/auth.rs","fencing_token":1,"renewed":true,"ttl_seconds":30.0,"expires_at":1796032860.0,"expires_in_seconds":60.0,"claim_event_id":null,"event":null}]}
        $ mk lease list
        src/auth.rs	ann	1	60 s
        src/session.rs	ann	1	60 s
        $ mk lease list src/auth.rs -z | tr '\0' '|'
        src/auth.rs|
        (no line break)
        $ mk lease list -n 1
        src/auth.rs	ann	1	60 s
        [there are more: mk lease list --after src/auth.rs]
        $ mk lease list --after src/auth.rs --json
        {"leases":[{"resource_key":"src/session.rs","holder_agent_id":"ann","fencing_token":1,"ttl_seconds":60.0,"expires_at":1796032860.0,"expires_in_seconds":60.0,"active":true,"claim":{"branch_id":"main","agent_id":"ann","session":"","origin":"command","acquired_at":1796032800.0}}],"next_after":null}
        $ mk --agent ann lease renew src/auth.rs --token 1
        src/auth.rs holds for 60 s more
        $ mk --agent ann lease release src/auth.rs --token 1
        src/auth.rs is free
        $ mk --agent ann lease release src/auth.rs --token 1 --json
        {"error":{"code":"lease-lost","message":"the lease of 'src/auth.rs' with token 1 is lost: there is no such lease","hint":"do not write what it was for; take it anew with `mk lease acquire`","retryable":false,"details":{"reason":"unknown","resource":"src/auth.rs","token":1}}}
        ! error: the lease of 'src/auth.rs' with token 1 is lost: there is no such lease
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent bob lease acquire src/auth.rs
        2
        $ mk --agent ann lease renew src/auth.rs --token 1 --json
        {"error":{"code":"lease-lost","message":"the lease of 'src/auth.rs' with token 1 is lost: it was granted to another since","hint":"do not write what it was for; take it anew with `mk lease acquire`","retryable":false,"details":{"reason":"taken","resource":"src/auth.rs","token":1}}}
        ! error: the lease of 'src/auth.rs' with token 1 is lost: it was granted to another since
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent ann lease renew src/auth.rs --token 2
        ! error: the lease of 'src/auth.rs' with token 2 is lost: it belongs to another agent
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent bob lease renew src/auth.rs --token 1
        ! error: the lease of 'src/auth.rs' with token 1 is lost: the current token is another
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent bob lease renew src/auth.rs --token 9
        ! error: the lease of 'src/auth.rs' with token 9 is lost: the current token is another
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent bob lease check src/auth.rs --token 2
        src/auth.rs is leased to 'bob' for 30 s more (token 2)
        $ mk --agent bob lease check src/auth.rs --token 1
        ! error: the lease of 'src/auth.rs' with token 1 is lost: the current token is another
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk --agent ann lease release src/other.rs --token 1
        ! error: the lease of 'src/other.rs' with token 1 is lost: there is no such lease
        ! hint: do not write what it was for; take it anew with `mk lease acquire`
        [1]
        $ mk log --oneline
        d9e9dac9 4 bob FILE_CLAIM_ACQUIRED src/auth.rs token 2
        b606aec3 3 ann FILE_CLAIM_RELEASED src/auth.rs token 1
        6e988d7e 2 ann FILE_CLAIM_ACQUIRED src/session.rs token 1
        492a3441 1 ann FILE_CLAIM_ACQUIRED src/auth.rs token 1
        $ mk verify
        ok: 4 events, 1 branch
        "#,
    );
}

#[test]
fn each_path_has_a_line_and_each_resource_a_lease() {
    let repo = Sandbox::new();
    repo.mk("lease acquire b").success().stdout("1\n");
    repo.mk("lease release b --token 1").success();
    repo.mk("lease acquire a b a ./a").success().stdout("1\n2\n1\n1\n");
    let again = repo.json("lease acquire a b a ./a");
    let leases = again["leases"].as_array().unwrap();
    let keys: Vec<&str> = leases.iter().map(|it| it["resource"].as_str().unwrap()).collect();
    assert_eq!(keys, ["a", "b"], "{again}");
    repo.mk("rev-list --count").success().stdout("4\n");
}

#[test]
fn a_lapsed_lease_goes_to_the_next_with_a_higher_token() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire src/auth.rs --ttl 60").success().stdout("1\n");
    repo.mk("--agent bob lease acquire src/auth.rs").code(1).stdout("");
    repo.now_ms += 60_000;
    let lost = repo.refusal("--agent ann lease renew src/auth.rs --token 1");
    assert_eq!(lost["details"]["reason"], "expired");
    repo.mk("--agent bob lease acquire src/auth.rs").success().stdout("2\n");
    let lost = repo.refusal("--agent ann lease release src/auth.rs --token 1");
    assert_eq!(lost["details"]["reason"], "taken");
}

#[test]
fn a_lapsed_lease_can_be_given_back_or_swept() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire a b --ttl 1").success();
    repo.mk("--agent ann fork try").success();
    repo.mk("--agent ann --branch try lease acquire c --ttl 1").success();
    repo.now_ms += 1_000;
    repo.mk("--agent ann lease release a --token 1").success().stdout("a is free\n");
    repo.mk("lease sweep --dry-run").success().stdout("b ran out\nc ran out\n");
    repo.mk("lease sweep").success().stdout("b is given back\nc is given back\n");
    repo.mk("lease sweep").success().stdout("");
    // Each is recorded where it was granted.
    for branch in ["main", "try"] {
        let state = repo.json(&format!("fold {branch}"));
        let claims = state["state"]["active_claims"].as_object().unwrap();
        let left: Vec<&String> = claims.keys().collect();
        assert_eq!(left, if branch == "main" { vec![] as Vec<&str> } else { vec!["a", "b"] });
    }
    repo.mk("lease list").success().stdout("");
    repo.mk("lease list --all").success().stdout("a\t-\t1\t-\nb\t-\t1\t-\nc\t-\t1\t-\n");
    repo.mk("verify").success();
}

#[test]
fn a_clock_that_is_set_back_never_shortens_a_lease() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire a --ttl 60").success();
    // Between acquiring and renewing, the clock of leases alone: events have times of their own.
    repo.set("MK_LEASE_DATE", "@1796029200");
    repo.mk("--agent ann lease renew a --token 1").success().stdout("a holds for 3660 s more\n");
    repo.mk("--agent ann lease acquire a --ttl 60").success().stdout("1\n");
    repo.mk("lease list").success().stdout("a\tann\t1\t3660 s\n");
    repo.unset("MK_LEASE_DATE");
    repo.now_ms -= 3_600_000;
    repo.mk("--agent bob lease acquire a").code(1).stdout("");
    repo.mk("--agent ann lease renew a --token 1").success().stdout("a holds for 3660 s more\n");
    repo.mk("--agent ann decide k v --fence a:1").success();
    repo.now_ms += 3_600_000 + 59_000;
    repo.mk("lease list").success().stdout("a\tann\t1\t1 s\n");
    repo.now_ms += 1_000;
    repo.mk("--agent bob lease acquire a").success().stdout("2\n");
    repo.mk("verify").success();
}

#[test]
fn another_session_of_the_same_agent_is_another_holder() {
    let mut repo = Sandbox::new();
    repo.set("MK_SESSION", "one");
    repo.mk("--agent ann lease acquire a").success().stdout("1\n");
    repo.mk("--agent ann lease acquire a").success().stdout("1\n");
    let session = repo.json("lease list")["leases"][0]["claim"]["session"].clone();
    assert_eq!(session.as_str().unwrap().len(), 12, "a digest, not the name");
    for other in ["two", ""] {
        repo.set("MK_SESSION", other);
        let error = repo.refusal("--agent ann lease acquire a");
        assert_eq!(error["code"], "lease-held");
        assert_eq!(error["message"], "'a' is leased to 'ann' in another session for 30 s more");
        assert_eq!(error["hint"], "if that session has ended, take it over with --takeover");
        assert_eq!(error["retry_after_ms"], 30_000);
    }
    repo.mk("--agent bob lease acquire a --takeover").code(1);
    // Agent and token are enough for all else, so that the next shell command can go on.
    repo.mk("--agent ann lease renew a --token 1").success();
    repo.mk("--agent ann note x --fence a:1").success();
    repo.mk("--agent ann lease acquire a --takeover").success().stdout("2\n");
    let lost = repo.refusal("--agent ann note x --fence a:1");
    assert_eq!(lost["details"]["reason"], "wrong-token");
}

#[test]
fn a_fenced_write_goes_through_only_while_the_lease_is_held() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire src/ README.md --ttl 60").success();
    for line in [
        "append --fence src/:1",
        "task t --fence src/:1",
        "decide k v --fence src/:1 --fence README.md:1",
        "fact k=v --fence src/:1",
        "note n --fence ./src//:1",
    ] {
        repo.mk(&format!("--agent ann {line}")).success();
    }
    let events = repo.json("show HEAD HEAD~2");
    let leases = |index: usize| events["events"][index]["metadata"]["lease"].to_string();
    assert_eq!(leases(0), r#"{"fencing_token":1,"resource":"src/"}"#);
    assert_eq!(
        leases(1),
        r#"[{"fencing_token":1,"resource":"src/"},{"fencing_token":1,"resource":"README.md"}]"#
    );
    // It renews the lease.
    repo.now_ms += 59_000;
    repo.mk("--agent ann note n --fence src/:1").success();
    repo.mk("lease list").success().stdout("README.md\tann\t1\t1 s\nsrc/\tann\t1\t60 s\n");
    repo.now_ms += 2_000;
    for (fences, agent, reason) in [
        ("--fence README.md:1", "ann", "expired"),
        // One that holds helps no other, and is not renewed.
        ("--fence src/:1 --fence README.md:1", "ann", "expired"),
        ("--fence src/:2", "ann", "wrong-token"),
        ("--fence src/:1", "bob", "wrong-agent"),
        ("--fence src/a.rs:1", "ann", "unknown"),
    ] {
        let before = repo.files();
        let error = repo.refusal(&format!("--agent {agent} decide k w {fences}"));
        assert_eq!(error["code"], "lease-lost", "{fences}");
        assert_eq!(error["details"]["reason"], reason, "{fences}");
        assert_eq!(repo.files(), before, "{fences}");
    }
    repo.mk("lease list").success().stdout("src/\tann\t1\t58 s\n");
    // A retry of what went through is answered as before, even after the lease is lost.
    let line = "--agent ann note once --fence src/:1 --op-id o1";
    let first = repo.json(line);
    repo.mk("--agent ann lease release src/ --token 1").success();
    assert_eq!(repo.json(line)["hash"], first["hash"]);
}

#[test]
fn a_line_of_a_batch_is_fenced_on_its_own() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire src/ README.md other --ttl 60").success();
    repo.now_ms += 30_000;
    repo.input = br#"{}
        {"fence":{"resource":"./src//","token":1}}
        {"fence":[{"resource":"src/","token":1},{"resource":"README.md","token":1}],"metadata":{"n":1}}
    "#
    .to_vec();
    repo.mk("--agent ann append --batch -q --op-id o1").success();
    let events = repo.json("show HEAD HEAD~1 HEAD~2");
    let metadata = |index: usize| &events["events"][index]["metadata"];
    let src = serde_json::json!({"fencing_token": 1, "resource": "src/"});
    let readme = serde_json::json!({"fencing_token": 1, "resource": "README.md"});
    assert_eq!(metadata(0)["lease"], serde_json::json!([src, readme]));
    assert_eq!(metadata(0)["n"], 1);
    assert_eq!(metadata(1)["lease"], src);
    assert_eq!(metadata(2)["lease"], serde_json::Value::Null);
    // Those that it names are renewed.
    let leases = "README.md\tann\t1\t60 s\nother\tann\t1\t30 s\nsrc/\tann\t1\t60 s\n";
    repo.mk("lease list").success().stdout(leases);
    repo.now_ms += 31_000;
    for (line, reason) in [
        (r#"{"fence":{"resource":"other","token":1}}"#, "expired"),
        (r#"{"fence":{"resource":"src/","token":2}}"#, "wrong-token"),
        (r#"{"fence":{"resource":"src/a","token":1}}"#, "unknown"),
        // Whose event it is decides, not who sends it.
        (r#"{"agent_id":"bob","fence":{"resource":"src/","token":1}}"#, "wrong-agent"),
    ] {
        repo.input = format!("{{}}\n{line}\n").into_bytes();
        let before = repo.files();
        let error = repo.refusal("--agent ann append --batch");
        assert_eq!(
            (&error["code"], &error["details"]["reason"]),
            (&"lease-lost".into(), &reason.into())
        );
        assert!(error["message"].as_str().unwrap().starts_with("line 2: the lease of"), "{error}");
        assert_eq!(repo.files(), before, "{line}");
    }
    // With --each, those before it stay.
    repo.input = b"{}\n{\"fence\":{\"resource\":\"other\",\"token\":1}}\n{}\n".to_vec();
    repo.mk("--agent ann append --each -q").code(1);
    repo.mk("rev-list --count").success().stdout("7\n");
    let form = r#"fence is not {"resource": PATH, "token": N}, or a list of them"#;
    for (fence, why) in [
        ("1", form),
        (r#""src/:1""#, form),
        (r#"[["src/",1]]"#, form),
        (r#"{"resource":"src/"}"#, form),
        (r#"{"resource":"src/","token":1,"x":1}"#, form),
        (r#"{"resource":"src/","token":"1"}"#, form),
        (r#"{"resource":"src/","token":1.0}"#, form),
        (r#"{"resource":"src/","token":0}"#, "a token is a whole number from 1 on"),
        (r#"{"resource":"src/","token":-1}"#, "a token is a whole number from 1 on"),
        (r#"{"resource":"","token":1}"#, "a resource is empty"),
        (r#"{"resource":"../x","token":1}"#, "'../x' lies outside of '~'"),
    ] {
        repo.input = format!("{{\"fence\":{fence}}}").into_bytes();
        let stderr = format!("fatal: line 1: {why}\n");
        repo.refuses("append --batch", 129, "invalid-argument", &stderr);
    }
}

#[test]
fn a_token_of_an_earlier_grant_is_refused_wherever_it_is_given() {
    let mut repo = Sandbox::new();
    for (agent, token) in [("ann", 1), ("bob", 2), ("ann", 3)] {
        repo.mk(&format!("--agent {agent} lease acquire a")).success().stdout(format!("{token}\n"));
        if token < 3 {
            repo.mk(&format!("--agent {agent} lease release a --token {token}")).success();
        }
    }
    for (agent, token, reason) in
        [("ann", 1, "wrong-token"), ("bob", 1, "taken"), ("bob", 2, "taken")]
    {
        repo.input = format!(r#"{{"fence":{{"resource":"a","token":{token}}}}}"#).into_bytes();
        for line in [
            format!("lease renew a --token {token}"),
            format!("lease release a --token {token}"),
            format!("lease check a --token {token}"),
            format!("decide k v --fence a:{token}"),
            "append --batch".to_owned(),
            "append --each".to_owned(),
        ] {
            let before = repo.files();
            let error = repo.refusal(&format!("--agent {agent} {line}"));
            assert_eq!(error["code"], "lease-lost", "{agent} {line}");
            assert_eq!(error["details"]["reason"], reason, "{agent} {line}");
            assert_eq!(repo.files(), before, "{agent} {line}");
        }
    }
    repo.mk("--agent ann decide k v --fence a:3").success();
}

#[test]
fn a_claim_is_shown_with_what_became_of_its_lease() {
    let mut repo = Sandbox::new();
    repo.mk("--agent ann lease acquire held expired released taken --ttl 60").success();
    repo.mk("fork try").success();
    repo.mk("--agent ann --branch try lease release released --token 1").success();
    repo.mk("--agent ann --branch try lease release taken --token 1").success();
    repo.now_ms += 30_000;
    repo.mk("--agent ann lease renew held --token 1").success();
    repo.mk("--agent bob --branch try lease acquire taken --ttl 60").success();
    repo.now_ms += 30_000;
    let fold = repo.json("fold");
    let expected = serde_json::json!({
        "held": "held", "expired": "expired", "released": "released", "taken": "elsewhere",
    });
    assert_eq!(fold["claim_status"], expected);
    assert_eq!(fold["unclaimed_leases"][0]["resource_key"], "taken");
    assert_eq!(fold["unclaimed_leases"][0]["claim"]["branch_id"], "try");
    assert_eq!(fold["unclaimed_leases"].as_array().unwrap().len(), 1);
    // The state and its digest know nothing of it.
    repo.now_ms += 60_000;
    let later = repo.json("fold");
    assert_eq!((&later["state"], &later["digest"]), (&fold["state"], &fold["digest"]));
    assert_eq!(later["claim_status"]["held"], "expired");
    repo.now_ms -= 60_000;
    let context = repo.json("context");
    let text = context["text"].as_str().unwrap();
    let claims: Vec<&str> = text.lines().filter(|line| !line.contains(']')).collect();
    assert_eq!(
        claims,
        [
            "CLAIM expired by ann token 1 (expired)",
            "CLAIM held by ann token 1 (held)",
            "CLAIM released by ann token 1 (released)",
            "CLAIM taken by ann token 1 (elsewhere)",
            "LEASE taken of bob token 2 (held, claimed elsewhere)",
        ]
    );
}

#[test]
fn what_is_no_lease_is_refused() {
    let repo = Sandbox::new();
    for (ttl, why) in [
        ("0", "a lease cannot last 0 s: above 0, at most 86400 s"),
        ("-1", "a lease cannot last -1 s: above 0, at most 86400 s"),
        ("NaN", "a lease cannot last NaN s: above 0, at most 86400 s"),
        ("inf", "a lease cannot last inf s: above 0, at most 86400 s"),
        ("90000", "a lease cannot last 90000 s: above 0, at most 86400 s"),
        ("1h", "not a number of seconds"),
    ] {
        let stderr = format!(
            "fatal: invalid value '{ttl}' for '--ttl <SECONDS>': {why}\nhint: see `mk lease --help`\n"
        );
        repo.refuses(&format!("lease acquire a --ttl {ttl}"), 129, "invalid-argument", &stderr);
    }
    for token in ["0", "-1", "+1", "1.0", "x", "9223372036854775808"] {
        let stderr = format!(
            "fatal: invalid value '{token}' for '--token <N>': a token is a whole number from 1 on\n\
             hint: see `mk lease --help`\n"
        );
        repo.refuses(&format!("lease renew a --token {token}"), 129, "invalid-argument", &stderr);
        repo.refuses(&format!("lease release a --token {token}"), 129, "invalid-argument", &stderr);
        let fence = format!("'a:{token}' for '--fence <PATH:TOKEN>'");
        let stderr = format!(
            "fatal: invalid value {fence}: a token is a whole number from 1 on\n\
             hint: see `mk note --help`\n"
        );
        repo.refuses(&format!("note x --fence a:{token}"), 129, "invalid-argument", &stderr);
    }
    let long = "x".repeat(1_025);
    for (path, why) in [
        ("''", "a resource is empty"),
        ("' '", "a resource is empty"),
        (".", "'.' is the root of the project, which cannot be leased"),
        ("..", "'..' lies outside of '~'"),
        ("a/../../b", "'a/../../b' lies outside of '~'"),
        ("/etc/passwd", "'/etc/passwd' lies outside of '~'"),
        ("'a\nb'", "the resource 'a\\nb' has a control character at character 2"),
        (
            long.as_str(),
            "the resource 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' has 1025 characters, 1024 are allowed",
        ),
    ] {
        let stderr = format!("fatal: {why}\n");
        for line in [
            format!("lease acquire fine -- {path}"),
            format!("lease renew --token 1 -- {path}"),
            format!("lease release --token 1 -- {path}"),
            format!("lease check -- {path}"),
            format!("note x --fence {path}:1"),
        ] {
            repo.refuses(&line, 129, "invalid-argument", &stderr);
        }
    }
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let error = repo.refusal(&format!("lease acquire {secret}"));
    assert_eq!(error["code"], "secret-refused");
    repo.mk("lease acquire -- -x --wait").success().stdout("1\n1\n");
    repo.mk("lease list -z").success().stdout("--wait\0-x\0");
}

#[test]
fn all_spellings_of_a_file_are_one_wherever_one_stands() {
    let repo = Sandbox::new();
    let git = "git -c init.defaultBranch=main init -q . && git -c user.name=x -c user.email=x@x \
               commit -q --allow-empty -m x && git worktree add -q ../linked";
    repo.sh("mkdir -p src/deep").success();
    repo.mk("lease acquire src/a.rs").success();
    let absolute = repo.path("src/a.rs");
    for line in [
        "lease check ./src/a.rs".to_owned(),
        "-C src lease check a.rs".to_owned(),
        "-C src/deep lease check ../a.rs".to_owned(),
        format!("-C src/deep lease check {}", absolute.display()),
    ] {
        repo.mk(&format!("--agent bob {line}")).code(1);
    }
    repo.mk("--agent bob -C src lease check src/a.rs").success();
    // With a store of its own choice, from the root that was recorded when it was made.
    let store = repo.store().join("mk.db");
    repo.mk(&format!("--agent bob -C / --db {} lease check src/a.rs", store.display())).code(1);
    // All worktrees of a repository share leases, each from its own top.
    let outer = Sandbox::empty();
    outer.sh(&format!("mkdir -p repo/src && cd repo && {git}")).success();
    outer.mk("-C repo init").success();
    outer.mk("-C repo lease acquire src/a.rs").success();
    outer.mk("--agent bob -C linked lease check src/a.rs").code(1);
    let linked = outer.path("linked/src/a.rs");
    outer.mk(&format!("--agent bob -C linked lease check {}", linked.display())).code(1);
}

#[test]
fn of_many_that_race_for_a_lease_one_wins() {
    let repo = real_time();
    for round in 1..=5 {
        let racers: Vec<(String, Child)> = (0..8)
            .map(|number| format!("agent-{number}"))
            .map(|agent| {
                let mk = start(&repo, &format!("--agent {agent} lease acquire src/a.rs --ttl 600"));
                (agent, mk)
            })
            .collect();
        let mut winners = Vec::new();
        for (agent, mk) in racers {
            let output = mk.wait_with_output().unwrap();
            match output.status.code() {
                Some(0) => winners.push((agent, stdout(&output))),
                code => assert_eq!(code, Some(1), "{output:?}"),
            }
        }
        let [(winner, token)] = winners.as_slice() else { panic!("{winners:?}") };
        assert_eq!(*token, format!("{round}\n"));
        repo.mk(&format!("--agent {winner} lease release src/a.rs --token {round}")).success();
    }
    repo.mk("rev-list --count").success().stdout("10\n");
    repo.mk("verify").success();
}

#[test]
fn waiters_are_served_first_come_first_served() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 600").success().stdout("1\n");
    let agents = ["bob", "cyd", "dan"];
    let waiters: Vec<Child> = agents
        .iter()
        .enumerate()
        .map(|(place, agent)| start_to_wait(&repo, agent, place))
        .collect();
    repo.mk("--agent ann lease release src/a.rs --token 1").success();
    for ((agent, mk), token) in agents.into_iter().zip(waiters).zip(2..) {
        let output = mk.wait_with_output().unwrap();
        assert_eq!(stdout(&output), format!("{token}\n"), "{agent}: {output:?}");
        repo.mk(&format!("--agent {agent} lease release src/a.rs --token {token}")).success();
    }
    assert_eq!(waiting(&repo), 0);
    repo.mk("verify").success();
}

#[test]
fn a_waiter_gets_what_lapses() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 0.5").success();
    let begun = Instant::now();
    repo.mk("--agent bob lease acquire src/ --wait 60").success().stdout("1\n");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_wait_that_runs_out_has_nothing() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 600").success();
    let begun = Instant::now();
    let error = repo.refusal("--agent bob lease acquire free src/a.rs --wait 0.3");
    assert_eq!(error["code"], "lease-held");
    assert_eq!(error["details"]["holder"], "ann");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(waiting(&repo), 0);
    repo.mk("lease list -z").success().stdout("src/a.rs\0");
}

#[test]
fn a_waiter_that_dies_keeps_nobody_waiting() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 600").success();
    let mut bob = start_to_wait(&repo, "bob", 0);
    let mut cyd = start_to_wait(&repo, "cyd", 1);
    let dan = start_to_wait(&repo, "dan", 2);
    for (mk, signal) in [(&mut bob, Signal::KILL), (&mut cyd, Signal::INT)] {
        kill_process(Pid::from_child(mk), signal).unwrap();
        assert!(!mk.wait().unwrap().success());
    }
    repo.mk("--agent ann lease release src/a.rs --token 1").success();
    let output = dan.wait_with_output().unwrap();
    assert_eq!(stdout(&output), "2\n", "{output:?}");
    repo.mk("lease list -z").success().stdout("src/a.rs\0");
    assert_eq!(waiting(&repo), 0, "what the dead left is cleared away");
}

#[test]
fn a_waiter_that_stands_still_is_not_overtaken_and_its_death_frees_the_way() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 600").success();
    let mut bob = start_to_wait(&repo, "bob", 0);
    kill_process(Pid::from_child(&bob), Signal::STOP).unwrap();
    repo.mk("--agent ann lease release src/a.rs --token 1").success();
    let error = repo.refusal("--agent cyd lease acquire src/");
    assert_eq!(error["message"], "'src/' is free, but 1 asked for it before and wait");
    assert_eq!((&error["code"], &error["details"]["waiting"]), (&"lease-held".into(), &1.into()));
    repo.mk("--agent cyd lease acquire other.rs").success();
    let dan = start_to_wait(&repo, "dan", 1);
    kill_process(Pid::from_child(&bob), Signal::KILL).unwrap();
    bob.wait().unwrap();
    let output = dan.wait_with_output().unwrap();
    assert_eq!(stdout(&output), "2\n", "{output:?}");
}

#[test]
fn a_stale_writer_never_gets_a_write_through() {
    let repo = real_time();
    repo.mk("--agent ann lease acquire src/a.rs --ttl 0.2").success().stdout("1\n");
    repo.mk("--agent bob lease acquire src/a.rs --ttl 600 --wait 60").success().stdout("2\n");
    let stale = repo.refusal("--agent ann decide k 'of ann' --fence src/a.rs:1");
    assert_eq!(
        (&stale["code"], &stale["details"]["reason"]),
        (&"lease-lost".into(), &"taken".into())
    );
    repo.mk("--agent bob decide k 'of bob' --fence src/a.rs:2").success();
    assert_eq!(repo.json("fold")["state"]["decisions"]["k"]["value"], "of bob");
}

#[test]
fn a_lease_is_acquired_once_under_one_op_id() {
    let repo = Sandbox::new();
    let first = repo.json("lease acquire a b --op-id o1");
    let again = repo.json("lease acquire a b --op-id o1");
    assert_eq!(again["leases"], first["leases"]);
    assert_eq!(again["already_applied"], true);
    assert_eq!(repo.refusal("lease acquire a c --op-id o1")["code"], "op-conflict");
    let first = repo.json("lease release a --token 1 --op-id o2");
    assert_eq!(repo.json("lease release a --token 1 --op-id o2")["event"], first["event"]);
}
