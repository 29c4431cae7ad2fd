//! What looks like a secret is taken out, or refused, before a byte of it is stored.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// Of the form of a GitHub token; put together here so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// No file of the store has a byte of it, but for the first four, which say what it is.
fn is_nowhere(repo: &Sandbox) {
    let secret = token();
    for entry in fs::read_dir(repo.store()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let found = bytes.windows(secret.len() - 4).any(|part| part == &secret.as_bytes()[4..]);
        assert!(!found, "{} has the secret", path.display());
    }
}

#[test]
fn a_secret_in_a_value_is_taken_out_and_told_of() {
    let mut repo = Sandbox::new();
    let secret = token();
    repo.input = format!("{{\"a\":[\"token {secret}\",{{\"b\":\"{secret}\"}}]}}").into_bytes();
    for (line, id) in [
        (format!("note 'use {secret} here'"), 1),
        (format!("decide auth 'the token {secret}' -m 'see {secret}'"), 2),
        (format!("note x --meta '{{\"header\":\"Bearer {secret}\"}}'"), 3),
        (format!("task 'log in with {secret}' -c 'never print {secret}'"), 4),
        ("append --payload -".to_owned(), 5),
        (format!("fork try -m 'token {secret}'"), 6),
        (format!("fact token={secret}"), 7),
    ] {
        let done = repo.mk(&format!("--json {line}")).success();
        let (stdout, stderr) = (&done.get_output().stdout, &done.get_output().stderr);
        let warning = String::from_utf8_lossy(stderr);
        let start = format!("warning: event {id}: a secret was taken out (");
        assert!(warning.starts_with(&start) && warning.lines().count() == 1, "{line}: {warning}");
        let answer: serde_json::Value = serde_json::from_slice(stdout).unwrap();
        let event = if id == 6 { &answer["event"] } else { &answer };
        let shown = repo.json(&format!("show {id}"));
        assert_eq!(shown["events"][0]["metadata"]["redacted"], event["redacted"]);
        assert!(event["redacted"].as_array().is_some_and(|rules| rules.len() == 1), "{answer}");
        is_nowhere(&repo);
    }
    let text = repo.mk("context --full").success().get_output().stdout.clone();
    assert!(!String::from_utf8(text).unwrap().contains(&secret));
}

#[test]
fn a_secret_in_a_batch_is_taken_out_of_its_line() {
    let mut repo = Sandbox::new();
    repo.input = format!("{{}}\n{{\"payload\":{{\"note\":\"{}\"}}}}\n", token()).into_bytes();
    let done = repo.mk("append --batch").success();
    let warning = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(warning.starts_with("warning: event 2: a secret was taken out ("), "{warning}");
    is_nowhere(&repo);
}

#[test]
fn a_secret_in_a_name_can_only_be_refused() {
    let repo = Sandbox::new();
    let secret = token();
    for (line, place) in [
        (format!("decide {secret} x"), "payload.decision_key"),
        (format!("fact {secret}=x"), "the name of a member"),
        (format!("append --payload '{{\"{secret}\":1}}'"), "the name of a member"),
        (format!("note x --meta '{{\"a\":{{\"{secret}\":1}}}}'"), "the name of a member"),
    ] {
        is_refused(&repo, &line, place);
    }
}

/// `line` is refused for a secret at `place`, which is not printed.
fn is_refused(repo: &Sandbox, line: &str, place: &str) {
    let before = repo.files();
    let error = repo.refusal(line);
    assert_eq!(error["code"], "secret-refused", "{line}: {error}");
    assert_eq!(error["hint"], "take it out; see `mk config core.secrets`");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("{place} holds what looks like a secret (")), "{message}");
    assert!(!error.to_string().contains(&token()[4..]));
    assert_eq!(repo.files(), before, "{line} wrote something");
    is_nowhere(repo);
}

