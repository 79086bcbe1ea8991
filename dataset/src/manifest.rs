//! What a data set holds and where it came from: a manifest for programs, a card for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::choosing::Verdict;
use crate::sample::{Origin, Sample, Skip};
use crate::shard::PartHeader;

/// Version of the manifest.
pub const FORMAT: u32 = 1;

/// What the samples of a data set depend on; given by whoever makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Name of the data set.
    pub name: String,
    /// Seeds by what they seed.
    pub seeds: BTreeMap<String, u64>,
    /// Versions by program: this one, Python, the formats.
    pub versions: BTreeMap<String, String>,
}

/// Counts over all parts. The same parts give the same manifest, whoever made them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// How it was made.
    pub recipe: Recipe,
    /// Units by kind of source.
    pub units: BTreeMap<String, u64>,
    /// Samples by kind of source.
    pub samples: BTreeMap<String, u64>,
    /// Samples by side: `train`, `validation`.
    pub sides: BTreeMap<String, u64>,
    /// Programs, by what became of them.
    pub programs: BTreeMap<String, u64>,
    /// Actions over all samples.
    pub actions: BTreeMap<String, u64>,
    /// Every file that samples were made of, with its licence.
    pub origins: BTreeSet<Origin>,
    /// Units, functions and programs without samples, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Functions and programs that gave no samples, with the reason.
    pub left_out: BTreeMap<String, String>,
    /// Keys of units that nothing can be made of, with the reason.
    pub unsuitable: BTreeMap<String, String>,
    /// Keys of units in which the worker failed, with what it said.
    pub crashed: BTreeMap<String, String>,
    /// Units and programs that are duplicates, with what they are duplicates of.
    pub duplicates: BTreeMap<String, String>,
    /// Units and programs that are contaminated, with the reason.
    pub contaminated: BTreeMap<String, String>,
    /// Data files with their SHA-256.
    pub files: BTreeMap<String, String>,
}

impl Manifest {
    /// An empty manifest.
    pub fn new(recipe: Recipe) -> Self {
        Self {
            format: FORMAT,
            recipe,
            ..Self::default()
        }
    }

    /// Counts a unit.
    pub fn add_unit(&mut self, header: &PartHeader) {
        *self.units.entry(header.source.clone()).or_default() += 1;
        for (name, reason) in &header.left_out {
            // The part up to the colon is the kind, behind it stand names.
            let kind = reason.split(':').next().unwrap_or(reason);
            *self.skipped.entry(kind.to_owned()).or_default() += 1;
            self.left_out.insert(name.clone(), reason.clone());
        }
        let Some(skip) = &header.skipped else { return };
        *self.skipped.entry(skip.label()).or_default() += 1;
        let (table, text) = match skip {
            Skip::Unsuitable { reason } => (&mut self.unsuitable, reason),
            Skip::Duplicate { of } => (&mut self.duplicates, of),
            Skip::Contaminated { reason } => (&mut self.contaminated, reason),
            Skip::Crashed { reason } => (&mut self.crashed, reason),
        };
        table.insert(header.key.clone(), text.clone());
    }

    /// Counts what becomes of a program; `name` gives that of another by its number.
    pub fn add_verdict(
        &mut self,
        program: &str,
        verdict: &Verdict,
        name: impl Fn(usize) -> String,
    ) {
        let label = match verdict {
            Verdict::Training | Verdict::Validation => {
                *self.programs.entry("kept".into()).or_default() += 1;
                return;
            }
            Verdict::Duplicate(of) => {
                self.duplicates.insert(program.to_owned(), name(*of));
                "duplicate".to_owned()
            }
            Verdict::Contaminated(check, reason) => {
                self.contaminated.insert(program.to_owned(), reason.clone());
                format!("contaminated: {check}")
            }
            Verdict::Withheld(_) => "withheld: shares a function with the validation side".into(),
            Verdict::Unparsed => "does not parse".into(),
        };
        *self.programs.entry(label).or_default() += 1;
    }

    /// Counts a sample that is written.
    pub fn add_sample(&mut self, source: &str, side: &str, sample: &Sample) {
        *self.samples.entry(source.to_owned()).or_default() += 1;
        *self.sides.entry(side.to_owned()).or_default() += 1;
        for (action, count) in &sample.actions {
            *self.actions.entry(action.clone()).or_default() += count;
        }
        if let Some(origin) = &sample.origin {
            self.origins.insert(origin.clone());
        }
    }

    /// The data card: Markdown for people.
    pub fn card(&self) -> String {
        // The block that Hugging Face's `datasets` and its hub read.
        let mut text = String::from("---\nconfigs:\n- config_name: default\n  data_files:\n");
        for side in self.sides.keys() {
            let _ = writeln!(text, "  - split: {side}\n    path: {side}-*.jsonl.zst");
        }
        let _ = write!(
            text,
            "---\n# {}\n\nStep-by-step recordings of Python code. `datasets` needs the package \
             `zstandard` to read the files.\n",
            self.recipe.name
        );
        let mut table = |title: &str, head: &str, rows: Vec<(String, String)>| {
            if rows.is_empty() {
                return;
            }
            let _ = writeln!(text, "\n## {title}\n\n| {head} | |\n|---|---:|");
            for (name, value) in rows {
                let _ = writeln!(text, "| {} | {value} |", escaped(&name));
            }
        };
        let counts = |table: &BTreeMap<String, u64>| {
            table
                .iter()
                .map(|(name, count)| (name.clone(), count.to_string()))
                .collect::<Vec<_>>()
        };
        table("Samples", "source", counts(&self.samples));
        table("Samples by side", "side", counts(&self.sides));
        table("Programs", "what became of them", counts(&self.programs));
        table("Units of work", "source", counts(&self.units));
        table("Actions", "action", counts(&self.actions));
        table("Left out", "reason", counts(&self.skipped));
        let mut licences: BTreeMap<(String, String), u64> = BTreeMap::new();
        for origin in &self.origins {
            *licences
                .entry((origin.project.clone(), origin.licence.clone()))
                .or_default() += 1;
        }
        let rows = licences.into_iter().map(|((project, licence), files)| {
            (format!("{project} ({licence})"), files.to_string())
        });
        table("Sources and licences, in files", "project", rows.collect());
        table("Seeds", "what", counts(&self.recipe.seeds));
        let versions = self.recipe.versions.iter();
        table(
            "Versions",
            "what",
            versions.map(|(a, b)| (a.clone(), escaped(b))).collect(),
        );
        text.push_str(
            "\nValues were recorded from real runs. `manifest.json` names every file and its licence, \
             every unit that failed and every one that was dropped as a duplicate or as contaminated.\n",
        );
        text
    }
}

/// Text of a table cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
        .replace(['\n', '\r'], " ")
        .replace('<', "&lt;")
}
