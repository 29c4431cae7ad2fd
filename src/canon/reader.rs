use std::collections::BTreeSet;

use super::error::{Step, path};
use super::{Int, JsonError, JsonErrorKind, Object, Value, plain_prefix};

/// How many arrays and objects may stand one inside the other, the root included.
pub const MAX_DEPTH: usize = 64;

/// How many digits an integer may have, its sign not counted.
pub const MAX_INT_DIGITS: usize = 4300;

impl Value {
    /// Reads one JSON text (RFC 8259), with white space of JSON around it at most.
    ///
    /// # Errors
    /// [`JsonError`] for the first fault. Refused besides bad grammar and bad UTF-8:
    /// duplicate members, lone surrogates, doubles that overflow, nesting over
    /// [`MAX_DEPTH`], integers over [`MAX_INT_DIGITS`].
    pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
        Self::parse_nested(bytes, MAX_DEPTH)
    }

    /// The same for an object that holds values of the full depth.
    ///
    /// # Errors
    /// As [`Value::parse`], with nesting over [`MAX_DEPTH`] + 1.
    pub fn parse_enclosing(bytes: &[u8]) -> Result<Value, JsonError> {
        Self::parse_nested(bytes, MAX_DEPTH + 1)
    }

    fn parse_nested(bytes: &[u8], deepest: usize) -> Result<Value, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Reader { text, at: 0, deepest }.document(),
            Err(error) => {
                let valid = error.valid_up_to();
                let text = std::str::from_utf8(&bytes[..valid]).expect("checked up to there");
                // Reading what is valid finds an earlier fault, or else ends in the value
                // that holds the bad byte.
                let kind = JsonErrorKind::InvalidUtf8 { byte: bytes[valid] };
                Err(match (Reader { text, at: 0, deepest }).document() {
                    Err(earlier) if earlier.offset < valid => earlier,
                    Err(at_end) => JsonError { kind, ..at_end },
                    Ok(_) => JsonError { path: "$".to_owned(), offset: valid, kind },
                })
            }
        }
    }
}

const REST_OF_STRING: &str = "the rest of a string";

type Parsed<T> = Result<T, Box<Fault>>;

/// A [`JsonError`] on its way out; the containers it passes through add their steps.
struct Fault {
    offset: usize,
    kind: JsonErrorKind,
    /// From the fault to the root.
    steps: Vec<Step>,
}

impl Fault {
    #[cold]
    fn inside(mut self: Box<Fault>, step: Step) -> Box<Fault> {
        self.steps.push(step);
        self
    }

    fn into_error(self) -> JsonError {
        JsonError { path: path(&self.steps), offset: self.offset, kind: self.kind }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Most containers one inside the other.
    deepest: usize,
}

impl Reader<'_> {
    fn document(mut self) -> Result<Value, JsonError> {
        self.whole().map_err(|fault| fault.into_error())
    }

