//! A command that `mk` runs for its caller: it has the terminal, gets the signals that are sent to this
//! process, and is waited for.

use std::fs::{self, File};
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{self, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mk::code::Code;
use mk::id::shown;
use mk::workspace::output::Kept;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;

use super::Failure;

/// The signals that are passed on, and whether a terminal sends them to all in front of it by itself.
const PASSED_ON: [(Signal, bool); 4] =
    [(Signal::INT, true), (Signal::QUIT, true), (Signal::TERM, false), (Signal::HUP, false)];

/// How long its output may stay open once it has ended: something that it left behind may hold the
/// pipe for ever.
const GRACE: Duration = Duration::from_millis(200);

/// Most bytes that are read of an output once the command has ended: more than a pipe holds.
const REST_MAX: usize = 2 << 20;

/// A command that runs.
pub struct Child {
    child: process::Child,
    pid: Pid,
    begun: Instant,
    woken: PipeReader,
    came: Vec<(Signal, bool, Arc<AtomicBool>)>,
    status: Option<ExitStatus>,
}

/// Where a stream of the command goes, beside what is kept of it.
pub struct Stream<'a> {
    pub from: OwnedFd,
    pub to: &'a mut dyn Write,
}

impl Child {
    /// # Errors
    /// With the exit status of a shell: 127 if there is no such program, 126 if it cannot be run.
    pub fn start(command: &mut Command) -> Result<Self, Failure> {
        let failed =
            |error: io::Error| Failure::new(Code::of_io(&error), format!("no signals: {error}"));
        let (woken, waker) = io::pipe().map_err(failed)?;
        rustix::io::ioctl_fionbio(&woken, true).map_err(|error| failed(error.into()))?;
        // Before it starts, so that nothing that happens to it is missed.
        let wake = |signal: Signal| -> io::Result<()> {
            let waker = OwnedFd::from(waker.try_clone()?);
            signal_hook::low_level::pipe::register(signal.as_raw(), waker).map(|_| ())
        };
        wake(Signal::CHILD).map_err(failed)?;
        let mut came = Vec::new();
        for (signal, by_terminal) in PASSED_ON {
            // Who starts a command with a signal ignored, as nohup does, wants it to live through that.
            if is_ignored(signal) {
                continue;
            }
            let flag = Arc::new(AtomicBool::new(false));
            let registered = signal_hook::flag::register(signal.as_raw(), Arc::clone(&flag));
            registered.map_err(failed)?;
            wake(signal).map_err(failed)?;
            came.push((signal, by_terminal, flag));
        }
        let child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            let message = format!("cannot run '{}': {error}", shown(&program));
            let exit = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
            Failure::new(Code::of_io(&error), message).exit(exit)
        })?;
        #[expect(clippy::disallowed_methods, reason = "it measures how long a command takes")]
        let begun = Instant::now();
        let pid =
            i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process has an id");
        Ok(Self { child, pid, begun, woken, came, status: None })
    }

    /// What it prints, if that is piped.
    pub fn outputs(&mut self) -> [Option<OwnedFd>; 2] {
        let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
        [out.map(OwnedFd::from), err.map(OwnedFd::from)]
    }

    /// How long it has run.
    pub fn lasted(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Sends it a signal, unless it has ended.
    pub fn send(&self, signal: Signal) {
        if self.status.is_none() {
            // It has not been waited for, so the number is still its own.
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Waits until it has ended, or for `at_most`.
    ///
    /// # Errors
    /// If it is lost.
    pub fn wait(&mut self, at_most: Duration) -> Result<Option<ExitStatus>, Failure> {
        let until = self.begun.elapsed() + at_most;
        while self.status.is_none() {
            let left = until.saturating_sub(self.begun.elapsed());
            self.sleep(Some(left), &[]).map_err(lost)?;
            if left.is_zero() {
                break;
            }
        }
        Ok(self.status)
    }

    /// Passes on what it prints, as it is printed, until it has ended. A stream whose reader has gone
    /// is closed, as it would be without `mk`.
    ///
    /// # Errors
    /// If it is lost.
    pub fn pass_on(
        &mut self,
        streams: Vec<Stream<'_>>,
        kept: &mut Kept,
    ) -> Result<ExitStatus, Failure> {
        let mut streams: Vec<(File, &mut dyn Write)> =
            streams.into_iter().map(|stream| (File::from(stream.from), stream.to)).collect();
        let mut rest = REST_MAX;
        let mut piece = vec![0; 1 << 16];
        while self.status.is_none() || !streams.is_empty() && rest > 0 {
            let timeout = self.status.map(|_| GRACE);
            let files: Vec<&File> = streams.iter().map(|(file, _)| file).collect();
            let ready = self.sleep(timeout, &files).map_err(lost)?;
            if self.status.is_some() && ready.is_empty() {
                break;
            }
            let mut closed = Vec::new();
            for at in ready {
                let (from, to) = &mut streams[at];
                let read = match from.read(&mut piece) {
                    Ok(read) => read,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(lost(error)),
                };
                kept.push(&piece[..read]);
                let written = to.write_all(&piece[..read]).and_then(|()| to.flush());
                if read == 0 || written.is_err() {
                    closed.push(at);
                }
                if self.status.is_some() {
                    rest = rest.saturating_sub(read);
                }
            }
            for at in closed.into_iter().rev() {
                streams.remove(at);
            }
        }
        self.wait(Duration::ZERO)?;
        Ok(self.status.expect("the loop ends when it has ended"))
    }

    /// Sleeps until a signal comes or one of `files` can be read, and says which of these.
    fn sleep(&mut self, at_most: Option<Duration>, files: &[&File]) -> io::Result<Vec<usize>> {
        let timeout = at_most.map(Timespec::try_from).transpose();
        let timeout = timeout.map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        let ready = {
            let mut wanted = vec![PollFd::new(&self.woken, PollFlags::IN)];
            wanted.extend(
                files.iter().map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)),
            );
            match poll(&mut wanted, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_ready =
                |(at, fd): (usize, &PollFd<'_>)| (!fd.revents().is_empty()).then_some(at);
            wanted[1..].iter().enumerate().filter_map(is_ready).collect()
        };
        while matches!(self.woken.read(&mut [0; 64]), Ok(read) if read > 0) {}
        self.status = self.status.or(self.child.try_wait()?);
        for (signal, by_terminal, came) in &self.came {
            if came.swap(false, Ordering::SeqCst) && !(*by_terminal && is_in_front()) {
                self.send(*signal);
            }
        }
        Ok(ready)
    }
}

/// The exit status that a shell would give.
pub fn exit_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// `words` as a shell would be given them.
pub fn command_line(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = |c: char| c.is_alphanumeric() || "@%+=:,./-_".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn lost(error: io::Error) -> Failure {
    Failure::new(Code::of_io(&error), format!("the command is lost: {error}"))
}

/// Whether this process is in front of its terminal, which then sends signals to the command too.
fn is_in_front() -> bool {
    File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(&tty).is_ok_and(|front| front == getpgrp()))
}

/// Whether this process was started with `signal` ignored, as far as that can be known.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}
