//! Where the failing tests' runs part from what the tests expect.
//!
//! A failed comparison names what a function should have returned; an exception, what should not have been
//! raised. The recorded frames are walked backwards from there (`ndbg_simulator::divergence`): which values
//! would have led to it? The statements that the walk believes in raise the suspicion of their lines, and
//! their needed values are hypotheses for [`super::angelic`].

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::EventKind;
use ndbg_simulator::divergence::{
    Ground, Part, Point, points, points_of_assertion, points_of_exception, points_of_nothing_raised,
};
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::Program;
use ndbg_simulator::harness::backwards::Inverse;
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::model::Sampling;
use ndbg_simulator::recording::{ActivationId, BoundaryKind, EventId, FileId, Recording};
use ndbg_tools::protected::is_protected;
use serde::{Deserialize, Serialize};

use super::localize::Localization;
use crate::eval::Predictor;
use crate::plan::{Failure, Needed};

/// Points told of a test.
const TOLD: usize = 12;
/// Points told of one line: it may have run often.
const OF_A_LINE: usize = 2;
/// How far the suspicion of a line is raised by all belief in it.
const RAISED: f64 = 1.0;
/// Characters told of a value.
const TEXT: usize = 300;

/// A statement whose effect would have had to be another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parting {
    /// The failing test.
    pub test: String,
    /// File, relative to the project.
    pub file: Utf8PathBuf,
    /// One-based line.
    pub line: usize,
    /// The function.
    pub function: String,
    /// What it is about: "the returned value", "`total`", "the condition", "argument `x`".
    pub part: String,
    /// What was recorded.
    pub recorded: String,
    /// What was needed; "another value" or "no exception" where no more is known.
    pub needed: String,
    /// Whether `needed` is a value.
    #[serde(default = "yes")]
    pub needed_known: bool,
    /// Which execution of the line in its test this was, from 0, in the order of the recording; none for what
    /// ran before the recording.
    #[serde(default)]
    pub visit: Option<usize>,
    /// 0 to 1, among all hypotheses of the test.
    pub confidence: f64,
    /// `derived` by rules from the recording, or `predicted` where the simulator was asked on the way; in
    /// reports `verified`, where the test passes with the needed value put in.
    pub provenance: String,
    /// Whether this may be the divergence itself: nothing leads further back, or no other line of the test is
    /// believed in more.
    pub ends_here: bool,
}

fn yes() -> bool {
    true
}

/// Asks a predictor for what rules do not undo. An answer counts only if the operation gives what was needed
/// with it: a real interpreter says so, where there is one.
struct Asking<'p> {
    model: &'p dyn Predictor,
    reality: OnceCell<Option<Box<dyn Predictor>>>,
    open: &'p dyn Fn() -> Option<Box<dyn Predictor>>,
}

impl Inverse for Asking<'_> {
    fn invert(&self, operation: &Operation, effect: &Effect, hole: usize) -> Option<String> {
        let answers = self
            .model
            .invert(operation, effect, hole, Sampling::Greedy)?;
        let answer = answers.into_iter().next()?;
        let Some(reality) = self.reality.get_or_init(self.open) else {
            return Some(answer);
        };
        let mut tried = operation.clone();
        answer.clone_into(tried.operands.get_mut(hole)?);
        let said = reality.answers(&[tried], Sampling::Greedy).pop()?.ok()?;
        gives(&said.effect, effect).then_some(answer)
    }
}

/// Whether two effects give the same value.
fn gives(one: &Effect, other: &Effect) -> bool {
    let value = |effect: &Effect| match effect {
        Effect::Gives { result, .. } => literal::parse(result).ok(),
        _ => None,
    };
    value(one)
        .zip(value(other))
        .is_some_and(|(one, other)| one.equals(&other))
}

