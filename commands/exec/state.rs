//! `mk exec state`

use std::io::{self, Write};

use mk::id::hex;
use mk::mkep::json::{Json, Members, object};
use mk::mkep::ledger::Ledger;
use mk::mkep::lint::Surroundings;
use mk::mkep::request::Request;
use mk::mkep::response::Response;
use mk::mkep::{self, Examined};
use mk::store::{Engine, ReadTxn, Sqlite, StoreError};

use super::base::{Base, BaseArgs, empty_store};
use super::call::tell;
use crate::Answer;
use crate::cli::{self, Context, Failure};

/// Show a goal: its gates and their evidence, leases, handoffs, and what holds it up
///
/// Gates are advisory and claims are unverified. The advice is not permission. The leases are those of
/// the goal's scopes, not those of `mk lease`. With --json, the response to `state.read`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct State {
    /// The goal, such as team/release
    goal: String,
    /// At this time, 2026-11-30T10:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    #[command(flatten)]
    base: BaseArgs,
}

/// What is shown.
struct View {
    state: Response,
    advice: Response,
    /// The newest receipts of each gate: of pass, of fail.
    evidence: Vec<[Option<i64>; 2]>,
}

pub fn run(args: &State, ctx: &mut Context) -> Result<Answer, Failure> {
    let base = Base::find(&args.base, ctx)?;
    let now = args.now.clone().unwrap_or_else(|| ctx.now().to_string());
    let id = hex(&ctx.random::<16>());
    let view = if base.has_store()? {
        Sqlite::open_to_read(&base.store)?.read(|txn| {
            base.check_foreign(txn)?;
            Ok::<_, Failure>(look(txn, &args.goal, &now, &id)?)
        })?
    } else {
        empty_store(ctx)?.read(|txn| {
            base.check_foreign(txn)?;
            Ok::<_, Failure>(look(txn, &args.goal, &now, &id)?)
        })?
    };
    let json = ctx.out.json;
    let result = view.state.members.get("result").and_then(Json::as_object);
    match result {
        Some(result) if !json => show(ctx.out.writer(), result, &view)?,
        _ if json => writeln!(ctx.out.writer(), "{}", view.state.line())?,
        _ => {}
    }
    match view.state.exit_status {
        0 => Ok(Answer::Yes),
        status => {
            ctx.out.flush()?;
            tell(&view.state, None);
            Ok(Answer::Status(status))
        }
    }
}

fn look(txn: &dyn ReadTxn, goal: &str, now: &str, id: &str) -> Result<View, StoreError> {
    let state = ask(txn, "state.read", goal, now, id)?;
    let advice = ask(txn, "assess.run", goal, now, id)?;
    let newest = |gate: &Members| {
        let gate = gate.text("gate_id").unwrap_or_default();
        let of = |verdict| {
            let key = mkep::event::receipt_key(gate, verdict);
            txn.exec_newest_receipt(goal, &key, None)
        };
        Ok([of("pass")?, of("fail")?])
    };
    let result = state.members.get("result").and_then(Json::as_object);
    let gates = result.map(|result| objects(result, "gates")).unwrap_or_default();
    let evidence = gates.into_iter().map(newest).collect::<Result<_, StoreError>>()?;
    Ok(View { state, advice, evidence })
}

/// The answer to a query about a goal.
fn ask(
    txn: &dyn ReadTxn,
    op: &str,
    goal: &str,
    now: &str,
    id: &str,
) -> Result<Response, StoreError> {
    let request = object([
        ("mkep", "0".into()),
        ("kind", "query".into()),
        ("request_id", id.into()),
        ("op", op.into()),
        ("now", now.into()),
        ("target", object([("goal_id", goal.into())]).into()),
        ("args", Members::new().into()),
    ]);
    let request = match Request::read(request.line().as_bytes()) {
        Ok(request) => request,
        Err(response) => return Ok(*response),
    };
    match mkep::examine(txn, &mut Ledger::default(), &request, &Surroundings::default())? {
        Examined::Answered(response) => Ok(response),
        Examined::Wanted(_) => Err(StoreError::damaged("a query asked for the lock")),
    }
}

