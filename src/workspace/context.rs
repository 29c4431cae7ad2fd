//! What an agent is given to read.
//!
//! [`full`] is the exact text of docs/spec/kernel.md, section 10, as long as the log makes it.
//! [`compose`] keeps to a budget: what holds now comes first, then the newest events.

use super::fold::State;
use super::render::{self, Line, Section};
use super::{snapshot, state};
use crate::branch;
use crate::event::{Event, EventType};
use crate::id::{BranchName, EventId};
use crate::lease::{self, Claims};
use crate::notice::document::moment;
use crate::notice::page::{self, Want};
use crate::notice::{self, NoticeError, Topic};
use crate::store::{Branch, Notice, ReadTxn, StoreError};
use crate::sync::Policy;
use crate::text;
use crate::text::counted;
use crate::time::Timestamp;
use crate::tokens::Tokenizer;

/// Tokens of a context if nobody says otherwise.
pub const DEFAULT_BUDGET: u64 = 4_000;

/// Fewest tokens of a budget: the line that says what was left out must fit.
pub const BUDGET_MIN: u64 = 100;

/// Newest events that are looked at for a context.
const EVENTS_LOOKED_AT: usize = 500;

/// Open notices that are looked at for a context.
const NOTICES_LOOKED_AT: usize = 100;

/// The share of a budget that one record may take, as its divisor; a longer one is cut.
const LINE_SHARE: u64 = 8;

/// Most tokens of a branch name that the closing line repeats: a name of 128 points alone has more
/// than the smallest budget.
const NAME_TOKENS: u64 = 12;

/// What was left out of a context.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct LeftOut {
    /// Records of the state: tasks, decisions, facts and so on.
    pub records: u64,
    /// Live events.
    pub events: u64,
    /// Notices that are not cleared.
    pub notices: u64,
    /// Records, notices and events of which a part is shown.
    pub cut: u64,
}

/// A context.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Context {
    pub branch_id: BranchName,
    pub head_event_id: Option<EventId>,
    pub tokens: u64,
    pub budget: Option<u64>,
    pub tokenizer: &'static str,
    pub left_out: LeftOut,
    pub text: String,
}

/// The snapshot and all events after it, a block each.
///
/// # Errors
/// Those of the store.
pub fn full(txn: &dyn ReadTxn, branch: &Branch) -> Result<Context, StoreError> {
    let tokenizer = txn.identity()?.tokenizer;
    let base = branch.head.map_or(Ok(None), |head| snapshot::base(txn, head))?;
    let mut blocks = Vec::new();
    if let Some(base) = &base {
        blocks.push(render::snapshot_block(&base.event, base.covers.0, &base.state));
    }
    for event in snapshot::delta(txn, branch.head, base.as_ref())? {
        blocks.push(block(txn, &event)?);
    }
    let text = blocks.join("\n");
    Ok(Context {
        branch_id: branch.name.clone(),
        head_event_id: branch.head,
        tokens: tokenizer.count(&text),
        budget: None,
        tokenizer: tokenizer.name(),
        left_out: LeftOut::default(),
        text,
    })
}

/// [`full`], and after it the open notices about `topic`, or all, as far as [`page::BUDGET`] tokens hold
/// them.
///
/// # Errors
/// Those of the store.
pub fn full_with_notices(
    txn: &dyn ReadTxn,
    branch: &Branch,
    (topic, policy): (Option<&Topic>, Option<&Policy>),
    now: Timestamp,
) -> Result<Context, NoticeError> {
    let (budget, offset, limit) = (page::BUDGET, 0, usize::MAX);
    let want = Want { resource: topic, cleared: false, budget, offset, limit, policy };
    let block = page::page(txn, want, now)?;
    let mut context = full(txn, branch)?;
    context.text.push_str(&block.text);
    // The block begins with a line of its own, and tokens add up over lines.
    context.tokens += block.tokens;
    context.left_out.notices = block.page.omitted;
    Ok(context)
}

/// The block of an event that is no snapshot.
///
/// # Errors
/// Those of the store.
pub fn block(txn: &dyn ReadTxn, event: &Event) -> Result<String, StoreError> {
    Ok(render::block(event, branch::reported_payload(txn, event)?.as_ref()))
}

