//! Candidates from synthesised expressions.

use ndbg_tools::source::Edit;
use tree_sitter::Node;

use super::Synthesis;
use super::oracle::Found;
use super::place::Kind;
use super::scene::{Scene, short};
use super::words::{is_literal, may_write};
use crate::plan::Candidate;
use crate::plan::search::layout::{self, Change};

impl Synthesis<'_> {
    /// The expression of a place replaced by each that was found.
    pub(super) fn replacing(
        &mut self,
        at: usize,
        place: usize,
        found: &Found,
        operator: &str,
        prior: f64,
    ) -> Vec<Candidate> {
        let texts: Vec<String> = found.found.iter().map(|(_, text)| text.clone()).collect();
        let strength = strength(found);
        self.replaced(at, place, &texts, operator, prior * strength)
    }

    /// The expression of a place replaced by each of some texts.
    pub(super) fn replaced(
        &mut self,
        at: usize,
        place: usize,
        texts: &[String],
        operator: &str,
        prior: f64,
    ) -> Vec<Candidate> {
        let scene = &self.scenes[at];
        let spot = &scene.places[place];
        let suspicion = scene.suspicion(spot);
        let old = short(&spot.text);
        let mut out = Vec::new();
        for text in texts {
            // A literal for an expression fits one case; what the assertion expects is not written at all.
            if is_literal(text) || !may_write(text, &scene.expected) || *text == spot.text {
                continue;
            }
            let rank = out.len() as f64;
            let change = Change::new(spot.range.clone(), text.clone());
            let claim = format!("`{old}` should be `{}`", short(text));
            out.push(candidate(
                scene,
                vec![change],
                spot.line,
                operator,
                claim,
                suspicion * prior / (1.0 + 0.15 * rank),
            ));
        }
        self.number(out)
    }

    /// Two expressions replaced by each two of some texts, the simplest first.
    pub(super) fn replaced_both(
        &mut self,
        at: usize,
        first: (usize, &[String]),
        second: (usize, &[String]),
        most: usize,
    ) -> Vec<Candidate> {
        let scene = &self.scenes[at];
        let (one, other) = (&scene.places[first.0], &scene.places[second.0]);
        let suspicion = scene.suspicion(one).min(scene.suspicion(other)) * 0.4;
        let mut chosen: Vec<(usize, &String, &String)> = Vec::new();
        for (i, a) in first.1.iter().enumerate() {
            for (j, b) in second.1.iter().enumerate() {
                if [a, b].iter().all(|text| !is_literal(text)) {
                    chosen.push((i + j, a, b));
                }
            }
        }
        chosen.sort_by_key(|(rank, _, _)| *rank);
        let mut out = Vec::new();
        for (_, a, b) in chosen.into_iter().take(most) {
            let changes = vec![
                Change::new(one.range.clone(), a.clone()),
                Change::new(other.range.clone(), b.clone()),
            ];
            let claim = format!(
                "`{}` should be `{}`, and `{}` should be `{}`",
                short(&one.text),
                short(a),
                short(&other.text),
                short(b)
            );
            let score = suspicion / (1.0 + 0.15 * out.len() as f64);
            let line = one.line.min(other.line);
            let operator = "synthesis-value+synthesis-value";
            out.push(candidate(scene, changes, line, operator, claim, score));
        }
        self.number(out)
    }

    /// A new branch that gives `value` where one of some conditions holds: before what is returned, behind what is
    /// assigned.
    pub(super) fn guarding(
        &mut self,
        at: usize,
        place: usize,
        found: &Found,
        value: &str,
    ) -> Vec<Candidate> {
        let scene = &self.scenes[at];
        let spot = &scene.places[place];
        let Some(statement) = node_of(scene, spot.statement.clone()) else {
            return Vec::new();
        };
        if !may_write(value, &scene.expected) {
            return Vec::new();
        }
        let step = layout::step(&scene.syntax, ancestors(statement).into_iter());
        let suspicion = scene.suspicion(spot) * 0.5 * strength(found);
        let mut out = Vec::new();
        for (_, condition) in &found.found {
            let head = format!("if {condition}:");
            let (change, claim) = match (spot.kind, &spot.target) {
                (Kind::Returned, _) => {
                    let body = format!("return {value}");
                    let lines = [(0, head.as_str()), (1, body.as_str())];
                    (
                        layout::insert_before(&scene.syntax, statement, step, &lines),
                        format!("`{head} {body}` is missing"),
                    )
                }
                (Kind::Assigned, Some(target)) => {
                    let body = format!("{target} = {value}");
                    let lines = [(0, head.as_str()), (1, body.as_str())];
                    (
                        layout::insert_after(&scene.syntax, statement, step, &lines),
                        format!("`{head} {body}` is missing"),
                    )
                }
                _ => continue,
            };
            let Some(change) = change else { continue };
            let score = suspicion / (1.0 + 0.15 * out.len() as f64);
            out.push(candidate(
                scene,
                vec![change],
                spot.line,
                "synthesis-guard",
                claim,
                score,
            ));
        }
        self.number(out)
    }

    /// A statement that runs only where one of some conditions holds.
    pub(super) fn running_if(&mut self, at: usize, place: usize, found: &Found) -> Vec<Candidate> {
        let scene = &self.scenes[at];
        let spot = &scene.places[place];
        let Some(statement) = node_of(scene, spot.statement.clone()) else {
            return Vec::new();
        };
        let Some(indent) = layout::indentation(&scene.syntax, statement) else {
            return Vec::new();
        };
        let step = layout::step(&scene.syntax, ancestors(statement).into_iter());
        let inner = format!("{indent}{step}");
        let Some(body) = layout::reindented(&scene.syntax, statement, &inner) else {
            return Vec::new();
        };
        let eol = scene.syntax.line_ending();
        let suspicion = scene.suspicion(spot) * 0.45 * strength(found);
        let mut out = Vec::new();
        for (_, condition) in &found.found {
            let text = format!("if {condition}:{eol}{inner}{body}");
            let change = Change::new(spot.range.clone(), text);
            let claim = format!("`{}` only `if {condition}`", short(&spot.text));
            let score = suspicion / (1.0 + 0.15 * out.len() as f64);
            out.push(candidate(
                scene,
                vec![change],
                spot.line,
                "synthesis-guard",
                claim,
                score,
            ));
        }
        self.number(out)
    }

    fn number(&mut self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        for candidate in &mut candidates {
            candidate.id = self.next_id;
            self.next_id += 1;
        }
        candidates
    }
}

