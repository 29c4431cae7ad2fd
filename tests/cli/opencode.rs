//! OpenCode, whose hooks are a plugin: how it is put in its place, and what it is answered.

use std::fs;

use serde_json::{Value, json};

use crate::attach::machine;
use crate::hook::Shop;
use crate::sandbox::Sandbox;

/// The plugin for OpenCode, with the command in it that runs `mk`.
fn plugin(command: &str) -> String {
    include_str!("../../src/attach/opencode.ts").replace("\"mk hook opencode\"", command)
}

#[test]
fn the_hooks_of_opencode_are_a_plugin_that_leaves_with_the_entry() {
    let repo = machine();
    repo.session(
        r#"
        $ cd shop; mk attach opencode --hooks
        added	opencode	~/shop/opencode.json
        added	opencode	~/shop/.opencode/plugins/mk.ts
        opencode: restart it
        $ cd shop; mk attach opencode --hooks
        unchanged	opencode	~/shop/opencode.json
        unchanged	opencode	~/shop/.opencode/plugins/mk.ts
        "#,
    );
    let text = || fs::read_to_string(repo.path("shop/.opencode/plugins/mk.ts")).unwrap();
    assert_eq!(text(), include_str!("../../src/attach/opencode.ts"));
    repo.session(
        r#"
        $ cd shop; mk attach opencode --hooks --agent-id ann -n | sed -n 's/ $//; /plugins/,$p'
        updated	opencode	~/shop/.opencode/plugins/mk.ts
        --- ~/shop/.opencode/plugins/mk.ts
        +++ ~/shop/.opencode/plugins/mk.ts
        @@ -4,7 +4,7 @@
         import { exec } from "node:child_process"
         import type { Plugin } from "@opencode-ai/plugin"

        -const COMMAND = "mk hook opencode"
        +const COMMAND = "mk hook opencode --agent ann"

         const TIMEOUT_MS = 5000

        opencode: restart it
        $ cd shop; mk attach opencode --hooks --agent-id ann
        updated	opencode	~/shop/opencode.json
        updated	opencode	~/shop/.opencode/plugins/mk.ts
        opencode: restart it
        "#,
    );
    assert_eq!(text(), plugin("\"mk hook opencode --agent ann\""));
    repo.session(
        r#"
        $ cd shop; rm .opencode/plugins/*backup* *backup*; mk detach opencode
        removed	opencode	~/shop/opencode.json
        removed	opencode	~/shop/.opencode/plugins/mk.ts
        $ cd shop; ls -A
        .mk
        $ ln -s "$(command -v mk)" mk; mkdir "it's"; ln -s ../mk "it's/mk"
        $ cd shop; ../it\'s/mk attach opencode --hooks --scope user
        added	opencode	~/.config/opencode/opencode.json
        added	opencode	~/.config/opencode/plugins/mk.ts
        opencode: restart it
        $ stat -c %a .config/opencode/plugins .config/opencode/plugins/mk.ts
        700
        600
        "#,
    );
    let home = repo.path("").display().to_string();
    let program = format!("{}/it'\\\\''s/mk", home.trim_end_matches('/'));
    assert_eq!(
        fs::read_to_string(repo.path(".config/opencode/plugins/mk.ts")).unwrap(),
        plugin(&format!("\"'{program}' hook opencode\""))
    );
    repo.session(
        r#"
        $ cd shop; mk detach opencode --scope user; ls -A .. ../.config
        removed	opencode	~/.config/opencode/opencode.json
        removed	opencode	~/.config/opencode/plugins/mk.ts
        ..:
        .config
        it's
        mk
        shop

        ../.config:
        "#,
    );
}

#[test]
fn a_plugin_that_is_not_as_mk_wrote_it_is_only_written_over_with_a_copy() {
    let repo = machine();
    let file = "shop/.opencode/plugins/mk.ts";
    let others = "export const Mine = async () => ({})\n";
    fs::create_dir_all(repo.path("shop/.opencode/plugins")).unwrap();
    repo.write(file, others);
    repo.session(
        r#"
        $ cd shop; mk attach opencode --hooks
        skipped	opencode	~/shop/opencode.json: another was refused
        refused	opencode	~/shop/.opencode/plugins/mk.ts: it is somebody else's; give it another name, then attach again
        [1]
        $ cd shop; mk detach opencode; ls -A
        unchanged	opencode	~/shop/opencode.json
        .mk
        .opencode
        "#,
    );
    let text = || fs::read_to_string(repo.path(file)).unwrap();
    assert_eq!(text(), others);
    // What was there and said nothing is there again.
    repo.write(file, "\n");
    repo.session(
        r#"
        $ cd shop; mk attach opencode --hooks --agent-id ann
        added	opencode	~/shop/opencode.json
        added	opencode	~/shop/.opencode/plugins/mk.ts
        opencode: restart it
        $ cd shop; mk detach opencode
        removed	opencode	~/shop/opencode.json
        removed	opencode	~/shop/.opencode/plugins/mk.ts
        "#,
    );
    assert_eq!(text(), "\n");
    let changed = plugin("\"mk hook opencode\"").replace("5000", "9000");
    repo.write(file, &changed);
    repo.session(
        r#"
        $ cd shop; mk detach opencode
        unchanged	opencode	~/shop/opencode.json
        refused	opencode	~/shop/.opencode/plugins/mk.ts: the plugin differs from what mk wrote; take it out yourself, or with --force
        [1]
        $ cd shop; mk attach opencode --hooks
        added	opencode	~/shop/opencode.json
        updated	opencode	~/shop/.opencode/plugins/mk.ts
        opencode: restart it
        $ cd shop; grep -c 9000 .opencode/plugins/mk.ts.mk-backup-* | cut -d: -f2 | sort -u
        0
        1
        "#,
    );
    assert_eq!(text(), plugin("\"mk hook opencode\""));
    repo.write(file, &changed);
    repo.session(
        r#"
        $ cd shop; mk detach opencode --force; ls .opencode/plugins | grep -v backup
        removed	opencode	~/shop/opencode.json
        removed	opencode	~/shop/.opencode/plugins/mk.ts
        [1]
        "#,
    );
}

#[test]
fn the_plugin_of_opencode_is_looked_at() {
    let repo = machine();
    let hooks = |repo: &Sandbox| -> Vec<String> {
        let report =
            repo.sh("cd shop; mk doctor | sed \"s|$HOME|~|g\"").get_output().stdout.clone();
        let report = String::from_utf8(report).unwrap();
        report.lines().filter(|line| line.contains("\thooks\t")).map(str::to_owned).collect()
    };
    repo.sh("cd shop && mk attach opencode --hooks").success();
    assert_eq!(hooks(&repo), ["ok\thooks\topencode: called from ~/shop/.opencode/plugins/mk.ts"]);
    let remedy = "write them anew with `mk attach opencode --hooks --scope project`";
    repo.sh("echo '// mine' >> shop/.opencode/plugins/mk.ts").success();
    assert_eq!(
        hooks(&repo),
        [format!(
            "warn\thooks\topencode: the plugin is not as this version writes it in \
             ~/shop/.opencode/plugins/mk.ts; {remedy}"
        )]
    );
    repo.sh("cd shop && mk attach opencode --hooks --command /nowhere/mk").success();
    assert_eq!(
        hooks(&repo),
        [format!(
            "FAIL\thooks\topencode: there is no program for `/nowhere/mk hook opencode` in \
             ~/shop/.opencode/plugins/mk.ts; {remedy}"
        )]
    );
    repo.write("shop/.opencode/plugins/mk.ts", "export const Mine = async () => ({})\n");
    assert_eq!(hooks(&repo), <[&str; 0]>::default());
}

#[test]
fn what_others_do_reaches_opencode_and_strictness_stops_it() {
    let mut shop = Shop::new();
    let prompt = json!({ "session_id": "s", "cwd": "/repo", "hook_event_name": "chat.message" });
    shop.call("opencode", &prompt);
    shop.0.mk("--agent bob decide db postgres -m team").success();
    assert_eq!(
        shop.call("opencode", &prompt).stdout,
        "{\"hookSpecificOutput\":{\"additionalContext\":\"NEWS event 1 of bob: ARCHITECTURAL_DECISION db = \
         postgres\",\"hookEventName\":\"chat.message\"}}\n"
    );
    shop.0.mk("--agent bob lease acquire a.rs --ttl 600").success();
    let mut edit = |setting: &str, input: Value| {
        shop.0.mk(&format!("config {setting}")).success();
        shop.tool("opencode", "s", "tool.execute.before", "edit", input)
    };
    let input = || json!({ "filePath": "a.rs", "oldString": "x", "newString": "y" });
    let told = "lease-held: 'a.rs' is leased to 'bob' for 600 s more\\nhint: take other work, or call \
                mk_lease_acquire with wait_s\\nretryable: yes, after 600 s";
    for (setting, expected) in [
        ("hook.enforce deny", format!("{{\"decision\":\"deny\",\"reason\":\"{told}\"}}\n")),
        // It has nobody to ask before a call of a tool.
        ("hook.enforce ask", format!("{{\"decision\":\"deny\",\"reason\":\"{told}\"}}\n")),
        (
            "hook.enforce warn",
            format!(
                "{{\"hookSpecificOutput\":{{\"additionalContext\":\"{told}\",\"hookEventName\":\
                 \"tool.execute.before\"}}}}\n"
            ),
        ),
        ("hook.enforce off", String::new()),
    ] {
        let answered = edit(setting, input());
        assert_eq!((answered.stdout, answered.stderr), (expected, String::new()), "{setting}");
    }
    let unread = edit("hook.enforce deny", json!({}));
    let why = "stdin is not the JSON of a hook: the edit names no file";
    assert_eq!((unread.stdout, unread.stderr), (String::new(), format!("mk hook: {why}\n")));
    let refused = edit("hook.strict true", json!({ "patchText": "x" }));
    let refusal = format!("{{\"decision\":\"deny\",\"reason\":\"invalid-argument: {why}\"}}\n");
    assert_eq!((refused.stdout, refused.stderr), (refusal, String::new()));
}
