//! `mk sync`

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use crate::sandbox::Sandbox;

/// Two projects and the folder between them; ann works in the first and bob in the second.
struct Team {
    ann: Sandbox,
    bob: Sandbox,
    shared: TempDir,
}

impl Team {
    /// Both trust each other.
    fn new() -> Self {
        let (mut ann, mut bob) = (Sandbox::new(), Sandbox::new());
        // Or else both would draw the same key.
        ann.set("MK_SALT_SEED", "ann");
        bob.set("MK_SALT_SEED", "bob");
        let team = Self { ann, bob, shared: TempDir::new().unwrap() };
        let keys = ["ann", "bob"].map(|name| team.init(name));
        for (repo, peer, key) in [(&team.ann, "bob", &keys[1]), (&team.bob, "ann", &keys[0])] {
            repo.mk(&format!(
                "sync trust laptop-{peer} --policy sync.json --public-key {key} --agents {peer}"
            ))
            .success()
            .stdout("trusted: laptop-ann, laptop-bob\n");
        }
        for (repo, peer) in [(&team.ann, "ann"), (&team.bob, "bob")] {
            let told = format!("laptop-{peer} takes part in team\n");
            repo.mk("sync enable sync.json").success().stdout(told);
        }
        team
    }

    fn of(&self, name: &str) -> &Sandbox {
        if name == "ann" { &self.ann } else { &self.bob }
    }

    /// Makes a policy and answers with the public key.
    fn init(&self, name: &str) -> String {
        let folder = self.shared.path().display();
        let identity = self.of(name).json(&format!(
            "sync init sync.json --folder {folder} --workspace team --peer laptop-{name} \
             --agents {name}"
        ));
        assert_eq!(identity["peer_id"], format!("laptop-{name}"));
        identity["public_key"].as_str().unwrap().to_owned()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.shared.path().join(format!("laptop-{name}.json"))
    }
}

/// The messages of the notices in `repo`, and whether each is trusted.
fn notices(repo: &Sandbox) -> Vec<(String, serde_json::Value)> {
    let mut listing = repo.json("notice list --cleared");
    let notices = listing["notices"].as_array_mut().unwrap().iter_mut();
    notices
        .map(|it| (it["message"].as_str().unwrap().to_owned(), it["trusted_source"].take()))
        .collect()
}