/// How much a specification says: many states leave little to chance, and many
/// expressions that fit and say different things leave much.
fn strength(found: &Found) -> f64 {
    let kinds = if found.kinds > 0 {
        found.kinds.min(found.found.len())
    } else {
        found.found.len()
    };
    let (states, fitting) = (found.states as f64, kinds.max(1) as f64);
    (0.5 + 0.5 * (states / (states + 2.0))) * (0.4 + 0.6 / fitting)
}

fn candidate(
    scene: &Scene,
    mut changes: Vec<Change>,
    line: usize,
    operator: &str,
    claim: String,
    score: f64,
) -> Candidate {
    changes.sort_by_key(|change| change.range.start);
    Candidate {
        id: 0,
        edits: changes
            .into_iter()
            .map(|change| Edit::replace(scene.file.clone(), change.range, change.text))
            .collect(),
        operator: operator.to_owned(),
        claim,
        file: scene.file.clone(),
        line,
        qualname: scene.qualname.clone(),
        score,
        base: score,
    }
}

/// The statement of a range.
fn node_of(scene: &Scene, range: std::ops::Range<usize>) -> Option<Node<'_>> {
    let mut node = scene
        .syntax
        .root()
        .descendant_for_byte_range(range.start, range.end)?;
    while let Some(parent) = node.parent() {
        if parent.byte_range() != node.byte_range() || parent.kind() == "block" {
            break;
        }
        node = parent;
    }
    Some(node)
}

/// The nodes around one, outermost first.
fn ancestors(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = vec![node];
    let mut at = node;
    while let Some(parent) = at.parent() {
        found.push(parent);
        at = parent;
    }
    found.reverse();
    found
}
