//! The configurations of agents, and the servers they would start.

use std::fs;
use std::path::{Path, PathBuf};

use mk::attach::agents::{AGENTS, Agent, Form};
use mk::attach::document::{Dialect, Format, Tree, parse};
use mk::attach::entry::Entry;
use mk::attach::part::is_hook_command;
use mk::attach::plugin;

use super::{Level, Report, server};
use crate::cli::attach::{Scope, Surroundings, file, surroundings};
use crate::cli::{Context, Failure};

/// The name that entries have unless another is given.
const NAME: &str = "mk";

pub fn check(report: &mut Report, ctx: &Context, store: &Path) -> Result<(), Failure> {
    let around = surroundings(ctx, store)?;
    let mut tried: Vec<(Entry, Level)> = Vec::new();
    let mut attached = 0;
    for agent in AGENTS {
        for scope in [Scope::Project, Scope::User] {
            for path in around.entry_files(agent, scope) {
                if let Some(entry) = entry(report, agent, scope, &path, &around) {
                    attached += 1;
                    start(report, agent, &entry, &around, &mut tried);
                }
                leftovers(report, &path);
            }
            hooks(report, agent, scope, &around);
        }
    }
    if attached == 0 {
        let check = report.add("agents", Level::None, "none is attached");
        check.remedy("see `mk attach`");
    }
    Ok(())
}

/// The entry of `agent` in the file at `path`, if there is one that starts the server.
fn entry(
    report: &mut Report,
    agent: &'static Agent,
    scope: Scope,
    path: &Path,
    around: &Surroundings<'_>,
) -> Option<Entry> {
    let name = agent.name;
    let place = path.display();
    let text = match file::read(path) {
        Ok(Some(original)) => original.text,
        Ok(None) => return None,
        Err(error) => {
            let what = format!("{name}: {place}: {error}");
            report.add("agents", Level::Fail, what).remedy("mend the file");
            return None;
        }
    };
    let document = match parse(&text, agent.format) {
        Ok(document) => document?,
        Err(fault) => {
            let what = format!("{name}: {place}: {fault}");
            report.add("agents", Level::Fail, what).remedy("mend the file");
            return None;
        }
    };
    if document.at(agent.place)?.get("memkernel").is_some() {
        let what = format!("{name}: there is an entry of MemKernel's beside, in {place}");
        report.add("agents", Level::Warn, what).remedy("take it out, or agents have two memories");
    }
    let tree = document.at(agent.place)?.get(NAME)?;
    let Some(entry) = Entry::read(tree, agent) else {
        let what = format!("{name}: {NAME} in {place} does not start `mk mcp`");
        let remedy = format!("take it out, or choose a name: `mk attach {name} --name NAME`");
        report.add("agents", Level::Fail, what).remedy(remedy);
        return None;
    };
    let known = is_subset(&entry.tree(agent, NAME), tree);
    let what = format!("{name}: attached in {place}");
    if !known {
        let remedy = format!("bring it up to date with `mk attach {name} --scope {scope}`");
        report.add("agents", Level::Warn, format!("{what}, in another way")).remedy(remedy);
    } else if let Some(remedy) = missing_trust(agent, scope, around) {
        report.add("agents", Level::Warn, what).remedy(remedy);
    } else {
        report.add("agents", Level::Ok, what);
    }
    Some(entry)
}

/// Whether `tree` has all that `wanted` has.
fn is_subset(wanted: &Tree, tree: &Tree) -> bool {
    match (wanted, tree) {
        (Tree::Map(members), Tree::Map(_)) => members
            .iter()
            .all(|(key, value)| tree.get(key).is_some_and(|found| is_subset(value, found))),
        _ => wanted == tree,
    }
}

/// What files say of an approval that is missing.
fn missing_trust(agent: &Agent, scope: Scope, around: &Surroundings<'_>) -> Option<String> {
    if agent.name != "codex" || scope != Scope::Project {
        return None;
    }
    let user = around.all_files(agent, Scope::User).into_iter().next()?;
    let text = file::read(&user).ok()?.map_or_else(String::new, |original| original.text);
    let document = parse(&text, agent.format).ok()?;
    let root = around.root.display().to_string();
    let level = document.as_ref().and_then(|it| it.at(&["projects", &root, "trust_level"]));
    match level.and_then(Tree::as_text) {
        Some("trusted") => None,
        _ => Some("it reads the file only once it trusts the project; start it here".to_owned()),
    }
}

