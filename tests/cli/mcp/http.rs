//! The server over HTTP: who may speak to it, and that it says what it says over stdio.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(repo: &Sandbox, args: &[&str]) -> Self {
        let mut command = repo.command(env!("CARGO_BIN_EXE_mk"));
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(args);
        let mut child = command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").unwrap();
            if let Some(place) = line.strip_prefix("listening http://") {
                break place.strip_suffix("/mcp").unwrap().to_owned();
            }
        };
        Self { child, address }
    }

    /// Sends a request and answers status, headers and body.
    fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut text = format!("{method} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> (u16, Value) {
        let headers = [&[("Content-Type", "application/json")], headers].concat();
        let (status, _, body) = self.ask("POST /mcp", &headers, &message.to_string());
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// A call without a session, with the headers that go with it.
    fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> (u16, Value) {
        let message = stateless("tools/call", json!({ "name": tool, "arguments": arguments }));
        let headers = [
            headers,
            &[
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", tool),
            ],
        ]
        .concat();
        self.post(&headers, &message)
    }

    fn stop(mut self) {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").arg(id).status().unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

fn stateless(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn only_this_machine_may_speak_to_an_open_server() {
    let repo = Sandbox::new();
    repo.mk("mcp --http 0.0.0.0:0 --no-auth").code(129);
    repo.mk("mcp --http 0.0.0.0:0 --no-auth --listen-anywhere").code(129);
    repo.mk("mcp --http 127.0.0.1:0").code(129);
    let server = Server::start(&repo, &["--no-auth"]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (header, value, status) in [
        ("Origin", "http://localhost:3000", 400),
        ("Origin", "https://127.0.0.1", 400),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "file://localhost", 403),
        ("Host", "evil.example", 403),
        ("Host", "localhost.evil.example:80", 403),
        ("Host", "localhost:9", 400),
    ] {
        assert_eq!(server.post(&[(header, value)], &list).0, status, "{header}: {value}");
    }
    for (request, headers, status) in [
        ("POST /", vec![], 404),
        ("PUT /mcp", vec![], 405),
        ("GET /mcp", vec![("Accept", "text/html")], 406),
        ("GET /mcp", vec![("Accept", "text/event-stream")], 405),
        ("DELETE /mcp", vec![], 400),
        ("DELETE /mcp", vec![("Mcp-Session-Id", "nope")], 404),
        ("POST /mcp", vec![("Content-Type", "text/plain")], 415),
        ("POST /mcp", vec![("Content-Type", "application/json")], 400),
    ] {
        assert_eq!(server.ask(request, &headers, "").0, status, "{request} {headers:?}");
    }
    let large = "x".repeat((4 << 20) + 1);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head =
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", large.len());
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    // A client that sends all before it reads gets the answer too.
    let large = "x".repeat(20 << 20);
    let json = ("Content-Type", "application/json");
    let (status, head, body) = server.ask("POST /mcp", &[json], &large);
    assert_eq!(status, 413, "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let error = json!({ "code": -32600, "message": "the body has more than 4194304 bytes" });
    assert_eq!(body, json!({ "jsonrpc": "2.0", "error": error }));
    server.stop();
}

#[test]
fn a_token_decides_who_an_agent_is() {
    let repo = Sandbox::new();
    let line = |agent: &str| {
        let done = repo.mk(&format!("mcp token {agent}")).success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    };
    let (ann, bob) = (line("ann"), line("bob"));
    assert!(ann.starts_with("ann ") && ann.len() > 40 && ann[4..] != bob[4..], "{ann}");
    repo.write("tokens", format!("# who\n{ann}{bob}"));
    let tokens = repo.path("tokens");
    fs::set_permissions(&tokens, fs::Permissions::from_mode(0o644)).unwrap();
    let tokens = tokens.to_str().unwrap();
    repo.mk(&format!("mcp --http 127.0.0.1:0 --tokens {tokens}")).code(129);
    fs::set_permissions(tokens, fs::Permissions::from_mode(0o600)).unwrap();
    let server = Server::start(&repo, &["--tokens", tokens]);
    let bearer = |line: &str| format!("Bearer {}", line.split(' ').nth(1).unwrap().trim());
    for (line, agent) in [(&ann, "ann"), (&bob, "bob")] {
        let (status, answer) =
            server.call(&[("Authorization", &bearer(line))], "mk_note", json!({ "note": agent }));
        assert_eq!(status, 200);
        assert_eq!(answer["result"]["structuredContent"]["agent_id"], agent, "{answer}");
    }
    let (_, news) = server.call(&[("Authorization", &bearer(&ann))], "mk_log", json!({}));
    assert_eq!(news["result"]["structuredContent"]["news"]["latest"][0]["agent_id"], "bob");
    for wrong in ["Bearer nope", "Basic x", ""] {
        let message = stateless("tools/list", json!({}));
        let headers = [("Content-Type", "application/json"), ("Authorization", wrong)];
        let (status, head, body) = server.ask("POST /mcp", &headers, &message.to_string());
        assert_eq!((status, body.as_str()), (401, ""), "{wrong}");
        assert!(head.contains("WWW-Authenticate: Bearer\r\n"), "{head}");
    }
    // A session belongs to who opened it.
    let (hello, session) = initialize(&server, &[("Authorization", &bearer(&ann))]);
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    for (line, status) in [(&ann, 200), (&bob, 404)] {
        let headers = [("Authorization", &*bearer(line)), ("Mcp-Session-Id", &session)];
        assert_eq!(server.post(&headers, &ping).0, status);
    }
    server.stop();
    let log = repo.json("show 1");
    assert_eq!(log["events"][0]["agent_id"], "ann");
}

fn initialize(server: &Server, headers: &[(&str, &str)]) -> (Value, String) {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let headers = [&[("Content-Type", "application/json")], headers].concat();
    let (_, head, body) = server.ask("POST /mcp", &headers, &message.to_string());
    let session = head.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: ")).unwrap();
    (serde_json::from_str(&body).unwrap(), session.to_owned())
}

#[test]
fn without_a_session_the_headers_must_say_what_the_body_says() {
    let repo = Sandbox::new();
    let server = Server::start(&repo, &["--no-auth"]);
    let list = stateless("tools/list", json!({}));
    let version = ("MCP-Protocol-Version", "2026-07-28");
    for (headers, status, code) in [
        (vec![version, ("Mcp-Method", "tools/list")], 200, None),
        (vec![version, ("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?=")], 200, None),
        (vec![version], 400, Some(-32020)),
        (vec![("Mcp-Method", "tools/list")], 400, Some(-32020)),
        (vec![version, ("Mcp-Method", "tools/call")], 400, Some(-32020)),
        (vec![version, version, ("Mcp-Method", "tools/list")], 400, Some(-32020)),
    ] {
        let (found, answer) = server.post(&headers, &list);
        assert_eq!(found, status, "{headers:?}: {answer}");
        assert_eq!(answer["error"]["code"].as_i64(), code, "{headers:?}");
    }
    let (_, session) = initialize(&server, &[]);
    let session = ("Mcp-Session-Id", session.as_str());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (version, status) in [("2025-11-25", 200), ("1999-01-01", 400), ("", 400)] {
        let headers = [session, ("MCP-Protocol-Version", version)];
        let (found, answer) = server.post(&headers, &ping);
        assert_eq!(found, status, "{version}: {answer}");
        if status == 400 {
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32022), &json!(1)));
            assert_eq!(answer["error"]["data"]["requested"], version);
        }
    }
    let unknown = stateless("no/such", json!({}));
    let (status, answer) = server.post(&[version, ("Mcp-Method", "no/such")], &unknown);
    assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)));
    let (status, answer) = server.call(&[], "mk_note", json!({}));
    assert_eq!((status, &answer["result"]["isError"]), (200, &json!(true)));
    server.stop();
}

#[test]
fn a_stream_tells_what_a_session_subscribed_to() {
    let repo = Sandbox::new();
    let server = Server::start(&repo, &["--no-auth"]);
    let (_, session) = initialize(&server, &[]);
    let own = [("Mcp-Session-Id", session.as_str())];
    let uri = json!({ "uri": "mk://state/main" });
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": uri });
    assert_eq!(
        server.post(&own, &subscribe),
        (200, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }))
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let get = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\
         Mcp-Session-Id: {session}\r\n\r\n"
    );
    stream.write_all(get.as_bytes()).unwrap();
    repo.mk("note one").success();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let told = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["params"]["uri"], "mk://state/main");
    // The stream ends with the session.
    let (status, ..) = server.ask("DELETE /mcp", &own, "");
    assert_eq!(status, 204);
    assert_eq!(lines.next().as_deref(), Some(""));
    assert_eq!(lines.next(), None);
    server.stop();
}
