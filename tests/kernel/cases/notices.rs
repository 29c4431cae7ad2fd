//! Notices of the peer as calls of the library.

use mk::canon::{Object, Value};
use mk::code::Code;
use mk::notice::page::{self, Block, Want};
use mk::notice::{self, NoticeId, Posted, Topic, Ttl};
use mk::store::{Engine, ReadTxn};
use mk::sync::Policy;

use super::replay::{Refusal, Replay, agent, object, reported};
use super::scenario::Operation;

impl<E: Engine> Replay<'_, E> {
    pub(super) fn post(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (agent, topic) = (agent(of)?, of.text("resource").parse::<Topic>()?);
        let message = of.text("message").parse::<notice::Message>()?;
        let ttl = match of.get("ttl") {
            None => Ttl::default(),
            Some(Value::Int(seconds)) => Ttl::from_seconds(seconds.as_i64().unwrap_or(i64::MAX))?,
            Some(_) => return Err(Refusal::new(Code::INVALID_ARGUMENT)),
        };
        // Ids are random; the peer's decide the order of what follows. A refused post has none.
        let recorded = of.expected().get("notice").and_then(|notice| notice.get("notice_id"));
        let drawn = recorded.map_or([0; 16], |id| bytes_of(&id.text()));
        let policy = self.exchange.as_ref().map(|exchange| &exchange.policy);
        let posted = self.store.write(|txn| {
            let what = (&topic, &message);
            notice::post(txn, (&agent, policy), what, ttl, (of.time(), &mut || drawn))
        })?;
        Ok(one(posted))
    }

    pub(super) fn clear(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let (id, agent) = (of.text("notice_id").parse::<NoticeId>()?, agent(of)?);
        let who = (&agent, self.exchange.as_ref().map(|exchange| &exchange.policy));
        Ok(one(self.store.write(|txn| notice::clear(txn, &id, who, of.time()))?))
    }

    pub(super) fn import(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let document = of.text("document").as_bytes();
        let imported = self.store.write(|txn| notice::import(txn, document))?;
        Ok(reported(&imported))
    }
}

/// The bytes that make this id.
fn bytes_of(id: &str) -> [u8; 16] {
    let digits = id.rsplit(':').next().unwrap().replace('-', "");
    u128::from_str_radix(&digits, 16).unwrap().to_be_bytes()
}

fn one(notice: Posted) -> Value {
    object([("notice", reported(&notice))])
}

pub(super) fn list(
    txn: &dyn ReadTxn,
    of: &Operation,
    policy: Option<&Policy>,
) -> Result<Value, Refusal> {
    // The peer finds nothing about what can be no resource.
    let topic = match of.get("resource").map(|resource| resource.text().parse::<Topic>()) {
        Some(Err(_)) => return Ok(object([("notices", Value::Array(Vec::new()))])),
        topic => topic.transpose()?,
    };
    let cleared = of.get("include_cleared") == Some(&Value::Bool(true));
    let as_of = (of.time(), policy);
    let listing = notice::list(txn, (topic.as_ref(), cleared), None, usize::MAX, as_of)?;
    Ok(object([("notices", Value::Array(listing.notices.iter().map(reported).collect()))]))
}

pub(super) fn export(txn: &dyn ReadTxn, of: &Operation) -> Result<Value, Refusal> {
    let ids = of.get("ids").and_then(Value::as_array).map(|ids| {
        ids.iter().map(|id| id.text().parse::<NoticeId>()).collect::<Result<Vec<_>, _>>()
    });
    let ids = ids.transpose()?;
    Ok(object([("document", notice::export(txn, ids.as_deref())?.into())]))
}

/// The page that an operation wants; `names` are those of its budget, offset, limit and resource.
pub(super) fn page_of(
    txn: &dyn ReadTxn,
    of: &Operation,
    names: [&str; 4],
    policy: Option<&Policy>,
) -> Result<Block, Refusal> {
    let [budget, offset, limit, resource] = names;
    let number = |name: &str, default: u64| match of.integer(name) {
        None => Ok(default),
        Some(number) => u64::try_from(number).map_err(|_| Refusal::new(Code::INVALID_ARGUMENT)),
    };
    let resource = of.get(resource).map(|resource| resource.text().parse::<Topic>()).transpose()?;
    let want = Want {
        resource: resource.as_ref(),
        cleared: false,
        budget: number(budget, page::BUDGET)?,
        offset: usize::try_from(number(offset, 0)?).unwrap(),
        limit: usize::try_from(number(limit, u64::MAX)?).unwrap(),
        policy,
    };
    Ok(page::page(txn, want, of.time())?)
}

pub(super) fn page(
    txn: &dyn ReadTxn,
    of: &Operation,
    policy: Option<&Policy>,
) -> Result<Value, Refusal> {
    let block = page_of(txn, of, ["budget", "offset", "limit", "resource"], policy)?;
    let ids = block.notices.iter().map(|it| Value::from(it.notice.notice_id.as_str()));
    Ok(object([
        ("ids", Value::Array(ids.collect())),
        ("page", reported(&block.page)),
        ("tokens", block.tokens.into()),
    ]))
}

/// The members of a query that tell of notices.
pub(super) fn members(block: &Block) -> Object {
    Object::from_iter([
        ("coordination_notice_tokens", Value::from(block.tokens)),
        ("coordination_notices", Value::Array(block.notices.iter().map(reported).collect())),
        ("notice_page", reported(&block.page)),
    ])
}