/// The state, then the newest events, in at most `budget` tokens, which is at least [`BUDGET_MIN`].
///
/// Left out first, until the rest fits: the oldest events; then records of the state, by section in
/// the order insights, runs, deprecated assumptions, claims, facts, notices, blockers, decisions, tasks,
/// and within a section the oldest. Events get what the state leaves, but at least a quarter, as far as
/// there are any; open notices, about `topic` or all, get at most a quarter. The last line says what was
/// left out and where to find it. Of each claim it says what its lease is at `now`.
///
/// # Errors
/// Those of the store.
pub fn compose(
    txn: &dyn ReadTxn,
    branch: &Branch,
    budget: u64,
    topic: Option<&Topic>,
    now: Timestamp,
) -> Result<Context, StoreError> {
    let tokenizer = txn.identity()?.tokenizer;
    let state = state(txn, branch.head)?;
    let claims = lease::claims(txn, &state, now)?;
    let (notices, open_notices) = notice::newest(txn, topic, NOTICES_LOOKED_AT, now)?;
    let total = branch.head.map_or(Ok(0), |head| txn.link(head).map(|link| link.depth))?;
    let mut sheet = Sheet { tokenizer, left: budget, left_out: LeftOut::default() };
    // The longest the closing line can get is set aside before anything else.
    let events = total.max(999_999);
    let reserve = LeftOut { records: 999_999, events, notices: open_notices, cut: 999_999 };
    sheet.left -= tokenizer.count(&closing(&reserve, branch, tokenizer)).min(budget);
    let for_events = sheet.left / 4;
    let mut newest = Newest { txn, tokenizer, next: branch.head, read: Vec::new() };
    let events = newest_blocks(&mut newest, &mut Sheet { left: for_events, ..sheet.clone() })?;
    sheet.left -= for_events - events.left;
    let mut lines = lines(&state, &claims);
    lines.extend(notice_lines(&notices, &sheet, lines.len(), now));
    let shown_notices =
        |lines: &[Line]| lines.iter().filter(|line| line.section == Section::Notice).count() as u64;
    let records = choose_records(lines, &mut sheet);
    sheet.left_out.notices = open_notices - shown_notices(&records);
    let records = records.into_iter().map(|line| line.text);
    // What the state left over goes to older events.
    let mut rest = Sheet { left: sheet.left + (for_events - events.left), ..sheet.clone() };
    let events = newest_blocks(&mut newest, &mut rest)?;
    let mut left_out = sheet.left_out;
    left_out.cut += events.cut;
    left_out.events = total - events.shown;
    let mut parts: Vec<String> = records.chain(events.blocks).collect();
    if left_out != LeftOut::default() {
        parts.push(closing(&left_out, branch, tokenizer));
    }
    let text = parts.join("\n");
    Ok(Context {
        branch_id: branch.name.clone(),
        head_event_id: branch.head,
        tokens: tokenizer.count(&text),
        budget: Some(budget),
        tokenizer: tokenizer.name(),
        left_out,
        text,
    })
}

/// Tokens still to be spent.
#[derive(Clone)]
struct Sheet {
    tokenizer: Tokenizer,
    left: u64,
    left_out: LeftOut,
}

impl Sheet {
    /// Whether `text` fits on a line of its own; if so, it is paid for.
    fn take(&mut self, text: &str) -> bool {
        self.pay(self.tokenizer.count(text))
    }

    /// Whether as many `tokens` are left; if so, they are spent. Counts add up over lines, so the sum is the
    /// count of the whole.
    fn pay(&mut self, tokens: u64) -> bool {
        let fits = tokens <= self.left;
        if fits {
            self.left -= tokens;
        }
        fits
    }
}

/// The records of the state, and beside its claims what the leases say.
fn lines(state: &State, claims: &Claims) -> Vec<Line> {
    let mut lines = render::sections(state);
    let of_claims = lines.iter_mut().filter(|line| line.section == Section::Claim);
    for (line, status) in of_claims.zip(claims.claim_status.values()) {
        line.text.push_str(&format!(" ({})", status.as_str()));
    }
    for (place, lease) in (lines.len()..).zip(&claims.unclaimed_leases) {
        let holder = lease.holder_agent_id.as_ref().map_or("", |holder| holder.as_str());
        let (key, token) = (&lease.resource_key, lease.fencing_token);
        let text = format!("LEASE {key} of {holder} token {token} (held, claimed elsewhere)");
        lines.push(Line { section: Section::Claim, age: (u64::MAX, place), text });
    }
    lines
}

/// The first notices that fit into a quarter of what is left, the lines numbered from `place` on.
fn notice_lines(notices: &[Notice], sheet: &Sheet, place: usize, now: Timestamp) -> Vec<Line> {
    let share = (sheet.left / LINE_SHARE).max(16);
    let mut sheet = Sheet { left: sheet.left / 4, ..sheet.clone() };
    let mut lines = Vec::new();
    // What comes first here passes for the newest.
    for (age, notice) in (0..=u64::MAX).rev().zip(notices) {
        let verb = if notice.is_active(now) { "until" } else { "stale since" };
        let Notice { id, author, resource, message, .. } = notice;
        let expires = moment(notice.expires_at);
        let text = format!("NOTICE {resource} {author}: {message} ({verb} {expires}, {id})");
        if !sheet.take(&cut(&one_line(&text), share, sheet.tokenizer).0) {
            break;
        }
        lines.push(Line { section: Section::Notice, age: (age, place + lines.len()), text });
    }
    lines
}

