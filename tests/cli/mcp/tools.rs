//! The tools: how they are listed, and that each is its command.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::Client;
use crate::sandbox::Sandbox;

fn listed(repo: &Sandbox, args: &[&str]) -> Vec<Value> {
    let mut client = Client::open(repo, args);
    let answer = client.request("tools/list", json!({}));
    let again = client.request("tools/list", json!({}));
    assert_eq!(answer["result"], again["result"]);
    // The newest revision says more beside the list.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let longest = client.request("tools/list", json!({ "_meta": meta }));
    assert_eq!(longest["result"]["tools"], answer["result"]["tools"]);
    client.close_quietly();
    let size = longest["result"].to_string().len();
    let most = if args.contains(&"all") { 40 << 10 } else { 12 << 10 };
    assert!(size <= most, "{size} bytes");
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// What `run` of the test below is recorded as.
fn run_payload() -> Value {
    json!({ "command": "make test", "exit_code": 2, "output": "@/etc/passwd",
        "facts": { "tests": 12 }, "duration_ms": 5 })
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn lists_are_small_sorted_and_in_the_subset_that_all_clients_read() {
    let repo = Sandbox::new();
    for set in ["core", "all"] {
        let tools = listed(&repo, &["--tools", set]);
        let names = names(&tools);
        assert!(names.is_sorted(), "{names:?}");
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            assert!(name.starts_with("mk_") && name.len() <= 40, "{name}");
            let about = tool["description"].as_str().unwrap();
            assert!((20..=400).contains(&about.len()) && about.is_ascii(), "{name}: {about}");
            let input = &tool["inputSchema"];
            assert_eq!(input["additionalProperties"], false, "{name}");
            for (property, schema) in input["properties"].as_object().unwrap() {
                assert!(schema["type"].is_string(), "{name}.{property}: {schema}");
                assert!(schema["description"].as_str().unwrap().len() <= 120, "{name}.{property}");
                assert!(schema.get("format").is_none(), "{name}.{property}");
            }
            let text = tool.to_string();
            for word in ["$ref", "$defs", "$schema", "oneOf", "allOf", "anyOf"] {
                assert!(!text.contains(word), "{name}: {word}");
            }
            assert!(tool["outputSchema"].to_string().len() <= 300, "{name}");
            assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
            let reads = tool["annotations"]["readOnlyHint"] == true;
            let properties = &input["properties"];
            assert!(!reads || properties.get("op_id").is_none(), "{name}");
            assert!(reads || properties.get("max_tokens").is_none(), "{name}");
        }
    }
}

#[test]
fn every_tool_is_named_after_a_command() {
    let repo = Sandbox::new();
    for tool in names(&listed(&repo, &["--tools", "all"])) {
        let words = match tool {
            // What these take is the request that the command reads.
            "mk_exec_query" | "mk_exec_describe" => "exec call".to_owned(),
            // Running it is left out.
            "mk_record_run" => "run".to_owned(),
            // A command of two words, else of one.
            tool => tool.trim_start_matches("mk_").replace('_', " "),
        };
        repo.mk(&format!("{words} --help")).success();
    }
}

#[test]
fn a_set_is_what_was_asked_for_and_read_only_leaves_out_what_writes() {
    let repo = Sandbox::new();
    let picked = listed(&repo, &["--tools", "mk_log,mk_note, mk_log"]);
    assert_eq!(names(&picked), ["mk_log", "mk_note"]);
    let (core, all) = (listed(&repo, &[]), listed(&repo, &["--tools", "all"]));
    let (core, all): (BTreeSet<_>, BTreeSet<_>) =
        (names(&core).into_iter().collect(), names(&all).into_iter().collect());
    assert!(core.is_subset(&all) && core.len() < all.len());
    let reading = listed(&repo, &["--tools", "all", "--read-only"]);
    assert!(reading.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let mut client = Client::open(&repo, &["--read-only"]);
    // What is there but for reading only is told from what is not there.
    assert_eq!(client.refusal("mk_note", json!({ "note": "x" }))["code"], "read-only");
    let params = json!({ "name": "mk_merge", "arguments": { "branch": "x" } });
    let answer = client.request("tools/call", params);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.close_quietly();
}

#[test]
fn the_page_about_the_server_has_each_tool_with_what_it_takes() {
    let repo = Sandbox::new();
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/mcp.md");
    let page = std::fs::read_to_string(page).unwrap();
    let groups = ["core", "exec", "notice", "repair"].map(|group| {
        let tools = listed(&repo, &["--tools", group]);
        (group, tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>())
    });
    let rows: Vec<String> = listed(&repo, &["--tools", "all"])
        .iter()
        .map(|tool| {
            let group = groups.iter().find(|(_, names)| names.contains(&tool["name"]));
            let schema = &tool["inputSchema"];
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = schema["properties"].as_object().unwrap().keys();
            let optional: Vec<&str> =
                names.map(String::as_str).filter(|name| !required.contains(&json!(name))).collect();
            let required: Vec<&str> = required.iter().map(|name| name.as_str().unwrap()).collect();
            let mut arguments = Vec::new();
            if !required.is_empty() {
                arguments.push(format!("`{}`", required.join(" ")));
            }
            if !optional.is_empty() {
                arguments.push(format!("[`{}`]", optional.join(" ")));
            }
            let (name, group) = (tool["name"].as_str().unwrap(), group.map_or("all", |it| it.0));
            format!("| `{name}` | {group} | {} |", arguments.join(" "))
        })
        .collect();
    let told: Vec<&str> = page.lines().filter(|line| line.starts_with("| `mk_")).collect();
    assert_eq!(told, rows);
}

#[test]
fn what_a_tool_answers_is_what_its_command_prints() {
    let mut repo = Sandbox::new();
    repo.set("MK_AGENT", "ann");
    let mut client = Client::open(&repo, &["--tools", "all"]);
    client.report("mk_task", json!({ "directive": "mend it", "constraints": "keep the API" }));
    client.report("mk_decide", json!({ "key": "db", "value": "sqlite", "rationale": "one file" }));
    client.report("mk_fact", json!({ "facts": { "tests": 12, "a=b": { "c": [1.5, null] } } }));
    client.report("mk_fork", json!({ "name": "try/it", "switch": "true" }));
    client.report("mk_note", json!({ "note": "-" }));
    client.report("mk_note", json!({ "note": "@/etc/passwd" }));
    client.report("mk_lease_acquire", json!({ "resources": ["src/a.rs", "b/"], "ttl_s": "60" }));
    let run = json!({ "command": "make test", "exit_code": "2", "output": "@/etc/passwd",
        "facts": { "tests": 12 }, "duration_ms": 5 });
    client.report("mk_record_run", run);
    let run = json!({ "command": "make test", "exit_code": 300 });
    let refused = client.refusal("mk_record_run", run);
    assert_eq!(refused["message"], "'exit_code' is 300, not an integer from 0 to 255");
    let shown = client.report("mk_show", json!({ "event": "try/it" }));
    assert_eq!(shown["events"][0]["payload"], run_payload());
    let post = json!({ "resource": "service:auth", "message": "-", "ttl_s": 60 });
    let posted = client.report("mk_notice_post", post);
    client.report("mk_notice_post", json!({ "resource": "service:db", "message": "up" }));
    client.report("mk_notice_clear", json!({ "notice_id": posted["notice_id"] }));
    for (tool, arguments, command) in [
        ("mk_context", json!({ "budget": 1000 }), "context --budget 1000"),
        ("mk_context", json!({ "budget": 500, "branch": "main" }), "context main --budget 500"),
        ("mk_show", json!({ "event": "main~1" }), "show main~1"),
        ("mk_diff", json!({ "a": "main" }), "diff main"),
        ("mk_search", json!({ "query": "SQLite one", "limit": "1" }), "search sqlite one -n 1"),
        ("mk_search", json!({ "query": "a", "branch": "main" }), "--branch main search a"),
        ("mk_lease_check", json!({ "resources": "src/" }), "lease check src/"),
        ("mk_lease_list", json!({}), "lease list"),
        ("mk_status", json!({ "limit": 2 }), "status -n 2"),
        ("mk_branch", json!({ "prefix": "try" }), "branch --prefix try"),
        ("mk_blame", json!({ "key": "db" }), "blame db"),
        ("mk_notice_list", json!({ "resource": "service:auth" }), "notice list service:auth"),
        ("mk_verify", json!({}), "verify"),
    ] {
        let mut report = client.report(tool, arguments);
        let members = report.as_object_mut().unwrap();
        // What the server says beside the report.
        assert_eq!(members.remove("untrusted"), Some(true.into()), "{tool}");
        assert_eq!(report, repo.json(command), "{tool}");
    }
    let merge = client.report("mk_merge", json!({ "branch": "main", "dry_run": true }));
    assert_eq!(merge, repo.json("merge main --dry-run"));
    let log = client.report("mk_log", json!({ "full": true, "limit": 3 }));
    let lines = repo.mk("log --json -n 3").success();
    let lines = String::from_utf8(lines.get_output().stdout.clone()).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(log["events"], Value::from(lines));
    client.close_quietly();
}

#[test]
fn a_branch_is_merged_once_each_conflict_is_settled() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &["--tools", "all", "--agent", "ann"]);
    let decide =
        |value: &str, branch: &str| json!({ "key": "db", "value": value, "branch": branch });
    client.report("mk_decide", decide("sqlite", "main"));
    client.report("mk_fork", json!({ "name": "try" }));
    client.report("mk_decide", decide("postgres", "try"));
    client.report("mk_decide", decide("mysql", "main"));
    let before = repo.json("log -n 1");
    let error = client.refusal("mk_merge", json!({ "branch": "try" }));
    assert_eq!(error["code"], "merge-conflict");
    assert_eq!(error["hint"], "settle each with ours, theirs or set; dry_run shows them");
    assert_eq!(repo.json("log -n 1"), before);
    let asked = client.report("mk_merge", json!({ "branch": "try", "dry_run": true }));
    assert_eq!(asked["conflicts"][0]["key"], "db");
    let merged = client.report("mk_merge", json!({ "branch": "try", "theirs": "db" }));
    assert_eq!(merged["branch_id"], "main");
    assert_eq!(merged["applied"][0]["value"], "postgres");
    let again = client.report("mk_merge", json!({ "branch": "try" }));
    assert_eq!(again["up_to_date"], true);
    client.close_quietly();
}

