//! What a patch of Codex or OpenCode touches.
//!
//! Rule: docs/spec/attach.md, section 6.1.

use std::path::Path;

use crate::setting::words;

/// What stands before the name of a file in a patch.
const MARKS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// What must stand between a mark and a name.
#[derive(Debug, Clone, Copy)]
pub enum Gap {
    /// As Codex wants it.
    Blank,
    /// OpenCode does without.
    None,
}

/// The files that a patch touches, by both names where one is moved. A mark may have white space before it,
/// as Codex reads it: so it may in a line of what a file says.
pub fn files(patch: &str, gap: Gap) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let rest = MARKS.iter().find_map(|mark| line.trim().strip_prefix(mark));
        let file = match gap {
            Gap::Blank => rest.and_then(|rest| rest.strip_prefix(' ')),
            Gap::None => rest,
        };
        let file = file.map(str::trim).filter(|file| !file.is_empty());
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
    let goes = command.strip_prefix("cd").is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let (directory, call) = if goes {
        let (change, call) = cut_at_and(command)?;
        let [_, directory] = <[String; 2]>::try_from(words(change)?).ok()?;
        (directory, call)
    } else {
        (String::new(), command)
    };
    let call = call.trim_start();
    let rest = ["apply_patch", "applypatch"].iter().find_map(|name| call.strip_prefix(name))?;
    let patch = rest.trim_start().strip_prefix("<<")?;
    let directory = Path::new(&directory);
    let files = files(patch, Gap::Blank).into_iter();
    Some(files.map(|file| directory.join(file).to_string_lossy().into_owned()).collect())
}

/// What stands before and after the first `&&` of `command` that is not quoted.
fn cut_at_and(command: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut chars = command.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                chars.next();
            }
            ('\'' | '"', None) => quote = Some(c),
            ('&', None) if command[at..].starts_with("&&") => {
                return Some((&command[..at], &command[at + 2..]));
            }
            _ => {}
        }
    }
    None
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
            ("cd\tsub &&\tapply_patch\t", Some(["sub/a b", "/c", "sub/d"])),
            ("cd 'a&&b' && apply_patch ", Some(["a&&b/a b", "/c", "a&&b/d"])),
            ("cd \"a\\\"&&b\" && apply_patch ", Some(["a\"&&b/a b", "/c", "a\"&&b/d"])),
            ("cd s\\ u'b'&&apply_patch ", Some(["s ub/a b", "/c", "s ub/d"])),
            ("cat > apply_patch ", None),
            ("cd 'a && apply_patch ", None),
            ("cd a b && apply_patch ", None),
            ("cdx a && apply_patch ", None),
            ("cd sub; apply_patch ", None),
            ("make && apply_patch ", None),
        ] {
            let found = files_of_command(&format!("{call}{patch}"));
            assert_eq!(found, expected.map(|it| it.map(str::to_owned).to_vec()), "{call}");
        }
        assert_eq!(files_of_command("apply_patch --help"), None);
        assert_eq!(files_of_command("cd sub && make"), None);
    }
    #[test]
    fn white_space_before_a_mark_hides_no_file() {
        let patch = "*** Begin Patch\n *** Update File: a\n\t*** Move to: b\n@@\n+*** Add File: c\n\
                     \u{a0}*** Delete File: d \r\n*** Update File:e\n";
        assert_eq!(files(patch, Gap::Blank), ["a", "b", "d"]);
        assert_eq!(files(patch, Gap::None), ["a", "b", "d", "e"]);
    }
}
