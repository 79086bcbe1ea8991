//! Everything that a report says, as figures: what `report.json` holds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::{End, Entry, Settings};
use super::figures::Figures;
use super::source::Scope;

/// Version of `report.json`; raised when a field changes its meaning or goes away.
const FORMAT: u32 = 1;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program that counted.
    pub version: &'static str,
    /// Names of tasks.
    pub tasks: usize,
    /// What the runs were made with; other parts name a setting by its number.
    pub settings: Vec<Setting>,
    /// Runs by planner and model.
    pub by_planner: Vec<Group>,
    /// Runs by whether the simulator took part.
    pub by_simulator: Vec<Group>,
    /// Runs by kind of bug.
    pub by_kind: Vec<Group>,
    /// Runs by repository.
    pub by_repository: Vec<Group>,
    /// What could not be tried or graded, by class.
    pub infrastructure: Vec<Failures>,
    /// Every run, by task.
    pub runs: Vec<Run>,
}

/// One setting, and what was reached with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// From 1.
    pub number: usize,
    /// What tells it from the other settings.
    pub name: String,
    /// All of it.
    #[serde(flatten)]
    pub settings: Settings,
    /// Tasks of the benchmark that can be run; those with a result where nothing else is known.
    pub tasks: usize,
    /// Tasks that can be run and have no result yet.
    pub without_result: Vec<String>,
    /// Tasks that cannot be run here, with the reason.
    pub unsupported: BTreeMap<String, String>,
    /// What was reached.
    pub figures: Figures,
}

/// Runs that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// Number of their setting; none where runs of several settings are counted together.
    pub setting: Option<usize>,
    /// What was reached.
    pub figures: Figures,
}

/// Infrastructure failures of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// The class.
    pub class: String,
    /// Runs.
    pub runs: Vec<Failure>,
}

/// An infrastructure failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Name of the task.
    pub task: String,
    /// Number of the setting.
    pub setting: usize,
    /// What happened.
    pub message: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Number of the setting.
    pub setting: usize,
    /// The run.
    #[serde(flatten)]
    pub entry: Entry,
}

impl Summary {
    /// Counts over runs that [`super::belonging::together`] put in order.
    pub fn of(entries: &[Entry], scopes: &BTreeMap<Settings, Scope>) -> Self {
        let mut runs: BTreeMap<&Settings, Vec<&Entry>> = BTreeMap::new();
        for entry in entries {
            runs.entry(&entry.settings).or_default().push(entry);
        }
        let all: Vec<&Settings> = runs.keys().copied().collect();
        let settings: Vec<Setting> = runs
            .iter()
            .zip(names(&all))
            .enumerate()
            .map(|(at, ((settings, entries), name))| {
                let scope = scopes.get(settings).cloned().unwrap_or_default();
                let mut without_result = scope.tasks.clone();
                for entry in entries {
                    without_result.remove(&entry.task);
                }
                Setting {
                    number: at + 1,
                    name,
                    settings: (*settings).clone(),
                    tasks: entries.len() + without_result.len(),
                    without_result: without_result.into_iter().collect(),
                    unsupported: scope.unsupported,
                    figures: Figures::of(entries),
                }
            })
            .collect();
        let number = |of: &Settings| {
            let found = all.iter().position(|settings| *settings == of);
            found.map_or(0, |at| at + 1)
        };
        let planner = |entry: &Entry| {
            let settings = &entry.settings;
            let model = settings.model.iter();
            let words: Vec<&str> = std::iter::once(&settings.planner)
                .chain(model)
                .map(String::as_str)
                .collect();
            Some(words.join(" "))
        };
        let simulator = |entry: &Entry| entry.settings.simulator.clone();
        let apart = |entry: &Entry| Some(number(&entry.settings));
        let by_kind = groups(entries, |entry| Some(entry.kind.clone()), apart);
        let by_repository = groups(entries, |entry| entry.repository.clone(), apart);
        let by_planner = groups(entries, planner, |_| None);
        let by_simulator = groups(entries, simulator, |_| None);
        let mut classes: BTreeMap<String, Vec<Failure>> = BTreeMap::new();
        for entry in entries {
            if let End::Infrastructure { class, message } = &entry.end {
                classes.entry(class.clone()).or_default().push(Failure {
                    task: entry.task.clone(),
                    setting: number(&entry.settings),
                    message: message.clone(),
                });
            }
        }
        let infrastructure = classes
            .into_iter()
            .map(|(class, runs)| Failures { class, runs })
            .collect();
        let mut runs: Vec<Run> = entries
            .iter()
            .map(|entry| Run {
                setting: number(&entry.settings),
                entry: entry.clone(),
            })
            .collect();
        // The settings of one task stand below each other.
        runs.sort_by(|one, other| {
            let key = |run: &Run| (run.entry.task.clone(), run.setting);
            key(one).cmp(&key(other))
        });
        let mut tasks: Vec<&str> = runs.iter().map(|run| run.entry.task.as_str()).collect();
        tasks.dedup();
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            tasks: tasks.len(),
            settings,
            by_planner,
            by_simulator,
            by_kind,
            by_repository,
            infrastructure,
            runs,
        }
    }

    /// Runs of the setting with this number.
    pub fn runs_of(&self, setting: usize) -> impl Iterator<Item = &Entry> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.setting == setting)
            .map(|run| &run.entry)
    }

    /// All runs.
    pub fn total(&self) -> usize {
        self.runs.len()
    }

    /// The report for programs.
    ///
    /// # Errors
    /// A number that JSON does not know.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// Groups by name and, where `apart` gives one, by setting.
