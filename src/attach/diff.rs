//! What would change in a file, as a unified diff.

/// Lines shown above and below a change.
const AROUND: usize = 3;

/// The change from `before` to `after`, in one hunk: edits of configurations stand together.
#[must_use]
pub fn unified(path: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let left = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(left).take_while(same).count();
    let from = head.saturating_sub(AROUND);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let below = tail.min(AROUND);
    let range = |length: usize| match length {
        0 => format!("{from},0"),
        length => format!("{},{length}", from + 1),
    };
    let (old_length, new_length) = (old_end + below - from, new_end + below - from);
    let old_name = if before.is_empty() { "/dev/null" } else { path };
    let mut out = format!(
        "--- {old_name}\n+++ {path}\n@@ -{} +{} @@\n",
        range(old_length),
        range(new_length)
    );
    let mut line = |mark: char, text: &str| {
        out.push(mark);
        out.push_str(text.strip_suffix('\n').unwrap_or(text));
        out.push('\n');
        if !text.ends_with('\n') {
            out.push_str("\\ No newline at end of file\n");
        }
    };
    old[from..head].iter().for_each(|text| line(' ', text));
    old[head..old_end].iter().for_each(|text| line('-', text));
    new[head..new_end].iter().for_each(|text| line('+', text));
    old[old_end..old_end + below].iter().for_each(|text| line(' ', text));
    out
}
