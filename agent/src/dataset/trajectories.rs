//! Turns recorded calls into samples: walks through their trees, written in a grammar.

use std::collections::BTreeMap;

use ndbg_dataset::sample::{Origin, Sample};
use ndbg_simulator::grammar::{Segment, cwm, nd, plain_text};
use ndbg_simulator::recording::{ActivationId, BoundaryKind, EventId, Recording};
use ndbg_simulator::{ActionKind, CallForest, Direction, Entries, Level, Sampler, Statistics};
use ndbg_simulator::{Trajectory, Tree, context};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

/// The grammar that trajectories are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Grammar {
    /// That of the paper: states and actions, forwards and backwards.
    Nd,
    /// That of CWM's released weights: every step, forwards.
    Cwm,
    /// That of the small model: single operations, forwards and backwards.
    Step,
}

/// Directions in which calls are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Directions {
    /// From the call.
    Forward,
    /// From the return.
    Inverse,
    /// Both, as many of the one as of the other.
    Both,
}

/// Characters of source that a sample may show.
const MAX_CODE: usize = 12_000;

/// How samples are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Most states of a trajectory.
    pub cap: usize,
    /// Trajectories of each direction a call.
    pub walks: u32,
    /// Directions.
    pub directions: Directions,
    /// Grammar.
    pub grammar: Grammar,
}

impl Drawing {
    fn directions(&self) -> &'static [Direction] {
        match (self.grammar, self.directions) {
            // CWM's grammar has no way back.
            (Grammar::Cwm, _) | (_, Directions::Forward) => &[Direction::Forward],
            (_, Directions::Inverse) => &[Direction::Inverse],
            (_, Directions::Both) => &[Direction::Forward, Direction::Inverse],
        }
    }

    fn sampler(&self) -> Sampler {
        Sampler::new(self.seed, self.cap)
    }

    /// Number of a walk, from its name: the same whatever else is in the data set.
    fn number(name: &str) -> u64 {
        let hash = Sha256::digest(name.as_bytes());
        hash.iter()
            .take(8)
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }
}

/// Samples of one program.
#[derive(Debug, Default)]
pub struct Walked {
    /// Name of the program.
    pub id: String,
    /// Its samples.
    pub samples: Vec<Sample>,
    /// Why there are none.
    pub reason: Option<String>,
}

/// Walks through every program of a recording, from its `main` and from the function it calls.
pub fn of_programs(
    recording: &Recording,
    drawing: &Drawing,
    origin: impl Fn(&str) -> Option<Origin>,
) -> Vec<Walked> {
    let forest = CallForest::new(recording);
    let boundaries = recording.boundaries();
    let mut walked = Vec::new();
    for (at, boundary) in boundaries.iter().enumerate() {
        // A program whose process died has no exit: it is not whole.
        if boundary.kind != BoundaryKind::Function || boundary.exit.is_none() {
            continue;
        }
        let until = boundaries
            .get(at + 1)
            .map_or(recording.len() as u32, |next| next.at.0);
        let mut program = Walked {
            id: boundary.name.clone(),
            ..Walked::default()
        };
        let root = root_between(recording, boundary.at, EventId(until));
        match (root, &boundary.lacks) {
            (_, Some(lacks)) if lacks != "max_events" => program.reason = Some(lacks.clone()),
            (None, _) => program.reason = Some("no call was recorded".into()),
            (Some(root), _) => {
                for &direction in drawing.directions() {
                    let root = match direction {
                        Direction::Forward => root,
                        Direction::Inverse => called_by_main(&forest, root),
                    };
                    let tree = forest.tree(root);
                    if direction == Direction::Inverse && tree.return_of(tree.entry()).is_none() {
                        continue;
                    }
                    for walk in 0..drawing.walks {
                        let id = format!("{}#{}{walk}", boundary.name, letter(direction));
                        let number = Drawing::number(&id);
                        let trajectory = drawing.sampler().sample_tree(&tree, direction, number);
                        let origin = origin(&boundary.name);
                        let drawn = Drawn {
                            id,
                            level: Level::Function,
                            tree: &tree,
                            trajectory: &trajectory,
                        };
                        program.samples.extend(sample(&drawn, drawing, origin));
                    }
                }
                if program.samples.is_empty() {
                    program.reason = Some("nothing to step through".into());
                }
            }
        }
        walked.push(program);
    }
    walked
}

/// Draws calls of a larger run as entries, `walks` of each direction for every hundred events.
pub fn of_repository(
    recording: &Recording,
    name: &str,
    drawing: &Drawing,
    origin: impl Fn(&str) -> Option<Origin>,
) -> Vec<Sample> {
    let forest = CallForest::new(recording);
    let entries = Entries::new(&forest, Level::Repository);
    let count = u64::from(drawing.walks) * (recording.len() as u64).div_ceil(100);
    let mut samples = Vec::new();
    for &direction in drawing.directions() {
        for walk in 0..count {
            let id = format!("{name}#{}{walk}", letter(direction));
            let number = Drawing::number(&id);
            let Some(trajectory) = drawing
                .sampler()
                .sample(&forest, &entries, direction, number)
            else {
                continue;
            };
            let tree = forest.tree(trajectory.root);
            let file = &recording.file_of(tree.entry()).name;
            let drawn = Drawn {
                id,
                level: Level::Repository,
                tree: &tree,
                trajectory: &trajectory,
            };
            samples.extend(sample(&drawn, drawing, origin(file)));
        }
    }
    samples
}

