//! `mk notice post`

use std::io::{self, Write};

use mk::notice::{self, Message, Posted, Topic, Ttl};
use mk::operation::{Once, OpId, once};

use crate::Answer;
use crate::cli::{Context, Failure, Text, policy, read_stdin, request};

/// Tell everybody something about a resource, and print the id of the notice
#[derive(Debug, clap::Args)]
pub struct Post {
    /// What it is about: KIND:NAME, such as service:auth
    resource: Topic,
    /// What to tell, at most 4096 characters, or `-` for stdin
    message: String,
    /// How long it is active, 1 to 604800 [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = ttl, allow_negative_numbers = true)]
    ttl: Option<Ttl>,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    op_id: Option<OpId>,
}

fn ttl(text: &str) -> Result<Ttl, String> {
    let seconds: i64 = text.parse().map_err(|_| "not a whole number of seconds".to_owned())?;
    Ttl::from_seconds(seconds).map_err(|error| error.to_string())
}

impl Text for Once<Posted> {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Posted { notice_id, cleared_at, .. } = &self.report;
        match cleared_at {
            None => writeln!(out, "{notice_id}"),
            Some(at) => writeln!(out, "{notice_id} is cleared since {at}"),
        }
    }
}

pub fn run(args: &Post, ctx: &mut Context) -> Result<Answer, Failure> {
    let text = match args.message.as_str() {
        "-" => read_stdin("the message")?,
        text => text.to_owned(),
    };
    post(&args.resource, &text, args.ttl.unwrap_or_default(), args.op_id.as_ref(), ctx)
}

/// Posts `text`, whatever it is.
pub fn post(
    resource: &Topic,
    text: &str,
    ttl: Ttl,
    op_id: Option<&OpId>,
    ctx: &mut Context,
) -> Result<Answer, Failure> {
    let message: Message =
        text.parse().map_err(|error: notice::ValueError| Failure::usage(error.to_string()))?;
    let posted = ctx.write(|txn, actor, outside| {
        let request = request([
            ("verb", "notice post".into()),
            ("agent", actor.agent.as_str().into()),
            ("resource", resource.as_str().into()),
            ("message", message.as_str().into()),
            ("ttl_s", ttl.as_duration().as_secs().into()),
        ]);
        once(txn, op_id, &request, |txn| {
            let policy = policy(txn)?;
            let (who, what) = ((&actor.agent, policy.as_ref()), (resource, &message));
            let mut draw = || (outside.salt)();
            Ok::<_, Failure>(notice::post(txn, who, what, ttl, (actor.lease_now(), &mut draw))?)
        })
    })?;
    if !posted.report.redacted.is_empty() {
        let rules = posted.report.redacted.join(", ");
        // The notice is there, whether stderr can be written or not.
        let _ = writeln!(io::stderr(), "warning: a secret was taken out of the message ({rules})");
    }
    ctx.print(&posted)?;
    Ok(Answer::Yes)
}
