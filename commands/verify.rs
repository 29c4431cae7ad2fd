//! `mk verify`

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mk::code::Code;
use mk::id::shown;
use mk::text::counted;
use mk::verify::{self, Anchor, Finding, Report};

use crate::Answer;
use crate::cli::{Context, Failure, Text, read_small};

/// Check every chain, index and head of the store
///
/// Everything is computed again from the events, on all cores. Prints what is wrong, a line each, and
/// exits with status 1 if anything is. A log that was cut at its end, or an old copy put back, cannot
/// be seen from inside: keep what `mk anchor` prints outside the store, and give it with --anchor.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Lines that `mk anchor` printed, which must hold; # begins a comment
    #[arg(long, value_name = "FILE")]
    pub anchor: Option<PathBuf>,
}

pub fn run(args: &Verify, ctx: &mut Context) -> Result<Answer, Failure> {
    let anchors = args.anchor.as_deref().map_or(Ok(Vec::new()), read_anchors)?;
    let mut store = ctx.open_to_read()?;
    #[expect(clippy::disallowed_methods, reason = "progress is shown when a wait gets long")]
    let begun = Instant::now();
    let progress = Progress { begun, on: io::stderr().is_terminal() };
    let report = verify::verify(&mut store, &anchors, &|done, all| progress.show(done, all));
    progress.clear();
    let report = report?;
    // A cache that nobody may write cannot be mended, and is not used.
    if let Ok(true) = mk::search::mend(&mut store) {
        eprintln!("note: the index of searches was not sound; the next search makes it anew");
    }
    ctx.print(&report)?;
    Ok(if report.ok { Answer::Yes } else { Answer::No })
}

/// Most bytes of a file of anchors: about 100,000 lines.
const ANCHORS_MAX: u64 = 16 << 20;

fn read_anchors(path: &Path) -> Result<Vec<Anchor>, Failure> {
    let name = path.display();
    let text = read_small(path, ANCHORS_MAX).map_err(|error| {
        Failure::new(Code::of_io(&error), format!("cannot read '{name}': {error}"))
    })?;
    Anchor::read_all(&text).map_err(|error| {
        Failure::usage(format!("'{name}', {error}")).hint("make the line with `mk anchor`")
    })
}

/// A line on the terminal, for work that takes over a second.
struct Progress {
    begun: Instant,
    on: bool,
}

impl Progress {
    fn show(&self, done: u64, all: u64) {
        if self.is_due() {
            eprint!("\rchecking events: {} % of {all}", done.saturating_mul(100) / all.max(1));
        }
    }

    fn clear(&self) {
        if self.is_due() {
            eprint!("\r\x1b[K");
        }
    }

    fn is_due(&self) -> bool {
        self.on && self.begun.elapsed() > Duration::from_secs(1)
    }
}

impl Text for Report {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for finding in &self.findings {
            writeln!(out, "{}", line(finding))?;
        }
        let of = format!("{}, {}", counted(self.events, "event"), counted(self.branches, "branch"));
        if self.ok {
            return writeln!(out, "ok: {of}");
        }
        let listed = self.findings.len() as u64;
        if listed < self.findings_total {
            let kinds: Vec<String> = self
                .findings_by_kind
                .iter()
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect();
            writeln!(out, "the first {listed} of {}: {}", self.findings_total, kinds.join(", "))?;
        }
        writeln!(out, "{} in {of}", counted(self.findings_total, "finding"))
    }
}

/// `KIND event 42 (a1b2c3d4 on main): DETAIL`
fn line(finding: &Finding) -> String {
    let branch = finding.branch_id.as_ref().map(|name| shown(name.as_str()));
    let place = match (finding.event_id, finding.hash, branch) {
        (Some(id), Some(hash), Some(branch)) => {
            format!(" event {id} ({} on {branch})", hash.short())
        }
        (Some(id), Some(hash), None) => format!(" event {id} ({})", hash.short()),
        (Some(id), None, _) => format!(" event {id}"),
        (None, _, Some(branch)) => format!(" branch {branch}"),
        (None, _, None) => String::new(),
    };
    format!("{}{place}: {}", finding.kind, finding.detail)
}