/// The lines that fit, each on one line, in the order of a context.
fn choose_records(mut lines: Vec<Line>, sheet: &mut Sheet) -> Vec<Line> {
    let share = (sheet.left / LINE_SHARE).max(16);
    let rank = |section| match section {
        Section::Task => 0,
        Section::Decision => 1,
        Section::Blocker => 2,
        Section::Notice => 3,
        Section::Fact => 4,
        Section::Claim => 5,
        Section::Deprecated => 6,
        Section::Run => 7,
        Section::Insight => 8,
    };
    lines.sort_by_key(|line| (rank(line.section), std::cmp::Reverse(line.age)));
    let mut kept = Vec::new();
    let mut full = false;
    for line in lines {
        let (text, was_cut) = cut(&one_line(&line.text), share, sheet.tokenizer);
        full = full || !sheet.take(&text);
        if full {
            sheet.left_out.records += u64::from(line.section != Section::Notice);
            continue;
        }
        sheet.left_out.cut += u64::from(was_cut);
        kept.push(Line { text, ..line });
    }
    kept.sort_by_key(|line| (line.section, line.age.1));
    kept
}

struct Blocks {
    blocks: Vec<String>,
    shown: u64,
    cut: u64,
    left: u64,
}

/// The newest live events, read as far as they are asked for, and once.
struct Newest<'t> {
    txn: &'t dyn ReadTxn,
    tokenizer: Tokenizer,
    next: Option<EventId>,
    /// The block of each and its tokens; a snapshot has none.
    read: Vec<Option<(String, u64)>>,
}

impl Newest<'_> {
    /// The block of the newest event but `index`; `None` if there are not so many.
    fn get(&mut self, index: usize) -> Result<Option<&Option<(String, u64)>>, StoreError> {
        while self.read.len() <= index {
            let Some(id) = self.next else { return Ok(None) };
            self.next = self.txn.link(id)?.live_parent;
            let event = self.txn.known_event(id)?;
            let block = match event.kind {
                EventType::Snapshot => None,
                _ => {
                    let payload = branch::reported_payload(self.txn, &event)?;
                    let text = indented(&render::short_block(&event, payload.as_ref()));
                    let tokens = self.tokenizer.count(&text);
                    Some((text, tokens))
                }
            };
            self.read.push(block);
        }
        Ok(self.read.get(index))
    }
}

/// The blocks of the newest events that fit, oldest first.
fn newest_blocks(newest: &mut Newest<'_>, sheet: &mut Sheet) -> Result<Blocks, StoreError> {
    let share = (sheet.left / 2).max(16);
    let mut found = Blocks { blocks: Vec::new(), shown: 0, cut: 0, left: sheet.left };
    for index in 0..EVENTS_LOOKED_AT {
        let Some(block) = newest.get(index)? else { break };
        if let Some((text, tokens)) = block {
            let was_cut = *tokens > share;
            let (text, fits) = match was_cut {
                true => {
                    let text = cut(text, share, sheet.tokenizer).0;
                    let fits = sheet.take(&text);
                    (text, fits)
                }
                false => (text.clone(), sheet.pay(*tokens)),
            };
            if !fits {
                break;
            }
            found.blocks.push(text);
            found.cut += u64::from(was_cut);
        }
        found.shown += 1;
    }
    found.blocks.reverse();
    found.left = sheet.left;
    Ok(found)
}

/// `text` cut in its middle so that it has at most `most` tokens, and whether it was.
fn cut(text: &str, most: u64, tokenizer: Tokenizer) -> (String, bool) {
    if tokenizer.count(text) <= most {
        return (text.to_owned(), false);
    }
    // The largest number of characters that fits, by halves: the count grows with the text but for
    // a few tokens where it is cut, so the result is checked and not only searched for.
    let length = text.chars().count();
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if tokenizer.count(&shortened(text, length, middle)) <= most {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (shortened(text, length, low), true)
}

/// The first and last characters of `text`, `keep` in all: the end of an output says most.
fn shortened(text: &str, length: usize, keep: usize) -> String {
    let start = text::head_chars(text, keep.div_ceil(2));
    let end = text::tail_chars(text, keep / 2);
    format!("{start} […{} characters…] {end}", length - keep)
}

/// `text` on one line, so that a value cannot pass for another record.
fn one_line(text: &str) -> String {
    text::lines(text)
        .map(|line| text::visible(text::trim(line)))
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ⏎ ")
}

/// `block` with all lines but the first moved in, so that an output cannot pass for another event.
fn indented(block: &str) -> String {
    text::lines(block).map(text::visible).collect::<Vec<_>>().join("\n    ")
}

fn closing(left_out: &LeftOut, branch: &Branch, tokenizer: Tokenizer) -> String {
    let name = branch.name.as_str();
    let name = if tokenizer.count(name) <= NAME_TOKENS { name } else { "BRANCH" };
    let notices = match left_out.notices {
        0 => String::new(),
        notices => format!(", {} (mk notice list)", counted(notices, "notice")),
    };
    format!(
        "[left out: {} of the state (mk fold {name}), {} (mk log {name}){notices}; \
         {} shown in part (mk show ID)]",
        counted(left_out.records, "record"),
        counted(left_out.events, "event"),
        left_out.cut
    )
}
