//! `config`.

use crate::sandbox::Sandbox;

#[test]
fn a_setting_is_set_read_listed_and_unset() {
    Sandbox::new().session(
        r#"
        $ mk config agent.id
        [1]
        $ mk config agent.id ann
        $ mk config agent.id
        ann
        $ mk config core.secrets refuse --json
        {"settings":{"core.secrets":"refuse"}}
        $ mk config core.secrets --json
        {"settings":{"core.secrets":"refuse"}}
        $ mk config --list
        agent.id=ann
        core.secrets=refuse
        $ mk config --list -z | tr '\0' ';'
        agent.id=ann;core.secrets=refuse;
        (no line break)
        $ mk config --list --json
        {"settings":{"agent.id":"ann","core.secrets":"refuse"}}
        $ mk config --unset agent.id
        $ mk config --unset agent.id
        $ mk config agent.id --json
        {"settings":{"agent.id":null}}
        [1]
        $ mk note x --json
        {"event_id":1,"hash":"b37935f09daa31ffd40bb5b82c017e0a89a993a7f611d4adddd78c2e4b37ff5b","sequence":1,"timestamp":"2026-11-30T10:00:00.000000Z","branch_id":"main","agent_id":"me","parent_event_id":null,"event_type":"AGENT_SCRATCHPAD"}
        "#,
    );
}

#[test]
fn what_is_no_setting_and_no_value_is_refused() {
    let repo = Sandbox::new();
    let refused = |line: &str, stderr: &str| repo.refuses(line, 129, "invalid-argument", stderr);
    refused(
        "config core.secret off",
        "fatal: 'core.secret' is no setting\nhint: did you mean core.secrets?\n",
    );
    refused("config color", "fatal: 'color' is no setting\nhint: see `mk config --help`\n");
    refused("config core.git yes", "fatal: core.git: 'yes' is not one of on, off\n");
    refused("config agent.id 'a b'", "fatal: agent.id: agent id 'a b' has U+0020 at character 2\n");
    refused(
        "config",
        "fatal: the following required arguments were not provided: <KEY>\nhint: see `mk config --help`\n",
    );
}

#[test]
fn settings_change_what_commands_do() {
    let repo = Sandbox::new();
    repo.mk("config agent.id carol").success();
    repo.mk("config core.durability normal").success();
    assert_eq!(repo.json("note x")["agent_id"], "carol");
    assert_eq!(repo.json("--agent dan note x")["agent_id"], "dan");
}
