//! `mk exec log`, and what is kept beside a record.

use super::{apply, call, called, gate_declared, goal_declared, leased};
use crate::sandbox::Sandbox;

fn printed(repo: &Sandbox, line: &str) -> String {
    String::from_utf8(repo.mk(line).success().get_output().stdout.clone()).unwrap()
}

#[test]
fn the_log_of_a_goal_is_what_the_whole_log_says_of_it() {
    let mut repo = Sandbox::new();
    let other = |request: String| request.replace("team/alpha", "team/beta");
    let mut requests = vec![goal_declared(1), other(goal_declared(2))];
    // More than are read at once, and those of both goals by turns.
    for number in 0..300 {
        requests.push(leased(1_000 + number, "build", "w1"));
        requests.push(other(leased(2_000 + number, "build", "w1")));
    }
    repo.input = (requests.join("\n") + "\n").into_bytes();
    repo.mk("exec call --batch").success();
    for json in ["", " --json"] {
        let whole = printed(&repo, &format!("exec log{json}"));
        let of_it: Vec<&str> = whole.lines().filter(|line| line.contains("team/alpha")).collect();
        assert_eq!((whole.lines().count(), of_it.len()), (602, 301));
        for count in [0, 1, 2, 256, 257, 300, 301, 1_000] {
            let expected: String =
                of_it.iter().take(count).map(|line| format!("{line}\n")).collect();
            let said = printed(&repo, &format!("exec log team/alpha -n {count}{json}"));
            assert_eq!(said, expected, "-n {count}{json}");
        }
        let expected: String = of_it.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(printed(&repo, &format!("exec log team/alpha{json}")), expected);
    }
}

#[test]
fn a_log_shows_damaged_lines_and_goes_by_the_number_within_a_goal() {
    let repo = Sandbox::new();
    let record = |seq: u32, goal: &str| {
        format!(
            "{{\"record_type\":\"goal_declared\",\"goal_id\":\"team/{goal}\",\"title\":\"t{seq}\",\
             \"emitted_at\":\"2026-08-04T11:22:33Z\",\"event_seq\":{seq},\"id\":\"{seq:032x}\"}}\n"
        )
    };
    // A file that two programs wrote to: 3 stands before 2.
    let log = record(1, "a") + "no record\n" + &record(3, "a") + &record(2, "a") + &record(4, "b");
    repo.write("lines", log);
    repo.session(
        r#"
        $ mk exec import lines
        imported 4 records, 1 damaged line (0 were here)
        $ mk exec log
             4 2026-08-04T11:22:33Z team/b goal_declared t4
             2 2026-08-04T11:22:33Z team/a goal_declared t2
             3 2026-08-04T11:22:33Z team/a goal_declared t3
             - 2026-11-30T10:00:00.000000Z [damaged line]
             1 2026-08-04T11:22:33Z team/a goal_declared t1
        $ mk exec log team/a
             3 2026-08-04T11:22:33Z team/a goal_declared t3
             2 2026-08-04T11:22:33Z team/a goal_declared t2
             1 2026-08-04T11:22:33Z team/a goal_declared t1
        $ mk exec log team/a -n 1
             3 2026-08-04T11:22:33Z team/a goal_declared t3
        $ mk exec log team/a | head -n 1
             3 2026-08-04T11:22:33Z team/a goal_declared t3
        $ mk exec log team/none
        $ mk exec log -n 0
        "#,
    );
}

/// A request with `binding` that declares the goal.
fn bound(number: u32, binding: &str) -> String {
    let rest = format!(",\"binding\":{binding}}}");
    goal_declared(number).strip_suffix('}').unwrap().to_owned() + &rest
}

#[test]
fn a_binding_is_kept_beside_the_record_and_is_no_part_of_it() {
    let mut repo = Sandbox::new();
    // Its values are not looked at: not their type, not their size.
    let binding = r#"{"holder":1.5,"execution_run_id":["r",99999999999999999999]}"#;
    let applied = called(&mut repo, bound(1, binding));
    assert_eq!(applied["request_digest"], serde_json::Value::Null);
    let line = printed(&repo, "exec log --json");
    assert!(!line.contains("holder") && !line.contains("binding"), "{line}");
    let event = repo.json("cat-event @exec");
    assert_eq!(event["payload"]["binding"], binding);
    assert_eq!(event["payload"]["line"], line.trim_end());
    // What it says is in no fingerprint: under one key, another binding is a retry.
    let keyed = |number, holder: &str| {
        bound(number, &format!(r#"{{"holder":"{holder}"}}"#))
            .replace("team/alpha", "team/beta")
            .replace(
                "\"precondition\":{}",
                &format!("\"precondition\":{{\"operation_id\":\"{:064x}\"}}", 7),
            )
    };
    let first = called(&mut repo, keyed(2, "w1"));
    let again = called(&mut repo, keyed(3, "w2"));
    assert_eq!(
        (&first["outcome"], &again["outcome"]),
        (&"applied".into(), &"already_applied".into())
    );
    assert_eq!(first["result"], again["result"]);
    assert_eq!(first["state"], again["state"]);
    assert_eq!(repo.json("cat-event @exec")["payload"]["binding"], r#"{"holder":"w1"}"#);
    // Without a key of its own, it is in that of the request.
    let (refused, _) = call(&mut repo, bound(1, r#"{"holder":"w1"}"#));
    assert_eq!(refused["error"]["code"], "E_ALREADY_DECLARED");
    // The file of the reference has no place for it.
    repo.mk("exec export out").success();
    let file = std::fs::read_to_string(repo.path("out/.memkraft/execution/events.jsonl")).unwrap();
    assert!(!file.contains("binding"), "{file}");
    repo.mk("verify").success();
}

#[test]
fn a_binding_may_fill_a_request_and_is_searched_for_secrets() {
    let mut repo = Sandbox::new();
    let long = bound(1, &format!(r#"{{"holder":"{}"}}"#, "\\\"".repeat(120_000)));
    called(&mut repo, &long);
    assert!(repo.json("cat-event @exec")["payload"]["binding"].as_str().unwrap().len() > 240_000);
    let secret = "sk-ant-api03-".to_owned() + &"a1B2c3D4".repeat(11) + "_-AAAA";
    let with_secret = gate_declared(2, "build").strip_suffix('}').unwrap().to_owned()
        + &format!(r#","binding":{{"holder":"{secret}"}}}}"#);
    repo.mk("config core.secrets refuse").success();
    let (refused, status) = call(&mut repo, &with_secret);
    assert_eq!((&refused["error"]["code"], status), (&"E_PATTERN".into(), 1));
    assert_eq!(refused["error"]["details"]["path"], "binding.holder");
    let target = r#"{"goal_id":"team/alpha"}"#;
    let abandon =
        apply(3, "goal.transition", target, r#"{"to_status":"abandoned","reason":"r"}"#, "{}");
    called(&mut repo, abandon);
    repo.mk("verify").success();
}
