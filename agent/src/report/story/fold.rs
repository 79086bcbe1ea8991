//! How events become a story.

use crate::plan::Screened;
use crate::plan::llm::Exchange;
use crate::plan::synthesis::oracle::Angelic;
use crate::plan::synthesis::short;
use crate::report::event::{Event, Stamped};
use crate::report::story::{
    Baseline, BaselineRun, End, Environment, Note, PlausiblePatch, Progress, Spectra, Start, Story,
    Supposed, Tree, Tried, Verdict,
};

/// Most candidates kept of each kind; a long run must not grow without bound.
const KEPT: usize = 20;

impl Story {
    /// Folds a whole run.
    pub fn from_events(events: &[Stamped]) -> Self {
        let mut story = Self::default();
        for stamped in events {
            story.absorb(stamped);
        }
        story
    }

    /// A needed value with which a test passes is no hypothesis any more.
    fn verify_partings(&mut self, angelic: &Angelic) {
        let put_in = |needed: &str| {
            let shown = angelic.visit.as_ref().is_some_and(|v| v.needed == needed);
            shown || angelic.needed == format!("`{}`", short(needed))
        };
        for one in &mut self.partings {
            if one.file == angelic.file
                && one.line == angelic.line
                && angelic.tests.contains(&one.test)
                && put_in(&one.needed)
            {
                "verified".clone_into(&mut one.provenance);
            }
        }
    }

    /// Takes in one more event.
    pub fn absorb(&mut self, Stamped { at, event }: &Stamped) {
        let at = *at;
        self.clock.last = self.clock.last.max(at);
        match event.clone() {
            Event::RunStarted {
                format: _,
                version,
                command,
                repo,
                targets,
                run_dir,
                budget,
                stages,
            } => {
                self.start = Some(Start {
                    version,
                    command,
                    repo,
                    targets,
                    run_dir,
                    budget,
                    stages,
                });
            }
            Event::Tree {
                how,
                base,
                changed,
                untracked,
                left_out,
            } => {
                self.tree = Some(Tree {
                    how,
                    base,
                    changed,
                    untracked,
                    left_out,
                });
            }
            Event::Environment {
                python,
                version,
                rule,
                pytest,
                managed,
                plugins,
            } => {
                self.clock.environment = Some(at);
                self.environment = Some(Environment {
                    python,
                    version,
                    rule,
                    pytest,
                    managed,
                    plugins,
                });
            }
            Event::BaselineRun {
                run,
                of: _,
                counts,
                seconds,
            } => self.baseline_runs.push(BaselineRun {
                run,
                counts,
                seconds,
            }),
            Event::Baseline {
                failing,
                flaky,
                passing,
                collected,
            } => {
                self.clock.baseline = Some(at);
                self.baseline = Some(Baseline {
                    failing,
                    flaky,
                    passing,
                    collected,
                });
            }
            Event::Spectra {
                tests,
                lines,
                partial,
                seconds,
            } => {
                self.spectra = Some(Spectra {
                    tests,
                    lines,
                    partial,
                    seconds,
                });
            }
            Event::Localized {
                functions,
                statements,
            } => {
                self.clock.localized = Some(at);
                self.functions = functions;
                self.statements = statements;
            }
            Event::WarmReady { .. } => {}
            Event::PlanStarted { planner, planned } => {
                self.clock.planned.get_or_insert(at);
                self.planners.push((planner, planned));
            }
            Event::Candidate {
                id,
                operator,
                claim,
                file,
                line,
                qualname,
                how: _,
                ms: _,
                result,
            } => {
                self.clock.screened = Some(at);
                self.candidate(Tried {
                    id,
                    operator,
                    claim,
                    file,
                    line,
                    qualname,
                    result,
                });
            }
            Event::Progress {
                executed,
                planned,
                rate: _,
                best,
            } => {
                self.clock.screened = Some(at);
                self.progress = Some(Progress {
                    executed,
                    planned,
                    best,
                });
            }
            Event::Plausible {
                id,
                claim,
                executed,
                diff,
            } => {
                let tried = self.patch(id, at).tried.take();
                *self.patch(id, at) = PlausiblePatch {
                    id,
                    claim,
                    executed,
                    diff,
                    tried,
                    at,
                    steps: Vec::new(),
                    verdict: None,
                };
            }
            Event::Verify { id, step } => self.patch(id, at).steps.push(step),
            Event::Verdict {
                id,
                accepted,
                reason,
            } => {
                self.patch(id, at).verdict = Some(Verdict {
                    accepted,
                    reason,
                    at,
                });
            }
            Event::Model(exchange) => self.converse(exchange),
            Event::Example(example) => self.examples.push(example),
            Event::Angelic(angelic) => {
                self.verify_partings(&angelic);
                self.angelic.push(angelic);
            }
            Event::Sure(sureness) => self.sureness = Some(sureness),
            Event::Foreseen(looks) => self.foreseen = Some(looks),
            Event::Divergence { partings, frame } => {
                self.partings = partings;
                self.frame = frame;
            }
            Event::Note { level, text, hint } => self.notes.push(Note { level, text, hint }),
            Event::Applied { files } => self.applied = files,
            Event::Finished {
                outcome,
                exit_code,
                summary,
                executed,
                test_runs,
                seconds,
                diff,
            } => {
                self.end = Some(End {
                    outcome,
                    exit_code,
                    summary,
                    executed,
                    test_runs,
                    seconds,
                    diff,
                });
            }
        }
    }