fn groups(
    entries: &[Entry],
    name: impl Fn(&Entry) -> Option<String>,
    apart: impl Fn(&Entry) -> Option<usize>,
) -> Vec<Group> {
    let mut groups: BTreeMap<(String, Option<usize>), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        if let Some(name) = name(entry).filter(|name| !name.is_empty()) {
            let key = (name, apart(entry));
            groups.entry(key).or_default().push(entry);
        }
    }
    groups
        .into_iter()
        .map(|((name, setting), entries)| Group {
            name,
            setting,
            figures: Figures::of(&entries),
        })
        .collect()
}

/// What tells each of the settings from the others, in few words.
fn names(all: &[&Settings]) -> Vec<String> {
    let mut values: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (at, settings) in all.iter().enumerate() {
        for (name, value) in settings.parts() {
            let values = values.entry(name).or_insert_with(|| vec![None; all.len()]);
            values[at] = Some(value);
        }
    }
    let differs = |name: &str| {
        let values = values.get(name).map_or(&[][..], Vec::as_slice);
        values.iter().any(|value| value != &values[0])
    };
    let plain = |name: &str| name == "planner" || name == "model";
    all.iter()
        .map(|settings| {
            let parts = settings.parts();
            let telling = parts.iter().filter(|(name, _)| differs(name));
            let words: Vec<String> = telling
                .map(|(name, value)| {
                    if plain(name) {
                        value.clone()
                    } else {
                        format!("{name} {value}")
                    }
                })
                .collect();
            if words.is_empty() {
                settings.planner.clone()
            } else {
                words.join(", ")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::belonging::together;
    use super::super::entry::tests::{results, settings};
    use super::*;

    #[test]
    fn settings_are_named_by_what_tells_them_apart() {
        let (search, llm) = (settings("search"), settings("llm"));
        assert_eq!(names(&[&search]), ["search"]);
        let found = names(&[&llm, &search]);
        assert_eq!(found, ["llm, anthropic/claude-haiku-4-5", "search"]);
        let mut off = search.clone();
        off.simulator = Some("off".into());
        off.more.insert("limit".into(), "30 s".into());
        let found = names(&[&off, &search]);
        assert_eq!(
            found,
            ["simulator off, limit 30 s", "simulator default, limit 60 s"]
        );
    }

    #[test]
    fn the_json_has_these_names() {
        let summary = Summary::of(&together(results()).unwrap(), &BTreeMap::new());
        insta::assert_snapshot!(summary.json().unwrap());
    }

    #[test]
    fn kinds_are_counted_for_each_setting_and_planners_over_all() {
        let summary = Summary::of(&together(results()).unwrap(), &BTreeMap::new());
        let names: Vec<(&str, Option<usize>, usize)> = summary
            .by_kind
            .iter()
            .chain(&summary.by_planner)
            .map(|group| (group.name.as_str(), group.setting, group.figures.runs))
            .collect();
        assert_eq!(
            names,
            [
                ("boundary", Some(1), 4),
                ("boundary", Some(2), 4),
                ("premature exit", Some(1), 1),
                ("premature exit", Some(2), 1),
                ("llm anthropic/claude-haiku-4-5", None, 5),
                ("search", None, 5),
            ]
        );
        assert_eq!(summary.tasks, 6);
        assert_eq!(summary.infrastructure.len(), 2);
    }
}
