//! Commands that are programs of their own.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use mk::code::Code;
use mk::id::shown;
use mk::revision::distance;

use super::{Context, Failure};
use crate::Answer;

/// Becomes the program `mk-NAME` of `PATH`, as git does; what the options before NAME said is in its
/// environment.
pub fn external<'a>(
    name: &str,
    words: impl Iterator<Item = &'a OsString>,
    ctx: &Context,
) -> Result<Answer, Failure> {
    let unknown = || {
        let failure = Failure::usage(format!("'{}' is no mk command", shown(name)));
        match nearest_commands(name) {
            Some(names) => failure.hint(format!("did you mean {names}?")),
            None => failure.hint("see `mk help`"),
        }
    };
    // With a slash it would be a path, and PATH not looked at.
    if name.contains('/') {
        return Err(unknown());
    }
    let global = &ctx.global;
    let mut command = Command::new(format!("mk-{name}"));
    command.args(words);
    if let Some(store) = &global.db {
        command.env("MK_DB", ctx.directory()?.join(store));
    }
    if let Some(agent) = &global.agent {
        command.env("MK_AGENT", agent.as_str());
    }
    if let Some(branch) = &global.branch {
        command.env("MK_BRANCH", branch.as_str());
    }
    let error = command.exec();
    match error.kind() {
        ErrorKind::NotFound => Err(unknown()),
        _ => Err(Failure::new(Code::IO, format!("cannot run 'mk-{}': {error}", shown(name)))),
    }
}

/// The commands whose names are closest to `name`, if any is close.
pub fn nearest_commands(name: &str) -> Option<String> {
    let mk = crate::whole_definition();
    let known = mk.get_subcommands().filter(|known| !known.is_hide_set());
    let known: Vec<(usize, &str)> =
        known.map(|known| (distance(name, known.get_name()), known.get_name())).collect();
    let least = known.iter().map(|(distance, _)| *distance).min().filter(|least| *least <= 2)?;
    let names = known.iter().filter(|(distance, _)| *distance == least);
    Some(names.map(|(_, name)| *name).collect::<Vec<_>>().join(" or "))
}
