//! What must agree with the definition of the commands: files, documents, the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The commands that `mk help` lists, with the first line on each.
fn listed(repo: &Sandbox) -> BTreeMap<String, String> {
    let done = repo.mk("help").success().stderr("");
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, about) = line.strip_prefix("  ")?.split_once(' ')?;
            (!name.is_empty()).then(|| (name.to_owned(), about.trim().to_owned()))
        })
        .collect()
}

#[test]
fn the_list_of_commands_is_ls_commands() {
    let files: BTreeSet<String> = fs::read_dir(root().join("commands"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "main.rs" && name != "cli")
        .map(|name| name.trim_end_matches(".rs").replace('_', "-"))
        .collect();
    let repo = Sandbox::empty();
    let mut commands: BTreeSet<String> = listed(&repo).into_keys().collect();
    // For those who build mk; not listed.
    repo.mk("generate --help").success();
    commands.insert("generate".to_owned());
    assert_eq!(commands, files);
}

#[test]
fn every_command_has_help() {
    let repo = Sandbox::empty();
    for (name, about) in listed(&repo) {
        let short = repo.mk(&format!("{name} -h")).success().stderr("");
        let short = String::from_utf8(short.get_output().stdout.clone()).unwrap();
        assert!(short.starts_with(&about), "{name}: {short}");
        let long = repo.mk(&format!("{name} --help")).success().stderr("");
        let long = long.get_output().stdout.clone();
        repo.mk(&format!("help {name}")).success().stdout(long);
    }
}

#[test]
fn man_pages_and_completions_are_as_generated() {
    let repo = Sandbox::empty();
    let place = root().to_str().unwrap();
    repo.mk(&format!("generate '{place}' --check")).success().stdout("");
}

#[test]
fn generate_writes_what_is_missing_and_removes_what_is_no_longer_made() {
    let repo = Sandbox::empty();
    repo.mk("generate . --check").code(1);
    assert!(repo.files().is_empty());
    repo.mk("generate .").success();
    repo.mk("generate . --check").success().stdout("");
    repo.write("man/mk-nothing.1", "");
    repo.mk("generate . --check").code(1).stdout("man/mk-nothing.1 (no longer generated)\n");
    repo.mk("generate .").success();
    repo.mk("generate . --check").success().stdout("");
}

#[test]
fn completions_are_those_that_are_generated() {
    let repo = Sandbox::empty();
    for (shell, file) in [("bash", "mk.bash"), ("zsh", "_mk"), ("fish", "mk.fish")] {
        let script = fs::read(root().join("completions").join(file)).unwrap();
        repo.mk(&format!("completions {shell}")).success().stdout(script).stderr("");
    }
    repo.refuses(
        "completions tcsh",
        129,
        "invalid-argument",
        "fatal: invalid value 'tcsh' for '<SHELL>': not one of bash, elvish, fish, powershell, zsh\n\
         hint: see `mk completions --help`\n",
    );
}

/// The codes of docs/spec/mcp.md, section 6.2, and of docs/design.md, section 10, with whether the
/// same call may succeed later.
fn documented() -> BTreeMap<String, bool> {
    let names = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let spec = fs::read_to_string(root().join("docs/spec/mcp.md")).unwrap();
    let rows = spec.lines().skip_while(|line| *line != "| code | retryable | when |").skip(2);
    let mut codes = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        for code in names(cells[1]) {
            // `no (`disk-full`, `io`: yes)` has exceptions.
            let retryable =
                cells[2].trim_start().starts_with("yes") || names(cells[2]).contains(&code);
            codes.insert(code, retryable);
        }
    }
    let design = fs::read_to_string(root().join("docs/design.md")).unwrap();
    let more = design.split("\n\n").find(|text| text.starts_with("**Codes** of refusals")).unwrap();
    let more = more.split_once("does not list:").unwrap().1;
    let (more, retryable) = more.split_once("and, retryable,").unwrap();
    codes.extend(names(more).into_iter().map(|code| (code, false)));
    codes.extend(names(retryable).into_iter().map(|code| (code, true)));
    codes
}

#[test]
fn every_code_is_documented_with_whether_to_try_again() {
    let repo = Sandbox::empty();
    let documented = documented();
    let answer = repo.json("help codes");
    let rows = answer["codes"].as_array().unwrap();
    for row in rows {
        let code = row["code"].as_str().unwrap();
        assert_eq!(row["retryable"].as_bool(), documented.get(code).copied(), "{code}");
        assert!([1, 75, 128, 129].contains(&row["exit"].as_u64().unwrap()), "{row}");
    }
    let names: BTreeSet<&str> = rows.iter().filter_map(|row| row["code"].as_str()).collect();
    let source: BTreeSet<&str> = mk::code::Code::ALL.iter().map(|code| code.name).collect();
    assert_eq!(names, source);
    assert_eq!(names.len(), rows.len());
}

