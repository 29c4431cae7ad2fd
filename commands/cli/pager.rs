//! Long answers on a terminal, a screen at a time.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Child, Command, Stdio};

use super::Failure;

/// What runs if nobody says otherwise.
const PAGER: &str = "less";

/// How `less` behaves if nobody says otherwise: it ends at once where all fits on the screen, shows
/// colours, and leaves the text there. As in git.
const LESS: &str = "FRX";

/// A program that shows what this one prints, until it is dropped.
pub struct Pager {
    child: Option<Child>,
}

impl Pager {
    /// Lets stdout go through `MK_PAGER`, else `PAGER`, else `less` if there is one, if it is a terminal.
    /// None runs if that is empty or `cat`, or cannot be started.
    ///
    /// # Errors
    /// If stdout cannot be given to it.
    pub fn start() -> Result<Self, Failure> {
        let named = ["MK_PAGER", "PAGER"].into_iter().find_map(env::var_os);
        let has_default = || is_on_path(PAGER).then(|| OsString::from(PAGER));
        let pager = named.or_else(has_default).unwrap_or_default();
        if !io::stdout().is_terminal() || pager.is_empty() || pager == "cat" {
            return Ok(Self { child: None });
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&pager).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            shell.env("LESS", LESS);
        }
        let Ok(mut child) = shell.spawn() else { return Ok(Self { child: None }) };
        let pipe = child.stdin.take().expect("it was asked for");
        rustix::stdio::dup2_stdout(&pipe).map_err(io::Error::from)?;
        Ok(Self { child: Some(child) })
    }
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

impl Drop for Pager {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // The pager waits for the end of its input: stdout was the last that held it.
        if let Ok(nothing) = std::fs::File::options().write(true).open("/dev/null")
            && rustix::stdio::dup2_stdout(&nothing).is_ok()
        {
            let _ = child.wait();
        }
    }
}
