//! Commands in big projects stay within bounds of memory; `tests/big.py` has the shapes, which are made a
//! hundred times smaller here.

use std::process::Command;

use crate::sandbox::Sandbox;

#[test]
fn commands_in_big_projects_stay_within_256_mib() {
    let repo = Sandbox::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/big.py");
    let mut command = Command::new("python3");
    command.args([script, env!("CARGO_BIN_EXE_mk"), "--scale", "100", "--rounds", "1"]);
    let done = command.arg("--directory").arg(repo.path(".")).output().unwrap();
    let (said, told) =
        (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{told}");
    assert_eq!(said.matches("\n-- ").count(), 5, "{said}");
    assert_eq!(said.matches(" MiB").count(), 5 * 21, "{said}");
}
