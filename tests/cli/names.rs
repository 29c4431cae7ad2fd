//! Names of branches, agents and events that are refused, and those that are nearly right.

use crate::sandbox::Sandbox;

#[test]
fn a_branch_name_has_one_meaning() {
    let repo = Sandbox::new();
    let refused = |name: &str, why: &str| {
        let stderr = format!("fatal: branch name '{name}' is refused: {why}\n");
        repo.refuses(&format!("fork '{name}'"), 129, "invalid-argument", &stderr);
    };
    refused("a..b", "'..' stands for a range");
    refused("a//b", "'//' is an empty part");
    refused("a/", "it ends with '/' or '.'");
    refused("a.", "it ends with '/' or '.'");
    refused("17", "digits alone are an event id");
    refused("HEAD", "HEAD is the current branch");
}

#[test]
fn a_name_with_a_character_too_many_or_a_wrong_one_is_refused() {
    let repo = Sandbox::new();
    let long = "x".repeat(129);
    let refused = |line: &str, argument: &str, why: &str| {
        let value = line.rsplit_once(' ').unwrap().1.trim_matches('\'');
        let shown: String = value.chars().take(80).collect();
        let dots = if value.len() > 80 { "…" } else { "" };
        let command = line.split(' ').next().unwrap();
        let stderr = format!(
            "fatal: invalid value '{shown}{dots}' for '{argument}': {why}\n\
             hint: see `mk {command} --help`\n"
        );
        repo.refuses(line, 129, "invalid-argument", &stderr);
    };
    refused(
        &format!("fork {long}"),
        "<NAME>",
        "branch name 'xxxxxxxxxxxxxxxx…' has 129 characters, 128 are allowed",
    );
    refused("fork -- -x", "<NAME>", "branch name '-x' has '-' at character 1");
    refused("fork @exec", "<NAME>", "branch name '@exec' has '@' at character 1");
    refused("fork ''", "<NAME>", "branch name is empty");
    refused("fork café", "<NAME>", "branch name 'café' has 'é' at character 4");
    refused("note x --branch ../y", "--branch <NAME>", "branch name '../y' has '.' at character 1");
    refused(
        &format!("note x --agent {long}"),
        "--agent <ID>",
        "agent id 'xxxxxxxxxxxxxxxx…' has 129 characters, 128 are allowed",
    );
    refused("note x --agent a/b", "--agent <ID>", "agent id 'a/b' has '/' at character 2");
    repo.mk(&format!("fork {}", "x".repeat(128))).success();
    repo.mk("fork feature/a-b_c.d").success();
    repo.mk("note x --agent claude-code:1@host").success();
}

#[test]
fn names_that_differ_in_letter_case_are_two_agents_but_not_two_branches() {
    let repo = Sandbox::new();
    repo.mk("fork try").success();
    repo.refuses(
        "fork Try",
        1,
        "branch-exists",
        "error: a branch named 'try' exists, which differs from 'Try' in letter case only\n\
         hint: take another name, or work on it with `mk switch`\n",
    );
    repo.refuses(
        "log Try",
        128,
        "branch-not-found",
        "fatal: no branch 'Try', did you mean 'try'?\nhint: see `mk branch`, or make it with `mk fork`\n",
    );
    assert_eq!(repo.refusal("log Try")["details"]["nearest"], "try");
    assert_eq!(repo.json("--agent Ann note x")["agent_id"], "Ann");
    assert_eq!(repo.json("--agent ann note x")["agent_id"], "ann");
}

#[test]
fn a_control_character_in_an_argument_never_reaches_the_terminal() {
    let repo = Sandbox::new();
    for line in ["note x --agent", "note x --branch", "show", "fork", "log", "config", "help", ""] {
        for value in ["a\nb", "a\u{1b}[31mb", "a\rb"] {
            let mut words = shlex::split(line).unwrap();
            words.push(value.to_owned());
            let done = repo.mk_words(&words).failure();
            let stderr = String::from_utf8(done.get_output().stderr.clone()).unwrap();
            assert!(stderr.lines().count() <= 2, "{stderr}");
            assert!(!stderr.contains(['\u{1b}', '\r']), "{stderr:?}");
        }
    }
}