#[test]
fn a_notice_goes_to_the_other_project_and_its_clear_follows() {
    let mut team = Team::new();
    let posted = team.ann.json("--agent ann notice post service:auth 'the login changes'");
    let id = posted["notice_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("laptop-ann:"), "{id}");
    team.ann
        .mk("sync run")
        .code(1)
        .stdout("published; 0 notices are new or cleared\nlaptop-bob: missing_file\n");
    team.bob.mk("sync run").success().stdout("published; 1 notice is new or cleared\n");
    assert_eq!(notices(&team.bob), [("the login changes".to_owned(), true.into())]);
    team.ann.mk("sync run").success().stdout("published; 0 notices are new or cleared\n");
    team.bob.now_ms += 7_000;
    team.bob.mk("sync run").success().stdout("published; 0 notices are new or cleared\n");
    team.bob
        .mk("sync status")
        .success()
        .stdout("laptop-bob in team\nlaptop-ann\tfresh\t2026-11-30T10:00:00+00:00\t-\n");
    team.bob.refuses(
        &format!("--agent bob notice clear {id}"),
        1,
        "not-author",
        &format!("error: notice '{id}' is of 'ann'\n"),
    );
    team.ann.mk(&format!("--agent ann notice clear {id}")).success();
    team.ann.mk("sync run").success();
    team.bob.mk("sync run").success().stdout("published; 1 notice is new or cleared\n");
    team.bob.mk("notice list").success().stdout("");
    team.bob.mk("sync audit -n 2").success().stdout(
        "2026-11-30T10:00:07+00:00\tlaptop-bob\tout\tpublished\t-\t3\t0\n\
         2026-11-30T10:00:07+00:00\tlaptop-ann\tin\taccepted\t-\t3\t1\n",
    );
    team.bob.mk("verify").success();
    team.ann.mk("verify").success();
}

#[test]
fn only_the_agents_of_a_peer_speak_there_and_nothing_comes_in_unsigned() {
    let team = Team::new();
    team.ann.refuses(
        "--agent bob notice post a:b x",
        1,
        "author-not-allowed",
        "error: 'bob' may post and clear no notices here: the policy of the signed exchange does \
         not name it\nhint: see `mk sync status`\n",
    );
    let document = r#"{"notices":[],"schema":"memkernel.notices/v1"}"#;
    team.ann.write("notices.json", document);
    team.ann.refuses(
        "notice import notices.json",
        1,
        "unsigned-import-disabled",
        "error: notices come here by the signed exchange alone\nhint: see `mk sync run`\n",
    );
    fs::rename(team.ann.path("sync.json"), team.ann.path("away.json")).unwrap();
    team.ann.refuses(
        "--agent ann notice post a:b x",
        1,
        "author-not-allowed",
        "error: 'ann' may post and clear no notices here: the policy of the signed exchange is \
         missing\nhint: see `mk sync status`\n",
    );
    team.ann
        .mk("sync status")
        .success()
        .stdout("the policy is gone: nobody can post, clear or import notices\n");
    assert_eq!(team.ann.json("sync status")["policy_required"], true);
    fs::rename(team.ann.path("away.json"), team.ann.path("sync.json")).unwrap();
    team.ann.mk("--agent ann notice post a:b x").success();
}

#[test]
fn what_is_forged_or_out_of_place_is_not_taken_in() {
    let team = Team::new();
    team.ann.mk("--agent ann notice post a:b 'as it was'").success();
    team.ann.mk("sync run").code(1);
    let sound = fs::read_to_string(team.file("ann")).unwrap();
    let error = |team: &Team| team.bob.mk("--json sync run").get_output().stdout.clone();
    let reason = |team: &Team| {
        let run: serde_json::Value = serde_json::from_slice(&error(team)).unwrap();
        assert_eq!(run["changed"], 0, "{run}");
        run["errors"]["laptop-ann"].as_str().unwrap_or("none").to_owned()
    };
    fs::write(team.file("ann"), sound.replace("as it was", "as it is not")).unwrap();
    assert_eq!(reason(&team), "invalid_signature");
    fs::write(team.file("ann"), "{}").unwrap();
    assert_eq!(reason(&team), "invalid_document");
    fs::write(team.file("ann"), vec![b' '; 8_388_609]).unwrap();
    assert_eq!(reason(&team), "oversized_file");
    let aside = team.shared.path().join("aside");
    fs::write(&aside, &sound).unwrap();
    fs::remove_file(team.file("ann")).unwrap();
    symlink(&aside, team.file("ann")).unwrap();
    assert_eq!(reason(&team), "unsafe_file");
    fs::remove_file(team.file("ann")).unwrap();
    fs::create_dir(team.file("ann")).unwrap();
    assert_eq!(reason(&team), "unsafe_file");
    fs::remove_dir(team.file("ann")).unwrap();
    assert_eq!(reason(&team), "missing_file");
    assert_eq!(notices(&team.bob), []);
    let status = team.bob.json("sync status");
    assert_eq!(status["peers"]["laptop-ann"]["last_error"], "missing_file");
    assert_eq!(status["peers"]["laptop-ann"]["status"], "never_received");
    fs::write(team.file("ann"), &sound).unwrap();
    assert_eq!(team.bob.json("sync run")["changed"], 1);
    // An older file that was put back says nothing new, and the one after it nothing other.
    team.ann.mk("sync run").success();
    team.bob.mk("sync run").success();
    fs::write(team.file("ann"), &sound).unwrap();
    assert_eq!(reason(&team), "replayed_sequence");
}

#[test]
fn a_peer_that_is_no_longer_trusted_is_not_listened_to() {
    let team = Team::new();
    team.ann.mk("--agent ann notice post a:b 'before'").success();
    team.ann.mk("sync run").code(1);
    team.bob.mk("sync run").success();
    assert_eq!(notices(&team.bob), [("before".to_owned(), true.into())]);
    team.bob.mk("sync revoke laptop-ann").success().stdout("trusted: laptop-bob\n");
    team.ann.mk("--agent ann notice post a:b 'after'").success();
    team.ann.mk("sync run").success();
    team.bob.mk("sync run").success().stdout("published; 0 notices are new or cleared\n");
    assert_eq!(notices(&team.bob), [("before".to_owned(), false.into())]);
}

#[test]
fn a_policy_that_others_can_touch_is_refused() {
    let team = Team::new();
    let policy = team.ann.path("sync.json");
    let mode = |mode| fs::set_permissions(&policy, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    let open = "fatal: '~/sync.json' can be read or written by others than its owner: chmod 600\n";
    team.ann.refuses(
        "sync enable ~/sync.json".replace('~', &home(&team.ann)).as_str(),
        129,
        "invalid-argument",
        open,
    );
    team.ann.refuses("--agent ann notice post a:b x", 129, "invalid-argument", open);
    team.ann.mk("notice list").success().stderr(format!(
        "warning: no notice is trusted: '{}' can be read or written by others than its owner: \
         chmod 600\n",
        policy.display()
    ));
    mode(0o600);
    team.ann.mk("sync run").code(1);
    let folder = team.shared.path().display();
    team.ann.refuses(
        &format!("sync init sync.json --folder {folder} --workspace w --peer p --agents a"),
        1,
        "file-exists",
        "error: cannot make 'sync.json.key': File exists (os error 17)\n\
         hint: nothing is ever overwritten\n",
    );
    team.ann.refuses(
        "sync revoke laptop-ann",
        129,
        "invalid-argument",
        "fatal: the own peer cannot be revoked\n",
    );
    let key = "00".repeat(32);
    team.ann.refuses(
        &format!("sync trust laptop-bob --public-key {key} --agents bob"),
        129,
        "invalid-argument",
        "fatal: peer 'laptop-bob' is trusted already\nhint: give it another key with --replace\n",
    );
    team.ann.refuses(
        &format!("sync trust con --public-key {key} --agents cyd"),
        129,
        "invalid-argument",
        "fatal: the policy is none of memkernel.sync-config/v1: trusted peer 'con': no peer can have \
         this name\n",
    );
    fs::write(team.ann.path("sync.json.key"), [1; 32]).unwrap();
    team.ann.refuses(
        "sync run",
        129,
        "invalid-argument",
        "fatal: the key in '~/sync.json.key' is not that of the public key of 'laptop-ann' in the \
         policy\n",
    );
}

fn home(repo: &Sandbox) -> String {
    repo.path("").display().to_string().trim_end_matches('/').to_owned()
}

#[test]
fn a_project_is_one_peer_of_one_exchange() {
    let team = Team::new();
    let folder = team.shared.path().display();
    team.ann
        .mk(&format!("sync init other.json --folder {folder} --workspace w --peer p --agents a"))
        .success();
    team.ann.refuses(
        "sync enable other.json",
        129,
        "invalid-argument",
        "fatal: the project is bound to 'laptop-ann' of 'team', and the policy is of 'p' of 'w'\n",
    );
    let repo = Sandbox::new();
    repo.refuses(
        "sync run",
        1,
        "sync-off",
        "error: the project takes part in no signed exchange\nhint: join one with `mk sync enable \
         POLICY`\n",
    );
    repo.mk("sync status").success().stdout("no exchange\n");
    repo.mk("sync audit").success().stdout("");
    let inside = repo.path("").display().to_string();
    repo.mk(&format!("sync init p.json --folder {inside} --workspace w --peer p --agents a"))
        .success();
    repo.refuses(
        "sync enable p.json",
        129,
        "invalid-argument",
        "fatal: 'p.json' lies in the folder that is shared\n",
    );
}
