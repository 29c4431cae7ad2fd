//! A file that is ours as a whole: a plugin of an agent, which calls our hook.
//!
//! Rule: docs/spec/attach.md, section 5.

use super::part::is_hook_command;

/// What stands before the command that a plugin calls, at the beginning of a line.
const CALLS: &str = "const COMMAND = ";

/// `template` with `command` as what it calls.
#[must_use]
pub fn written(template: &str, command: &str) -> String {
    let line = |line: &str| match line.starts_with(CALLS) {
        true => format!("{CALLS}{}\n", serde_json::Value::from(command)),
        false => line.to_owned(),
    };
    template.split_inclusive('\n').map(line).collect()
}

/// The command that the plugin `text` calls, if it is ours: as `template` has it with that command, or if the
/// command is the hook of `agent`.
#[must_use]
pub fn command(text: &str, template: &str, agent: &str) -> Option<String> {
    let command = text.lines().find_map(|line| line.strip_prefix(CALLS))?;
    let command = serde_json::from_str::<String>(command).ok()?;
    let is_ours = text == written(template, &command) || is_hook_command(&command, agent);
    is_ours.then_some(command)
}
