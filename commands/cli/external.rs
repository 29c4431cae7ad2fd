//! Commands that are programs of their own.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use mk::code::Code;
use mk::id::shown;
use mk::revision::distance;
use mk::setting::{self, ALIAS};

use super::{Context, Failure};
use crate::Answer;

/// Set for the command of an alias: the names of those that led to it.
const WITHIN: &str = "MK_ALIASES";

/// Becomes the program `mk-NAME` of `PATH`, else what the alias NAME stands for, as git does; what the
/// options before NAME said is in its environment.
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
    let mut command = Command::new(format!("mk-{name}"));
    let words: Vec<&OsString> = words.collect();
    command.args(&words);
    ctx.hand_on(&mut command)?;
    let error = command.exec();
    match error.kind() {
        ErrorKind::NotFound => match alias(name, ctx) {
            Some(stands_for) => become_alias(name, &stands_for, &words, ctx),
            None => Err(unknown()),
        },
        _ => Err(Failure::new(
            Code::of_io(&error),
            format!("cannot run 'mk-{}': {error}", shown(name)),
        )),
    }
}

/// What the alias `name` stands for, if there is a project that has it.
fn alias(name: &str, ctx: &Context) -> Option<String> {
    let setting = format!("{ALIAS}{name}");
    // Without a project that can be read there is none, and the name is unknown.
    ctx.read(|txn| Ok(txn.setting(&setting)?)).ok().flatten()
}

fn become_alias(
    name: &str,
    stands_for: &str,
    words: &[&OsString],
    ctx: &Context,
) -> Result<Answer, Failure> {
    let within = env::var(WITHIN).unwrap_or_default();
    if within.split(' ').any(|outer| outer == name) {
        return Err(Failure::usage(format!("the alias '{}' stands for itself", shown(name))));
    }
    let mut command = match stands_for.strip_prefix('!') {
        Some(script) => {
            let mut shell = Command::new("sh");
            // As git does: the words that follow come after what the alias says.
            shell.arg("-c").arg(format!("{script} \"$@\"")).arg(name);
            shell
        }
        None => {
            let mk = env::current_exe().map_err(|error| {
                Failure::new(Code::of_io(&error), format!("cannot find the mk that runs: {error}"))
            })?;
            let mut mk = Command::new(mk);
            mk.args(ctx.global.words());
            mk.args(setting::words(stands_for).unwrap_or_default());
            mk
        }
    };
    ctx.hand_on(&mut command)?;
    command.args(words).env(WITHIN, format!("{within} {name}").trim_start());
    let error = command.exec();
    Err(Failure::new(
        Code::of_io(&error),
        format!("cannot run the alias '{}': {error}", shown(name)),
    ))
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
