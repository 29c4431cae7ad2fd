//! Where the story is played: a throw-away project, this program as its own agents, and a record of
//! what was run and claimed.

use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use mk::code::Code;
use mk::id::hex;
use serde::Serialize;
use serde_json::Value;

use crate::cli::Failure;

/// A part of the record.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    Scene(&'static str),
    Step(Step),
    Claim { claim: String, holds: bool },
}

impl Item {
    /// Whether it holds, if it is a claim.
    pub fn claim(&self) -> Option<bool> {
        match self {
            Self::Claim { holds, .. } => Some(*holds),
            Self::Scene(_) | Self::Step(_) => None,
        }
    }
}

/// A command and its answer.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    pub command: String,
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Why a story does not go on.
#[derive(Debug)]
pub enum Halt {
    /// What should follow makes no sense without this; the claim is on record.
    ClaimBroken,
    /// It could not be played.
    Failed(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub struct Stage {
    program: PathBuf,
    directory: Directory,
    story: Vec<Item>,
}

impl Stage {
    /// An empty directory, and nothing on record. `chance` makes its name one that is free.
    pub fn new(chance: [u8; 8]) -> Result<Self, Failure> {
        let program = env::current_exe().map_err(|error| {
            Failure::new(Code::of_io(&error), format!("cannot find this program: {error}"))
        })?;
        Ok(Self { program, directory: Directory::new(chance)?, story: Vec::new() })
    }

    pub fn scene(&mut self, title: &'static str) {
        self.story.push(Item::Scene(title));
    }

    /// Puts on record whether `claim` holds; the story goes on either way.
    pub fn claim(&mut self, claim: impl Into<String>, holds: bool) {
        self.story.push(Item::Claim { claim: claim.into(), holds });
    }

    /// Runs a command that must succeed, and answers what it printed.
    pub fn run(&mut self, args: &[&str]) -> Result<String, Halt> {
        let step = self.step(args)?;
        self.must(step.exit == Some(0), &step.command)?;
        Ok(step.stdout)
    }

    /// Runs a command as `agent`; it must succeed.
    pub fn by(&mut self, agent: &str, args: &[&str]) -> Result<String, Halt> {
        self.run(&[&["--agent", agent], args].concat())
    }

    /// Runs a command as `agent` that must be refused with exit status 1.
    pub fn refused(&mut self, agent: &str, args: &[&str]) -> Result<(), Halt> {
        let step = self.step(&[&["--agent", agent], args].concat())?;
        self.claim("it is refused, with exit status 1", step.exit == Some(1));
        Ok(())
    }

    /// What a command answers under `--json`, to check a claim with. It is not part of the story.
    pub fn ask(&mut self, args: &[&str]) -> Result<Value, Halt> {
        let args = [args, &["--json"]].concat();
        let output = self.mk(&args)?;
        let answer = serde_json::from_slice(&output.stdout).ok();
        self.must(output.status.success() && answer.is_some(), &shown(&args))?;
        Ok(answer.unwrap_or_default())
    }

    /// Writes a file into the directory.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.directory.path.join(name);
        fs::write(&path, text).map_err(|error| cannot("write", &path, &error))
    }

    /// Leaves the directory where it is.
    pub fn keep(&mut self) -> String {
        self.directory.kept = true;
        self.directory.path.display().to_string()
    }

    pub fn into_story(self) -> Vec<Item> {
        self.story
    }

    fn must(&mut self, succeeded: bool, command: &str) -> Result<(), Halt> {
        if succeeded {
            return Ok(());
        }
        self.claim(format!("`{command}` succeeds"), false);
        Err(Halt::ClaimBroken)
    }

    fn step(&mut self, args: &[&str]) -> Result<Step, Failure> {
        let output = self.mk(args)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let step = Step {
            command: shown(args),
            exit: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        self.story.push(Item::Step(step.clone()));
        Ok(step)
    }

    fn mk(&self, args: &[&str]) -> Result<Output, Failure> {
        let mut mk = Command::new(&self.program);
        // The project of the caller, and how it is used there, must not show here.
        let of_caller = env::vars_os().map(|(name, _)| name);
        for name in of_caller.filter(|name| name.as_encoded_bytes().starts_with(b"MK_")) {
            mk.env_remove(name);
        }
        mk.args(args)
            .current_dir(&self.directory.path)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| cannot("run", &self.program, &error))
    }
}

/// A directory of one's own that goes when its owner does, however that comes about.
struct Directory {
    path: PathBuf,
    kept: bool,
}

impl Directory {
    fn new(chance: [u8; 8]) -> Result<Self, Failure> {
        let path = env::temp_dir().join(format!("mk-demo-{}", hex(&chance)));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|error| cannot("make", &path, &error))?;
        Ok(Self { path, kept: false })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed is in the directory for such things.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn cannot(act: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::new(Code::of_io(error), format!("cannot {act} '{}': {error}", path.display()))
}

/// The command as it would be typed.
fn shown(args: &[&str]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,~".contains(c);
    let quoted = |arg: &&str| match !arg.is_empty() && arg.chars().all(is_plain) {
        true => (*arg).to_owned(),
        false => format!("'{}'", arg.replace('\'', r"'\''")),
    };
    let words: Vec<String> = args.iter().map(quoted).collect();
    format!("mk {}", words.join(" "))
}