#[test]
fn help_explains_a_command_or_the_codes() {
    let repo = Sandbox::empty();
    repo.session(
        r#"
        $ mk help codes
        CODE                   EXIT RETRYABLE MEANING
        invalid-argument        129 no        an argument is not of the form it must have
        unknown-member          129 no        an input object has a member that means nothing
        too-large               129 no        an input is larger than its limit
        branch-not-found        128 no        no branch has this name
        branch-exists             1 no        the name of a new branch is taken
        event-not-found         128 no        no event has this id, hash, sequence or time
        ambiguous-event         128 no        a hash prefix fits more than one event
        not-in-lineage            1 no        the event does not belong to the branch
        not-live                  1 no        the event is not on the live timeline of the branch
        reserved-branch           1 no        branches that begin with @ belong to mk
        reserved-type             1 no        events of this type are written by their own verb
        op-conflict               1 no        the op id was used before for another request
        stale-head                1 yes       the head of the branch is not the expected one
        others-reverted           1 no        a rollback would revert events of other agents
        merge-conflict            1 no        both branches changed the same key, each in its own way
        invalid-snapshot          1 no        a snapshot is not the fold of what it covers
        retract-unknown           1 no        there is nothing of that name to retract
        key-not-found           128 no        no decision or fact has this key
        prefix-required           1 no        the project has events of its own, so an import needs a prefix
        plan-blocked              1 no        the source is not sound
        import-diverged           1 no        an imported branch has events of its own since
        source-version            1 no        the source has a format that is not known
        source-changed            1 yes       the source was written to while it was read
        source-damaged          128 no        the file of the source cannot be read through
        not-memkernel             1 no        the file is no MemKernel database
        lease-held                1 yes       another holds a lease on it, or was first to wait for one
        lease-lost                1 no        the token is not the current one of a lease that you hold
        notice-not-found        128 no        no notice has this id
        not-author                1 no        a notice is cleared by its author alone
        author-not-allowed        1 no        the policy of the exchange lets this agent post and clear nothing here
        unsigned-import-disabled    1 no        notices come here by the signed exchange alone
        sync-off                  1 no        the project takes part in no signed exchange
        notice-conflict           1 no        a notice of a document says something else here
        timeout                   1 yes       a wait ended without what was waited for
        secret-refused            1 no        the input holds what looks like a secret
        not-erasable              1 no        the content of the event is gone, or cannot be taken alone
        bad-line                128 no        a line of an import is not one that an export wrote
        file-exists               1 no        there is a file of that name
        events-lost               1 no        a restore would lose events that the backup does not hold
        busy                     75 yes       another process held the write lock for the whole wait
        read-only               128 no        the store cannot be written by this user
        no-project              128 no        no project here or in any parent directory
        store-missing           128 no        the store of the project is not there
        store-newer             128 no        the store was written by a newer mk
        store-older             128 no        the store is none, or of a format no longer read
        store-damaged           128 no        the store contradicts itself
        store-unsupported-fs    128 no        file locks are not reliable there
        disk-full               128 yes       there is no space left for the store
        io                      128 yes       the operating system refused a file operation
        internal                128 no        a fault in mk itself
        $ mk switch -h
        Change the branch you work on

        Usage: mk switch [OPTIONS] [NAME]

        Arguments:
          [NAME]  The branch

        Options:
          -c, --create      Fork it from the current branch first
              --at <EVENT>  Fork point, with --create [default: the head of the current branch]
          -h, --help        Print help (see more with '--help')

        Options of every command:
          -C <DIR>                      Run as if started in DIR
              --db <FILE>               The store, instead of the one of the project around [env: MK_DB]
              --agent <ID>              Who acts [env: MK_AGENT] [default: `mk config agent.id`, else the
                                        login name]
              --branch <NAME>           The branch to work on [env: MK_BRANCH] [default: the current one]
              --json                    Answer in JSON
              --lock-timeout <SECONDS>  How long to wait for other writers, 0 to 86400 [default: 15]
              --color <WHEN>            When to colour text for people [possible values: auto, always,
                                        never]
        $ mk help swich
        ! fatal: no help on 'swich'
        ! hint: did you mean switch?
        [129]
        $ mk help generate | head -1
        Write man/ and completions/ from the definition of the commands
        $ mk --version
        mk 0.1.0
        "#,
    );
}
