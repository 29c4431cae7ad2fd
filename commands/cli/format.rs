//! Formats of lines: text with %(field) in it.

use std::io::{self, Write};

use super::Failure;

/// A format that was read.
#[derive(Debug, Clone)]
pub struct Format(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Field(String),
}

impl Format {
    /// Reads a format with these fields. `%%` is a percent sign.
    ///
    /// # Errors
    /// If it names another field.
    pub fn read(text: &str, fields: &[&str]) -> Result<Self, Failure> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            pieces.push(Piece::Text(rest[..at].to_owned()));
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                pieces.push(Piece::Text("%".to_owned()));
                rest = after;
                continue;
            }
            let field = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
            match field.filter(|(name, _)| fields.contains(name)) {
                Some((name, after)) => {
                    pieces.push(Piece::Field(name.to_owned()));
                    rest = after;
                }
                None => {
                    let start: String = rest.chars().take(20).collect();
                    let fields = fields.join(", ");
                    return Err(Failure::usage(format!("'%{start}' in --format names no field"))
                        .hint(format!("the fields are {fields}")));
                }
            }
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// Writes it with the text that `field` gives for each field.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        out: &mut dyn Write,
        mut field: impl FnMut(&str) -> String,
    ) -> io::Result<()> {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => out.write_all(text.as_bytes()),
            Piece::Field(name) => out.write_all(field(name).as_bytes()),
        })
    }
}