#[test]
fn a_refusal_says_what_where_and_whether_to_try_again() {
    let repo = Sandbox::new();
    let mut ann = Client::open(&repo, &["--agent", "ann"]);
    let mut bob = Client::open(&repo, &["--agent", "bob"]);
    ann.report("mk_lease_acquire", json!({ "resources": ["a.rs"], "ttl_s": 60 }));
    let error = bob.refusal("mk_lease_acquire", json!({ "resources": ["a.rs"] }));
    assert_eq!(
        error,
        json!({
            "code": "lease-held",
            "message": "'a.rs' is leased to 'ann' for 60 s more",
            "hint": "take other work, or call mk_lease_acquire with wait_s",
            "retryable": true,
            "retry_after_ms": 60_000,
            "details": { "resource": "a.rs", "holder": "ann", "expires_in_s": 60.0, "token": 1 },
        })
    );
    for (tool, arguments, code, message) in [
        ("mk_note", json!({}), "invalid-argument", "'note' is missing"),
        ("mk_note", json!({ "note": 7 }), "invalid-argument", "'note' is 7, not a string"),
        (
            "mk_log",
            json!({ "limit": 1.5 }),
            "invalid-argument",
            "'limit' is 1.5, not an integer from 1 to 500",
        ),
        (
            "mk_lease_renew",
            json!({ "resource": "a.rs", "token": "1" }),
            "invalid-argument",
            "'token' is '1', not the token as a number, from 1 on",
        ),
        ("mk_note", json!({ "nota": "a" }), "unknown-member", "mk_note takes no 'nota'"),
        ("mk_context", json!({ "branch": "nope" }), "branch-not-found", "no branch 'nope'"),
        (
            "mk_show",
            json!({ "event": "99" }),
            "event-not-found",
            "no event '99': ids go from 1 to 1",
        ),
        (
            "mk_lease_renew",
            json!({ "resource": "a.rs", "token": 1 }),
            "lease-lost",
            "the lease of 'a.rs' with token 1 is lost: it belongs to another agent",
        ),
        (
            "mk_decide",
            json!({ "key": "k", "value": "v", "fence": { "resource": "a.rs", "token": 1 } }),
            "lease-lost",
            "the lease of 'a.rs' with token 1 is lost: it belongs to another agent",
        ),
    ] {
        let error = bob.refusal(tool, arguments.clone());
        assert_eq!(error["code"], code, "{tool} {arguments}: {error}");
        assert_eq!(error["message"], message, "{tool} {arguments}");
    }
    bob.send_line(
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mk_note","arguments":{"note":"\ud800"}}}"#,
    );
    let answer = bob.answer(1);
    let error = super::client::error_of(&answer["result"]);
    assert_eq!(error["code"], "invalid-argument", "{error}");
    repo.mk("rev-list --count main").success().stdout("1\n");
    ann.close_quietly();
    bob.close_quietly();
}

