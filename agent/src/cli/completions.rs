//! `ndbg-agent completions`.

use clap::{Args, Command};
use clap_complete::Shell;

use super::print;
use super::trace::say;
use crate::outcome::Outcome;

/// Print the completions of a shell
///
///   source <(ndbg-agent completions bash)                # in ~/.bashrc
///   ndbg-agent completions zsh > ~/.zfunc/_ndbg-agent    # a folder of $fpath
///   ndbg-agent completions fish > ~/.config/fish/completions/ndbg-agent.fish
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArguments {
    /// Shell that completes
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Runs the verb for the program that `command` describes.
pub fn run(arguments: &CompletionsArguments, command: Command) -> Outcome {
    let script = script(arguments.shell, command);
    match print(&script) {
        Ok(()) => Outcome::Fixed,
        Err(stop) => say(&stop),
    }
}

fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::super::Arguments;
    use super::*;

    #[test]
    fn every_shell_knows_every_verb_and_option() {
        for &shell in Shell::value_variants() {
            let script = String::from_utf8(script(shell, Arguments::command())).unwrap();
            for word in ["localize", "max-time", "screening"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
