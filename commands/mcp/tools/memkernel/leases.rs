//! Who may write what just now. What is not granted is an answer here, not a refusal.

use std::slice;

use mk::code::Code;
use mk::lease::{self, Again, Claimant, Grant, Held, LeaseError, Resource, Ttl};
use mk::log::Log;
use serde::Serialize;

use super::say;
use crate::Answer;
use crate::cli::{Context, Failure};
use crate::lease::give_back::{self, Release};
use crate::lease::renew::{self, Renew};
use crate::mcp::given::Given;
use crate::mcp::tool::{Effect, Kind, Output, Param, Set, Tool, at_once};

const FILE: Param = Param::text("file_path", "the path").required();
const TOKEN: Param = Param::new("fencing_token", Kind::Token, "the one you got").required();

/// How long a lease holds if the caller does not say.
const TTL_S: u64 = 60;

pub const TOOLS: &[Tool] = &[
    Tool {
        name: "memkernel_acquire_lease",
        title: "Lease a file",
        about: "Claim a file before you edit it. Gives a fencing_token; keep it. If acquired is false \
                somebody holds it, you perhaps: do other work, or try again when it has run out.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[FILE, Param::int("timeout_seconds", (1, 86_400), "how long it holds").or("60")],
        output: Output::Report(&[("acquired", "boolean"), ("resource", "string")]),
        run: acquire,
        wait: at_once,
    },
    Tool {
        name: "memkernel_heartbeat_lease",
        title: "Renew a lease",
        about: "Extend a lease by its whole time while you still edit. false: it is lost; stop, and \
                acquire it anew.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::WRITES,
        params: &[FILE, TOKEN],
        output: Output::Value("boolean"),
        run: |given, ctx| {
            let (path, token) = which(given);
            let done = renew::run(&Renew { path, token }, ctx);
            whether(done, ctx)
        },
        wait: at_once,
    },
    Tool {
        name: "memkernel_release_lease",
        title: "Release a lease",
        about: "Give a lease back as soon as you are done with the file. false: it was not yours any \
                more.",
        words: "",
        at_once: false,
        set: Set::Peer,
        effect: Effect::SETTLES,
        params: &[FILE, TOKEN],
        output: Output::Value("boolean"),
        run: |given, ctx| {
            let (path, token) = which(given);
            let done = give_back::release(&Release { path, token, op_id: None }, ctx);
            whether(done, ctx)
        },
        wait: at_once,
    },
];

fn which(given: &Given) -> (String, u64) {
    let token = given.number("fencing_token").expect("the tool requires it");
    (given.needed("file_path"), token)
}

/// Whether it was done, or the lease is lost.
fn whether(done: Result<Answer, Failure>, ctx: &mut Context) -> Result<Answer, Failure> {
    let done = match done {
        Ok(_) => true,
        Err(failure) if failure.code == Code::LEASE_LOST => false,
        Err(failure) => return Err(failure),
    };
    ctx.out.take();
    say(done, ctx)
}

#[derive(Serialize)]
struct Report {
    acquired: bool,
    resource: String,
    fencing_token: Option<u64>,
    ttl_seconds: f64,
    expires_at: f64,
    holder_agent_id: String,
    expires_in_seconds: f64,
    claim_event_id: Option<mk::id::EventId>,
}

impl Report {
    fn of_grant(grant: Grant, holder: &str) -> Self {
        Self {
            acquired: true,
            resource: grant.resource,
            fencing_token: Some(grant.fencing_token),
            ttl_seconds: grant.ttl_seconds,
            expires_at: grant.expires_at,
            holder_agent_id: holder.to_owned(),
            expires_in_seconds: grant.expires_in_seconds,
            claim_event_id: grant.claim_event_id,
        }
    }

    fn of_refusal(held: &Held, ttl: Ttl) -> Self {
        Self {
            acquired: false,
            resource: held.asked.as_str().to_owned(),
            fencing_token: None,
            ttl_seconds: ttl.as_seconds(),
            expires_at: held.expires_at.micros() as f64 / 1e6,
            holder_agent_id: held.holder.to_string(),
            expires_in_seconds: (held.left.as_secs_f64() * 1e3).round() / 1e3,
            claim_event_id: None,
        }
    }
}

/// A lease that is held is never granted again, to its holder neither.
fn acquire(given: &Given, ctx: &mut Context) -> Result<Answer, Failure> {
    let ttl = Ttl::from_seconds(given.number("timeout_seconds").unwrap_or(TTL_S) as f64)?;
    let (path, origin) = (given.needed("file_path"), ctx.origin());
    let mut in_the_way = None;
    let granted = ctx.write(|txn, actor, outside| {
        let resource: Resource = actor.whereabouts.resource(txn, &path)?;
        let who = Claimant { agent: &actor.agent, session: &actor.session, origin };
        let (wanted, terms) = (slice::from_ref(&resource), (ttl, Again::Refuse));
        let (mut log, at) = (Log::open(txn)?, (actor.lease_now(), outside));
        lease::acquire(&mut log, &actor.branch, wanted, who, terms, &actor.metadata, at)
            .map(|granted| (granted, actor.agent.clone()))
            .map_err(|error| {
                if let LeaseError::Held(held) = &error {
                    in_the_way = Some(held.clone());
                }
                error.into()
            })
    });
    let report = match (granted, in_the_way) {
        (Err(_), Some(held)) => Report::of_refusal(&held, ttl),
        (granted, _) => {
            let (granted, agent) = granted?;
            let grant = granted.leases.into_iter().next().expect("one was asked for");
            Report::of_grant(grant, agent.as_str())
        }
    };
    ctx.out.document(&report)?;
    Ok(Answer::Yes)
}
