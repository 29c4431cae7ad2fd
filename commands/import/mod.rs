//! `mk import`

mod memkernel;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use mk::branch::Act;
use mk::code::Code;
use mk::id::BranchName;
use mk::text::counted;
use mk::transfer::{self, Change, Imported};

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Take in the events of an export
///
/// The store holds afterwards what it held and what the lines hold, whatever their order, and however
/// often they are imported. Branches move forward only: what has gone on otherwise than a branch here
/// becomes the branch NAME.from-DIGITS, and `mk merge` joins them. A line that is not as it was
/// exported is named, and then nothing is imported.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Import {
    /// The export, `-` for stdin
    #[arg(required = true)]
    file: Option<PathBuf>,
    /// Put PREFIX before the names of branches that are new here
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true, value_parser = prefix)]
    prefix: String,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(subcommand)]
    source: Option<Source>,
}

#[derive(Debug, clap::Subcommand)]
enum Source {
    Memkernel(memkernel::Memkernel),
}

/// The beginning of a branch name.
fn prefix(text: &str) -> Result<String, String> {
    match format!("{text}x").parse::<BranchName>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub fn run(args: &Import, ctx: &mut Context) -> Result<Answer, Failure> {
    if let Some(Source::Memkernel(args)) = &args.source {
        return memkernel::run(args, ctx);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("-"));
    let name =
        if file == Path::new("-") { "stdin".to_owned() } else { format!("'{}'", file.display()) };
    let input = open(file, &name)?;
    let import = |txn: &mut dyn mk::store::WriteTxn,
                  actor: &crate::cli::Actor,
                  outside: &mut mk::log::Outside<'_>| {
        let reason = "it holds what an imported erasure names";
        let act = Act { agent: &actor.agent, reason, metadata: actor.metadata.clone() };
        transfer::import(txn, input, &args.prefix, &act, outside)
            .map_err(|error| Failure::from(error).at(&name))
    };
    let imported = match args.dry_run {
        true => ctx.rehearse(import)?,
        false => ctx.write(import)?,
    };
    if imported.erased > 0 && !args.dry_run {
        ctx.scrub()?;
    }
    ctx.print(&imported)?;
    warn(&imported);
    Ok(Answer::Yes)
}

fn open(file: &Path, name: &str) -> Result<Box<dyn BufRead + Send>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::with_capacity(1 << 17, io::stdin())));
    }
    let failed = |error: io::Error| {
        Failure::new(Code::of_io(&error), format!("cannot read {name}: {error}"))
    };
    let found = std::fs::metadata(file).map_err(failed)?;
    if found.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 17, File::open(file).map_err(failed)?)))
}

fn warn(imported: &Imported) {
    for secret in &imported.secrets {
        let rules = secret.rules.join(", ");
        eprintln!("warning: event {} holds what looks like a secret ({rules})", secret.event_id);
    }
    let more = imported.secrets_total - imported.secrets.len() as u64;
    if more > 0 {
        let (events, does) = (counted(more, "more event"), if more == 1 { "does" } else { "do" });
        eprintln!("warning: {events} {does}");
    }
}

impl Text for Imported {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}, {} known", counted(self.events, "new event"), self.known)?;
        if self.erased > 0 {
            writeln!(out, "{} erased", self.erased)?;
        }
        for branch in &self.branches {
            let change = match branch.change {
                Change::Made => "new",
                Change::Filled | Change::Forwarded => "moved",
            };
            let head = branch.head_hash.map_or(String::new(), |hash| hash.short());
            let (name, at) = (&branch.branch_id, branch.head_sequence);
            writeln!(out, "{change} {name} @{at} {head}")?;
        }
        Ok(())
    }
}