fn show(out: &mut dyn Write, result: &Members, view: &View) -> io::Result<()> {
    let text = |members: &Members, key: &str| match members.get(key) {
        None | Some(Json::Null) => "-".to_owned(),
        Some(Json::Text(text)) => cli::line(text.shown()),
        Some(other) => other.to_string(),
    };
    let status = match result.given("goal_status") {
        None => "not declared".to_owned(),
        Some(_) => text(result, "goal_status"),
    };
    let seq = text(result, "execution_seq");
    writeln!(out, "{}: {status} (record {seq})", text(result, "goal_id"))?;
    let advice = view.advice.members.get("result").and_then(Json::as_object);
    if let Some(advice) = advice {
        let (what, why) = (text(advice, "recommendation"), text(advice, "reason_code"));
        writeln!(out, "advice, not permission: {what} ({why})")?;
        let blockers = advice.get("blockers").and_then(Json::as_list).unwrap_or_default();
        let blockers: Vec<&str> = blockers.iter().filter_map(Json::as_str).collect();
        if !blockers.is_empty() {
            writeln!(out, "held up by: {}", blockers.join(", "))?;
        }
    }
    let mut counted = |key: &str, what: &str| match result.get(key).and_then(Json::as_i64) {
        None | Some(0) => Ok(()),
        Some(count) => writeln!(out, "{what}: {count}"),
    };
    counted("rejected_transitions", "transitions that the records contradict")?;
    counted("skipped", "damaged lines in the log")?;
    counted("unverified_waivers", "waived on an unverified word")?;
    counted("receipts_without_provenance", "receipts without provenance")?;
    let gates = objects(result, "gates");
    if !gates.is_empty() {
        writeln!(
            out,
            "\n{:<24} {:<8} {:<8} {:<12} EVIDENCE",
            "GATE", "STATUS", "REQUIRED", "SCOPE"
        )?;
    }
    for (gate, [pass, fail]) in gates.iter().zip(&view.evidence) {
        let of = |receipt: &Option<i64>, verdict| receipt.map(|seq| format!("{verdict} {seq}"));
        let evidence: Vec<String> =
            [of(pass, "pass"), of(fail, "fail")].into_iter().flatten().collect();
        let evidence = if evidence.is_empty() { "-".to_owned() } else { evidence.join(", ") };
        let required = if gate.get("required") == Some(&Json::Bool(true)) { "yes" } else { "no" };
        let (name, status) = (text(gate, "gate_id"), text(gate, "status"));
        let scope = text(gate, "scope_key");
        writeln!(out, "{name:<24} {status:<8} {required:<8} {scope:<12} {evidence}")?;
    }
    let leases = result.get("leases").and_then(Json::as_object);
    let leases = leases.filter(|leases| !leases.is_empty());
    if let Some(leases) = leases {
        let highest = text(result, "max_fence_token");
        writeln!(out, "\n{:<24} {:<16} {:>5} UNTIL", "LEASED SCOPE", "HOLDER", "TOKEN")?;
        for (scope, lease) in leases.iter() {
            let Some(lease) = lease.as_object() else { continue };
            let (holder, token) = (text(lease, "holder"), text(lease, "fence_token"));
            let until = text(lease, "expires_at");
            writeln!(out, "{:<24} {holder:<16} {token:>5} {until}", cli::line(scope.shown()))?;
        }
        writeln!(out, "a write into a leased scope needs a token of at least {highest}")?;
    }
    let handoffs = objects(result, "handoffs");
    if !handoffs.is_empty() {
        writeln!(out, "\n{:<32} {:<10} {:<16} UNTIL", "HANDOFF", "STATUS", "TO")?;
    }
    for handoff in handoffs {
        let (name, status) = (text(handoff, "handoff_id"), text(handoff, "status"));
        let (to, until) = (text(handoff, "to_actor"), text(handoff, "expires_at"));
        writeln!(out, "{name:<32} {status:<10} {to:<16} {until}")?;
    }
    Ok(())
}

fn objects<'a>(members: &'a Members, key: &str) -> Vec<&'a Members> {
    let items = members.get(key).and_then(Json::as_list).unwrap_or_default();
    items.iter().filter_map(Json::as_object).collect()
}
