//! `mk hook`: spellings of an edit that must not get it past a lease.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::hook::{Answered, Shop};
use crate::sandbox::Sandbox;

/// A project in which `holder` has `src/`.
fn leased() -> Shop {
    let shop = Shop::new();
    fs::create_dir_all(shop.0.path("src")).unwrap();
    fs::create_dir_all(shop.0.path("sub")).unwrap();
    shop.0.write("src/a.rs", "");
    shop.0.mk("--agent holder lease acquire src/ --ttl 600").success();
    shop
}

#[track_caller]
fn is_denied(answered: &Answered, what: &str) {
    let Answered { stdout, stderr } = answered;
    assert!(
        stdout.contains(r#""permissionDecision":"deny""#) && stdout.contains("lease-held: "),
        "{what}: {stdout}{stderr}"
    );
    assert!(stdout.contains("is leased to 'holder' for 600 s more"), "{what}: {stdout}");
    assert_eq!(stderr, "", "{what}");
}

/// Nothing is said to the agent, and one line on stderr.
#[track_caller]
fn goes_on(answered: &Answered, told: &str) {
    assert_eq!(answered.stdout, "", "{told}");
    assert_eq!(answered.stderr.lines().count(), 1, "{told}: {}", answered.stderr);
    assert!(answered.stderr.contains(told), "{told}: {}", answered.stderr);
}

fn patches(shop: &mut Shop, hunks: &str) -> Answered {
    let patch = format!("*** Begin Patch\n{hunks}*** End Patch\n");
    shop.tool("codex", "s", "PreToolUse", "apply_patch", json!({ "command": patch }))
}

fn writes(shop: &mut Shop, file: &str) -> Answered {
    shop.tool("claude-code", "s", "PreToolUse", "Write", json!({ "file_path": file }))
}

#[test]
fn white_space_before_a_header_of_a_patch_hides_no_file() {
    let mut shop = leased();
    for hunks in [
        " *** Update File: src/a.rs\n@@\n-x\n+y\n",
        "\t*** Delete File: src/a.rs \n",
        "*** Add File: ok.rs\n+y\n  *** Add File: src/b.rs\n+y\n",
        "*** Update File: ok.rs\n  *** Move to: src/b.rs\n@@\n-x\n+y\n",
    ] {
        is_denied(&patches(&mut shop, hunks), hunks);
    }
    assert_eq!(shop.held(), ["src/"]);
}

#[test]
fn a_name_that_cannot_be_leased_hides_no_other() {
    let mut shop = leased();
    let mixed = "*** Add File: odd\tname\n+y\n*** Update File: src/a.rs\n@@\n-x\n+y\n";
    is_denied(&patches(&mut shop, mixed), mixed);
    // What is understood is leased before the failure.
    let free = "*** Update File: free.rs\n@@\n-x\n+y\n*** Add File: odd\tname\n+y\n";
    goes_on(&patches(&mut shop, free), "has a control character");
    assert_eq!(shop.held(), ["free.rs", "src/"]);
    // After the edit it is told too.
    let input = json!({ "command": format!("*** Begin Patch\n{mixed}*** End Patch\n") });
    let after = shop.tool("codex", "s", "PostToolUse", "apply_patch", input).stdout;
    assert!(after.contains(r#""additionalContext":"lease-held: "#), "{after}");
    // A name that may not be stored is none that hides another either.
    let secret = format!("*** Add File: AKIA{}\n+y\n", "ABCDEFGHIJKLMNOP");
    is_denied(&patches(&mut shop, &format!("{secret}*** Delete File: src/a.rs\n")), "a secret");
    goes_on(&patches(&mut shop, &secret), "looks like a secret");
    shop.0.mk("config hook.enforce warn").success();
    goes_on(&patches(&mut shop, mixed), "has a control character");
    shop.0.mk("config hook.strict true").success();
    let refused = patches(&mut shop, mixed).stdout;
    assert!(refused.contains("deny") && refused.contains("invalid-argument: "), "{refused}");
}

#[test]
fn a_command_that_is_a_patch_is_split_as_a_shell_does() {
    let mut shop = leased();
    fs::create_dir(shop.0.path("a&&b")).unwrap();
    shop.0.mk("--agent holder lease acquire 'a&&b/' --ttl 600").success();
    for before in ["cd\tsrc && ", "cd 'a&&b' && ", "cd \"a&&b\"&&\n", "cd s'r'c \t&&\t"] {
        let command = format!(
            "{before}apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.rs\n*** End Patch\nEOF\n"
        );
        let answered = shop.tool("codex", "s", "PreToolUse", "Bash", json!({ "command": command }));
        is_denied(&answered, before);
    }
}

#[test]
fn a_link_to_what_is_not_there_yet_is_followed() {
    let mut shop = leased();
    for (link, target) in [
        ("sub/file", "../src/new.rs"),
        ("sub/directory", "../src/deep"),
        ("sub/first", "second"),
        ("sub/second", "../src/other.rs"),
    ] {
        symlink(target, shop.0.path(link)).unwrap();
    }
    for file in ["sub/file", "sub/directory/new.rs", "sub/first", "sub/../sub/file"] {
        is_denied(&writes(&mut shop, &format!("/repo/{file}")), file);
    }
    symlink("loop", shop.0.path("loop")).unwrap();
    let looped = writes(&mut shop, "/repo/loop");
    assert_eq!((looped.stdout.as_str(), looped.stderr.as_str()), ("", ""));
    assert_eq!(shop.held(), ["loop", "src/"]);
}

#[test]
fn what_cannot_be_leased_meets_the_lease_of_its_subtree() {
    let mut shop = leased();
    let long = "x".repeat(1_100);
    for name in ["a\nb", "a\u{202e}b", long.as_str(), "odd\tdirectory/a", "none/../a\u{7}"] {
        is_denied(&writes(&mut shop, &format!("/repo/src/{name}")), name);
    }
    // Nor is a link to a name that is no text a way around.
    let name = OsStr::from_bytes(b"src/\xff");
    fs::write(shop.0.path("").join(name), "").unwrap();
    symlink(Path::new("..").join(name), shop.0.path("sub/bytes")).unwrap();
    is_denied(&writes(&mut shop, "/repo/sub/bytes"), "no text");
    // The lease of a file or of a subtree beside it is no concern.
    shop.0.mk("--agent holder lease acquire sub/a sub/deep/ --ttl 600").success();
    for name in ["sub/a\nb", "a\nb", "sub/deep /a\nb"] {
        goes_on(&writes(&mut shop, &format!("/repo/{name}")), "has a control character");
    }
    goes_on(&writes(&mut shop, &format!("/repo/sub/{long}")), "1024 are allowed");
    // A lease of one's own neither.
    shop.0.set("MK_SESSION", "s");
    shop.0.mk("--agent claude-code lease acquire own/ --ttl 600").success();
    goes_on(&writes(&mut shop, "/repo/own/a\nb"), "has a control character");
}

#[test]
fn a_commit_of_what_cannot_be_leased_meets_the_lease_of_its_subtree() {
    let repo = Sandbox::new();
    repo.session(
        r#"
        $ git init -q -b main . && mkdir d e && printf x > "$(printf 'd/a\nb')"; printf x > "$(printf 'e/a\nb')"
        $ mk --agent bob lease acquire d/ --ttl 60
        1
        $ mk --agent bob lease acquire e/a --ttl 60
        1
        $ git add d; mk hook git-pre-commit
        'd/' is leased to 'bob' for 60 s more
        commit without them, later, or all the same with --no-verify
        [1]
        $ git rm -qr --cached d; git add e; mk hook git-pre-commit
        "#,
    );
}

#[test]
fn the_project_of_claude_code_counts_wherever_it_stands() {
    let mut shop = leased();
    let project = shop.0.path("").display().to_string();
    let elsewhere = Sandbox::empty();
    let other = elsewhere.path("").display().to_string();
    let edit = |cwd: &str, file: &str| {
        json!({
            "session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": file },
        })
    };
    goes_on(&shop.call("claude-code", &edit(&other, "/repo/src/a.rs")), "not a mk project");
    shop.0.set("CLAUDE_PROJECT_DIR", project.trim_end_matches('/'));
    is_denied(&shop.call("claude-code", &edit(&other, "/repo/src/a.rs")), "absolute");
    // A relative name is one where the agent stands.
    let outside = shop.call("claude-code", &edit(&other, "src/a.rs"));
    assert_eq!((outside.stdout.as_str(), outside.stderr.as_str()), ("", ""));
    is_denied(&shop.call("claude-code", &edit("/repo/sub", "../src/a.rs")), "relative");
    // The variable is none of another agent's.
    let write = json!({
        "session_id": "s", "cwd": other, "hook_event_name": "BeforeTool", "tool_name": "replace",
        "tool_input": { "file_path": "/repo/src/a.rs" },
    });
    goes_on(&shop.call("gemini", &write), "not a mk project");
    // Where no project is, it is looked for from where the agent stands.
    shop.0.set("CLAUDE_PROJECT_DIR", &other);
    is_denied(&shop.call("claude-code", &edit("/repo", "src/a.rs")), "no project");
}

#[test]
fn half_a_surrogate_pair_and_what_is_no_utf_8_lose_nothing() {
    let mut shop = leased();
    let place = shop.0.path("").display().to_string();
    let send = |shop: &mut Shop, head: &str, rest: &[u8]| {
        let head = format!(r#"{{"session_id":"s","cwd":"{place}","hook_event_name":{head}"#);
        shop.0.input = [head.as_bytes(), rest].concat();
        let done = shop.0.mk("hook claude-code").code(0);
        shop.0.input.clear();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let output = done.get_output();
        Answered { stdout: text(&output.stdout), stderr: text(&output.stderr) }
    };
    let edit = r#""PreToolUse","tool_name":"Edit","tool_input":"#;
    for rest in [
        &br#"{"file_path":"src/a.rs","old_string":"\ud83d"}}"#[..],
        b"{\"file_path\":\"src/a.rs\",\"old_string\":\"\xff\"}}",
        br#"{"file_path":"src/\udc00.rs"}}"#,
        br#"{"file_path":"src/a.rs","\ud83d":1},"\udfff":{"\ud83d":"\ud83d"}}"#,
    ] {
        is_denied(&send(&mut shop, edit, rest), &rest.escape_ascii().to_string());
    }
    let failed = r#""PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"a "#;
    let done = send(&mut shop, failed, br#"\ud83d"},"error":"Exit code 2\n\ud83d"}"#);
    assert_eq!(done.stderr, "");
    let ran = r#""PostToolUse","tool_name":"Bash","tool_input":{"command":"b "#;
    let done =
        send(&mut shop, ran, b"\xc3\"},\"tool_response\":{\"stdout\":\"\\ud83d\\ude42 \\ud83d\"}}");
    assert_eq!(done.stderr, "");
    let events = shop.events();
    let told = |event: &Value| {
        ["command", "output", "exit_code"].map(|name| event["payload"][name].clone())
    };
    assert_eq!(told(&events[1]), [json!("a \u{fffd}"), json!("\u{fffd}"), json!(2)]);
    assert_eq!(told(&events[0]), [json!("b \u{fffd}"), json!("\u{1f642} \u{fffd}"), json!(0)]);
}

#[test]
fn a_member_of_no_concern_may_have_any_type() {
    let mut shop = leased();
    let edit = json!({
        "session_id": "s", "cwd": "/repo", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": { "file_path": "/repo/src/a.rs" }, "tool_use_id": "t1",
    });
    for value in [json!(null), json!(5), json!([1]), json!({}), json!(true)] {
        for name in ["session_id", "cwd", "tool_use_id", "is_interrupt", "duration_ms", "error"] {
            let mut edit = edit.clone();
            edit[name] = value.clone();
            is_denied(&shop.call("claude-code", &edit), &edit.to_string());
        }
    }
    // Sessions that are numbers are as many sessions.
    let session = |n: u32| {
        json!({
            "session_id": n, "cwd": "/repo", "hook_event_name": "PreToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": "/repo/b.rs" },
        })
    };
    assert_eq!(shop.call("claude-code", &session(1)).stdout, "");
    assert!(shop.call("claude-code", &session(2)).stdout.contains("in another session"));
}

#[test]
fn what_is_no_call_is_said_in_plain_words() {
    let mut shop = leased();
    for (input, told) in [
        ("", "it is empty"),
        (r#"{"hook_event_name":"PreToolUse","tool_na"#, "it ends too early"),
        ("[]", "it is no object"),
        ("5", "it is no object"),
        ("{} {}", "line 1, column 4 is no JSON, or nested too deeply"),
        (r#"{"hook_event_name":5}"#, "hook_event_name is no text"),
        (r#"{"hook_event_name":"PreToolUse","tool_name":[]}"#, "tool_name is no text"),
    ] {
        let answered = shop.call("claude-code", &Value::from(input));
        assert_eq!(answered.stdout, "");
        let expected = format!("mk hook: stdin is not the JSON of a hook: {told}\n");
        assert_eq!(answered.stderr, expected, "{input}");
    }
    shop.0
        .sh("mk hook claude-code < .")
        .code(0)
        .stdout("")
        .stderr("mk hook: cannot read stdin: Is a directory (os error 21)\n");
}
