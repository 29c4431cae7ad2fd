//! `mk stats`

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mk::stats;
use mk::text::counted;
use serde::Serialize;

use crate::Answer;
use crate::cli::{Context, Failure, Text};

/// Show how large the project is, what compaction gains, and who writes most
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Draw bars
    #[arg(long)]
    pub plot: bool,
    /// Count the agents and types of so many of the newest events, 1 to 100000
    #[arg(long, value_name = "EVENTS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub last: u64,
    /// Most branches and agents that are shown, 1 to 100
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=100))]
    pub limit: u64,
}

#[derive(Serialize)]
struct Report {
    /// Bytes of the database, and of its write-ahead log.
    database_bytes: u64,
    wal_bytes: u64,
    #[serde(flatten)]
    stats: stats::Stats,
    #[serde(skip)]
    plot: bool,
}

/// A bar is at most so wide.
const BAR: u64 = 40;

impl Report {
    /// Lines of a name, a number, and a bar if there are to be any.
    fn table<T: Display>(
        &self,
        out: &mut dyn Write,
        rows: &[(T, u64, String)],
        omitted: u64,
    ) -> io::Result<()> {
        let width = rows.iter().map(|(name, ..)| name.to_string().chars().count()).max();
        let width = width.unwrap_or_default();
        let most = rows.iter().map(|(_, number, _)| *number).max().unwrap_or_default().max(1);
        for (name, number, rest) in rows {
            let name = name.to_string();
            write!(out, "  {name:<width$} {number:>8}")?;
            if self.plot {
                let eighths = (number * BAR * 8).div_ceil(most);
                write!(out, " {}", bar(eighths))?;
            }
            writeln!(out, "{rest}")?;
        }
        if omitted > 0 { writeln!(out, "  [{omitted} more: -n]") } else { Ok(()) }
    }
}

/// So many eighths of a block.
fn bar(eighths: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let (whole, part) = (eighths / 8, eighths % 8);
    "█".repeat(whole as usize) + PARTS[part as usize]
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let stats = &self.stats;
        let events = counted(stats.events, "event");
        writeln!(out, "{events} on {}", counted(stats.branch_count, "branch"))?;
        let (database, wal) = (size(self.database_bytes), size(self.wal_bytes));
        writeln!(out, "{database} of database, {wal} of write-ahead log")?;
        writeln!(out, "Tokens of contexts ({}):", stats.tokenizer)?;
        let rows = stats.branches.iter().map(|it| {
            let gain = match it.gain {
                gain if gain > 0.0 => format!(" of {}, {:.0} % saved", it.tokens, gain * 100.0),
                _ => String::new(),
            };
            (&it.branch_id, it.context_tokens, gain)
        });
        self.table(out, &rows.collect::<Vec<_>>(), stats.omitted_branches)?;
        if stats.looked_at == 0 {
            return Ok(());
        }
        writeln!(out, "Of the newest {}:", counted(stats.looked_at, "event"))?;
        let agents = stats.agents.iter().map(|it| (&it.name, it.events, String::new()));
        self.table(out, &agents.collect::<Vec<_>>(), stats.omitted_agents)?;
        let types = stats.types.iter().map(|it| (&it.name, it.events, String::new()));
        self.table(out, &types.collect::<Vec<_>>(), 0)
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}

pub fn run(args: &Stats, ctx: &mut Context) -> Result<Answer, Failure> {
    let path = ctx.store_path()?;
    let stats = ctx.read(|txn| Ok(stats::stats(txn, args.limit as usize, args.last)?))?;
    let mut wal = path.clone().into_os_string();
    wal.push("-wal");
    // There need be no write-ahead log.
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let (database_bytes, wal_bytes) = (bytes(&path), bytes(Path::new(&wal)));
    ctx.print(&Report { database_bytes, wal_bytes, stats, plot: args.plot })?;
    Ok(Answer::Yes)
}