#[test]
fn under_the_policy_refuse_nothing_with_a_secret_is_written() {
    let mut repo = Sandbox::new();
    repo.mk("config core.secrets refuse").success();
    is_refused(&repo, &format!("note 'use {}'", token()), "payload.note");
    is_refused(&repo, &format!("note x --meta '{{\"h\":\"{}\"}}'", token()), "metadata.h");
    repo.input = format!("{{}}\n{{\"payload\":{{\"note\":\"{}\"}}}}\n", token()).into_bytes();
    is_refused(&repo, "append --batch", "line 2: payload.note");
}

#[test]
fn under_the_policy_off_everything_is_kept_as_it_is() {
    let repo = Sandbox::new();
    repo.mk("config core.secrets off").success();
    let secret = token();
    repo.mk(&format!("decide {secret} {secret}")).success().stderr("");
    let shown = repo.json("show");
    assert_eq!(shown["events"][0]["payload"]["decision_value"], secret);
    assert_eq!(shown["events"][0]["metadata"], serde_json::json!({}));
}

#[test]
fn a_batch_that_is_refused_warns_of_nothing() {
    let mut repo = Sandbox::new();
    repo.input = format!("{{\"payload\":{{\"note\":\"{}\"}}}}\n1\n", token()).into_bytes();
    repo.mk("append --batch")
        .code(129)
        .stderr("fatal: line 2: the event is a number, not a JSON object\n");
    repo.input.clear();
    repo.sh(&format!("mk note {} 2> /dev/full", token())).success();
}

/// A secret of the corpus, whole, and the rule that is to find it.
struct Secret {
    rule: String,
    text: String,
    secret: String,
}

fn fixture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/secrets");
    fs::read_to_string(directory.join(name)).unwrap().replace("\\n", "\u{b}")
}

fn corpus() -> (Vec<Secret>, Vec<String>) {
    let secret = |line: &str| {
        let line = line.replace('~', "").replace('\u{b}', "\n");
        let [rule, before, secret, after] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not four parts: {line}")
        };
        let text = format!("{before}{secret}{after}");
        Secret { rule: rule.to_owned(), text, secret: secret.to_owned() }
    };
    let secrets = fixture("secrets.tsv").split_terminator('\n').map(secret).collect();
    let look_alikes = fixture("look-alikes.txt");
    let look_alikes = look_alikes.split_terminator('\n').map(|line| line.replace('\u{b}', "\n"));
    (secrets, look_alikes.collect())
}

/// Appends a note a text, and answers by which rules each was changed.
fn appended(repo: &mut Sandbox, texts: &[&str]) -> Vec<Vec<String>> {
    let line = |text: &&str| serde_json::json!({ "payload": { "note": text } }).to_string() + "\n";
    repo.input = texts.iter().map(line).collect::<String>().into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    let lines = repo.mk("export").success().get_output().stdout.clone();
    let events = String::from_utf8(lines).unwrap();
    let events =
        events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut events: Vec<_> = events.filter(|event| event["hash"].is_string()).collect();
    events.sort_by_key(|event| event["sequence"].as_u64());
    let rules = |event: &serde_json::Value| {
        let rules = event["metadata"]["redacted"].as_array().cloned().unwrap_or_default();
        rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
    };
    events.iter().map(rules).collect()
}

#[test]
#[allow(clippy::print_stdout)]
fn of_the_corpus_each_secret_goes_and_each_look_alike_stays() {
    let (secrets, look_alikes) = corpus();
    let mut repo = Sandbox::new();
    let texts: Vec<&str> = secrets.iter().map(|secret| secret.text.as_str()).collect();
    let found = appended(&mut repo, &texts);
    let wrong = |(secret, rules): &(&Secret, &Vec<String>)| **rules != [secret.rule.clone()];
    let missed = secrets.iter().zip(&found).filter(wrong).map(|(it, rules)| (&it.text, rules));
    let missed: Vec<_> = missed.collect();
    let mut other = Sandbox::new();
    let texts: Vec<&str> = look_alikes.iter().map(String::as_str).collect();
    let taken = appended(&mut other, &texts);
    let taken: Vec<_> = look_alikes.iter().zip(&taken).filter(|(_, it)| !it.is_empty()).collect();
    let (hits, all) = (secrets.len() - missed.len(), secrets.len());
    println!(
        "recall {hits} of {all}, precision {hits} of {}, {} look-alikes",
        hits + taken.len(),
        look_alikes.len()
    );
    assert_eq!((missed, taken), (Vec::new(), Vec::new()));
    assert_eq!((hits, all, look_alikes.len()), SECRETS_HITS_AND_LOOK_ALIKES);
}

