//! `mk attach` and `mk detach`.

use crate::sandbox::Sandbox;

/// A home with a directory for a project, and no programs but those of the system.
pub fn machine() -> Sandbox {
    let mut repo = Sandbox::empty();
    let bin =
        std::path::Path::new(env!("CARGO_BIN_EXE_mk")).parent().unwrap().display().to_string();
    repo.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    std::fs::create_dir(repo.path("shop")).unwrap();
    repo
}

#[test]
fn agents_get_an_entry_in_the_project_which_is_made() {
    let repo = machine();
    repo.session(
        r#"
        $ cd shop; mk attach claude-code codex cursor
        added	claude-code	~/shop/.mcp.json
        added	codex	~/shop/.codex/config.toml
        added	cursor	~/shop/.cursor/mcp.json
        claude-code: restart it, and approve the server of the project when it asks
        codex: trust the project in it, and its hooks if there are any, and restart it
        cursor: switch the server on in its settings
        $ cd shop; ls -A
        .codex
        .cursor
        .mcp.json
        .mk
        $ cd shop; cat .mcp.json .codex/config.toml .cursor/mcp.json
        {
          "mcpServers": {
            "mk": {
              "type": "stdio",
              "command": "mk",
              "args": ["mcp"]
            }
          }
        }
        [mcp_servers.mk]
        command = "mk"
        args = ["mcp"]
        default_tools_approval_mode = "writes"

        [mcp_servers.mk.env]
        MK_AGENT = "codex"
        {
          "mcpServers": {
            "mk": {
              "command": "mk",
              "args": ["-C", "${workspaceFolder}", "mcp"],
              "env": {
                "MK_AGENT": "cursor"
              }
            }
          }
        }
        $ cd shop; mk attach claude-code codex cursor
        unchanged	claude-code	~/shop/.mcp.json
        unchanged	codex	~/shop/.codex/config.toml
        unchanged	cursor	~/shop/.cursor/mcp.json
        $ cd shop; mk detach --all
        removed	claude-code	~/shop/.mcp.json
        removed	codex	~/shop/.codex/config.toml
        unchanged	gemini	~/shop/.gemini/settings.json
        unchanged	opencode	~/shop/opencode.json
        removed	cursor	~/shop/.cursor/mcp.json
        unchanged	vscode	~/shop/.vscode/mcp.json
        unchanged	antigravity	~/shop/.agents/mcp_config.json
        unchanged	windsurf	~/.codeium/windsurf/mcp_config.json
        unchanged	zed	~/shop/.zed/settings.json
        unchanged	cline	~/.cline/data/settings/cline_mcp_settings.json
        unchanged	kiro	~/shop/.kiro/settings/mcp.json
        unchanged	goose	~/.config/goose/config.yaml
        unchanged	amp	~/shop/.amp/settings.json
        unchanged	junie	~/shop/.junie/mcp/mcp.json
        unchanged	qwen	~/shop/.qwen/settings.json
        unchanged	crush	~/shop/crush.json
        unchanged	openclaw	~/.openclaw/openclaw.json
        unchanged	claude-desktop	~/.config/Claude/claude_desktop_config.json
        $ cd shop; ls -A
        .mk
        "#,
    );
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let repo = machine();
    repo.write("shop/opencode.json", "{\n  // mine\n  \"theme\": \"x\",\n}\n");
    let before = repo.files();
    repo.session(
        r#"
        $ cd shop; mk attach opencode -n --agent-id oc --tools all --read-only
        added	opencode	~/shop/opencode.json
        --- ~/shop/opencode.json
        +++ ~/shop/opencode.json
        @@ -1,4 +1,13 @@
         {
           // mine
           "theme": "x",
        +  "mcp": {
        +    "mk": {
        +      "type": "local",
        +      "command": ["mk", "mcp", "--tools", "all", "--read-only"],
        +      "environment": {
        +        "MK_AGENT": "oc"
        +      }
        +    }
        +  },
         }
        opencode: restart it
        "#,
    );
    assert_eq!(repo.files(), before);
}

