//! `mk append`

mod batch;

use mk::canon::Object;
use mk::event::EventType;

use crate::Answer;
use crate::cli::{Context, Failure, Write, WriteArgs, read_object};

/// Append an event to a branch and print its hash
///
/// With --batch, events are read from stdin, one JSON object a line, with the members event_type,
/// payload, metadata, branch_id, agent_id and fence, all optional, and appended in one transaction: all
/// or none. With --each every line is a transaction of its own and is answered as soon as it is safe;
/// the first that is no event ends it, and those before it stay. A fence, {"resource": PATH, "token": N}
/// or a list of them, is what --fence is to one event.
///
/// TYPE is AGENT_TASK_INIT, ARCHITECTURAL_DECISION, TOOL_EXECUTION_LOG, AGENT_SCRATCHPAD,
/// FILE_CLAIM_ACQUIRED, FILE_CLAIM_RELEASED or SEMANTIC_SNAPSHOT.
#[derive(Debug, clap::Args)]
pub struct Append {
    /// What happened [default: AGENT_SCRATCHPAD]
    #[arg(long = "type", value_name = "TYPE", default_value_t = EventType::Note, hide_default_value = true)]
    kind: EventType,
    /// The payload, a JSON object: the text, `-` for stdin, or @FILE
    #[arg(long, value_name = "JSON", default_value = "{}")]
    payload: String,
    /// Read events from stdin and append all or none
    #[arg(long, conflicts_with_all = ["payload", "meta", "expect", "fence", "each"])]
    batch: bool,
    /// Read events from stdin and append each on its own
    #[arg(long, conflicts_with_all = ["payload", "meta", "expect", "fence", "op_id"])]
    each: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub fn run(args: &Append, ctx: &mut Context) -> Result<Answer, Failure> {
    if args.batch || args.each {
        return batch::run(args, ctx);
    }
    if args.payload == "-" && args.write.meta.as_deref() == Some("-") {
        return Err(Failure::usage("payload and metadata cannot both be read from stdin"));
    }
    let payload: Object = read_object("payload", &args.payload)?;
    Write { kind: args.kind, payload }.run(&args.write, args.quiet, ctx)
}