/// How many secrets are found, of how many, and how many look-alikes stay.
const SECRETS_HITS_AND_LOOK_ALIKES: (usize, usize, usize) = (44, 44, 40);

#[test]
fn no_byte_of_a_secret_is_in_the_store_a_backup_or_an_export() {
    let (secrets, _) = corpus();
    let mut repo = Sandbox::new();
    let texts: Vec<&str> = secrets.iter().map(|secret| secret.text.as_str()).collect();
    appended(&mut repo, &texts);
    // As arguments too, and in metadata; what begins with a dash is taken for an option.
    for secret in secrets.iter().filter(|secret| !secret.text.starts_with('-')) {
        repo.mk_words(&["note", &secret.text]).success();
    }
    let meta = serde_json::json!({ "seen": texts }).to_string();
    repo.mk_words(&["decide", "auth", texts[0], "-m", texts[5], "--meta", &meta]).success();
    // So many that the search has an index.
    repo.input = "{\"payload\":{\"note\":\"another\"}}\n".repeat(600).into_bytes();
    repo.mk("append --batch -q").success();
    repo.input.clear();
    repo.mk("search another").success();
    repo.mk("gc --force").success();
    repo.mk("backup saved.db").success();
    repo.mk("export out.ndjson").success();
    let files = fs::read_dir(repo.store()).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.chain([repo.path("saved.db"), repo.path("out.ndjson")]).collect();
    for suffix in ["mk.db", "-wal", "-shm", "-search"] {
        assert!(files.iter().any(|file| file.to_string_lossy().ends_with(suffix)), "{suffix}");
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for Secret { rule, secret, .. } in &secrets {
            // What is random of it: the longest run between marks, without what says what it is.
            let runs = secret.split(|c: char| !c.is_ascii_alphanumeric());
            let run = runs.max_by_key(|run| run.len()).unwrap().as_bytes();
            let tail = &run[run.len().saturating_sub(12)..];
            let found = bytes.windows(tail.len()).any(|window| window == tail);
            assert!(!found, "{} has a {rule}", file.display());
        }
    }
}

#[test]
fn whatever_reads_shows_what_stands_in_the_place_of_a_secret() {
    let mut repo = Sandbox::new();
    repo.set("MK_AGENT", "ann");
    let secret = token();
    repo.mk(&format!("decide auth 'token {secret}' -m 'see {secret}'")).success();
    repo.mk(&format!("note 'use {secret} here' --meta '{{\"header\":\"{secret}\"}}'")).success();
    repo.mk("fork try").success();
    repo.mk(&format!("decide auth 'another {secret}'")).success();
    repo.mk(&format!("notice post service:auth 'the token is {secret}'")).success();
    let export = repo.mk("export").success().get_output().stdout.clone();
    let mut other = Sandbox::new();
    other.input = export;
    other.mk("import -").success();
    other.input.clear();
    let mark = "[redacted:";
    for repo in [&repo, &other] {
        for (line, is_shown) in [
            ("show 1 2", true),
            ("log --branch try", true),
            ("cat-event 2", true),
            ("fold --branch try", true),
            ("context --full --branch try", true),
            ("diff main try", true),
            ("blame auth --at try", true),
            ("search token", true),
            ("export", true),
            ("notice list", false),
        ] {
            for line in [line.to_owned(), format!("--json {line}")] {
                let done = repo.mk(&line).success();
                let said = String::from_utf8_lossy(&done.get_output().stdout).into_owned();
                assert!(!said.contains(&secret[4..]), "mk {line}: {said}");
                assert!(!is_shown || said.contains(mark), "mk {line}: {said}");
            }
        }
        repo.mk(&format!("search {}", &secret[4..])).code(1).stdout("");
        repo.mk("verify").success();
        is_nowhere(repo);
    }
}