/// The points of every failing test, the likeliest first. `reality` opens a real interpreter, when an answer of
/// the predictor is to be checked.
pub fn partings(
    recording: &Recording,
    failures: &[Failure],
    predictor: Option<&dyn Predictor>,
    reality: &dyn Fn() -> Option<Box<dyn Predictor>>,
) -> Vec<Parting> {
    let asking = predictor
        .filter(|one| one.runs_backwards())
        .map(|model| Asking {
            model,
            reality: OnceCell::new(),
            open: reality,
        });
    let programs: HashMap<FileId, Program> = recording
        .files()
        .iter()
        .enumerate()
        .filter_map(|(number, file)| {
            let program = Program::parse(file.text.as_deref()?, "f()").ok()?;
            Some((FileId(number as u32), program))
        })
        .collect();
    let trusted: HashSet<FileId> = recording
        .files()
        .iter()
        .enumerate()
        .filter(|(_, file)| is_protected(Utf8Path::new(&file.name)))
        .map(|(number, _)| FileId(number as u32))
        .collect();
    let ground = Ground {
        recording,
        programs: &programs,
        // Tests are right, whatever they do.
        trusted: &trusted,
        inverse: asking.as_ref().map(|one| one as &dyn Inverse),
    };
    let mut all = Vec::new();
    for failure in failures {
        all.extend(of_test(&ground, failure));
    }
    let mut lines: HashMap<(Utf8PathBuf, usize), f64> = HashMap::new();
    for one in &all {
        let one: &Parting = one;
        *lines.entry((one.file.clone(), one.line)).or_default() += one.confidence;
    }
    let line = |one: &Parting| lines[&(one.file.clone(), one.line)];
    all.sort_by(|a, b| {
        line(b)
            .total_cmp(&line(a))
            .then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
            .then(b.confidence.total_cmp(&a.confidence))
    });
    all
}

/// The points of one failing test, those of the line most believed in first.
fn of_test(ground: &Ground<'_>, failure: &Failure) -> Vec<Parting> {
    let recording = ground.recording;
    let mut found = behind(ground, failure);
    let total: f64 = found.iter().map(|point| point.confidence).sum();
    let mut lines: HashMap<(FileId, u32), f64> = HashMap::new();
    for point in &mut found {
        point.confidence /= total.max(f64::MIN_POSITIVE);
        *lines.entry((point.file, point.line)).or_default() += point.confidence;
    }
    let line = |point: &Point| lines[&(point.file, point.line)];
    found.sort_by(|a, b| {
        line(b)
            .total_cmp(&line(a))
            .then((a.file, a.line).cmp(&(b.file, b.line)))
            .then(b.confidence.total_cmp(&a.confidence))
    });
    let found = of_lines(found);
    let start = events_of(recording, &failure.test).map_or(0, |(start, _)| start);
    let mut told: Vec<Parting> = found
        .into_iter()
        .map(|point| told(recording, &failure.test, start, point))
        .collect();
    if let Some(first) = told.first_mut() {
        first.ends_here = true;
    }
    told
}

/// Some points of each line; what is not told of a line counts with what is.
fn of_lines(points: Vec<Point>) -> Vec<Point> {
    let mut told: Vec<Point> = Vec::new();
    for point in points {
        let is_same = |held: &Point| (held.file, held.line) == (point.file, point.line);
        match told.iter().filter(|held| is_same(held)).count() {
            OF_A_LINE => {
                if let Some(first) = told.iter_mut().find(|held| is_same(held)) {
                    first.confidence += point.confidence;
                }
            }
            _ if told.len() < TOLD => told.push(point),
            _ => {}
        }
    }
    told
}

/// Points behind a failure, whatever failed.
fn behind(ground: &Ground<'_>, failure: &Failure) -> Vec<Point> {
    let recording = ground.recording;
    if let Some(range) = events_of(recording, &failure.test) {
        if let Some(expected) = not_raised(failure) {
            let named = (!expected.is_empty()).then_some(expected);
            let found = state_of_test(recording, failure)
                .map(|event| points_of_nothing_raised(ground, event, named));
            if let Some(found) = found.filter(|found| !found.is_empty()) {
                return found;
            }
        }
        if !is_assertion(failure) {
            let found = points_of_exception(ground, range, &failure.exception);
            if !found.is_empty() {
                return found;
            }
        }
    }
    let found = asserted(ground, failure);
    if found.is_empty()
        && let Some((activation, needed)) = asked_for(recording, failure)
    {
        return points(ground, activation, &needed);
    }
    found
}

/// Whether a comparison of the test itself failed.
fn is_assertion(failure: &Failure) -> bool {
    let name = failure.exception.rsplit('.').next();
    matches!(name, Some("AssertionError" | "Failed"))
        && failure
            .frames
            .last()
            .is_none_or(|frame| is_protected(&frame.file))
}

