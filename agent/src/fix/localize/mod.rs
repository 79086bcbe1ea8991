//! Fault localisation: Ochiai at function level, then at statement level; ties are broken by the
//! stack trace, the distance to the failing assertion and data dependence.

mod dependence;
mod spectrum;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::{Function, Statement, Syntax};

use super::baseline::Baseline;
use super::session::Session;
use crate::plan::{Failure, SuspectFunction, SuspectStatement};
use ndbg_tools::protected::is_protected;
use spectrum::{Spectra, TestSet};

/// Files larger than this are not searched: they are data or generated.
const LARGEST_FILE: u64 = 2 << 20;

/// Weights of what breaks ties, relative to an Ochiai score of 1.
const TRACE: f64 = 0.25;
const NEAR: f64 = 0.08;
const DEPENDENCE: f64 = 0.04;

/// The ranking, and the files it speaks of.
#[derive(Debug, Default)]
pub struct Localization {
    /// Parsed files that may be edited.
    pub files: BTreeMap<Utf8PathBuf, Arc<Syntax>>,
    /// Functions, most suspicious first.
    pub functions: Vec<SuspectFunction>,
    /// Statements, most suspicious first.
    pub statements: Vec<SuspectStatement>,
    /// Passing tests that run a function, by file and qualified name.
    pub covering: BTreeMap<(Utf8PathBuf, String), BTreeSet<String>>,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<String>,
}

/// Ranks functions and statements.
pub fn localize(session: &Session, baseline: &Baseline) -> Localization {
    let failing: BTreeSet<String> = baseline.failing_ids().into_iter().collect();
    let spectra = Spectra::build(
        &baseline.coverage,
        &failing,
        &baseline.passing,
        baseline.collection_fails,
    );
    let mut out = Localization::default();
    let in_frames = baseline
        .failing
        .iter()
        .flat_map(|f| &f.frames)
        .map(|f| &f.file);
    let names: BTreeSet<Utf8PathBuf> = spectra.files().chain(in_frames).cloned().collect();
    for name in names {
        if is_protected(&name) || name.extension() != Some("py") {
            continue;
        }
        match read(session, &name) {
            Ok(syntax) => {
                if syntax.has_errors() {
                    out.unreadable.push(format!("`{name}` does not parse"));
                }
                out.files.insert(name, Arc::new(syntax));
            }
            Err(reason) => out.unreadable.push(reason),
        }
    }
    let clues = Clues::gather(session, &baseline.failing);
    let mentions = Mentions::gather(&out.files, &spectra);
    for (name, syntax) in &out.files {
        rank_file(
            name,
            syntax,
            &spectra,
            &clues,
            &mentions,
            &mut out.functions,
            &mut out.statements,
            &mut out.covering,
        );
    }
    out.functions.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| (&a.file, a.first_line).cmp(&(&b.file, b.first_line)))
    });
    out.statements.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| (&a.file, a.first_line).cmp(&(&b.file, b.first_line)))
    });
    out
}

fn read(session: &Session, name: &Utf8Path) -> Result<Syntax, String> {
    let path = session.tree.folder().join(name);
    let size = std::fs::metadata(&path).map_or(0, |m| m.len());
    if size > LARGEST_FILE {
        return Err(format!(
            "`{name}` is too large to search ({} MiB)",
            size >> 20
        ));
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("`{name}`: {error}"))?;
    let file = SourceFile::decode(name, bytes).map_err(|error| error.to_string())?;
    Syntax::parse(file).map_err(|error| error.to_string())
}

/// What the failures say beyond coverage.
#[derive(Debug, Default)]
struct Clues {
    /// Weight (1 for the innermost project frame, falling outwards) by file and line.
    frames: BTreeMap<(Utf8PathBuf, usize), f64>,
    /// Identifiers in the failing statement of a test.
    asserted: BTreeSet<String>,
    /// Identifiers anywhere in a failing test's function.
    mentioned: BTreeSet<String>,
}

