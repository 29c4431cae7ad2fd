//! The vectors of docs/spec/mkep.md.

use super::canonical::{self, Arrays};
use super::json::{Json, Members, parse};
use super::moment::Moment;
use super::{check, describe, event, fold, json, leases, lint, registry, transition};

fn object(text: &str) -> Members {
    match parse(text.as_bytes()) {
        Some(Json::Object(members)) => members,
        other => panic!("{text} is {other:?}"),
    }
}

fn digest(text: &str) -> String {
    canonical::digest(&object(text), Arrays::Record).unwrap()
}

/// Section 2.
#[test]
fn canonical_bytes_have_the_digests_of_the_page() {
    for (text, expected) in [
        ("{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (r#"{"b":1,"a":2}"#, "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772"),
        (r#"{"a_b":1,"a9":2}"#, "76d5266dba1d5fb657332e509373a0b14449f953d6a35fa71a6528bdaf866a4d"),
        (r#"{"s":"\"\\"}"#, "8e094918f52f9adc6a011876bcfd9ff71d867ba58357c980fce5a0d2a977be0c"),
        (
            r#"{"s":"\b\f\n\r\t"}"#,
            "86e432364fb52224b4f1561a7a942cac4b1105e0d44d5e5e760218a710686e43",
        ),
        (
            r#"{"s":"\u0000\u0001\u001f\u007f\/"}"#,
            "f34280e43f2fc52b864dde2bc42390f528e7f22c303c5742e5c29fa93df6fc5b",
        ),
        (r#"{"s":"지식"}"#, "be76311fc4bfbb34fd16e48f663b702a3c682e2371f3960505b0c5d4d4728182"),
        (
            r#"{"s":"\ud83d\ude00"}"#,
            "f9949e1006d1ca22bc0b60ea94f09779f11a8f0a29bae250fc7ab313d879f5e7",
        ),
        (
            "{\"s\":\"e\u{301}\"}",
            "86028b41ba792eaf82aa26a45b218f6734f7f1096a86f1746c8296e088a0ccb4",
        ),
        ("{\"s\":\"\u{e9}\"}", "86028b41ba792eaf82aa26a45b218f6734f7f1096a86f1746c8296e088a0ccb4"),
        (
            r#"{"n":-9007199254740991}"#,
            "d49d713821fc149f81ef6ca8054beeba696f5da052f0ab3e2d773808c5a9d625",
        ),
        (
            r#"{"t":true,"z":null,"l":[3,1,{}]}"#,
            "91df7ebc4ecaea46183e2795d782d132bde4292837e069b0965cfa474702be4e",
        ),
    ] {
        assert_eq!(digest(text), expected, "{text}");
    }
    assert_eq!(
        digest(r#"{"holder":"w1"}"#),
        "881773653d3ec8db59bfafce2931ec02178296e931e96464799941168c9e317f"
    );
}

#[test]
fn the_first_finding_in_document_order_is_the_one_reported() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(8), "]".repeat(8));
    let long = format!("{{\"a\":[{}]}}", vec!["1"; 33].join(","));
    let wide: Vec<String> = (0..65).map(|at| format!("\"k{at}\":1")).collect();
    let wide = format!("{{\"a\":{{{}}}}}", wide.join(","));
    for (text, code, path) in [
        (r#"{"b":{"X":1},"a":1.5}"#, "E_PATTERN", "b"),
        (r#"{"a":1.5,"b":{"X":1}}"#, "E_TYPE", "a"),
        (r#"{"a":[0,{"b":1e3}]}"#, "E_TYPE", "a[1].b"),
        (r#"{"a":9007199254740992}"#, "E_LIMIT_EXCEEDED", "a"),
        (r#"{"a":"\udc00"}"#, "E_TYPE", "a"),
        (r#"{"\ud800":1}"#, "E_PATTERN", "$"),
        (r#"{"a\n":1}"#, "E_PATTERN", "$"),
        (deep.as_str(), "E_LIMIT_EXCEEDED", "a[0][0][0][0][0][0][0]"),
        (long.as_str(), "E_LIMIT_EXCEEDED", "a"),
        (wide.as_str(), "E_LIMIT_EXCEEDED", "a"),
    ] {
        let refusal = canonical::text(&object(text), Arrays::Record).unwrap_err();
        let found = (refusal.code.as_str(), refusal.details.text("path").unwrap());
        assert_eq!(found, (code, path), "{text}");
    }
    assert!(canonical::text(&object(&long), Arrays::Message).is_ok());
}

/// Section 1.
#[test]
fn the_reader_keeps_what_the_order_of_checks_needs() {
    assert_eq!(object(r#"{"a":1,"b":2,"a":3}"#).line(), r#"{"a":3,"b":2}"#);
    let many: Vec<String> = (0..40).map(|at| format!("\"k{}\":{at}", at % 20)).collect();
    let many = object(&format!("{{{}}}", many.join(",")));
    assert_eq!(many.len(), 20);
    assert_eq!(many.get("k3"), Some(&Json::Int(23)));
    for (text, is_int) in
        [("-0", true), ("10", true), ("1.0", false), ("1e3", false), ("-0.0", false)]
    {
        assert_eq!(parse(text.as_bytes()).unwrap().is_int(), is_int, "{text}");
    }
    assert_eq!(parse(b"-0"), Some(Json::Int(0)));
    let long = "9".repeat(5_000);
    assert_eq!(parse(long.as_bytes()).unwrap().to_string(), long);
    let half = parse(br#""a\ud800b""#).unwrap();
    assert_eq!(half.as_str(), None);
    assert_eq!(half.as_text().unwrap().shown(), "a\u{fffd}b");
    assert_eq!(parse(br#""\ud83d\ude00""#).unwrap().as_str(), Some("😀"));
    for text in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "+1",
        ".5",
        "1.",
        "1e",
        "NaN",
        "-Infinity",
        "nul",
        "'a'",
        "\"\x01\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "1 2",
        "\u{feff}1",
        "// x\n1",
        "-",
    ] {
        assert_eq!(parse(text.as_bytes()), None, "{text}");
    }
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse(deep(512).as_bytes()).is_some());
    assert!(parse(deep(100_000).as_bytes()).is_none());
}

/// Section 3.
#[test]
fn times_are_read_in_the_order_of_the_page() {
    let read = |text: &str| {
        Moment::read(&text.into()).map(|at| at.to_string()).map_err(|it| it.code.as_str())
    };
    assert_eq!(read("2026-08-04T20:22:33.9+09:00"), Ok("2026-08-04T11:22:33Z".to_owned()));
    assert_eq!(read("1970-01-01T00:00:00-00:00"), Ok("1970-01-01T00:00:00Z".to_owned()));
    for text in ["2026-02-30T11:22:33", "2026-08-04T11:22:60", "2026-08-04T11:22:33.1"] {
        assert_eq!(read(text), Err("E_TIME_NAIVE"), "{text}");
    }
    for text in [
        "soon",
        "2026-08-04T11:22:33z",
        "2026-08-04 11:22:33Z",
        "2026-08-04T11:22:33.Z",
        "2026-08-04T11:22:33.1234567Z",
        "2026-08-04T11:22:33Z\n",
        "2026-02-30T11:22:33Z",
        "2026-08-04T24:00:00Z",
        "2026-08-04T11:60:00Z",
        "2026-08-04T11:22:60Z",
        "2026-08-04T11:22:33+24:00",
        "2026-08-04T11:22:33+01:60",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-01:00",
        "２026-08-04T11:22:33Z",
    ] {
        assert_eq!(read(text), Err("E_TIME_FORMAT"), "{text}");
    }
    assert_eq!(Moment::read(&1.into()).unwrap_err().code.as_str(), "E_TYPE");
    let last = Moment::read(&"9999-12-31T23:59:59Z".into()).unwrap();
    assert_eq!(last.plus(1).unwrap_err().code.as_str(), "E_TIME_FORMAT");
}

/// Section 7. The whole string must match (KF-01).
#[test]
fn forms_match_whole_strings() {
    type Matches = fn(&str) -> bool;
    let table: &[(Matches, &[&str], &[&str])] = &[
        (
            check::is_goal_id,
            &["ab/cd", "a./b_"],
            &["a/bc", "ab/c", "ab", "ab/cd/e", "ab/cd\n", "Ab/cd"],
        ),
        (check::is_gate_id, &["abc", "a.b-c_"], &["ab", "-bc", "abc\n", "a/b/c"]),
        (check::is_scope_key, &["a", "a/b"], &["", "/a", "a:b", "a\n"]),
        (check::is_payload_schema, &["a/1", "a.b/999"], &["a/", "a/1000", "a/1/2", "/1"]),
        (
            check::is_request_id,
            &["01ARZ3NDEKTSV4RRFFQ69G5FAV"],
            &["01ARZ3NDEKTSV4RRFFQ69G5FAI", "x"],
        ),
    ];
    for (form, good, bad) in table {
        assert!(good.iter().all(|text| form(text)), "{good:?}");
        assert!(!bad.iter().any(|text| form(text)), "{bad:?}");
    }
}

#[test]
fn the_registry_is_sorted_and_has_fifteen_operations() {
    let names: Vec<&str> = registry::ENTRIES.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), 15);
    assert!(names.is_sorted());
    let codes: Vec<&str> = super::error::Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), 33);
    assert!(codes.is_sorted());
    let block = describe::capabilities();
    assert_eq!(block.text("capabilities_digest"), Some(describe::capabilities_digest().as_str()),);
}

#[test]
fn waived_and_settled_statuses_are_final() {
    use registry::Entity::{Gate, Goal, Handoff};
    for (entity, last) in
        [(Gate, "waived"), (Goal, "satisfied"), (Goal, "abandoned"), (Handoff, "completed")]
    {
        assert!(transition::status(entity, last).is_some());
        for to in ["open", "pending", "passed", "failed", "waived", "offered", "accepted"] {
            assert!(transition::find(entity, last, to).is_none(), "{last} to {to}");
        }
    }
}

/// Section 17.
#[test]
fn the_lint_fires_on_what_the_page_lists() {
    let around = lint::Surroundings { base: "/srv/team/base".into(), users: vec!["anna".into()] };
    let fired = |text: &str| {
        let mut envelope = Members::new();
        envelope.set("x", text);
        lint::check(&envelope, &around).err().map(|it| it.details.text("rule").unwrap().to_owned())
    };
    for (text, rule) in [
        ("/x", "absolute_posix_path"),
        ("see /home/x", "absolute_posix_path"),
        ("C:\\x", "windows_path"),
        ("x $HOME/y", "home_reference"),
        ("$USER", "user_reference"),
        ("a ~/b", "tilde_path"),
        ("profile://x", "file_url"),
        ("sk-abcdefghijklmnop", "secret_prefix"),
        ("-----BEGIN EC PRIVATE KEY-----", "secret_prefix"),
        ("xoxb-0123456789", "secret_prefix"),
        ("in srv: /srv/team/base/x", "base_dir"),
        ("at /srv/team", "base_dir"),
        ("by anna", "username"),
    ] {
        assert_eq!(fired(text).as_deref(), Some(rule), "{text}");
    }
    for text in
        ["é/etc/x", "a-/etc/x", "/", "x$HOMEX", "x$USERS", "a~/b", "sk-short", "srv/team", "/srv"]
    {
        if !text.starts_with('/') {
            assert_eq!(fired(text), None, "{text}");
        }
    }
}

#[test]
fn a_line_comes_back_from_its_payload_whatever_its_bytes_are() {
    for line in [&b"{\"a\":1}"[..], b"", b"\xff", b"\xff\xfe", b"\xff\x00\x80", "é".as_bytes()] {
        let payload = event::payload(line, None).canonical();
        assert_eq!(event::line(&payload).as_deref(), Some(line));
    }
}

/// Documents that are, or nearly are, one object.
const DOCUMENTS: &[&str] = &[
    "{}",
    " { \"a\" : 1 } ",
    r#"{"a":1,"b":{"a":[{"c":"\"}"}]},"c":"x"}"#,
    r#"{"b":1,"a":2,"b":3}"#,
    r#"{"\u0061":1,"b":"\ud83d\ude00"}"#,
    r#"{"a\ud800":1,"a":"\ud800"}"#,
    r#"{"a":[1,2.5,-0,1e9,99999999999999999999,null,true,false]}"#,
    r#"{"x":[1,2.5,-0,1e9,99999999999999999999,null,true,false]}"#,
    r#"{"a":1}x"#,
    r#"{"a":1,}"#,
    r#"{"a":1"#,
    r#"{"a" 1}"#,
    r#"{"x":01}"#,
    r#"{"x":nul}"#,
    r#"{"x":"\x"}"#,
    r#"{"x":"\u12"}"#,
    "{\"x\":\"\n\"}",
    r#"{"x":[1,]}"#,
    r#"{"x":{"y":}}"#,
    "{\"x\":\"",
    "[]",
    "1",
    "",
    "\"a\"",
];

#[test]
fn to_pick_members_is_to_read_all_and_keep_those() {
    let mut documents: Vec<String> = DOCUMENTS.iter().map(|&text| text.to_owned()).collect();
    for depth in [json::DEPTH_MAX - 1, json::DEPTH_MAX] {
        documents.push(format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth)));
    }
    let many: Vec<String> =
        (0..80).map(|number| format!("\"k{}\":{number}", number % 70)).collect();
    documents.push(format!("{{{}}}", many.join(",")));
    for text in documents {
        for keys in [&["a", "b", "k3", "k69"][..], &["c"], &[]] {
            let expected = match parse(text.as_bytes()) {
                Some(Json::Object(members)) => {
                    let mut kept = Members::new();
                    for key in keys {
                        if let Some(value) = members.get(key) {
                            kept.set(*key, value.clone());
                        }
                    }
                    Some(kept)
                }
                _ => None,
            };
            assert_eq!(json::pick(&text, keys), expected, "{text:.60} {keys:?}");
        }
    }
}

#[test]
fn what_is_picked_of_a_record_folds_as_the_whole_does() {
    let record = |record_type: &str, seq: i64, to_status: &str| {
        format!(
            r#"{{"schema_version":1,"record_type":"{record_type}","goal_id":"a/b","emitted_at":"t","gate_id":"g","description":"d","verification":{{"check_kind":"c"}},"required":false,"scope_key":"s","verdict":"pass","provenance_id":"p","to_status":"{to_status}","holder":"w","ttl_seconds":5,"expires_at":"2026-08-04T00:00:00Z","lease_id":"{:032x}","handoff_id":"h","to_actor":"bob","payload":{{"a":[1]}},"payload_digest":"d","imported_from":{{"a":1}},"fence_token":{seq},"event_seq":{seq},"id":"{seq:032x}"}}"#,
            3
        )
    };
    let types = [
        ("goal_declared", ""),
        ("gate_declared", ""),
        ("lease_grant", ""),
        ("evidence_receipt", ""),
        ("gate_transition", "passed"),
        ("gate_transition", "pending"),
        ("gate_transition", "waived"),
        ("handoff_declared", ""),
        ("handoff_imported", ""),
        ("handoff_transition", "accepted"),
        ("handoff_transition", "offered"),
        ("lease_release", ""),
        ("goal_transition", "satisfied"),
        ("run_assessment", ""),
        ("unknown", ""),
    ];
    let (mut whole, mut picked) = (fold::Goal::default(), fold::Goal::default());
    let (mut leases, mut leases_picked) = (leases::Leases::new(), leases::Leases::new());
    for (seq, (record_type, to_status)) in (1..).zip(types) {
        let record = record(record_type, seq, to_status);
        let payload = event::payload(record.as_bytes(), None).canonical();
        let folded = event::folded_in(&payload).unwrap();
        whole.apply(&object(&record));
        picked.apply(&folded);
        leases::apply(&mut leases, &object(&record));
        leases::apply(&mut leases_picked, &folded);
        assert_eq!((&whole, &leases), (&picked, &leases_picked), "{record_type}");
    }
    assert!(leases["s"].is_released);
    assert_eq!(whole.status, Some("satisfied"));
    assert_eq!(whole.rejected.len(), 1);
}
