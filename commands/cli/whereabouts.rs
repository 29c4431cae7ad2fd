//! What a path means that somebody gives here.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use mk::canon::Value;
use mk::lease::{Fence, Place, Resource, Ttl};
use mk::store::ReadTxn;
use mk::store::location;

use super::Failure;

/// Where a command runs, and the store that it was told to use.
#[derive(Debug, Clone)]
pub struct Whereabouts {
    pub here: PathBuf,
    pub named: Option<PathBuf>,
}

impl Whereabouts {
    /// Where paths of resources are spelt from.
    ///
    /// Rule: docs/design.md, section 10, "Roots".
    pub fn place(&self, txn: &dyn ReadTxn) -> Result<Place, Failure> {
        self.place_in(txn.identity()?.root)
    }

    /// The same, of a store that has this root recorded.
    pub fn place_in(&self, recorded: String) -> Result<Place, Failure> {
        let (store, root) = match &self.named {
            Some(store) => (store.clone(), PathBuf::from(recorded)),
            None => {
                let store = location::discover(&self.here)?;
                let root = location::resource_root(&store, &self.here);
                (store, root)
            }
        };
        let here = if self.here.starts_with(&root) { &self.here } else { &root };
        let text = |path: &PathBuf| match path.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(Failure::usage(format!("'{}' is not UTF-8", path.display()))),
        };
        Ok(Place {
            root: text(&root)?,
            here: text(here)?,
            folds_case: location::folds_case(&store),
        })
    }

    /// The resources that `texts` spell, each once.
    pub fn resources(&self, txn: &dyn ReadTxn, texts: &[String]) -> Result<Vec<Resource>, Failure> {
        let place = self.place(txn)?;
        let mut resources = Vec::with_capacity(texts.len());
        for text in texts {
            let resource = Resource::locate(text, &place)?;
            if !resources.contains(&resource) {
                resources.push(resource);
            }
        }
        Ok(resources)
    }

    pub fn resource(&self, txn: &dyn ReadTxn, text: &str) -> Result<Resource, Failure> {
        Ok(Resource::locate(text, &self.place(txn)?)?)
    }

    pub fn fences(&self, txn: &dyn ReadTxn, given: &[FenceArg]) -> Result<Vec<Fence>, Failure> {
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.place(txn)?;
        given.iter().map(|given| given.locate(&place)).collect()
    }
}

/// PATH:TOKEN
#[derive(Debug, Clone)]
pub struct FenceArg {
    path: String,
    token: u64,
}

impl FenceArg {
    /// # Errors
    /// If `token` is none.
    pub fn new(path: &str, token: &str) -> Result<Self, String> {
        Ok(Self { path: path.to_owned(), token: parse_token(token)? })
    }

    /// Reads `{"resource", "token"}`, or a list of them.
    ///
    /// Rule: docs/spec/mcp.md, section 4.5.
    pub fn read(value: &Value) -> Result<Vec<Self>, Failure> {
        let one = |value: &Value| {
            let members = value.as_object().filter(|members| members.len() == 2);
            let path = members.and_then(|members| members.get("resource")?.as_str());
            let token = members.and_then(|members| members.get("token"));
            match (path, token) {
                (Some(path), Some(Value::Int(token))) => {
                    Self::new(path, &token.to_string()).map_err(Failure::usage)
                }
                _ => Err(Failure::usage(
                    r#"fence is not {"resource": PATH, "token": N}, or a list of them"#.to_owned(),
                )),
            }
        };
        match value {
            Value::Array(items) => items.iter().map(one).collect(),
            value => Ok(vec![one(value)?]),
        }
    }

    pub fn locate(&self, place: &Place) -> Result<Fence, Failure> {
        let resource = Resource::locate(&self.path, place)?;
        Ok(Fence { resource, token: self.token })
    }
}

impl FromStr for FenceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, token) = text.rsplit_once(':').ok_or("not PATH:TOKEN")?;
        Self::new(path, token)
    }
}

/// A fencing token: a whole number from 1 on.
pub fn parse_token(text: &str) -> Result<u64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(token) if is_number && (1..=mk::store::TOKEN_MAX).contains(&token) => Ok(token),
        _ => Err("a token is a whole number from 1 on".to_owned()),
    }
}

/// How long a lease holds.
pub fn parse_ttl(text: &str) -> Result<Ttl, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Ttl::from_seconds(seconds).map_err(|error| error.to_string())
}

/// How long to wait.
pub fn parse_wait(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("not a number from 0 to 86400".to_owned()),
    }
}