    fn converse(&mut self, exchange: Exchange) {
        let conversation = self.conversation.get_or_insert_default();
        match exchange {
            Exchange::Asked { round, model, .. } => {
                conversation.model = model;
                conversation.rounds = round;
            }
            Exchange::Receiving { .. } | Exchange::Again { .. } => {}
            Exchange::Answered {
                prompt,
                cached,
                completion,
                estimated,
                cost,
                seconds,
                ..
            } => {
                conversation.replies += 1;
                conversation.prompt_tokens += prompt;
                conversation.cached_tokens += cached;
                conversation.completion_tokens += completion;
                conversation.estimated |= estimated;
                conversation.cost = cost;
                conversation.seconds += seconds;
            }
            Exchange::Query { .. } => conversation.queries += 1,
            Exchange::Unusable { .. } => conversation.unusable += 1,
            Exchange::Hypothesis {
                round,
                claim,
                file,
                line,
                prediction,
                verdict,
                dropped,
                ..
            } => {
                if conversation.hypotheses.len() < 5 * KEPT {
                    conversation.hypotheses.push(Supposed {
                        round,
                        claim,
                        file,
                        line,
                        prediction,
                        verdict,
                        dropped,
                    });
                }
            }
        }
    }

    fn candidate(&mut self, tried: Tried) {
        self.tallies
            .entry(tried.operator.clone())
            .or_default()
            .count(&tried.result);
        *self
            .tried_in
            .entry((tried.file.clone(), tried.qualname.clone()))
            .or_default() += 1;
        match tried.result {
            Screened::Plausible => {
                let at = self.clock.last;
                let patch = self.patch(tried.id, at);
                if patch.claim.is_empty() {
                    patch.claim.clone_from(&tried.claim);
                }
                patch.tried = Some(tried);
            }
            Screened::NearMiss { .. } => {
                let place = self
                    .near_misses
                    .partition_point(|known| distance(&known.result) <= distance(&tried.result));
                self.near_misses.insert(place, tried);
                self.near_misses.truncate(KEPT);
            }
            Screened::Changed { .. } | Screened::TimedOut | Screened::Crashed { .. } => {
                let same = |known: &&Tried| {
                    std::mem::discriminant(&known.result) == std::mem::discriminant(&tried.result)
                };
                if self.telling.iter().filter(same).count() < KEPT / 2 {
                    self.telling.push(tried);
                }
            }
            Screened::Unchanged | Screened::Invalid { .. } => {}
        }
    }

    /// The patch of a candidate; events about it may arrive in any order.
    fn patch(&mut self, id: u64, at: f64) -> &mut PlausiblePatch {
        let index = self
            .plausible
            .iter()
            .position(|patch| patch.id == id)
            .unwrap_or_else(|| {
                self.plausible.push(PlausiblePatch {
                    id,
                    claim: String::new(),
                    executed: 0,
                    diff: String::new(),
                    tried: None,
                    at,
                    steps: Vec::new(),
                    verdict: None,
                });
                self.plausible.len() - 1
            });
        &mut self.plausible[index]
    }
}

/// How far a near miss is from the goal; smaller is nearer. Tests still failing and tests broken
/// weigh the same, more tests fixed break ties.
fn distance(result: &Screened) -> (usize, std::cmp::Reverse<usize>) {
    match result {
        Screened::NearMiss {
            fixed,
            failing,
            broken,
        } => (failing.len() + broken.len(), std::cmp::Reverse(fixed.len())),
        _ => (usize::MAX, std::cmp::Reverse(0)),
    }
}