#[test]
fn the_file_that_a_link_leads_to_is_named_before_and_after_it_is_written() {
    let repo = machine();
    std::fs::create_dir(repo.path("dotfiles")).unwrap();
    repo.write("dotfiles/mcp.json", "{}\n");
    repo.sh("ln -s ../dotfiles/mcp.json shop/.mcp.json; ln -s ../dotfiles shop/.cursor; ln -s nowhere shop/opencode.json")
        .success();
    repo.session(
        r#"
        $ cd shop; mk attach claude-code -n
        added	claude-code	~/shop/.mcp.json -> ~/dotfiles/mcp.json
        --- ~/dotfiles/mcp.json
        +++ ~/dotfiles/mcp.json
        @@ -1,1 +1,9 @@
        -{}
        +{
        +  "mcpServers": {
        +    "mk": {
        +      "type": "stdio",
        +      "command": "mk",
        +      "args": ["mcp"]
        +    }
        +  }
        +}
        claude-code: restart it, and approve the server of the project when it asks
        $ cd shop; mk attach claude-code
        added	claude-code	~/shop/.mcp.json -> ~/dotfiles/mcp.json
        claude-code: restart it, and approve the server of the project when it asks
        $ cd shop; mk attach claude-code --json
        {"files":[{"agent":"claude-code","path":"~/shop/.mcp.json","target":"~/dotfiles/mcp.json","scope":"project","action":"unchanged","backup":null,"todo":null}]}
        $ cd shop; mk attach cursor --name other
        added	cursor	~/shop/.cursor/mcp.json -> ~/dotfiles/mcp.json
        cursor: switch the server on in its settings
        $ cd shop; mk detach cursor --name other
        removed	cursor	~/shop/.cursor/mcp.json -> ~/dotfiles/mcp.json
        $ cd shop; rm ../dotfiles/*backup*; mk detach claude-code
        removed	claude-code	~/shop/.mcp.json -> ~/dotfiles/mcp.json
        $ cat shop/.mcp.json
        {}
        $ cd shop; mk attach opencode
        refused	opencode	~/shop/opencode.json: it is a link to 'nowhere', where there is no file
        [1]
        "#,
    );
    assert!(repo.path("shop/.mcp.json").is_symlink());
}

#[test]
fn files_of_the_user_name_the_program_by_its_path() {
    let repo = machine();
    repo.session(
        r#"
        $ ln -s "$(command -v mk)" mk; mkdir -p 'my tools'; ln -s ../mk 'my tools/mk'
        $ cd shop; ../my' 'tools/mk attach --scope user cursor goose --hooks
        ! fatal: cursor has no hooks that mk knows
        [129]
        $ cd shop; ../my' 'tools/mk attach --scope user cursor goose codex
        added	cursor	~/.cursor/mcp.json
        added	goose	~/.config/goose/config.yaml
        added	codex	~/.codex/config.toml
        cursor: switch the server on in its settings
        goose: restart it
        codex: trust the project in it, and its hooks if there are any, and restart it
        $ sed "s|$HOME|~|" .config/goose/config.yaml; grep -c 'my tools/mk"' .cursor/mcp.json
        extensions:
          mk:
            type: stdio
            name: mk
            enabled: true
            cmd: "~/my tools/mk"
            args:
            - mcp
            envs:
              MK_AGENT: goose
        1
        $ stat -c %a .codex .codex/config.toml
        700
        600
        $ cd shop; mk attach --scope user codex --portable
        updated	codex	~/.codex/config.toml
        codex: trust the project in it, and its hooks if there are any, and restart it
        $ cd shop; CODEX_HOME=$HOME/elsewhere mk attach --scope user codex --portable --approve
        added	codex	~/elsewhere/config.toml
        codex: trust the project in it, and its hooks if there are any, and restart it
        $ cat elsewhere/config.toml
        [mcp_servers.mk]
        command = "mk"
        args = ["mcp"]
        default_tools_approval_mode = "approve"

        [mcp_servers.mk.env]
        MK_AGENT = "codex"
        "#,
    );
}

#[test]
fn hooks_call_mk_and_leave_with_the_entry() {
    let repo = machine();
    repo.session(
        r#"
        $ cd shop; mk attach claude-code --hooks --agent-id ann
        added	claude-code	~/shop/.mcp.json
        added	claude-code	~/shop/.claude/settings.local.json
        claude-code: restart it, and approve the server of the project when it asks
        $ cd shop; head -12 .claude/settings.local.json; grep -c 'mk hook claude-code --agent ann' .claude/settings.local.json
        {
          "hooks": {
            "SessionStart": [
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "mk hook claude-code --agent ann",
                    "timeout": 5
                  }
                ]
              }
        6
        $ cd shop; mk attach claude-code --hooks
        updated	claude-code	~/shop/.mcp.json
        updated	claude-code	~/shop/.claude/settings.local.json
        claude-code: restart it, and approve the server of the project when it asks
        $ cd shop; mk detach claude-code
        removed	claude-code	~/shop/.mcp.json
        removed	claude-code	~/shop/.claude/settings.local.json
        $ cd shop; ls -A . .claude | grep -v backup
        .:
        .claude
        .mk

        .claude:
        $ cd shop; mk attach codex --hooks
        added	codex	~/shop/.codex/config.toml
        added	codex	~/shop/.codex/hooks.json
        codex: trust the project in it, and its hooks if there are any, and restart it
        $ cd shop; grep -oE '(SessionStart|UserPromptSubmit|PreToolUse|PostToolUse|SessionEnd|matcher|timeout).*' .codex/hooks.json
        SessionStart": [
        timeout": 5
        UserPromptSubmit": [
        timeout": 5
        PreToolUse": [
        matcher": "Bash|apply_patch",
        timeout": 5
        PostToolUse": [
        matcher": "Bash|apply_patch",
        timeout": 5
        SessionEnd": [
        timeout": 3
        "#,
    );
}

#[test]
fn what_is_found_is_told_and_attached_on_demand() {
    let repo = machine();
    std::fs::create_dir(repo.path("shop/.cursor")).unwrap();
    std::fs::create_dir(repo.path(".kiro")).unwrap();
    repo.session(
        r#"
        $ cd shop; mk attach
        found: cursor kiro
        attach them with `mk attach --detected`, or name those you mean
        $ cd shop; mk attach --list | grep -A2 -E '^(cursor|goose|windsurf)'
        cursor	found	documented	-
        	-	project	~/shop/.cursor/mcp.json
        	-	user	~/.cursor/mcp.json
        --
        windsurf	-	experimental	-
        	-	user	~/.codeium/windsurf/mcp_config.json
        zed	-	documented	-
        --
        goose	-	documented	-
        	-	user	~/.config/goose/config.yaml
        amp	-	experimental	-
        $ cd shop; mk attach --detected
        added	cursor	~/shop/.cursor/mcp.json
        added	kiro	~/shop/.kiro/settings/mcp.json
        cursor: switch the server on in its settings
        kiro: restart it
        $ cd shop; mk attach --list | grep -A2 -E '^cursor'
        cursor	found	documented	-
        	attached	project	~/shop/.cursor/mcp.json
        	-	user	~/.cursor/mcp.json
        $ cd shop; mk attach --print goose --portable
        extensions:
          mk:
            type: stdio
            name: mk
            enabled: true
            cmd: mk
            args:
            - mcp
            envs:
              MK_AGENT: goose
        "#,
    );
}

#[test]
fn bad_usage_is_refused_before_anything_is_made() {
    let repo = machine();
    for (line, stderr) in [
        (
            "attach curser",
            "fatal: invalid value 'curser' for '[AGENT]...': no agent that mk knows; did you mean cursor?\n\
             hint: see `mk attach --help`\n",
        ),
        (
            "attach cursor --scope all",
            "fatal: invalid value 'all' for '--scope <SCOPE>': not one of project, user\n\
             hint: see `mk attach --help`\n",
        ),
        (
            "attach cursor --name 'm k'",
            "fatal: 'm k' is no name for an entry: letters, digits and '-', at most 40\n",
        ),
        ("attach goose --scope project", "fatal: goose has no project file\n"),
        (
            "attach cursor --tools core,notices",
            "fatal: invalid value 'core,notices' for '--tools <SET>': there is no tool or group 'notices'; did \
             you mean notice?\nhint: see `mk attach --help`\n",
        ),
        (
            "attach --print goose --tools bogus",
            "fatal: invalid value 'bogus' for '--tools <SET>': there is no tool or group 'bogus'\n\
             hint: see `mk attach --help`\n",
        ),
        (
            "attach amp",
            "fatal: how amp is configured is known from others' documentation only; attach it with \
             --experimental, or see --print amp\n",
        ),
        (
            "attach cursor codex --agent-id x",
            "fatal: --agent-id is for one agent: two cannot be the same\n",
        ),
        ("attach zed --instructions", "fatal: zed has no instruction file that mk knows\n"),
    ] {
        repo.refuses(line, 129, "invalid-argument", stderr);
    }
    repo.refuses(
        "detach cursor",
        128,
        "no-project",
        "fatal: not a mk project (or any of the parent directories): ~\nhint: make one with `mk init`\n",
    );
    repo.mk("init").success();
    repo.refuses(
        "detach",
        129,
        "invalid-argument",
        "fatal: no agent is named\nhint: name those you mean, or --all\n",
    );
}

#[test]
fn a_file_that_is_refused_is_told_with_its_place() {
    let repo = machine();
    std::fs::create_dir_all(repo.path("shop/.vscode")).unwrap();
    repo.write("shop/.vscode/mcp.json", "{\n  \"servers\": {,}\n}\n");
    repo.session(
        r#"
        $ cd shop; mk attach cursor vscode
        skipped	cursor	~/shop/.cursor/mcp.json: another was refused
        refused	vscode	~/shop/.vscode/mcp.json: line 2, column 15: Unexpected token in object
        [1]
        $ cd shop; ls -A
        .mk
        .vscode
        "#,
    );
}

#[test]
fn a_worktree_has_configurations_of_its_own_and_shares_the_project() {
    let repo = machine();
    repo.sh("cd shop && git init -q . && git config user.name me && git config user.email me@x && git commit -q --allow-empty -m x && git worktree add -q ../other")
        .success();
    repo.sh("cd other && mk attach claude-code && test -e .mcp.json").success();
    repo.sh("ls shop/.mk/mk.db && test ! -e shop/.mcp.json && test ! -e other/.mk").success();
    repo.sh("cd other && mk detach claude-code && test ! -e .mcp.json").success();
}

#[test]
fn a_home_directory_is_no_project() {
    let repo = machine();
    for line in ["attach claude-code", "attach claude-code --dry-run"] {
        repo.refuses(
            line,
            129,
            "invalid-argument",
            "fatal: a project in '~' would be shared by all that lie below\n\
             hint: go to the directory of a project first\n",
        );
    }
    repo.sh("test ! -e .mk && test ! -e .mcp.json").success();
}

#[test]
fn an_entry_that_was_written_by_hand_is_given_back() {
    let repo = machine();
    let json = "{\"mcpServers\":{\"mk\":{\"command\":\"mk\",\"args\":[\"mcp\"],\"timeout\":5}}}";
    let bare = "{\"mcpServers\":{\"mk\":{\"command\":\"mk\",\"args\":[\"mcp\"]}}}";
    let toml = "[mcp_servers.\"mk\"]\ncommand = \"mk\"\nargs=[\"mcp\"]\n[z]\n";
    std::fs::create_dir(repo.path("shop/.codex")).unwrap();
    std::fs::create_dir(repo.path("shop/.cursor")).unwrap();
    repo.write("shop/.mcp.json", json);
    repo.write("shop/.codex/config.toml", toml);
    repo.write("shop/.cursor/mcp.json", bare);
    let read = |file: &str| std::fs::read_to_string(repo.path(file)).unwrap();
    for more in ["", " && mk attach claude-code codex cursor --read-only"] {
        let script = format!(
            "cd shop && mk attach claude-code codex cursor{more} && mk detach claude-code codex cursor"
        );
        let done = repo.sh(&script).success();
        let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
        assert_eq!(said.matches("removed\t").count(), 3, "{said}");
        assert_eq!(read("shop/.mcp.json"), json);
        assert_eq!(read("shop/.codex/config.toml"), toml);
        assert_eq!(read("shop/.cursor/mcp.json"), bare);
    }
    // What was changed since is still told.
    let script = "cd shop && mk attach claude-code >/dev/null && sed -i s/5/6/ .mcp.json && mk detach claude-code";
    repo.sh(script).code(1);
    assert!(read("shop/.mcp.json").contains("6"));
}

#[test]
fn a_store_whose_name_is_no_text_is_not_put_into_a_text() {
    let repo = machine();
    let script = |line: &str| format!("d=$(printf 'shop/a\\377b'); mkdir -p $d; cd $d; {line}");
    let told = format!(
        "fatal: the file of claude-desktop must name '{}/shop/a\u{fffd}b/.mk/mk.db', which is not UTF-8: \
         no file of text can hold its name\n",
        repo.path("").display().to_string().trim_end_matches('/')
    );
    repo.sh(&script("mk attach claude-desktop")).code(129).stderr(told.clone());
    repo.sh(&script("mk attach --print claude-desktop")).code(129).stderr(told);
    assert!(!repo.path(".config").exists());
    repo.sh(&script("mk attach claude-code")).success();
    repo.sh(&script("mk detach --all")).success();
}

#[test]
fn directories_that_were_there_stay() {
    let repo = Sandbox::new();
    let script = "mkdir -p c/a/codex; export CODEX_HOME=$PWD/c/a/codex; mk attach codex --scope user && \
                  mk detach codex --scope user && find c";
    let done = repo.sh(script).success();
    let output = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(output.ends_with("\nc\nc/a\n"), "{output}");
}
