//! `mk notice clear`

use mk::notice::{self, NoticeId};
use mk::operation::{OpId, once};

use crate::Answer;
use crate::cli::{Context, Failure, policy, request};

/// Take a notice back that you posted: what it told of is over
///
/// Clearing it again changes nothing. It stays known, see `mk notice list --cleared`.
#[derive(Debug, clap::Args)]
pub struct Clear {
    /// The id that `mk notice post` printed
    pub id: NoticeId,
    /// Do this once, however often it is asked for under ID
    #[arg(long, value_name = "ID")]
    pub op_id: Option<OpId>,
}

pub fn run(args: &Clear, ctx: &mut Context) -> Result<Answer, Failure> {
    let cleared = ctx.write(|txn, actor, _| {
        let request = request([
            ("verb", "notice clear".into()),
            ("agent", actor.agent.as_str().into()),
            ("notice", args.id.as_str().into()),
        ]);
        once(txn, args.op_id.as_ref(), &request, |txn| {
            let policy = policy(txn)?;
            let (who, now) = ((&actor.agent, policy.as_ref()), actor.lease_now());
            Ok::<_, Failure>(notice::clear(txn, &args.id, who, now)?)
        })
    })?;
    ctx.print(&cleared)?;
    Ok(Answer::Yes)
}