/// Starts the server of `entry`, once for all agents that start it alike.
fn start(
    report: &mut Report,
    agent: &Agent,
    entry: &Entry,
    around: &Surroundings<'_>,
    tried: &mut Vec<(Entry, Level)>,
) {
    let alike = Entry { agent_id: None, approved: false, ..entry.clone() };
    if tried.iter().any(|(known, level)| *known == alike && *level == Level::Ok) {
        return;
    }
    let name = agent.name;
    let Some(program) = around.found(&entry.command) else {
        let what = format!("{name}: there is no program '{}'", entry.command);
        report.add("server", Level::Fail, what).remedy("put mk on the PATH, or attach anew");
        return;
    };
    let level = match server::try_out(entry, &program, &around.root) {
        Ok(answered) => {
            let what = format!(
                "{name}: answers after {} ms, {} tools{} in {} bytes",
                answered.first.as_millis(),
                answered.tools,
                if answered.is_whole { "" } else { " that only read" },
                answered.bytes
            );
            report.add("server", Level::Ok, what);
            Level::Ok
        }
        Err(why) => {
            let what = format!("{name}: `{} {}` {why}", entry.command, entry.args.join(" "));
            let remedy = "try it in a shell; MK_LOG=debug tells more";
            report.add("server", Level::Fail, what).remedy(remedy);
            Level::Fail
        }
    };
    tried.push((alike, level));
}

/// The hooks of `agent`, if it has any of ours.
fn hooks(report: &mut Report, agent: &'static Agent, scope: Scope, around: &Surroundings<'_>) {
    let Some(hooks) = &agent.hooks else { return };
    for path in around.hook_files(hooks, scope, false, true) {
        let Some(original) = file::read(&path).ok().flatten() else { continue };
        let Some(Called { commands, fault }) = called(agent, &hooks.form, &original.text) else {
            continue;
        };
        let (name, place) = (agent.name, path.display());
        let remedy = format!("write them anew with `mk attach {name} --hooks --scope {scope}`");
        let program = |command: &String| {
            let program = command.split(" hook ").next().unwrap_or_default();
            around.found(program.trim_matches('\''))
        };
        if let Some(lost) = commands.iter().find(|command| program(command).is_none()) {
            let what = format!("{name}: there is no program for `{lost}` in {place}");
            report.add("hooks", Level::Fail, what).remedy(remedy);
        } else if let Some(fault) = fault {
            let what = format!("{name}: {fault} in {place}");
            report.add("hooks", Level::Warn, what).remedy(remedy);
        } else {
            report.add("hooks", Level::Ok, format!("{name}: called from {place}"));
        }
    }
}

/// What a file of hooks calls of ours.
struct Called {
    commands: Vec<String>,
    /// In what it is not as this version writes it.
    fault: Option<&'static str>,
}

/// What `text` calls of ours, if anything.
fn called(agent: &Agent, form: &Form, text: &str) -> Option<Called> {
    let groups = match form {
        Form::Groups(groups) => groups,
        Form::Plugin(template) => {
            let command = plugin::command(text, template, agent.name)?;
            let differs = text != plugin::written(template, &command);
            let fault = differs.then_some("the plugin is not as this version writes it");
            return Some(Called { commands: vec![command], fault });
        }
    };
    let document = parse(text, Format::Json(Dialect::Jsonc)).ok().flatten()?;
    let mut commands: Vec<String> = Vec::new();
    let mut events: Vec<&str> = Vec::new();
    for (event, groups) in document.get("hooks").and_then(Tree::as_map).unwrap_or_default() {
        let calls = groups
            .as_list()
            .unwrap_or_default()
            .iter()
            .flat_map(|group| group.get("hooks").and_then(Tree::as_list).unwrap_or_default());
        let ours = calls.filter_map(|call| call.get("command")?.as_text());
        for command in ours.filter(|command| is_hook_command(command, agent.name)) {
            events.push(event);
            if !commands.iter().any(|known| known == command) {
                commands.push(command.to_owned());
            }
        }
    }
    if commands.is_empty() {
        return None;
    }
    let lacks = groups.events.iter().any(|(event, _)| !events.contains(event));
    Some(Called { commands, fault: lacks.then_some("some events have no hook") })
}

/// Copies that attaching left.
fn leftovers(report: &mut Report, path: &Path) {
    let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for backup in file::backups(&target).unwrap_or_default() {
        let what = format!("a copy from before attaching: {}", backup.display());
        let known = report.checks.iter().any(|check| check.what == what);
        if !known {
            report
                .add("leftovers", Level::None, what)
                .remedy("`mk detach` reads it; else remove it");
        }
    }
}
