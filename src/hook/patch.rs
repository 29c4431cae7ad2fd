//! What a patch of Codex touches.
//!
//! Rule: docs/spec/attach.md, section 6.1.

use std::path::Path;

/// What stands before the name of a file in a patch.
const MARKS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The files that a patch touches, by both names where one is moved.
pub fn files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let file = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim);
        if let Some(file) = file.filter(|file| !files.iter().any(|known| known == file)) {
            files.push(file.to_owned());
        }
    }
    files
}

/// The files that `command` touches, if it is a patch to Codex, which applies it then instead of running a
/// shell: `[cd DIRECTORY &&] apply_patch <<WORD`, and nothing else.
pub fn files_of_command(command: &str) -> Option<Vec<String>> {
    let command = command.trim_start();
    let (directory, call) = match command.strip_prefix("cd ") {
        Some(rest) => rest.split_once("&&")?,
        None => ("", command),
    };
    let call = call.trim_start();
    let rest = ["apply_patch", "applypatch"].iter().find_map(|name| call.strip_prefix(name))?;
    let patch = rest.trim_start().strip_prefix("<<")?;
    let directory = Path::new(directory.trim().trim_matches(['\'', '"']));
    let files = files(patch).into_iter();
    Some(files.map(|file| directory.join(file).to_string_lossy().into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_a_patch_names_its_files() {
        let patch = "<<'EOF'\n*** Begin Patch\n*** Add File: a b\n*** Update File: /c\n*** Move to: d\nEOF\n";
        for (call, expected) in [
            ("apply_patch ", Some(["a b", "/c", "d"])),
            (" applypatch", Some(["a b", "/c", "d"])),
            ("cd sub && apply_patch ", Some(["sub/a b", "/c", "sub/d"])),
            ("cd 'su b' &&\napply_patch ", Some(["su b/a b", "/c", "su b/d"])),
            ("cat > apply_patch ", None),
            ("cd sub; apply_patch ", None),
            ("make && apply_patch ", None),
        ] {
            let found = files_of_command(&format!("{call}{patch}"));
            assert_eq!(found, expected.map(|it| it.map(str::to_owned).to_vec()), "{call}");
        }
        assert_eq!(files_of_command("apply_patch --help"), None);
        assert_eq!(files_of_command("cd sub && make"), None);
    }
}
