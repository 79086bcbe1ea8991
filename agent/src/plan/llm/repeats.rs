//! Whether a model goes round in circles.

use std::collections::HashSet;

use super::answer::Hypothesis;

/// What was proposed before.
#[derive(Debug, Default)]
pub struct Repeats {
    edits: HashSet<Vec<(String, String, String)>>,
    claims: HashSet<String>,
}

impl Repeats {
    /// Whether a hypothesis is one of those before: the same edits, or the same claim without any. It is
    /// remembered.
    pub fn is_repeated(&mut self, hypothesis: &Hypothesis) -> bool {
        let mut edits: Vec<(String, String, String)> = hypothesis
            .edits
            .iter()
            .map(|edit| (edit.file.clone(), plain(&edit.old), plain(&edit.new)))
            .collect();
        edits.sort();
        let claim = self.claims.insert(words(&hypothesis.claim));
        if edits.is_empty() {
            return !claim;
        }
        !self.edits.insert(edits)
    }
}

/// Blanks do not make another edit.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}

fn words(claim: &str) -> String {
    let words: Vec<String> = claim
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::answer::Replacement;
    use super::*;

    fn hypothesis(claim: &str, edits: &[(&str, &str)]) -> Hypothesis {
        Hypothesis {
            claim: claim.into(),
            file: "a.py".into(),
            line: 1,
            prediction: None,
            edits: edits
                .iter()
                .map(|(old, new)| Replacement {
                    file: "a.py".into(),
                    old: (*old).into(),
                    new: (*new).into(),
                })
                .collect(),
        }
    }

    #[test]
    fn the_same_edits_are_a_repetition_whatever_is_claimed() {
        let mut seen = Repeats::default();
        assert!(!seen.is_repeated(&hypothesis("one", &[("a", "b")])));
        assert!(seen.is_repeated(&hypothesis("another", &[(" a\n", "b")])));
        assert!(!seen.is_repeated(&hypothesis("one", &[("a", "c")])));
    }

    #[test]
    fn without_edits_the_claim_counts() {
        let mut seen = Repeats::default();
        assert!(!seen.is_repeated(&hypothesis("`x` is None!", &[])));
        assert!(seen.is_repeated(&hypothesis("x is none", &[])));
    }
}