    fn whole(&mut self) -> Parsed<Value> {
        if self.text.starts_with('\u{feff}') {
            return Err(self.fault(0, JsonErrorKind::ByteOrderMark));
        }
        let value = self.value(0)?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end"));
        }
        Ok(value)
    }

    /// A value inside of `depth` containers.
    fn value(&mut self, depth: usize) -> Parsed<Value> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.object(depth + 1).map(Value::Object),
            Some(b'[') => self.array(depth + 1).map(Value::Array),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.word(),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Object> {
        let open = self.at;
        if !self.enter(depth, b'}')? {
            return Ok(Object::new());
        }
        let mut members: Vec<(String, Value)> = Vec::new();
        let mut rising = true;
        loop {
            let key = self.key()?;
            let value = match self.member_value(depth) {
                Ok(value) => value,
                Err(fault) => return Err(fault.inside(Step::Member(key))),
            };
            rising = rising && members.last().is_none_or(|(last, _)| *last < key);
            members.push((key, value));
            if !self.another(b'}', "',' or '}'")? {
                break;
            }
        }
        if rising {
            return Ok(Object::from_rising(members));
        }
        Object::from_unique(members).ok_or_else(|| self.duplicate(open, depth))
    }

    fn array(&mut self, depth: usize) -> Parsed<Vec<Value>> {
        let mut items = Vec::new();
        if self.enter(depth, b']')? {
            loop {
                match self.value(depth) {
                    Ok(value) => items.push(value),
                    Err(fault) => return Err(fault.inside(Step::Item(items.len()))),
                }
                if !self.another(b']', "',' or ']'")? {
                    break;
                }
            }
        }
        Ok(items)
    }

    /// Steps into a container; false if it is empty, and then past it.
    fn enter(&mut self, depth: usize, close: u8) -> Parsed<bool> {
        if depth > self.deepest {
            return Err(self.fault(self.at, JsonErrorKind::TooDeep));
        }
        self.at += 1;
        self.skip_space();
        let empty = self.peek() == Some(close);
        self.at += usize::from(empty);
        Ok(!empty)
    }

    /// Steps past a comma, or past the end of the container and then answers false.
    fn another(&mut self, close: u8, wanted: &'static str) -> Parsed<bool> {
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == b',' || byte == close => {
                self.at += 1;
                Ok(byte == b',')
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    fn key(&mut self) -> Parsed<String> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.string(),
            _ => Err(self.unexpected("a member name")),
        }
    }

    fn member_value(&mut self, depth: usize) -> Parsed<Value> {
        self.skip_space();
        match self.peek() {
            Some(b':') => self.at += 1,
            _ => return Err(self.unexpected("':'")),
        }
        self.value(depth)
    }

    /// The fault of an object, opened at `open` and read without another, that repeats a
    /// key: read again, since the members kept no offsets.
    #[cold]
    fn duplicate(&mut self, open: usize, depth: usize) -> Box<Fault> {
        let mut seen = BTreeSet::new();
        self.at = open;
        loop {
            self.at += 1;
            self.skip_space();
            let offset = self.at;
            let key = match self.key() {
                Ok(key) => key,
                Err(fault) => return fault,
            };
            if seen.contains(&key) {
                return self.fault(offset, JsonErrorKind::DuplicateMember { member: key });
            }
            seen.insert(key);
            if let Err(fault) = self.member_value(depth) {
                return fault;
            }
            self.skip_space();
        }
    }

    /// A string, from its opening quote.
    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut string = self.plain().to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(code) => {
                    return Err(self.fault(self.at, JsonErrorKind::ControlCharacter { code }));
                }
                None => return Err(self.unexpected(REST_OF_STRING)),
            }
            string.push_str(self.plain());
        }
    }

    /// Steps past what stands for itself in a string.
    #[inline]
    fn plain(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let plain = &rest[..plain_prefix(rest.as_bytes())];
        self.at += plain.len();
        plain
    }

    /// An escape, from its backslash.
    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        let character = match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.unknown_escape(1)),
        };
        self.at += 2;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Parsed<char> {
        let start = self.at;
        let Some(high) = self.hex_unit() else { return Err(self.unknown_escape(5)) };
        let low = match high {
            0xd800..=0xdbff if self.text[self.at..].starts_with("\\u") => match self.hex_unit() {
                Some(low) => Some(low),
                None => return Err(self.unknown_escape(5)),
            },
            _ => None,
        };
        match char::decode_utf16([high].into_iter().chain(low)).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(self.fault(start, JsonErrorKind::LoneSurrogate { unit: high })),
        }
    }

    /// The unit of the escape `\uxxxx` that begins here, and steps past it.
    fn hex_unit(&mut self) -> Option<u16> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6)?;
        let mut unit = 0;
        for &digit in digits {
            unit = unit << 4 | char::from(digit).to_digit(16)?;
        }
        self.at += 6;
        u16::try_from(unit).ok()
    }

    fn number(&mut self) -> Parsed<Value> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let first = self.peek();
        let digits = self.skip_digits();
        let mut sound = digits == 1 || (digits > 1 && first != Some(b'0'));
        let mut double = false;
        if self.peek() == Some(b'.') {
            double = true;
            self.at += 1;
            sound &= self.skip_digits() > 0;
        }
        if let Some(b'e' | b'E') = self.peek() {
            double = true;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            sound &= self.skip_digits() > 0;
        }
        let text = &self.text[start..self.at];
        if !sound || self.peek().is_some_and(continues_word) {
            return Err(self.malformed(start));
        }
        if double {
            let double: f64 = text.parse().expect("a JSON number is one of Rust");
            if double.is_infinite() {
                let text = text.to_owned();
                return Err(self.fault(start, JsonErrorKind::DoubleOverflow { text }));
            }
            return Ok(Value::Float(double));
        }
        if digits > MAX_INT_DIGITS {
            return Err(self.fault(start, JsonErrorKind::IntTooLong { digits }));
        }
        Ok(Value::Int(Int::from_json(text)))
    }

    fn skip_digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    fn word(&mut self) -> Parsed<Value> {
        let start = self.at;
        let (value, len) = match &self.text.as_bytes()[start..] {
            [b'n', b'u', b'l', b'l', ..] => (Value::Null, 4),
            [b't', b'r', b'u', b'e', ..] => (Value::Bool(true), 4),
            [b'f', b'a', b'l', b's', b'e', ..] => (Value::Bool(false), 5),
            _ => return Err(self.malformed(start)),
        };
        self.at += len;
        if self.peek().is_some_and(continues_word) {
            return Err(self.malformed(start));
        }
        Ok(value)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[cold]
    fn fault(&self, offset: usize, kind: JsonErrorKind) -> Box<Fault> {
        Box::new(Fault { offset, kind, steps: Vec::new() })
    }

    #[cold]
    fn unexpected(&self, wanted: &'static str) -> Box<Fault> {
        let kind = match self.text[self.at..].chars().next() {
            Some(found) => JsonErrorKind::Unexpected { found, wanted },
            None => JsonErrorKind::UnexpectedEnd { wanted },
        };
        self.fault(self.at, kind)
    }

    /// The fault of a number or word that begins at `start` and is none of JSON's.
    #[cold]
    fn malformed(&self, start: usize) -> Box<Fault> {
        let rest = &self.text[start..];
        let end = rest.bytes().position(|byte| !continues_word(byte)).unwrap_or(rest.len());
        let text = rest[..end].to_owned();
        let kind = match text.strip_prefix('-').unwrap_or(&text) {
            "NaN" | "Infinity" => JsonErrorKind::NotFinite { name: text },
            _ if text.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                JsonErrorKind::UnknownWord { word: text }
            }
            _ => JsonErrorKind::MalformedNumber { text },
        };
        self.fault(start, kind)
    }

    /// The fault of an escape that begins here and should have `len` characters behind its
    /// backslash.
    #[cold]
    fn unknown_escape(&self, len: usize) -> Box<Fault> {
        let rest = &self.text[self.at + 1..];
        let after: String = rest.chars().take(len).take_while(|found| *found != '"').collect();
        if after == rest && after.chars().count() < len {
            let at = self.text.len();
            return Reader { at, ..*self }.unexpected(REST_OF_STRING);
        }
        self.fault(self.at, JsonErrorKind::UnknownEscape { after })
    }
}

/// Whether `byte`, behind a number or a word, would be taken for a part of it.
fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}