#[test]
fn answers_keep_their_bound_and_say_what_was_left_out() {
    let repo = Sandbox::new();
    repo.mk("config gc.auto off").success();
    let mut client = Client::open(&repo, &[]);
    for n in 0..60 {
        let text = format!("{n}: {}", "many words of memory ".repeat(40));
        client.report("mk_note", json!({ "note": text }));
    }
    let (mut seen, mut before) = (Vec::new(), json!({}));
    loop {
        let mut arguments = json!({ "limit": 500, "full": true, "max_tokens": 2_000 });
        arguments.as_object_mut().unwrap().extend(before.as_object().unwrap().clone());
        let page = client.report("mk_log", arguments);
        let tokens = mk::tokens::Tokenizer::Estimate.count(&page.to_string());
        assert!(tokens <= 2_000, "{tokens}");
        for event in page["events"].as_array().unwrap() {
            seen.push(event["event_id"].as_i64().unwrap());
        }
        let Some(next) = page.get("next") else { break };
        assert_eq!(page["omitted"], 60 - seen.len(), "{page}");
        before = next.clone();
    }
    assert_eq!(seen, (1..=60).rev().collect::<Vec<_>>());
    for most in [300, 1_000, 4_000] {
        for (tool, arguments) in [
            ("mk_context", json!({ "max_tokens": most })),
            ("mk_show", json!({ "event": "1", "max_tokens": most })),
        ] {
            let report = client.report(tool, arguments);
            let tokens = mk::tokens::Tokenizer::Estimate.count(&report.to_string());
            assert!(tokens <= most, "{tool}: {tokens} of {most}");
        }
    }
    client.close_quietly();
}