/// The exception that a test expected and that was not raised; empty where it has no name.
fn not_raised(failure: &Failure) -> Option<&str> {
    let line = failure.message.lines().next()?;
    let line = line.strip_prefix("Failed: ").unwrap_or(line);
    if let Some(rest) = line.strip_prefix("DID NOT RAISE") {
        // `Full` or `<class 'shop.errors.Full'>`
        let name = rest
            .split('\'')
            .nth(1)
            .or_else(|| rest.split_whitespace().next());
        return Some(name.unwrap_or_default());
    }
    let name = line
        .strip_suffix(" not raised")
        .or_else(|| line.split_once(" not raised by ").map(|(name, _)| name))?;
    name.rsplit(' ').next()
}

/// Which execution of its line a state is, among those of its test.
fn visit(recording: &Recording, start: u32, event: EventId) -> usize {
    let (kind, line) = (recording.kind(event), recording.event(event).line);
    let file = recording.code_of(event).file;
    (start..event.0)
        .map(EventId)
        .filter(|&one| {
            recording.kind(one) == kind
                && recording.event(one).line == line
                && recording.code_of(one).file == file
        })
        .count()
}

fn told(recording: &Recording, test: &str, start: u32, point: Point) -> Parting {
    let name = &recording.files()[point.file.index()].name;
    Parting {
        test: test.to_owned(),
        file: Utf8PathBuf::from(name),
        line: point.line as usize,
        function: point.function,
        part: match &point.part {
            Part::Returned => "the returned value".into(),
            Part::Variable(name) => format!("`{name}`"),
            Part::Argument(name) => format!("argument `{name}`"),
            Part::Branch => "the condition".into(),
            Part::Raised => "the exception".into(),
        },
        recorded: shortened(point.recorded),
        needed: match point.part {
            // Which value it should have gone on with is not known.
            Part::Raised if !point.needed_known => "no exception".into(),
            _ => point.needed,
        },
        needed_known: point.needed_known,
        visit: point.event.map(|event| visit(recording, start, event)),
        confidence: (point.confidence * 1000.0).round() / 1000.0,
        provenance: if point.predicted {
            "predicted"
        } else {
            "derived"
        }
        .into(),
        ends_here: point.is_leaf,
    }
}

/// A value's text, abbreviated where it is long; a needed value never is.
fn shortened(text: String) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Points behind the assertion that failed, from the frame of the test itself.
fn asserted(ground: &Ground<'_>, failure: &Failure) -> Vec<Point> {
    let Some(event) = state_of_test(ground.recording, failure) else {
        return Vec::new();
    };
    let (left, right) = both(failure).unwrap_or((None, None));
    points_of_assertion(ground, event, left.as_ref(), right.as_ref())
}

/// The last state of the test before the line of it that failed.
fn state_of_test(recording: &Recording, failure: &Failure) -> Option<EventId> {
    let (start, end) = events_of(recording, &failure.test)?;
    let mut frames = failure.frames.iter().rev();
    let frame = frames.find(|frame| is_protected(&frame.file))?;
    (start..end).rev().map(EventId).find(|&event| {
        recording.kind(event) == EventKind::Line
            && recording.event(event).line as usize == frame.line
            && Utf8Path::new(&recording.file_of(event).name) == frame.file
    })
}

/// Both sides of a failed comparison, as far as they can be read.
fn both(failure: &Failure) -> Option<(Option<Literal>, Option<Literal>)> {
    let sides = failure.sides.as_ref()?;
    let read = |text: &str| {
        // `pytest.approx(212)`
        let inner = text.strip_prefix("<ApproxScalar expected=");
        let inner = inner.and_then(|rest| rest.split_whitespace().next());
        let held = literal::parse(inner.unwrap_or(text)).ok()?;
        // Abbreviated text may read as a shorter text; a number is not abbreviated.
        let is_whole = !sides.lossy
            || matches!(
                held,
                Literal::None | Literal::Bool(_) | Literal::Int(_) | Literal::Float(_)
            );
        is_whole.then_some(held)
    };
    Some((read(&sides.left), read(&sides.right)))
}

/// The events of a test: the first, and the one after the last.
fn events_of(recording: &Recording, test: &str) -> Option<(u32, u32)> {
    let mut tests = recording
        .boundaries()
        .iter()
        .filter(|boundary| boundary.kind == BoundaryKind::Test)
        .skip_while(|boundary| boundary.name != test);
    let start = tests.next()?.at.0;
    let end = tests
        .next()
        .map_or(recording.len() as u32, |next| next.at.0);
    Some((start, end))
}

