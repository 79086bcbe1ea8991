//! What the page draws: the timeline, and how the candidates of each operator ended.

use std::cmp::Reverse;

use crate::report::story::{Story, Tally};
use crate::report::timeline::{self, Ending};
use crate::report::visible::one_line;
use crate::report::wording::duration;

pub struct Lane {
    pub name: &'static str,
    pub stretches: Vec<Bar>,
    pub seconds: String,
}

pub struct Bar {
    pub x: String,
    pub width: String,
    pub tone: &'static str,
    pub title: String,
}

pub struct Tick {
    pub x: String,
    pub label: String,
    pub anchor: &'static str,
}

pub struct Operator {
    pub name: String,
    pub total: usize,
    /// Its share of the longest bar.
    pub percent: String,
    pub parts: Vec<Part>,
}

pub struct Part {
    pub class: &'static str,
    pub name: &'static str,
    pub count: usize,
}

fn percent(at: f64, story: &Story) -> f64 {
    (at / story.clock.last.max(f64::MIN_POSITIVE) * 100.0).clamp(0.0, 100.0)
}

pub fn lanes(story: &Story) -> Vec<Lane> {
    timeline::lanes(story)
        .into_iter()
        .map(|lane| Lane {
            name: lane.name,
            seconds: duration(lane.seconds()),
            stretches: lane
                .stretches
                .iter()
                .map(|stretch| {
                    let (from, to) = (percent(stretch.from, story), percent(stretch.to, story));
                    // What took no time took place.
                    let width = (to - from).max(0.5);
                    let took = duration(stretch.to - stretch.from);
                    Bar {
                        x: format!("{:.2}", from.min(100.0 - width)),
                        width: format!("{width:.2}"),
                        tone: match stretch.ending {
                            Ending::Done => "plain",
                            Ending::Accepted => "good",
                            Ending::Rejected => "bad",
                        },
                        title: format!(
                            "{}: {took}, from {}",
                            match stretch.ending {
                                Ending::Done => lane.name,
                                Ending::Accepted => "Verified",
                                Ending::Rejected => "Rejected",
                            },
                            duration(stretch.from)
                        ),
                    }
                })
                .collect(),
        })
        .collect()
}

pub fn ticks(story: &Story) -> Vec<Tick> {
    timeline::ticks(story.clock.last)
        .into_iter()
        .map(|tick| {
            let x = percent(tick, story);
            Tick {
                x: format!("{x:.2}"),
                label: label(tick),
                anchor: match x {
                    x if x < 3.0 => "start",
                    x if x > 95.0 => "end",
                    _ => "middle",
                },
            }
        })
        .collect()
}

/// `0`, `0.2 s`, `2 min`.
fn label(tick: f64) -> String {
    if tick == 0.0 {
        "0".to_owned()
    } else if tick < 1.0 {
        format!("{tick} s")
    } else {
        duration(tick)
    }
}

pub fn operators(story: &Story) -> Vec<Operator> {
    let most = story.tallies.values().map(Tally::total).max().unwrap_or(1);
    let mut operators: Vec<Operator> = story
        .tallies
        .iter()
        .map(|(name, tally)| Operator {
            name: one_line(name),
            total: tally.total(),
            percent: format!("{:.1}", tally.total() as f64 / most.max(1) as f64 * 100.0),
            parts: tally
                .parts()
                .into_iter()
                .map(|(name, count)| Part {
                    class: match name {
                        "plausible" => "plausible",
                        "near miss" | "near misses" => "near",
                        "changed symptom" => "changed",
                        "same failure" => "same",
                        _ => "dead",
                    },
                    name,
                    count,
                })
                .collect(),
        })
        .collect();
    operators.sort_by_key(|operator| Reverse(operator.total));
    operators
}