#[test]
fn a_revision_that_names_nothing_says_why() {
    let repo = Sandbox::new();
    repo.mk("note x").success();
    repo.mk("note y").success();
    let missing = |revision: &str, why: &str| {
        let stderr = format!("fatal: no event '{revision}': {why}\nhint: see `mk log`\n");
        repo.refuses(&format!("show '{revision}'"), 128, "event-not-found", &stderr);
    };
    missing("99", "ids go from 1 to 2");
    missing("0", "ids go from 1 to 2");
    missing("ffff", "no branch has this name, and no hash begins so");
    missing("main~2", "only 1 live events come before");
    missing("main@3", "its lineage has no sequence 3");
    missing("@{2020-01-01}", "nothing is as old as 2020-01-01T00:00:00.000000Z");
    let malformed = |revision: &str, why: &str| {
        let stderr = format!(
            "fatal: invalid value '{revision}' for '[REV]...': '{revision}' is no revision: {why}\n\
             hint: see `mk show --help`\n"
        );
        repo.refuses(&format!("show '{revision}'"), 129, "invalid-argument", &stderr);
    };
    malformed("main~x", "only ~N, @N or @{TIME} may follow");
    malformed("@{yesterday}", "the time in @{…} is not RFC 3339");
    malformed("a b", "a name has letters, digits and ._/- only");
    malformed("~1", "it has no name");
}

#[test]
fn a_prefix_that_fits_several_events_lists_them() {
    let mut repo = Sandbox::new();
    // With 600 events two share their first four digits as good as surely; the salts are pinned.
    repo.input = b"{}\n".repeat(600);
    repo.mk("append --batch -q").success();
    repo.input.clear();
    let done = repo.mk("rev-list").success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let mut hashes: Vec<&str> = text.lines().collect();
    hashes.sort_unstable();
    // Digits alone would be an event id.
    let alike = |pair: &&[&str]| {
        pair[0][..4] == pair[1][..4] && pair[0][..4].contains(|c: char| c.is_ascii_lowercase())
    };
    let pair = hashes.windows(2).find(alike).unwrap();
    let prefix = &pair[0][..4];
    let error = repo.refusal(&format!("show {prefix}"));
    assert_eq!(error["code"], "ambiguous-event");
    assert_eq!(error["hint"], "give more digits of the hash");
    let candidates: Vec<&str> = error["details"]["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it.as_str())
        .collect();
    assert_eq!(candidates.len(), hashes.iter().filter(|hash| hash.starts_with(prefix)).count());
    assert!(candidates.iter().any(|it| it.starts_with(&pair[0][..8])), "{error}");
    let message = format!("'{prefix}' is ambiguous: {}", candidates.join(", "));
    assert_eq!(error["message"], message);
    repo.mk(&format!("show {}", pair[0])).success();
    repo.input = format!("{prefix}\n").into_bytes();
    repo.mk("cat-event --batch-check").success().stdout(format!("{prefix} ambiguous\n"));
    repo.mk(&format!("rev-parse -q {prefix}")).code(1).stdout("").stderr("");
}

#[test]
fn a_secret_is_refused_as_a_name() {
    let repo = Sandbox::new();
    repo.mk("init").success();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    for line in [format!("fork {token}"), format!("--agent {token} note x")] {
        let refused = repo.mk(&line).code(1);
        let stderr = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(stderr.contains("what looks like a secret (github-token)"), "{stderr}");
        assert!(!stderr.contains(&token), "{stderr}");
    }
    repo.mk(&format!("note x --op-id {token}")).code(129);
    repo.mk("rev-list --all --count").success().stdout("0\n");
}

#[test]
fn digits_that_are_no_id_may_begin_a_hash() {
    let repo = Sandbox::new();
    repo.mk("init").success();
    for index in 0..300 {
        repo.mk(&format!("note {index}")).success();
    }
    let hashes = repo.mk("rev-list").success();
    let hashes = String::from_utf8(hashes.get_output().stdout.clone()).unwrap();
    let is_number = |hash: &&str| hash[..5].bytes().all(|digit| digit.is_ascii_digit());
    let numbers: Vec<&str> = hashes.lines().filter(is_number).collect();
    assert!(!numbers.is_empty(), "none of 300 hashes begins with five digits");
    for hash in numbers {
        repo.mk(&format!("rev-parse {}", &hash[..5])).success().stdout(format!("{hash}\n"));
        let short = repo.mk(&format!("rev-parse --short {hash}")).success();
        let short = String::from_utf8(short.get_output().stdout.clone()).unwrap();
        assert!(short.trim().bytes().any(|digit| digit.is_ascii_alphabetic()), "{short}");
        repo.mk(&format!("rev-parse {}", short.trim())).success().stdout(format!("{hash}\n"));
    }
}
