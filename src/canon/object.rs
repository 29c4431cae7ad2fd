use std::{iter, slice, vec};

use super::Value;

/// The members of a JSON object: each key once, in the order of their code points (which
/// is the order of their UTF-8 bytes).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object(Vec<(String, Value)>);

impl Object {
    /// No members.
    #[must_use]
    pub fn new() -> Object {
        Object::default()
    }

    /// Of members in any order; none, if two have the same key.
    pub(super) fn from_unique(mut members: Vec<(String, Value)>) -> Option<Object> {
        members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        members.is_sorted_by(|(a, _), (b, _)| a < b).then_some(Object(members))
    }

    /// Of members whose keys rise strictly.
    pub(super) fn from_rising(members: Vec<(String, Value)>) -> Object {
        debug_assert!(members.is_sorted_by(|(a, _), (b, _)| a < b));
        Object(members)
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(probe, _)| probe.as_str().cmp(key))
    }

    /// The member `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// The member `key`, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Whether there is a member `key`.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the member `key` and returns the value that it replaces.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes the member `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members, by rising key.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The members, by rising key, to change their values.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&str, &mut Value)> {
        self.0.iter_mut().map(|(key, value)| (key.as_str(), value))
    }
}

type Iter<'a> =
    iter::Map<slice::Iter<'a, (String, Value)>, fn(&'a (String, Value)) -> (&'a str, &'a Value)>;

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    /// Where a key comes twice, its last value counts, as with [`Object::insert`].
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Object {
        let mut members: Vec<(String, Value)> =
            members.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.dedup_by(|later, kept| {
            let repeated = later.0 == kept.0;
            if repeated {
                std::mem::swap(later, kept);
            }
            repeated
        });
        Object(members)
    }
}