impl Clues {
    fn gather(session: &Session, failures: &[Failure]) -> Self {
        let mut clues = Self::default();
        for failure in failures.iter().take(20) {
            let source = failure
                .frames
                .iter()
                .rev()
                .filter(|f| !is_protected(&f.file));
            for (depth, frame) in source.take(6).enumerate() {
                let weight = 0.6_f64.powi(depth as i32);
                let seen = clues
                    .frames
                    .entry((frame.file.clone(), frame.line))
                    .or_default();
                *seen = seen.max(weight);
            }
            for frame in failure.frames.iter().filter(|f| is_protected(&f.file)) {
                if let Ok(test) = read(session, &frame.file) {
                    if let Some(at) = test.statement_at_line(frame.line) {
                        let span = test.statements()[at].span.clone();
                        clues
                            .asserted
                            .extend(identifiers(&test.file().text()[span]));
                    }
                    if let Some(at) = test.function_at_line(frame.line) {
                        let span = test.functions()[at].body.clone();
                        clues
                            .mentioned
                            .extend(identifiers(&test.file().text()[span]));
                    }
                }
            }
        }
        clues
    }

    /// How near a function is to the failing assertion: named in it, named in the test, or neither.
    fn nearness(&self, function: &Function) -> (f64, Option<&'static str>) {
        let mut parts = function.qualname.rsplit('.');
        let name = parts.next().unwrap_or_default();
        let class = parts.next().unwrap_or_default();
        let named = |set: &BTreeSet<String>| {
            set.contains(name)
                || (name.starts_with("__") && !class.is_empty() && set.contains(class))
        };
        if named(&self.asserted) {
            (1.0, Some("named in the failing assertion"))
        } else if named(&self.mentioned) {
            (0.7, Some("named in the failing test"))
        } else {
            (0.0, None)
        }
    }

    fn trace(&self, file: &Utf8Path, first: usize, last: usize) -> f64 {
        (first..=last)
            .filter_map(|line| self.frames.get(&(file.to_owned(), line)))
            .fold(0.0, |best, weight| best.max(*weight))
    }
}

/// Identifiers of a text, keywords included: they never name a function.
fn identifiers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| {
            word.chars()
                .next()
                .is_some_and(|c| c.is_alphabetic() || c == '_')
        })
        .map(str::to_owned)
        .collect()
}

/// Tests that run code which mentions a name. Statements at module and class level run at import, so
/// their own coverage says nothing: what counts is who uses the names they define.
#[derive(Debug, Default)]
struct Mentions {
    by_name: BTreeMap<String, TestSet>,
}

impl Mentions {
    fn gather(files: &BTreeMap<Utf8PathBuf, Arc<Syntax>>, spectra: &Spectra) -> Self {
        let mut mentions = Self::default();
        for (name, syntax) in files {
            for statement in syntax.statements() {
                if statement.function.is_none() || is_definition(statement) {
                    continue;
                }
                let tests = spectra.of_lines(name, statement.first_line, statement.last_line);
                if spectra.counts(&tests) == (0, 0) {
                    continue;
                }
                for word in identifiers(&syntax.file().text()[statement.span.clone()]) {
                    mentions.by_name.entry(word).or_default().union(&tests);
                }
            }
        }
        mentions
    }
}

fn is_definition(statement: &Statement) -> bool {
    matches!(
        statement.kind,
        "function_definition" | "class_definition" | "decorated_definition"
    )
}

