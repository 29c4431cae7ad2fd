//! `mk notice export` and `mk notice import`

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use mk::code::Code;
use mk::notice::{self, Imported, NoticeId, document};

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Print notices as one JSON document, for `mk notice import` elsewhere
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Which [default: all, cleared ones too]
    ids: Vec<NoticeId>,
}

pub fn export(args: &Export, ctx: &mut Context) -> Result<Answer, Failure> {
    give_out(Some(args.ids.as_slice()).filter(|ids| !ids.is_empty()), ctx)
}

/// Prints the document of the notices with these ids, or of all.
pub fn give_out(ids: Option<&[NoticeId]>, ctx: &mut Context) -> Result<Answer, Failure> {
    let document = ctx.read(|txn| Ok(notice::export(txn, ids)?))?;
    writeln!(ctx.out.writer(), "{document}")?;
    Ok(Answer::Yes)
}

/// Take in the notices of a document, all of it or nothing
///
/// A notice that is known here has to say the same; if it was cleared there, it is cleared here too.
/// Nothing is removed, and what was cleared stays cleared.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// A document of `mk notice export`, or `-` for stdin
    file: PathBuf,
}

impl Text for Imported {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.changed {
            1 => writeln!(out, "1 notice is new or cleared"),
            changed => writeln!(out, "{changed} notices are new or cleared"),
        }
    }
}

pub fn import(args: &Import, ctx: &mut Context) -> Result<Answer, Failure> {
    take_in(&read(&args.file)?, ctx)
}

/// Takes in the notices of a document.
pub fn take_in(document: &[u8], ctx: &mut Context) -> Result<Answer, Failure> {
    let imported = ctx.write(|txn, _, _| Ok(notice::import(txn, document)?))?;
    for id in &imported.secrets_in {
        // It is imported, whether stderr can be written or not.
        let _ = writeln!(io::stderr(), "warning: notice {id} holds what looks like a secret");
    }
    ctx.print(&imported)?;
    Ok(Answer::Yes)
}

/// The bytes of a document, and no more of a file than shows that it is too large.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let most = document::BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    let done = match file == Path::new("-") {
        true => io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    done.map_err(|error| {
        Failure::new(Code::of_io(&error), format!("cannot read '{}': {error}", file.display()))
    })?;
    Ok(bytes)
}
