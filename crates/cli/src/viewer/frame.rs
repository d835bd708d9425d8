//! Common HTML of the viewer and playground pages, with placeholders for their differences.
//! `cargo xtask web` includes this file.

/// A page: `frame` with each placeholder replaced by a part of `parts`. A placeholder is a line
/// `<!--# NAME -->`; in `parts` such a line begins the part of that name.
pub(crate) fn filled(frame: &str, parts: &str) -> String {
    let mut page = String::new();
    for line in frame.lines() {
        match place(line) {
            Some(name) => part(parts, name).for_each(|line| push(&mut page, line)),
            None => push(&mut page, line),
        }
    }
    page
}

fn place(line: &str) -> Option<&str> {
    line.strip_prefix("<!--# ")?.strip_suffix(" -->")
}

fn part<'a>(parts: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let mut lines = parts.lines();
    lines.find(|line| place(line) == Some(name));
    lines.take_while(|line| place(line).is_none())
}

fn push(page: &mut String, line: &str) {
    page.push_str(line);
    page.push('\n');
}