#[allow(clippy::too_many_arguments)]
fn rank_file(
    name: &Utf8PathBuf,
    syntax: &Syntax,
    spectra: &Spectra,
    clues: &Clues,
    mentions: &Mentions,
    functions: &mut Vec<SuspectFunction>,
    statements: &mut Vec<SuspectStatement>,
    covering: &mut BTreeMap<(Utf8PathBuf, String), BTreeSet<String>>,
) {
    let mut of_function: Vec<TestSet> = vec![TestSet::default(); syntax.functions().len()];
    for statement in syntax.statements() {
        if let Some(index) = statement.function
            && !is_definition(statement)
        {
            let tests = spectra.of_lines(name, statement.first_line, statement.last_line);
            of_function[index].union(&tests);
        }
    }
    let mut function_scores = vec![(0.0, 0.0); of_function.len()];
    for (index, function) in syntax.functions().iter().enumerate() {
        let tests = &of_function[index];
        let ochiai = spectra.ochiai(tests);
        let trace = clues.trace(name, function.first_line, function.last_line);
        if ochiai == 0.0 && trace == 0.0 {
            continue;
        }
        let (near, near_why) = clues.nearness(function);
        let score = combine(ochiai, trace, near, 0.0);
        function_scores[index] = (ochiai, score);
        let (failed, passed) = spectra.counts(tests);
        let mut reasons = vec![format!(
            "run by {failed} failing and {passed} passing {}",
            if passed == 1 { "test" } else { "tests" }
        )];
        if trace > 0.0 {
            reasons.push("in the stack trace".into());
        }
        reasons.extend(near_why.map(str::to_owned));
        let passing = spectra
            .names(tests)
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        covering.insert((name.clone(), function.qualname.clone()), passing.collect());
        functions.push(SuspectFunction {
            file: name.clone(),
            qualname: function.qualname.clone(),
            first_line: function.first_line,
            last_line: function.last_line,
            score,
            ochiai,
            reasons,
        });
    }
    let slices = dependence::result_slices(syntax);
    for (index, statement) in syntax.statements().iter().enumerate() {
        if let Some(suspect) = rank_statement(
            name,
            syntax,
            index,
            statement,
            spectra,
            clues,
            mentions,
            &of_function,
            &function_scores,
            &slices,
        ) {
            statements.push(suspect);
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn rank_statement(
    name: &Utf8PathBuf,
    syntax: &Syntax,
    index: usize,
    statement: &Statement,
    spectra: &Spectra,
    clues: &Clues,
    mentions: &Mentions,
    of_function: &[TestSet],
    function_scores: &[(f64, f64)],
    slices: &BTreeSet<usize>,
) -> Option<SuspectStatement> {
    let text = &syntax.file().text()[statement.span.clone()];
    let mut reasons = Vec::new();
    let trace = clues.trace(name, statement.first_line, statement.last_line);
    let (ochiai, function_score, tests) = if statement.kind == "function_definition" {
        // A header holds defaults: whoever runs the body uses them.
        let at = syntax
            .functions()
            .iter()
            .position(|f| f.span == statement.full)?;
        if of_function.get(at).map(|t| spectra.counts(t).0) == Some(0) {
            return None;
        }
        let (ochiai, score) = function_scores[at];
        (ochiai * 0.5, score, of_function[at].clone())
    } else if is_definition(statement) {
        return None;
    } else if let Some(function) = statement.function {
        let tests = spectra.of_lines(name, statement.first_line, statement.last_line);
        (spectra.ochiai(&tests), function_scores[function].1, tests)
    } else {
        // Module or class level.
        let mut tests = TestSet::default();
        for word in defined_names(statement, text) {
            if let Some(more) = mentions.by_name.get(&word) {
                tests.union(more);
            }
        }
        let imported = spectra.of_lines(name, statement.first_line, statement.last_line);
        tests.union(&imported);
        let ochiai = spectra.ochiai(&tests) * 0.8;
        (ochiai, ochiai, tests)
    };
    if ochiai == 0.0 && trace == 0.0 {
        return None;
    }
    let (failed, passed) = spectra.counts(&tests);
    reasons.push(format!(
        "run by {failed} failing and {passed} passing {}",
        if passed == 1 { "test" } else { "tests" }
    ));
    if trace > 0.0 {
        reasons.push(
            if trace >= 1.0 {
                "where the exception left the project's code"
            } else {
                "in the stack trace"
            }
            .into(),
        );
    }
    let depends = if slices.contains(&index) { 1.0 } else { 0.0 };
    if depends > 0.0 {
        reasons.push("feeds the result".into());
    }
    let own = combine(ochiai, trace, 0.0, depends);
    Some(SuspectStatement {
        file: name.clone(),
        qualname: statement
            .function
            .map_or_else(String::new, |f| syntax.functions()[f].qualname.clone()),
        first_line: statement.first_line,
        last_line: statement.last_line,
        score: own * (0.4 + 0.6 * function_score),
        ochiai,
        reasons,
    })
}

/// Names that a module- or class-level statement defines.
fn defined_names(statement: &Statement, text: &str) -> BTreeSet<String> {
    match statement.kind {
        "expression_statement" => {
            let target = text.split_once('=').map_or("", |(left, _)| left);
            identifiers(target)
        }
        "import_statement" | "import_from_statement" => identifiers(text),
        _ => BTreeSet::new(),
    }
}

/// Score in 0..=1: Ochiai first, the rest breaks ties.
fn combine(ochiai: f64, trace: f64, near: f64, depends: f64) -> f64 {
    let all = 1.0 + TRACE + NEAR + DEPENDENCE;
    (ochiai + TRACE * trace + NEAR * near + DEPENDENCE * depends) / all
}
