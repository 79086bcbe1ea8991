//! `docs/cli.md`: the help texts and the exit codes, as one page.

use clap::{Command, CommandFactory};

use super::{Arguments, exit_codes};

/// The reference page, Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Command line\n\nGenerated from the program: do not edit. \
         `UPDATE_DOCS=1 cargo test -p ndbg-agent reference` writes it anew.\n",
    );
    let mut root = Arguments::command().term_width(80);
    root.build();
    write_command(&mut page, &mut root, "");
    page.push_str("\n## Exit codes\n\n```text\n");
    page.push_str(exit_codes().trim_start_matches("Exit codes:\n"));
    page.push_str("\n```\n");
    page
}

fn write_command(page: &mut String, command: &mut Command, prefix: &str) {
    let name = format!("{prefix}{}", command.get_name());
    let help = command.render_long_help().to_string();
    // The exit codes stand once, at the end.
    let help = help
        .split("\nExit codes:")
        .next()
        .unwrap_or(&help)
        .trim_end();
    page.push_str("\n## ");
    page.push_str(&name);
    page.push_str("\n\n```text\n");
    for line in help.lines() {
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page.push_str("```\n");
    for verb in command.get_subcommands_mut() {
        if verb.get_name() != "help" {
            write_command(page, verb, &format!("{name} "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
        let page = reference();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/cli.md is out of date: run with UPDATE_DOCS=1"
        );
    }
}
