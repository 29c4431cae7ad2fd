//! Payloads that are refused, however they come in.

use crate::sandbox::Sandbox;

/// `content` is refused as an argument, from a file, from stdin and in a batch.
fn refused_everywhere(repo: &mut Sandbox, content: &[u8], exit: i32, code: &str, why: &str) {
    let stderr = format!("fatal: {why}\n");
    if let Ok(text) = std::str::from_utf8(content)
        && text.len() < 100_000
        && !text.contains('\0')
    {
        let quoted = shlex::try_quote(text).unwrap();
        repo.refuses(&format!("append --payload {quoted}"), exit, code, &stderr);
    }
    repo.write("payload", content);
    repo.refuses("append --payload @payload", exit, code, &stderr);
    repo.input = content.to_vec();
    repo.refuses("append --payload -", exit, code, &stderr);
}

#[test]
fn a_payload_must_be_json_that_has_one_meaning() {
    let mut repo = Sandbox::new();
    let cases: [(&[u8], &str); 14] = [
        (b"", "payload is not JSON: at $ (byte 0): the text ends where a value should be"),
        (b"x", "payload is not JSON: at $ (byte 0): 'x' is no JSON value"),
        (
            b"{\"a\":1",
            "payload is not JSON: at $ (byte 6): the text ends where ',' or '}' should be",
        ),
        (b"{} {}", "payload is not JSON: at $ (byte 3): found '{' where the end should be"),
        (b"[1]", "payload is an array, not a JSON object"),
        (b"null", "payload is null, not a JSON object"),
        (b"\"text\"", "payload is a string, not a JSON object"),
        (b"{\"a\":1,\"a\":2}", "payload is not JSON: at $ (byte 7): duplicate member 'a'"),
        (
            b"{\"a\":NaN}",
            "payload is not JSON: at $.a (byte 5): NaN is not finite, and so no JSON number",
        ),
        (
            b"{\"a\":[1e999]}",
            "payload is not JSON: at $.a[0] (byte 6): '1e999' is beyond the range of a double",
        ),
        (
            b"{\"a\":\"\\ud800\"}",
            "payload is not JSON: at $.a (byte 6): \\ud800 is half of a surrogate pair",
        ),
        (b"{\"a\":\"\xff\"}", "payload is not JSON: at $.a (byte 6): byte 0xff is not UTF-8"),
        (
            b"{\"a\":\"\0\"}",
            "payload is not JSON: at $.a (byte 6): control character U+0000 is not escaped",
        ),
        (
            b"{\"a\nb\":",
            "payload is not JSON: at $ (byte 3): control character U+000A is not escaped",
        ),
    ];
    for (content, why) in cases {
        refused_everywhere(&mut repo, content, 129, "invalid-argument", why);
    }
}

#[test]
fn a_payload_has_limits() {
    let mut repo = Sandbox::new();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
    let deep_why = format!(
        "payload is not JSON: at $.a{}…{} (byte 68): nested deeper than 64 levels",
        "[0]".repeat(19),
        "[0]".repeat(33)
    );
    refused_everywhere(&mut repo, deep.as_bytes(), 129, "invalid-argument", &deep_why);
    let digits = format!("{{\"a\":{}}}", "9".repeat(4_301));
    refused_everywhere(
        &mut repo,
        digits.as_bytes(),
        129,
        "invalid-argument",
        "payload is not JSON: at $.a (byte 5): an integer of 4301 digits; the limit is 4300",
    );
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(262_144));
    refused_everywhere(
        &mut repo,
        large.as_bytes(),
        129,
        "too-large",
        "payload has 262152 bytes as canonical JSON, 262144 are allowed",
    );
    let huge = vec![b' '; (2 << 20) + 1];
    repo.write("huge", &huge);
    repo.refuses(
        "append --payload @huge",
        129,
        "too-large",
        "fatal: payload from 'huge' has more than 2097152 bytes\n",
    );
    repo.input = huge;
    repo.refuses(
        "note -",
        129,
        "too-large",
        "fatal: the note from stdin has more than 2097152 bytes\n",
    );
    repo.input = b"caf\xe9".to_vec();
    repo.refuses("note -", 129, "invalid-argument", "fatal: the note is not UTF-8 at byte 3\n");
}

#[test]
fn content_of_exactly_the_allowed_size_is_kept() {
    let mut repo = Sandbox::new();
    repo.input = format!("{{\"a\":\"{}\"}}", "x".repeat(262_144 - 8)).into_bytes();
    repo.mk("append --payload -").success();
    repo.input = format!("{{\"a\":{}{}}}", "[".repeat(63), "]".repeat(63)).into_bytes();
    repo.mk("append --payload -").success();
}

#[test]
fn a_line_of_a_batch_has_the_same_limits_and_is_named() {
    let mut repo = Sandbox::new();
    let line = |payload: &str| format!("{{}}\n{{\"payload\":{payload}}}\n");
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(262_144));
    let cases = [
        (
            line(&large),
            "too-large",
            "line 2: payload has 262152 bytes as canonical JSON, 262144 are allowed",
        ),
        (
            line("{\"a\":NaN}"),
            "invalid-argument",
            "line 2: the event is not JSON: at $.payload.a (byte 16): NaN is not finite, and so no JSON number",
        ),
        (
            line("{\"a\":\"\\udc00\"}"),
            "invalid-argument",
            "line 2: the event is not JSON: at $.payload.a (byte 17): \\udc00 is half of a surrogate pair",
        ),
        (
            line("{\"a\":\"\0\"}"),
            "invalid-argument",
            "line 2: the event is not JSON: at $.payload.a (byte 17): control character U+0000 is not escaped",
        ),
        ("x".repeat((4 << 20) + 1), "too-large", "line 1: it has more than 4194304 bytes"),
    ];
    for (input, code, message) in cases {
        repo.input = input.into_bytes();
        repo.refuses("append --batch", 129, code, &format!("fatal: {message}\n"));
    }
    repo.input = b"{}\n{\"payload\":{\"a\":\"\xff\"}}\n".to_vec();
    repo.refuses(
        "append --batch",
        129,
        "invalid-argument",
        "fatal: line 2: the event is not JSON: at $.payload.a (byte 17): byte 0xff is not UTF-8\n",
    );
}