#[test]
fn writes_take_effect_in_the_order_they_were_sent() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let ids: Vec<i64> = (0..1_000)
        .map(|n| {
            let params = json!({ "name": "mk_note", "arguments": { "note": format!("n{n}") } });
            client.ask("tools/call", params)
        })
        .collect();
    let sequences: Vec<u64> = ids
        .iter()
        .map(|id| {
            let answer = client.answer(*id);
            answer["result"]["structuredContent"]["sequence"].as_u64().unwrap()
        })
        .collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    client.close_quietly();
}

#[test]
fn an_answer_has_the_tokens_of_all_leases_and_keeps_its_bound_or_none_is_taken() {
    let repo = Sandbox::new();
    let mut client = Client::open(&repo, &[]);
    let paths = |count| (0..count).map(|n| format!("src/file{n}.rs")).collect::<Vec<_>>();
    let refused = client.refusal("mk_lease_acquire", json!({ "resources": paths(5_000) }));
    assert_eq!(refused["code"], "too-large");
    let message = refused["message"].as_str().unwrap();
    let start = "'resources' has 5000 paths, and an answer of 4000 tokens has room for ";
    let fit = message.strip_prefix(start).and_then(|rest| rest.strip_suffix(" of them"));
    let fit: usize = fit.unwrap_or_else(|| panic!("{message}")).parse().unwrap();
    assert!(fit >= 60, "{fit}");
    repo.mk("lease list").success().stdout("");
    client.refusal("mk_lease_acquire", json!({ "resources": paths(fit + 1) }));
    let result = client.call("mk_lease_acquire", json!({ "resources": paths(fit) }));
    let text = result["content"][0]["text"].as_str().unwrap();
    let tokens = mk::tokens::Tokenizer::Estimate.count(text);
    assert!(tokens <= 4_000, "{tokens}");
    let leases = result["structuredContent"]["leases"].as_array().unwrap();
    assert_eq!(leases.len(), fit);
    for (lease, path) in leases.iter().zip(paths(fit)) {
        let told: Vec<&String> = lease.as_object().unwrap().keys().collect();
        assert_eq!(told, ["expires_in_seconds", "fencing_token", "resource"]);
        assert_eq!(lease["resource"], path.as_str());
        let token = lease["fencing_token"].as_i64().unwrap();
        let released = json!({ "resource": path, "token": token });
        client.report("mk_lease_release", released);
    }
    // What fits is told in full.
    let few = client.report("mk_lease_acquire", json!({ "resources": paths(3) }));
    assert!(few["leases"][2]["event"]["hash"].is_string(), "{few}");
    client.close_quietly();
}
