//! `mk export`

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use mk::backup::BackupError;
use mk::code::Code;
use mk::id::BranchName;
use mk::revision::Revision;
use mk::store::Engine;
use mk::transfer::{self, ExportError, Exported, Selection};

use crate::Answer;
use crate::cli::{Context, Failure};

/// Print all events, one a line, to be imported elsewhere
///
/// Each line is an immutable event with salt and hashes, as `mk cat-event` prints it, after a line for
/// each branch that says where its head is. The order depends on the events alone, so that an export
/// kept in git changes by the lines that are new, and two of them merge with merge=union. FILE is
/// replaced whole, or not at all.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Where to [default: stdout]
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,
    /// Only the lineage of BRANCH, as with --branch; can be repeated
    #[arg(long = "only", value_name = "BRANCH")]
    branches: Vec<BranchName>,
    /// Only what came into this store after REV
    #[arg(long, value_name = "REV")]
    since: Option<Revision>,
    /// In the order of the local log, with a last line for its hash
    #[arg(long)]
    log_order: bool,
}

pub fn run(args: &Export, ctx: &mut Context) -> Result<Answer, Failure> {
    let mut store = ctx.open_to_read()?;
    let selection = store.read(|txn| {
        let current = ctx.actor(txn)?.branch;
        let since = args.since.as_ref().map(|since| since.resolve(txn, &current)).transpose()?;
        let branches = args.branches.iter().chain(&ctx.global.branch).cloned().collect();
        Ok::<_, Failure>(Selection { branches, since, log_order: args.log_order })
    })?;
    if args.file == Path::new("-") {
        let write = store.read(|txn| transfer::export(txn, &selection, ctx.out.writer()));
        write.map_err(|error| match error {
            ExportError::Write(error) => error.into(),
            other => Failure::from(other),
        })?;
    } else if store.consists_of(&args.file) {
        return Err(BackupError::Itself { path: args.file.display().to_string() }.into());
    } else {
        let write = |out: &mut dyn Write| store.read(|txn| transfer::export(txn, &selection, out));
        replace(&args.file, write)?;
    }
    Ok(Answer::Yes)
}

/// Writes a file beside `path` and puts it in its place; a device or a pipe is written to as it is.
fn replace(
    path: &Path,
    mut write: impl FnMut(&mut dyn Write) -> Result<Exported, ExportError>,
) -> Result<(), Failure> {
    let mut write = |out: &mut dyn Write| {
        write(out).map_err(|error| match error {
            ExportError::Write(error) => cannot_write(path, &error),
            other => Failure::from(other),
        })
    };
    let failed = |error: io::Error| cannot_write(path, &error);
    // A link stays, and what it leads to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let found = fs::metadata(&place).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let file = OpenOptions::new().write(true).open(&place).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    let draft = mk::store::draft(&place);
    let written = write_draft(&draft, path, &mut write).and_then(|()| {
        if let Some(found) = found {
            fs::set_permissions(&draft, found.permissions()).map_err(failed)?;
        }
        fs::rename(&draft, &place).map_err(failed)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_draft(
    draft: &Path,
    path: &Path,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<Exported, Failure>,
) -> Result<(), Failure> {
    let failed = |error: io::Error| cannot_write(path, &error);
    let file = OpenOptions::new().write(true).create_new(true).open(draft).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Code::of_io(error), format!("cannot write '{}': {error}", path.display()))
}
