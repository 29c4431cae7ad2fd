//! `mk exec import` and `mk exec export`

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use mk::code::Code;
use mk::id::hex;
use mk::mkep::Desk;
use mk::mkep::transfer::{self, IMPORTED, Imported, TransferError};
use mk::store::Engine;
use mk::text::counted;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::base::{Base, BaseArgs, lock_timeout};
use crate::Answer;
use crate::cli::{Context, Failure, Text, read_small};

const LOG: &str = ".memkraft/execution/events.jsonl";
const ORIGIN: &str = ".memkraft/origin_instance_id";

/// Most bytes of the file of it: an id is much shorter.
const ORIGIN_MAX: u64 = 1 << 10;

/// Take over an execution log of MemKraft
///
/// From a directory, the log in its .memkraft/; from a file, its lines. What was taken over before is
/// left alone, so it can be repeated. Lines that are no records are kept and counted; a last line that
/// is not finished is left out.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Import {
    /// A base of MemKraft, or a file of lines of its log
    #[arg(value_name = "DIR|FILE")]
    from: PathBuf,
    #[command(flatten)]
    base: BaseArgs,
}

/// Write the log to DIR as MemKraft keeps it
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Export {
    /// A directory without such a log
    dir: PathBuf,
    #[command(flatten)]
    base: BaseArgs,
}

impl Text for Imported {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { records, damaged, known, .. } = self;
        let (records, damaged) = (counted(*records, "record"), counted(*damaged, "damaged line"));
        writeln!(out, "imported {records}, {damaged} ({known} were here)")?;
        match self.in_flight {
            true => writeln!(out, "the last line is not finished and was left out"),
            false => Ok(()),
        }
    }
}

#[derive(Serialize)]
struct Exported {
    lines: u64,
    file: String,
}

impl Text for Exported {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "wrote {} to {}", counted(self.lines, "line"), self.file)
    }
}

pub fn import(args: &Import, ctx: &mut Context) -> Result<Answer, Failure> {
    let base = Base::find(&args.base, ctx)?;
    let is_base = args.from.is_dir();
    let file = if is_base { args.from.join(LOG) } else { args.from.clone() };
    let failed = |error: io::Error| {
        Failure::new(Code::of_io(&error), format!("cannot read '{}': {error}", file.display()))
    };
    let path = fs::canonicalize(&file).map_err(failed)?;
    if !fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")));
    }
    let source = match is_base {
        true => path.to_string_lossy().into_owned(),
        false => digest(&path).map_err(failed)?,
    };
    let origin = read_small(&args.from.join(ORIGIN), ORIGIN_MAX).unwrap_or_default();
    let own = fs::canonicalize(base.foreign_log()).ok().filter(|own| *own == path);
    let wait = lock_timeout(ctx);
    if !base.has_store()? {
        base.create(ctx, wait)?;
    }
    let mut store = base.open_to_write(wait)?;
    let agent = store.read(|txn| ctx.agent(txn))?;
    let log = File::open(&path).map_err(failed)?;
    let bytes = log.metadata().map_err(failed)?.len();
    let log = BufReader::with_capacity(1 << 17, log);
    let imported = ctx.with_outside(|outside| {
        store.write(|txn| {
            let mut desk = Desk::open(txn, &agent)?;
            transfer::take_over_origin(&mut desk, origin.trim())?;
            let imported = transfer::import(&mut desk, &source, log, outside)?;
            if own.is_some() {
                desk.set_setting(IMPORTED, &bytes.to_string())?;
            }
            desk.close()?;
            Ok::<_, TransferError>(imported)
        })
    })?;
    if store.has_written() {
        ctx.note_written();
    }
    ctx.print(&imported)?;
    Ok(Answer::Yes)
}

fn digest(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut input = BufReader::new(File::open(path)?);
    loop {
        let buffer = io::BufRead::fill_buf(&mut input)?;
        if buffer.is_empty() {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(buffer);
        let taken = buffer.len();
        io::BufRead::consume(&mut input, taken);
    }
}

pub fn export(args: &Export, ctx: &mut Context) -> Result<Answer, Failure> {
    let base = Base::find(&args.base, ctx)?;
    let file = args.dir.join(LOG);
    let failed = |error: io::Error| {
        Failure::new(Code::of_io(&error), format!("cannot write '{}': {error}", file.display()))
    };
    if file.exists() {
        let message = format!("cannot write '{}': it is there", file.display());
        return Err(Failure::new(Code::IO, message));
    }
    let mut store = base.open_to_read(ctx)?;
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    // Beside its place first: a log that is cut off must not pass for a whole one.
    let draft = file.with_extension("jsonl-new");
    let lines = store.read(|txn| {
        let mut out = BufWriter::new(File::create(&draft).map_err(failed)?);
        let lines = transfer::export(txn, &mut out)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
        let origin = transfer::origin_id(txn)?;
        fs::write(args.dir.join(ORIGIN), origin).map_err(failed)?;
        Ok::<_, Failure>(lines)
    })?;
    fs::hard_link(&draft, &file).map_err(failed)?;
    fs::remove_file(&draft).map_err(failed)?;
    ctx.print(&Exported { lines, file: file.display().to_string() })?;
    Ok(Answer::Yes)
}
