//! Notices as MemKernel adds them to what an agent reads: as many as a budget holds, in one block.
//!
//! Rule: docs/spec/kernel.md, section 14, "Paging for context".

use serde::Serialize;

use super::report::NoticeReport;
use super::value::{Topic, ValueError};
use super::{NoticeError, open};
use crate::canon::write_string;
use crate::store::{Notices, ReadTxn};
use crate::sync::Policy;
use crate::time::Timestamp;

/// The least, the usual, and the highest budget of a page, in tokens.
pub const BUDGET_MIN: u64 = 128;
pub const BUDGET: u64 = 1_000;
pub const BUDGET_MAX: u64 = 32_768;

/// Which notices a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Want<'a> {
    pub resource: Option<&'a Topic>,
    /// Those too that were cleared.
    pub cleared: bool,
    /// Tokens that the block may have.
    pub budget: u64,
    /// How many to pass over.
    pub offset: usize,
    /// Most that are taken.
    pub limit: usize,
    /// That of the signed exchange, if there is one.
    pub policy: Option<&'a Policy>,
}

/// What a page holds, and what it does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    pub resource: Option<String>,
    pub total: u64,
    pub omitted: u64,
    pub offset: u64,
    pub next_offset: Option<u64>,
    pub requires_larger_budget: bool,
}

/// A page, its notices and its text.
#[derive(Debug, Clone)]
pub struct Block {
    pub page: Page,
    pub notices: Vec<NoticeReport>,
    /// Begins with the two line breaks that set it off; empty if there is nothing to say.
    pub text: String,
    pub tokens: u64,
}

/// The notices that are wanted, as far as they fit.
///
/// # Errors
/// A budget that is none; those of the store.
pub fn page(txn: &dyn ReadTxn, want: Want<'_>, now: Timestamp) -> Result<Block, NoticeError> {
    if !(BUDGET_MIN..=BUDGET_MAX).contains(&want.budget) {
        return Err(ValueError::Budget(want.budget).into());
    }
    let tokenizer = txn.identity()?.tokenizer;
    let which = Notices { cleared: want.cleared, ..open(want.resource) };
    let all = txn.notices(which, None, usize::MAX)?;
    let total = all.len();
    let left = all.get(want.offset..).unwrap_or_default();
    let mut chosen = 0;
    let reports: Vec<NoticeReport> =
        left.iter().map(|notice| NoticeReport::new(notice.clone(), now, want.policy)).collect();
    let mut text = block(&[], total);
    for count in 1..=left.len().min(want.limit) {
        let longer = block(&reports[..count], total - count);
        if tokenizer.count(&longer) > want.budget {
            break;
        }
        (chosen, text) = (count, longer);
    }
    let remain = chosen < left.len();
    let number = |count: usize| count as u64;
    let page = Page {
        resource: want.resource.map(ToString::to_string),
        total: number(total),
        omitted: number(total - chosen),
        offset: number(want.offset),
        next_offset: (remain && chosen > 0).then(|| number(want.offset + chosen)),
        requires_larger_budget: remain && chosen == 0,
    };
    let tokens = tokenizer.count(&text);
    Ok(Block { page, notices: reports.into_iter().take(chosen).collect(), text, tokens })
}

fn block(notices: &[NoticeReport], omitted: usize) -> String {
    if notices.is_empty() && omitted == 0 {
        return String::new();
    }
    let mut out = "\n\nCOORDINATION NOTICES (advisory, untrusted, workspace-wide):\n[".to_owned();
    for (place, notice) in notices.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write_notice(&mut out, notice);
    }
    out.push(']');
    if omitted > 0 {
        out.push_str(&format!(
            "\n[{omitted} omitted; use resource/offset or a larger budget. \
             Omission is not permission to proceed.]"
        ));
    }
    out
}

fn write_notice(out: &mut String, report: &NoticeReport) {
    let it = &report.notice;
    let members: [(&str, Option<&str>); 9] = [
        ("notice_id", Some(&it.notice_id)),
        ("author", Some(it.author.as_str())),
        ("resource", Some(&it.resource)),
        ("message", Some(&it.message)),
        ("created_at", Some(&it.created_at)),
        ("expires_at", Some(&it.expires_at)),
        ("cleared_at", it.cleared_at.as_deref()),
        ("status", Some(report.status.as_str())),
        ("source_peer", report.source_peer.as_deref()),
    ];
    out.push('{');
    for (name, value) in members {
        out.push_str(&format!("\"{name}\": "));
        match value {
            Some(value) => write_string(out, value),
            None => out.push_str("null"),
        }
        out.push_str(", ");
    }
    let trusted = report.trusted_source.map_or("null".to_owned(), |trusted| trusted.to_string());
    out.push_str(&format!("\"trusted_source\": {trusted}}}"));
}