fn letter(direction: Direction) -> char {
    match direction {
        Direction::Forward => 'f',
        Direction::Inverse => 'i',
    }
}

fn root_between(recording: &Recording, from: EventId, until: EventId) -> Option<ActivationId> {
    let activations = recording.activations();
    let first = activations.partition_point(|activation| activation.first < from);
    activations[first..]
        .iter()
        .take_while(|activation| activation.first < until)
        .position(|activation| activation.parent.is_none())
        .map(|at| ActivationId((first + at) as u32))
}

/// The function that a program's `main` calls; the root itself where there is none.
fn called_by_main(forest: &CallForest<'_>, root: ActivationId) -> ActivationId {
    if forest.recording().function(root) != "main" {
        return root;
    }
    let tree = forest.tree(root);
    tree.events()
        .find_map(|event| forest.first_called(event))
        .unwrap_or(root)
}

struct Drawn<'a, 'f> {
    id: String,
    level: Level,
    tree: &'a Tree<'f>,
    trajectory: &'a Trajectory,
}

/// A walk as a line of a data set; none for a walk without a transition.
fn sample(drawn: &Drawn<'_, '_>, drawing: &Drawing, origin: Option<Origin>) -> Option<Sample> {
    let (tree, trajectory) = (drawn.tree, drawn.trajectory);
    if trajectory.transitions() == 0 {
        return None;
    }
    let recording = tree.recording();
    let mut code = match (drawn.level, trajectory.direction) {
        (Level::Function, direction) => program_source(tree, direction),
        (Level::Repository, Direction::Forward) => context::scope_source(tree),
        (Level::Repository, Direction::Inverse) => context::root_source(tree),
    };
    // Without its source a walk asks for guesses, with that of half a project for nothing else.
    if code.is_empty() || code.len() > MAX_CODE {
        return None;
    }
    if drawing.grammar == Grammar::Cwm {
        code = cwm::mark_entry(&code, recording.source_line(tree.entry()));
    }
    let (text, loss) = match drawing.grammar {
        Grammar::Nd => joined(&nd::encode(&nd::trace(tree, trajectory, code.as_str()))),
        Grammar::Cwm => joined(&cwm::encode(&cwm::trace(tree, code.as_str(), drawing.cap))),
        // Operations are no walks: see `operations`.
        Grammar::Step => (String::new(), Vec::new()),
    };
    let mut statistics = Statistics::default();
    statistics.add(trajectory);
    let actions: BTreeMap<String, u64> = ActionKind::ALL
        .iter()
        .map(|&kind| (kind.name().to_owned(), statistics.of(kind)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let data = json!({
        "id": drawn.id,
        "level": match drawn.level {
            Level::Function => "function",
            Level::Repository => "repository",
        },
        "direction": trajectory.direction,
        "grammar": drawing.grammar,
        "function": recording.function(tree.root()),
        "transitions": trajectory.transitions(),
        "lossy": is_lossy(tree),
        "code": code,
        "text": text,
        "loss": loss,
    });
    // A walk through a repository stands for itself, one of a function for its program.
    let program = (drawn.level == Level::Repository).then(|| code.clone());
    let serde_json::Value::Object(data) = data else {
        return None;
    };
    Some(Sample {
        actions,
        origin,
        program,
        data,
    })
}

/// The text of a program; backwards without its `main`, which shows what is to be found out.
fn program_source(tree: &Tree<'_>, direction: Direction) -> String {
    let recording = tree.recording();
    let text = recording
        .file_of(tree.entry())
        .text
        .as_deref()
        .unwrap_or_default();
    let main = (direction == Direction::Inverse)
        .then(|| text.rfind("\ndef main():"))
        .flatten();
    let mut code = match main {
        Some(at) => text[..=at].trim_end().to_owned(),
        None => text.trim_end().to_owned(),
    };
    code.push('\n');
    code
}

/// Whether a value of the scope is no literal: such a sample is no exact-match target.
fn is_lossy(tree: &Tree<'_>) -> bool {
    let recording = tree.recording();
    tree.events().any(|id| {
        let event = recording.event(id);
        let changed = event.changes.iter().filter_map(|change| change.value);
        changed
            .chain(event.value)
            .any(|value| recording.is_lossy(value))
    })
}

/// The text of segments, and the spans of it that a model is to predict, in characters.
fn joined(segments: &[Segment<'_>]) -> (String, Vec<[usize; 2]>) {
    let mut text = String::new();
    let mut loss: Vec<[usize; 2]> = Vec::new();
    let mut length = 0;
    for segment in segments {
        let piece = plain_text(std::slice::from_ref(segment));
        let end = length + piece.chars().count();
        if segment.loss {
            match loss.last_mut() {
                Some(span) if span[1] == length => span[1] = end,
                _ => loss.push([length, end]),
            }
        }
        text.push_str(&piece);
        length = end;
    }
    (text, loss)
}
