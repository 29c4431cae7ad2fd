//! What the server is started with, and where.
//!
//! Rule: docs/spec/mcp.md, section 1.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;

use mk::id::shown;
use mk::revision::distance;
use mk::store::location::{self, Git};
use mk::tokens::Tokenizer;

use super::Compat;
use super::agents::agent_of;
use super::log::{Level, Log};
use super::tool::{Set, Tool};
use super::tools;
use crate::cli::{Clocks, Context, Failure, is_everybodys, make_project, store_in};

/// The value of an option, else of its variable, and which of them says it.
fn setting<'a>(
    given: Option<&str>,
    option: &'a str,
    name: &'a str,
) -> Result<Option<(String, &'a str)>, Failure> {
    if let Some(given) = given {
        return Ok(Some((given.to_owned(), option)));
    }
    match env::var(name) {
        Ok(value) => Ok(Some((value, name)).filter(|(value, _)| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Failure::usage(format!("{name} is not UTF-8"))),
    }
}

/// Begins to say what is asked for, where it is asked for.
pub fn log(given: Option<&str>, clocks: Clocks) -> Result<(), Failure> {
    let level = match setting(given, "--log-level", "MK_LOG")? {
        None => Level::Warn,
        Some((text, name)) => Level::named(&text).ok_or_else(|| {
            let names = Level::ALL.map(Level::name).join(", ");
            Failure::usage(format!("{name} is '{}', not one of {names}", shown(&text)))
        })?,
    };
    let file = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    Log::new(level, clocks).begin(file("MK_LOG_FILE"), file("MK_MCP_TRACE"));
    Ok(())
}

pub fn is_read_only() -> Result<bool, Failure> {
    let set = setting(None, "--read-only", "MK_READ_ONLY")?;
    let Some((value, name)) = set else { return Ok(false) };
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(Failure::usage(format!(
            "{name} is '{}', not one of 1, true, yes, on, 0, false, no, off",
            shown(&value)
        ))),
    }
}

/// Most tokens of an answer. Peers know no such bound, so theirs have the highest.
pub fn max_tokens(given: Option<&str>, compat: Option<Compat>) -> Result<u64, Failure> {
    let (least, usual, most) = tools::TOKENS;
    let usual = if compat.is_some() { most.unsigned_abs() } else { usual };
    let set = setting(given, "--max-tokens", "MK_MCP_MAX_TOKENS")?;
    let Some((value, name)) = set else { return Ok(usual) };
    let number = i64::from_str(&value).ok().filter(|number| (least..=most).contains(number));
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| {
        let shown = shown(&value);
        Failure::usage(format!("{name} is '{shown}', not a number from {least} to {most}"))
    })
}

/// The tools that `--tools` names.
pub fn tools(given: Option<&str>) -> Result<Vec<&'static Tool>, Failure> {
    let set = setting(given, "--tools", "MK_MCP_TOOLS")?;
    let (wanted, name) = set.unwrap_or_else(|| ("core".to_owned(), "--tools"));
    picked(&wanted)
        .map_err(|why| Failure::usage(format!("{name}: {why}")).hint("see `mk mcp --help`"))
}

/// `set` as it is, if the server takes it.
///
/// # Errors
/// Which name in it is none, and which it may have been.
pub fn tool_set(set: &str) -> Result<String, String> {
    picked(set).map(|_| set.to_owned())
}

/// The tools of `set`, by name.
fn picked(set: &str) -> Result<Vec<&'static Tool>, String> {
    let all = tools::all();
    let mut picked: Vec<&Tool> = Vec::new();
    for name in set.split(',').map(str::trim) {
        let fits = |tool: &&Tool| match name {
            "all" => true,
            "core" => tool.set == Set::Core,
            name => tool.name == name || tool.set.group() == Some(name),
        };
        let before = picked.len();
        picked.extend(all.iter().copied().filter(|tool| fits(tool)));
        if picked.len() == before {
            let groups = all.iter().filter_map(|tool| tool.set.group());
            let known = ["all", "core"].into_iter().chain(groups);
            let known = known.chain(all.iter().map(|tool| tool.name));
            let near = known.map(|known| (distance(known, name), known)).min();
            let near = near.filter(|(distance, _)| *distance <= 2);
            let near = near.map_or(String::new(), |(_, near)| format!("; did you mean {near}?"));
            return Err(format!("there is no tool or group '{}'{near}", shown(name)));
        }
    }
    picked.sort_unstable_by_key(|tool| tool.name);
    picked.dedup_by_key(|tool| tool.name);
    Ok(picked)
}

/// Goes where the project is looked for, and makes one if there is none and it has a place.
///
/// # Errors
/// Only if an option is wrong: without a project the server still comes up, and each call says so.
pub fn find_project(ctx: &mut Context, create: bool, read_only: bool) -> Result<(), Failure> {
    if let Some(directory) = ctx.claude_project()? {
        // If it cannot be entered, the project is looked for from here.
        let _ = env::set_current_dir(&directory);
    }
    let here = ctx.directory()?;
    if read_only || ctx.named_store()?.is_some() || location::discover(&here).is_ok() {
        return Ok(());
    }
    let place = match Git::find(&here) {
        Some(_) => location::home(&here),
        None if create => here,
        None => return Ok(()),
    };
    if is_everybodys(&place) {
        return match create {
            true => Err(Failure::usage(format!(
                "a project in '{}' would be shared by all that lie below",
                place.display()
            ))),
            false => Ok(()),
        };
    }
    ctx.global.agent.get_or_insert_with(|| agent_of(""));
    let made = store_in(&place).and_then(|store| make_project(&store, Tokenizer::default(), ctx));
    if let Err(failure) = made {
        super::log::log(Level::Warn, &format!("no project was made: {}", failure.message()));
    }
    Ok(())
}
