//! Which programs of a data set are kept, and on which side they go.
//!
//! Decided when the parts are merged, in the order of the units: so it cannot depend on the shards.

use crate::decontaminate::Benchmark;
use crate::near_duplicates::{DuplicateOf, NearDuplicates, NearOptions};
use crate::normalised::{Normalised, normalise};
use crate::split::{Side, split};

/// What is left out, and how much validates.
#[derive(Debug, Clone, Default)]
pub struct Choosing {
    /// Whether duplicates are left out, and from when on a near one is one.
    pub near: Option<NearOptions>,
    /// What must not be in the data.
    pub benchmark: Option<Benchmark>,
    /// Share of functions that validate.
    pub validation: f64,
}

/// What becomes of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// A model sees it.
    Training,
    /// It measures models.
    Validation,
    /// Like the program with this number, exactly or nearly.
    Duplicate(usize),
    /// Too near to an item of the benchmark: which check, and why.
    Contaminated(&'static str, String),
    /// It shares a function with the validation side.
    Withheld(String),
    /// Its source does not parse, so that nothing above can be told.
    Unparsed,
}

/// A program that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its source.
    pub source: &'a str,
    /// Whether it may be a duplicate: walks through one repository often share functions, which is
    /// what their split is for.
    pub unique: bool,
}

/// Looks at programs one after another; the verdicts come when all were seen.
#[derive(Debug)]
pub struct Chooser<'c> {
    choosing: &'c Choosing,
    seen: Option<NearDuplicates>,
    /// Numbers of the programs that `seen` has been given.
    numbers: Vec<usize>,
    items: Vec<Normalised>,
    /// What was decided at once; none for what is left to the split.
    decided: Vec<Option<Verdict>>,
}

impl<'c> Chooser<'c> {
    /// Nothing seen.
    pub fn new(choosing: &'c Choosing) -> Self {
        Self {
            choosing,
            seen: choosing.near.map(NearDuplicates::new),
            numbers: Vec::new(),
            items: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// Looks at the next program.
    pub fn look(&mut self, candidate: Candidate<'_>) {
        let number = self.decided.len();
        let Ok(mut item) = normalise(candidate.source) else {
            self.decided.push(Some(Verdict::Unparsed));
            self.items.push(Normalised::default());
            return;
        };
        let verdict = self.verdict(number, &item, candidate.unique);
        self.decided.push(verdict);
        // A million programs' tokens would not fit; the split needs them of nameless code alone.
        if !item.functions.is_empty() {
            item.tokens = Vec::new();
        }
        item.written = Vec::new();
        self.items.push(item);
    }

    fn verdict(&mut self, number: usize, item: &Normalised, unique: bool) -> Option<Verdict> {
        let found = self
            .choosing
            .benchmark
            .as_ref()
            .and_then(|benchmark| benchmark.check(item));
        if let Some(found) = found {
            return Some(Verdict::Contaminated(found.check(), found.reason()));
        }
        let seen = self.seen.as_mut().filter(|_| unique)?;
        let duplicate = seen.add(item);
        self.numbers.push(number);
        duplicate.map(|of| {
            let (DuplicateOf::Exact(index) | DuplicateOf::Near(index, _)) = of;
            Verdict::Duplicate(self.numbers[index])
        })
    }

    /// A verdict for each program, in order.
    pub fn verdicts(self) -> Vec<Verdict> {
        // What is left out takes no side: a contaminated program must not withhold another.
        let open: Vec<usize> = (0..self.items.len())
            .filter(|&at| self.decided[at].is_none())
            .collect();
        let mut items = self.items;
        let kept: Vec<Normalised> = open
            .iter()
            .map(|&at| std::mem::take(&mut items[at]))
            .collect();
        let mut sides = split(&kept, self.choosing.validation).into_iter();
        self.decided
            .into_iter()
            .map(|decided| match decided {
                Some(verdict) => verdict,
                None => match sides.next() {
                    Some(Side::Validation) => Verdict::Validation,
                    Some(Side::Withheld { function }) => Verdict::Withheld(function),
                    Some(Side::Training) | None => Verdict::Training,
                },
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Chooser, Choosing, Verdict};
    use crate::decontaminate::Benchmark;
    use crate::near_duplicates::NearOptions;

    const COUNT: &str = "def count(text, letter):\n    number = 0\n    for one in text:\n        \
                         if one == letter:\n            number += 1\n    return number\n";
    const RENAMED: &str = "def tally(s, c):\n    n = 0\n    for x in s:\n        if x == c:\n            \
                           n += 1\n    return n\n";
    const OTHER: &str = "def pairs(items):\n    found = []\n    for at, item in enumerate(items):\n        \
                         found.append((at, item.upper()))\n    return dict(found)\n";

    fn verdicts(choosing: &Choosing, programs: &[(&str, bool)]) -> Vec<Verdict> {
        let mut chooser = Chooser::new(choosing);
        for &(source, unique) in programs {
            chooser.look(Candidate { source, unique });
        }
        chooser.verdicts()
    }

    #[test]
    fn duplicates_name_the_program_that_stays() {
        let choosing = Choosing {
            near: Some(NearOptions::default()),
            ..Choosing::default()
        };
        let programs = [
            (OTHER, true),
            ("def (", true),
            (COUNT, true),
            (RENAMED, true),
            (RENAMED, false),
        ];
        assert_eq!(
            verdicts(&choosing, &programs),
            [
                Verdict::Training,
                Verdict::Unparsed,
                Verdict::Training,
                Verdict::Duplicate(2),
                Verdict::Training
            ]
        );
    }

    #[test]
    fn what_is_in_the_benchmark_is_left_out_and_takes_no_side() {
        let line = serde_json::json!({ "id": "item-1", "code": RENAMED }).to_string();
        let choosing = Choosing {
            near: Some(NearOptions::default()),
            benchmark: Some(Benchmark::read(&line, "code", 13).unwrap()),
            validation: 1.0,
        };
        let found = verdicts(&choosing, &[(COUNT, true), (OTHER, true)]);
        assert!(
            matches!(&found[0], Verdict::Contaminated(_, why) if why.contains("item-1")),
            "{found:?}"
        );
        assert_eq!(found[1], Verdict::Validation);
    }
}
