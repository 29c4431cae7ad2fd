//! From bytes to a value.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Json, Members, Text};
use crate::canon::plain_prefix;

/// How many arrays and objects may stand one inside the other, the root included.
pub const DEPTH_MAX: usize = 1_024;

/// From as many members on, repeated keys are looked for in a table. Records have fewer.
const MANY: usize = 32;

/// The value of one JSON document in UTF-8, with white space of JSON around it at most; `None` if it
/// is none, or nests deeper than [`DEPTH_MAX`].
///
/// Of a member that is repeated, the last value counts, at the place of the first.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut reader = Reader { text, bytes, at: 0 };
    reader.skip_space();
    let value = reader.value(1)?;
    reader.skip_space();
    (reader.at == bytes.len()).then_some(value)
}

/// The members `keys` of the object that is one JSON document, as [`parse`] would read them; `None` if
/// that reads no object. It saves building what is not asked for.
#[must_use]
pub fn pick(text: &str, keys: &[&'static str]) -> Option<Members> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0 };
    let mut picked = Members(Vec::with_capacity(keys.len()));
    reader.skip_space();
    reader.peek().filter(|byte| *byte == b'{')?;
    reader.each_member(|reader| {
        let key = reader.key()?;
        reader.colon()?;
        match key.and_then(|found| keys.iter().find(|key| **key == found)) {
            Some(key) => picked.set(*key, reader.picked()?),
            None => reader.skip(2)?,
        }
        Some(())
    })?;
    reader.skip_space();
    (reader.at == text.len()).then_some(picked)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over `byte`, if it comes next.
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        self.bytes[self.at..].starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.peek()? {
            b'{' | b'[' if depth > DEPTH_MAX => None,
            b'{' => self.object(depth).map(Json::Object),
            b'[' => self.list(depth),
            b'"' => self.string(0).map(Json::Text),
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    /// A value of the outermost object. A string has room at once for all it can hold: it may be most of the
    /// document, and full of escapes.
    fn picked(&mut self) -> Option<Json> {
        match self.peek()? {
            b'"' => self.string(self.bytes.len() - self.at).map(Json::Text),
            _ => self.value(2),
        }
    }

    /// Steps over a value as [`Reader::value`] does, and builds nothing.
    fn skip(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'{' | b'[' if depth > DEPTH_MAX => None,
            b'{' => self.each_member(|reader| {
                reader.skip_string()?;
                reader.colon()?;
                reader.skip(depth + 1)
            }),
            b'[' => self.each_item(|reader| reader.skip(depth + 1)),
            b'"' => self.skip_string(),
            _ => self.value(depth).map(drop),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.each_item(|reader| {
            items.push(reader.value(depth + 1)?);
            Some(())
        })?;
        Some(Json::List(items))
    }

    fn object(&mut self, depth: usize) -> Option<Members> {
        let mut members: Vec<(Text, Json)> = Vec::new();
        let mut places: FxHashMap<Text, usize> = FxHashMap::default();
        self.each_member(|reader| {
            let key = reader.string(0)?;
            reader.colon()?;
            let value = reader.value(depth + 1)?;
            if members.len() == MANY {
                places = members.iter().zip(0..).map(|((key, _), at)| (key.clone(), at)).collect();
            }
            let place = match members.len() < MANY {
                true => members.iter().position(|(name, _)| *name == key),
                false => places.get(&key).copied(),
            };
            match place {
                Some(place) => members[place].1 = value,
                None => {
                    if members.len() >= MANY {
                        places.insert(key.clone(), members.len());
                    }
                    members.push((key, value));
                }
            }
            Some(())
        })?;
        Some(Members(members))
    }

    /// Reads the array that begins here with `item`, which reads one.
    fn each_item(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.skip_space();
        if self.eat(b']') {
            return Some(());
        }
        loop {
            self.skip_space();
            item(self)?;
            self.skip_space();
            if self.eat(b']') {
                return Some(());
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    /// Reads the object that begins here with `member`, which reads a key, what follows, and a value.
    fn each_member(&mut self, mut member: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.skip_space();
        if self.eat(b'}') {
            return Some(());
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return None;
            }
            member(self)?;
            self.skip_space();
            if self.eat(b'}') {
                return Some(());
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    /// Steps over what stands between a key and its value.
    fn colon(&mut self) -> Option<()> {
        self.skip_space();
        self.eat(b':').then(|| self.skip_space())
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        self.eat(b'-');
        let whole = self.digits();
        if whole == 0 || (whole > 1 && self.bytes[self.at - whole] == b'0') {
            return None;
        }
        let mut is_int = true;
        if self.eat(b'.') {
            is_int = false;
            if self.digits() == 0 {
                return None;
            }
        }
        if self.eat(b'e') || self.eat(b'E') {
            is_int = false;
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            if self.digits() == 0 {
                return None;
            }
        }
        let digits = &self.text[start..self.at];
        Some(match (is_int, digits.parse()) {
            (true, Ok(number)) => Json::Int(number),
            (true, Err(_)) => Json::BigInt(digits.to_owned()),
            (false, _) => Json::Float(digits.to_owned()),
        })
    }

    /// Steps over digits; answers how many.
    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    /// Steps over what stands in a string as itself, up to a quote, an escape or what must not be there.
    #[inline]
    fn plain(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let plain = &rest[..plain_prefix(rest.as_bytes())];
        self.at += plain.len();
        plain
    }

    /// A string to compare with; none inside if it holds a lone surrogate.
    fn key(&mut self) -> Option<Option<Cow<'a, str>>> {
        let start = self.at;
        self.at += 1;
        let plain = self.plain();
        if self.eat(b'"') {
            return Some(Some(plain.into()));
        }
        self.at = start;
        Some(self.string(0)?.as_str().map(|key| key.to_owned().into()))
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.plain();
            if self.eat(b'"') {
                return Some(());
            }
            if !self.eat(b'\\') {
                return None;
            }
            let _ = self.escape()?;
        }
    }

    /// A string; one with escapes is given `room` bytes to begin with.
    fn string(&mut self, room: usize) -> Option<Text> {
        self.at += 1;
        let plain = self.plain();
        if self.eat(b'"') {
            return Some(plain.into());
        }
        let mut shown = String::with_capacity(room.max(plain.len()));
        shown.push_str(plain);
        let mut exact: Option<Vec<u8>> = None;
        loop {
            if self.eat(b'"') {
                return Some(Text { exact: exact.map(Vec::into_boxed_slice), shown: shown.into() });
            }
            if !self.eat(b'\\') {
                return None;
            }
            match self.escape()? {
                Ok(character) => {
                    shown.push(character);
                    if let Some(exact) = &mut exact {
                        exact.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                Err(half) => {
                    let exact = exact.get_or_insert_with(|| shown.clone().into_bytes());
                    // Three bytes, as UTF-8 would have them if it allowed them.
                    let low = |shift: u16| 0x80 | (half >> shift & 0x3f) as u8;
                    exact.extend([0xe0 | (half >> 12) as u8, low(6), low(0)]);
                    shown.push(char::REPLACEMENT_CHARACTER);
                }
            }
            let plain = self.plain();
            shown.push_str(plain);
            if let Some(exact) = &mut exact {
                exact.extend_from_slice(plain.as_bytes());
            }
        }
    }

    /// The character of an escape, or the lone surrogate.
    #[inline]
    fn escape(&mut self) -> Option<Result<char, u16>> {
        let kind = self.peek()?;
        self.at += 1;
        Some(Ok(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return Some(self.unit_escape(self.hex_at(self.at)?)),
            _ => return None,
        }))
    }

    fn unit_escape(&mut self, unit: u16) -> Result<char, u16> {
        self.at += 4;
        if let Some(character) = char::from_u32(unit.into()) {
            return Ok(character);
        }
        let follows = self.bytes[self.at..].starts_with(b"\\u");
        let second = self.hex_at(self.at + 2).filter(|_| follows);
        let pair = second.and_then(|second| char::decode_utf16([unit, second]).next()?.ok());
        if pair.is_some() {
            self.at += 6;
        }
        pair.ok_or(unit)
    }

    fn hex_at(&self, at: usize) -> Option<u16> {
        let digits = self.bytes.get(at..at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}
