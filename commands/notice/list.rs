//! `mk notice list`

use std::io::{self, Write};

use mk::notice::{self, AT_ONCE, Listing, NoticeId, Topic};

use crate::Answer;
use crate::cli::{Context, Failure, Text, line, policy_to_read_by};

/// List the notices that are not cleared, by id: id, resource, author, status, when its time runs out,
/// message
#[derive(Debug, clap::Args)]
pub struct List {
    /// Only those about exactly this
    pub resource: Option<Topic>,
    /// Also those that were cleared
    #[arg(long)]
    pub cleared: bool,
    /// Start after this id
    #[arg(long, value_name = "ID")]
    pub after: Option<NoticeId>,
    /// Most that are listed, 1 to 1000
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(1..=AT_ONCE as u64))]
    pub limit: u64,
}

impl Text for Listing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for report in &self.notices {
            let it = &report.notice;
            let (status, message) = (report.status.as_str(), line(&it.message));
            writeln!(
                out,
                "{}\t{}\t{}\t{status}\t{}\t{message}",
                it.notice_id, it.resource, it.author, it.expires_at
            )?;
        }
        match &self.next {
            Some(next) => {
                writeln!(out, "[{} more: mk notice list --after {}]", self.omitted, next.after)
            }
            None => Ok(()),
        }
    }
}

pub fn run(args: &List, ctx: &mut Context) -> Result<Answer, Failure> {
    let listing = ctx.read(|txn| {
        let which = (args.resource.as_ref(), args.cleared);
        let (limit, policy) = (args.limit as usize, policy_to_read_by(txn)?);
        let as_of = (ctx.lease_now(), policy.as_ref());
        Ok(notice::list(txn, which, args.after.as_ref(), limit, as_of)?)
    })?;
    ctx.print(&listing)?;
    Ok(Answer::Yes)
}
