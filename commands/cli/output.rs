//! Answers: text for people, JSON for programs, on stdout and nowhere else.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

use super::Failure;

/// An answer that can be read by people.
pub trait Text {
    /// Writes whole lines.
    ///
    /// # Errors
    /// Those of `out`.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

/// Whether text for people is coloured: as asked for, else on a terminal without `NO_COLOR`.
pub fn pager_colour(asked: Colour) -> bool {
    match asked {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        }
    }
}

/// Where answers go.
pub struct Output {
    out: Sink,
    pub json: bool,
}

enum Sink {
    Stdout(BufWriter<StdoutLock<'static>>),
    Kept(Vec<u8>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Kept(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Kept(out) => out.flush(),
        }
    }
}

impl Output {
    pub fn new(json: bool) -> Self {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Self { out: Sink::Stdout(out), json }
    }

    /// For answers in JSON that [`Output::take`] hands on.
    pub fn kept() -> Self {
        Self { out: Sink::Kept(Vec::new()), json: true }
    }

    /// What was kept so far; nothing if it went to stdout.
    pub fn take(&mut self) -> Vec<u8> {
        match &mut self.out {
            Sink::Stdout(_) => Vec::new(),
            Sink::Kept(out) => std::mem::take(out),
        }
    }

    /// Prints `report` as text, or under `--json` as one document on one line.
    pub fn print<R: Text + Serialize>(&mut self, report: &R) -> Result<(), Failure> {
        if self.json {
            self.document(report)?;
        } else {
            report.text(&mut self.out)?;
        }
        Ok(())
    }

    /// Prints `report` as one document on one line.
    pub fn document<R: Serialize>(&mut self, report: &R) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, report).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// For answers that are made a piece at a time.
    pub fn writer(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
