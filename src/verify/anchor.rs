//! Lines that stand for a whole log, kept outside the store.

use std::fmt;

use crate::id::{EventId, Hash, shown};

/// `mk-anchor PROJECT EVENT LOGHASH`: up to that event, the log of that project had that hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub project_id: String,
    /// 0 for an empty log.
    pub event: EventId,
    pub log: Hash,
}

/// A line that is no anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct AnchorError {
    /// From 1.
    pub line: usize,
    pub why: String,
}

impl Anchor {
    /// Reads anchors, one a line; blank lines, and lines that begin with `#`, are passed over.
    ///
    /// # Errors
    /// For the first line that is anything else, and for a text without an anchor: it would hold
    /// whatever became of the log.
    pub fn read_all(text: &str) -> Result<Vec<Self>, AnchorError> {
        let mut anchors = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let anchor = Self::read(line);
                anchors.push(anchor.map_err(|why| AnchorError { line: index + 1, why })?);
            }
        }
        if anchors.is_empty() {
            let line = text.lines().count().max(1);
            return Err(AnchorError { line, why: "the file ends without an anchor".to_owned() });
        }
        Ok(anchors)
    }

    fn read(line: &str) -> Result<Self, String> {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [mark, project_id, event, log] = parts[..] else {
            return Err(format!("{} words, not 4: mk-anchor PROJECT EVENT LOGHASH", parts.len()));
        };
        if mark != "mk-anchor" {
            return Err(format!("begins with '{}', not with 'mk-anchor'", shown(mark)));
        }
        let digits = event.bytes().all(|byte| byte.is_ascii_digit());
        let event = event.parse().ok().filter(|_| digits);
        Ok(Self {
            project_id: project_id.to_owned(),
            event: EventId(event.ok_or_else(|| format!("'{}' is no event id", shown(parts[2])))?),
            log: log.parse().map_err(|error: crate::id::IdError| error.to_string())?,
        })
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mk-anchor {} {} {}", self.project_id, self.event, self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_reads_back_among_comments() {
        let anchor = Anchor { project_id: "ab".repeat(16), event: EventId(7), log: Hash([3; 32]) };
        let text = format!("# kept elsewhere\n\n{anchor}\r\n  {anchor}  \n");
        assert_eq!(Anchor::read_all(&text), Ok(vec![anchor.clone(), anchor]));
    }

    #[test]
    fn a_line_that_is_no_anchor_is_named() {
        let zero = Hash::ZERO;
        for (text, error) in [
            ("", "line 1: the file ends without an anchor"),
            ("#\n\n", "line 2: the file ends without an anchor"),
            ("#\nmk-anchor p 1", "line 2: 3 words, not 4: mk-anchor PROJECT EVENT LOGHASH"),
            (&format!("anchor p 1 {zero}"), "line 1: begins with 'anchor', not with 'mk-anchor'"),
            (&format!("mk-anchor p -1 {zero}"), "line 1: '-1' is no event id"),
            ("mk-anchor p 1 0f", "line 1: '0f' is not a SHA-256 digest"),
        ] {
            assert_eq!(Anchor::read_all(text).unwrap_err().to_string(), error, "{text}");
        }
    }
}
