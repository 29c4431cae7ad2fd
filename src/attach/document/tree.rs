//! What a document says, apart from how it is written.

/// A value of a configuration document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// As it is written: a number, `true`, `null`, a date.
    Plain(String),
    Text(String),
    List(Vec<Self>),
    /// In the order of the document. A key may come twice.
    Map(Vec<(String, Self)>),
}

impl Tree {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    #[must_use]
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    #[must_use]
    pub fn map<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_map(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Map(members) => Some(members),
            _ => None,
        }
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// What stands at the end of `path`.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// This with `value` at the end of `path`. A map takes the members of `value` and keeps its own
    /// others; anything else is replaced.
    #[must_use]
    pub fn with(&self, path: &[&str], value: &Self) -> Self {
        let whole = path
            .iter()
            .rev()
            .fold(value.clone(), |inner, key| Self::Map(vec![((*key).to_owned(), inner)]));
        self.merged(&whole)
    }

    fn merged(&self, other: &Self) -> Self {
        let (Self::Map(own), Self::Map(others)) = (self, other) else { return other.clone() };
        let mut members = own.clone();
        for (key, value) in others {
            match members.iter_mut().find(|(name, _)| name == key) {
                Some((_, old)) => *old = old.merged(value),
                None => members.push((key.clone(), value.clone())),
            }
        }
        Self::Map(members)
    }

    /// This without what stands at the end of `path`, and without the maps on the way that are empty
    /// then, but for the first `kept` of them.
    #[must_use]
    pub fn without(&self, path: &[&str], kept: usize) -> Self {
        let (Self::Map(members), Some((key, rest))) = (self, path.split_first()) else {
            return self.clone();
        };
        let mut members = members.clone();
        if let Some(place) = members.iter().position(|(name, _)| name == key) {
            let inner = members[place].1.without(rest, kept.saturating_sub(1));
            let is_gone = rest.is_empty() || (kept == 0 && inner == Self::Map(Vec::new()));
            if is_gone {
                members.remove(place);
            } else {
                members[place].1 = inner;
            }
        }
        Self::Map(members)
    }

    /// The same with the members of all maps by key; those of one key stay in their order.
    #[must_use]
    pub fn sorted(self) -> Self {
        match self {
            Self::Map(members) => {
                let mut members: Vec<_> =
                    members.into_iter().map(|(key, value)| (key, value.sorted())).collect();
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                Self::Map(members)
            }
            Self::List(items) => Self::List(items.into_iter().map(Self::sorted).collect()),
            plain => plain,
        }
    }

    /// This without the maps on the way along `path` that are empty.
    #[must_use]
    pub fn without_empty(&self, path: &[&str]) -> Self {
        let (Self::Map(members), Some((key, rest))) = (self, path.split_first()) else {
            return self.clone();
        };
        let inner = |(name, value): &(String, Self)| match name == key {
            true => (name.clone(), value.without_empty(rest)),
            false => (name.clone(), value.clone()),
        };
        let is_empty =
            |(name, value): &(String, Self)| name == key && *value == Self::Map(Vec::new());
        Self::Map(members.iter().map(inner).filter(|member| !is_empty(member)).collect())
    }
}
