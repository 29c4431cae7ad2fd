//! `mk exec`: the recorded exchanges, and what they do not show.

mod batch;
mod call;
mod compare;
mod log;
mod page;
mod races;
mod section;
mod transcripts;
mod transfer;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// 2026-08-04, when everything here happens.
const NOW: &str = "2026-08-04T11:22:33Z";

/// A request of MKEP/0. `precondition` and `args` are JSON.
fn apply(number: u32, op: &str, target: &str, args: &str, precondition: &str) -> String {
    format!(
        r#"{{"mkep":"0","kind":"apply","request_id":"{number:032x}","op":"{op}","now":"{NOW}","target":{target},"args":{args},"precondition":{precondition}}}"#
    )
}

fn query(op: &str, target: &str) -> String {
    let now = if op == "describe" { String::new() } else { format!(r#""now":"{NOW}","#) };
    format!(
        r#"{{"mkep":"0","kind":"query","request_id":"{:032x}","op":"{op}",{now}"target":{target},"args":{{}}}}"#,
        0
    )
}

pub fn goal_declared(number: u32) -> String {
    let args = r#"{"title":"Ship it","intent":"Cut the release","constraints":[],"success_criteria":["green"]}"#;
    apply(number, "goal.declare", r#"{"goal_id":"team/alpha"}"#, args, "{}")
}

pub fn gate_declared(number: u32, gate: &str) -> String {
    let target = format!(r#"{{"goal_id":"team/alpha","gate_id":"{gate}"}}"#);
    let args = r#"{"description":"d","verification":{"check_kind":"command","check_ref":"make"}}"#;
    apply(number, "gate.declare", &target, args, "{}")
}

pub fn leased(number: u32, scope: &str, holder: &str) -> String {
    let target = format!(r#"{{"goal_id":"team/alpha","scope_key":"{scope}"}}"#);
    let args = format!(r#"{{"holder":"{holder}","ttl_seconds":3600}}"#);
    apply(number, "lease.acquire", &target, &args, "{}")
}

/// Calls `mk exec call` in the project here and answers the response and the exit status.
pub fn call(repo: &mut Sandbox, request: impl AsRef<[u8]>) -> (Value, i32) {
    repo.input = request.as_ref().to_owned();
    let done = repo.mk("exec call");
    let output = done.get_output();
    let response = serde_json::from_slice(&output.stdout).expect("one response");
    (response, output.status.code().expect("it was not killed"))
}

/// The same for a request that is carried out.
pub fn called(repo: &mut Sandbox, request: impl AsRef<[u8]>) -> Value {
    let (response, status) = call(repo, request);
    assert_eq!(status, 0, "{response}");
    response
}
