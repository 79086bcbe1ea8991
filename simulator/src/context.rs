//! The CODE of a trace: the source of the functions that a scope runs.

use std::collections::BTreeSet;

use crate::recording::{CodeFlags, CodeId, File};
use crate::state::EventKind;
use crate::tree::Tree;

/// Source of the functions that a scope runs, each once, whole lines with their indentation.
///
/// In order of file and line, so that a `main` at the end of the text stays at the end. Functions
/// inside of others come with those, methods with the first line of their class. Modules and class bodies
/// that run are left out, and so is code without source: a module's text would be all of a file.
pub fn scope_source(tree: &Tree<'_>) -> String {
    let recording = tree.recording();
    let codes = tree
        .events()
        .filter(|&event| recording.kind(event) == EventKind::Call)
        .map(|event| recording.activation_of(event).code)
        .collect::<BTreeSet<_>>();
    let mut blocks: Vec<_> = codes.iter().filter_map(|&code| place(tree, code)).collect();
    blocks.sort_unstable();
    let mut out = String::new();
    let mut before: Option<Block> = None;
    let mut shown = Vec::new();
    for block in blocks {
        if before.is_some_and(|b| b.file == block.file && b.end >= block.end) {
            continue;
        }
        let file = recording.files().get(block.file as usize);
        let classes = file
            .map(|file| classes_around(file, block.start))
            .unwrap_or_default();
        for &line in classes
            .iter()
            .filter(|&&line| !shown.contains(&(block.file, line)))
        {
            out.push_str(file.map_or("", |file| file.line(line)));
            out.push('\n');
        }
        shown = classes.into_iter().map(|line| (block.file, line)).collect();
        push(file, block, &mut out);
        before = Some(block);
    }
    out
}

/// First lines of the classes around a line, the outermost first: a method without its class would
/// look like a function that is indented by mistake.
fn classes_around(file: &File, line: u32) -> Vec<u32> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut inner = indentation(file.line(line));
    let mut found = Vec::new();
    for number in (1..line).rev() {
        let text = file.line(number);
        if inner == 0 {
            break;
        }
        if text.trim().is_empty() || indentation(text) >= inner {
            continue;
        }
        let start = text.trim_start();
        if start.starts_with("class ") {
            inner = indentation(text);
            found.push(number);
        } else if start.starts_with("def ") || start.starts_with("async def ") {
            // A function inside of a function comes with that one.
            break;
        }
    }
    found.reverse();
    found
}

/// Source of the root's function alone, as an inverse trace shows it.
pub fn root_source(tree: &Tree<'_>) -> String {
    let recording = tree.recording();
    let mut out = String::new();
    if let Some(block) = place(tree, recording.activation(tree.root()).code) {
        push(recording.files().get(block.file as usize), block, &mut out);
    }
    out
}

/// One-based lines of a file, the end not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Block {
    file: u32,
    start: u32,
    end: u32,
}

fn place(tree: &Tree<'_>, id: CodeId) -> Option<Block> {
    let recording = tree.recording();
    let code = &recording.codes()[id.index()];
    let unwanted = [CodeFlags::MODULE, CodeFlags::CLASS, CodeFlags::OPAQUE];
    if unwanted.iter().any(|&flag| code.flags.has(flag)) {
        return None;
    }
    let file = &recording.files()[code.file.index()];
    let end = block_end(file, code.first_line)?;
    Some(Block {
        file: code.file.0,
        start: code.first_line,
        end,
    })
}

fn push(file: Option<&File>, block: Block, out: &mut String) {
    let Some(file) = file else { return };
    for line in block.start..block.end {
        out.push_str(file.line(line));
        out.push('\n');
    }
}

/// Line behind the block that a line begins: the first one that is indented no deeper, but for blank
/// lines, comments, and lines inside of brackets and strings.
fn block_end(file: &File, first: u32) -> Option<u32> {
    let lines = file.line_count();
    if first == 0 || first > lines {
        return None;
    }
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let outer = indentation(file.line(first));
    let mut inside = Inside::default();
    inside.read(file.line(first));
    let mut end = first + 1;
    for number in first + 1..=lines {
        let line = file.line(number);
        if !inside.is_open() {
            let text = line.trim_start();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if indentation(line) <= outer {
                break;
            }
        }
        inside.read(line);
        end = number + 1;
    }
    Some(end)
}

/// What a line leaves open.
#[derive(Debug, Default)]
struct Inside {
    brackets: usize,
    /// The quote that ends a string over several lines.
    quote: Option<&'static str>,
    continues: bool,
}

impl Inside {
    fn is_open(&self) -> bool {
        self.brackets > 0 || self.quote.is_some() || self.continues
    }

    fn read(&mut self, line: &str) {
        self.continues = false;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if let Some(quote) = self.quote {
                if first == '\\' {
                    let mut after = rest.chars();
                    after.by_ref().take(2).for_each(drop);
                    rest = after.as_str();
                } else if let Some(after) = rest.strip_prefix(quote) {
                    self.quote = None;
                    rest = after;
                } else {
                    rest = &rest[first.len_utf8()..];
                }
                continue;
            }
            let quote = ["\"\"\"", "'''", "\"", "'"]
                .into_iter()
                .find(|q| rest.starts_with(q));
            if let Some(quote) = quote {
                self.quote = Some(quote);
                rest = &rest[quote.len()..];
                continue;
            }
            match first {
                '#' => break,
                '(' | '[' | '{' => self.brackets += 1,
                ')' | ']' | '}' => self.brackets = self.brackets.saturating_sub(1),
                '\\' if rest.len() == 1 => self.continues = true,
                _ => {}
            }
            rest = &rest[first.len_utf8()..];
        }
        // A string in single quotes ends with its line, whatever it looks like.
        self.quote = self.quote.filter(|quote| quote.len() == 3);
    }
}

#[cfg(test)]
mod tests {
    use super::block_end;
    use crate::recording::File;

    #[track_caller]
    fn check(text: &str, first: u32, end: u32) {
        let file = File::new("m.py".to_owned(), Some(text.to_owned()));
        assert_eq!(block_end(&file, first), Some(end));
    }

    #[test]
    fn a_method_is_shown_in_its_class() {
        let text = "class A:\n    x = 1\n\n    class B(A):\n        def m(self):\n            1\n";
        let file = File::new("m.py".to_owned(), Some(text.to_owned()));
        assert_eq!(super::classes_around(&file, 5), [1, 4]);
        assert!(super::classes_around(&file, 1).is_empty());
    }

    #[test]
    fn a_block_ends_where_the_indentation_does() {
        check("def f():\n    a\n\n    b\n\n# c\ndef g(): pass\n", 1, 5);
        check("def f(): pass\ndef g(): pass", 1, 2);
        check("def f(): pass\ndef g(): pass", 2, 3);
        check("class A:\n    def m(self):\n        1\n    x = 2\n", 2, 4);
    }

    #[test]
    fn brackets_and_strings_may_stand_further_left() {
        check(
            "def f(\n):\n    x = '''\nleft\n'''\n    return x\ny = 1\n",
            1,
            7,
        );
        check(
            "def f():\n    x = [  # (\n1]\n    s = '\\'('\n    return (x +\\\n1)\ny\n",
            1,
            7,
        );
        check("def f():\n    return 1 + \\\n2\ny\n", 1, 4);
    }

    #[test]
    fn wide_characters_after_a_backslash_do_not_matter() {
        check("def f():\n    return ('\\é'\n)\nx\n", 1, 4);
    }
}