/// The call whose result the failed comparison was about, and what it should have returned.
fn asked_for(recording: &Recording, failure: &Failure) -> Option<(ActivationId, Literal)> {
    let (actual, needed) = sides(failure)?;
    let (start, end) = events_of(recording, &failure.test)?;
    let returned = |id: &ActivationId| {
        let activation = recording.activation(*id);
        if activation.first.0 < start || activation.first.0 >= end {
            return None;
        }
        let value = recording.event(activation.last).value?;
        if recording.is_lossy(value) {
            return None;
        }
        literal::parse(recording.text(value)).ok()
    };
    // The last call of the test itself goes before what it called.
    let mut calls: Vec<ActivationId> = (0..recording.activations().len() as u32)
        .map(ActivationId)
        .collect();
    calls.sort_by_key(|id| {
        let activation = recording.activation(*id);
        (
            activation.parent.is_some(),
            std::cmp::Reverse(activation.first.0),
        )
    });
    for id in calls {
        let Some(value) = returned(&id) else { continue };
        for (actual, needed) in [(&actual, &needed), (&needed, &actual)] {
            // `assert f(x) == 3`: which side is the call's shows in the recording alone.
            if value.equals(actual) && !value.equals(needed) {
                return Some((id, needed.clone()));
            }
        }
    }
    None
}

/// Both sides of the comparison that failed, or of `assert f(x)` and `assert not f(x)`.
fn sides(failure: &Failure) -> Option<(Literal, Literal)> {
    if let Some(sides) = &failure.sides {
        let (left, right) = both(failure)?;
        return matches!(sides.op.as_str(), "==" | "is").then_some((left?, right?));
    }
    let line = failure.message.lines().next()?;
    if let Some(rest) = line.strip_prefix("assert not ") {
        let held = literal::parse(rest.split_whitespace().next()?).ok()?;
        return Some((held, Literal::Bool(false)));
    }
    let held = literal::parse(line.strip_prefix("assert ")?.split_whitespace().next()?).ok()?;
    matches!(held, Literal::Bool(false) | Literal::None).then_some((held, Literal::Bool(true)))
}

/// What a parting says for planners; none where its statement does not give the value itself.
pub fn needed(parting: &Parting) -> Option<Needed> {
    if !parting.needed_known {
        return None;
    }
    let name = match parting.part.as_str() {
        "the returned value" | "the condition" => None,
        part => Some(part.strip_prefix('`')?.strip_suffix('`')?.to_owned()),
    };
    Some(Needed {
        file: parting.file.clone(),
        line: parting.line,
        test: parting.test.clone(),
        name,
        visit: parting.visit,
        value: parting.needed.clone(),
        confidence: parting.confidence,
    })
}

/// Raises the suspicion of statements by how much of the belief ends there, all failing tests together.
pub fn raise(found: &mut Localization, partings: &[Parting]) {
    let mut tests: Vec<&str> = partings
        .iter()
        .map(|parting| parting.test.as_str())
        .collect();
    tests.sort_unstable();
    tests.dedup();
    let mut weights: BTreeMap<(&Utf8PathBuf, usize), (f64, &Parting)> = BTreeMap::new();
    for parting in partings {
        let share = parting.confidence / tests.len() as f64;
        let entry = weights
            .entry((&parting.file, parting.line))
            .or_insert((0.0, parting));
        entry.0 += share;
        if parting.confidence > entry.1.confidence {
            entry.1 = parting;
        }
    }
    // The others fall behind, so that scores mean what they meant: code that looks wrong by itself is weighed
    // against them.
    let most = weights.values().map(|(weight, _)| *weight);
    let most = 1.0 + RAISED * most.fold(0.0, f64::max);
    for statement in &mut found.statements {
        let best = weights
            .iter()
            .filter(|((file, line), _)| {
                **file == statement.file
                    && (statement.first_line..=statement.last_line).contains(line)
            })
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let by = best.map_or(0.0, |(_, (weight, _))| RAISED * weight);
        statement.score *= (1.0 + by) / most;
        if let Some((_, (_, parting))) = best {
            statement.reasons.push(format!(
                "{}: {} here, {} needed ({})",
                parting.part, parting.recorded, parting.needed, parting.provenance
            ));
        }
    }
    found.statements.sort_by(|a, b| b.score.total_cmp(&a.score));
}
