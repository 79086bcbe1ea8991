//! How the search stands, while it runs: a line that redraws itself on terminals, elsewhere a plain
//! line now and then.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plan::llm::Exchange;
use crate::report::event::{Event, Stamped};
use crate::report::look::{Look, Role};
use crate::report::visible::one_line;
use crate::report::wording::{duration, plural};

/// Seconds between two plain lines.
const EVERY: f64 = 10.0;

/// Shows progress.
pub enum Live {
    /// A line that redraws itself.
    Bar(ProgressBar),
    /// A plain line now and then.
    Plain {
        /// Time of the last one.
        last: f64,
    },
    /// Nothing.
    Off,
}

impl Live {
    /// A redrawing line on stderr.
    pub fn bar(look: &Look) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let ticks = if look.unicode {
            "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "
        } else {
            "|/-\\ "
        };
        let template = if look.color {
            "  {spinner:.cyan} {wide_msg}"
        } else {
            "  {spinner} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.tick_chars(ticks));
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self::Bar(bar)
    }

    /// Plain lines.
    pub const fn plain() -> Self {
        Self::Plain { last: 0.0 }
    }

    /// Writes finished text, above the line that redraws itself.
    pub fn print(&self, out: &mut dyn Write, text: &str) -> std::io::Result<()> {
        let write = |out: &mut dyn Write| out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match self {
            Self::Bar(bar) if !bar.is_finished() => bar.suspend(|| write(out)),
            _ => write(out),
        }
    }

    /// Follows an event. The answer is a plain line to print, if one is due.
    pub fn follow(&mut self, Stamped { at, event }: &Stamped, look: &Look) -> Option<String> {
        match self {
            Self::Off => None,
            Self::Bar(bar) => {
                if matches!(event, Event::Finished { .. }) {
                    bar.finish_and_clear();
                } else if let Some(message) = message(event, Some(look)) {
                    bar.set_message(message);
                }
                None
            }
            Self::Plain { last } => {
                if !matches!(event, Event::Progress { .. }) || at - *last < EVERY {
                    return None;
                }
                *last = *at;
                message(event, None)
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// What is going on after an event. With a look, a small bar is drawn in front.
pub fn message(event: &Event, drawn: Option<&Look>) -> Option<String> {
    let text = match event {
        Event::RunStarted { .. } => "preparing".to_owned(),
        Event::Environment { .. } => "running the tests for a baseline".to_owned(),
        Event::BaselineRun { run, of, .. } if run < of => {
            format!("running the tests for a baseline, run {} of {of}", run + 1)
        }
        Event::Baseline { .. } => "recording which lines each test runs".to_owned(),
        Event::Spectra { .. } => "ranking suspicious code".to_owned(),
        Event::Localized { .. } => "warming up a test session".to_owned(),
        Event::PlanStarted { planner, .. } => {
            format!("trying candidates of the {} planner", one_line(planner))
        }
        Event::Model(Exchange::Asked { model, .. }) => format!("waiting for {}", one_line(model)),
        Event::Model(Exchange::Receiving { tokens, first, .. }) => format!(
            "receiving, about {tokens} tokens, the first after {}",
            duration(*first)
        ),
        Event::Model(Exchange::Answered { .. }) => "reading the answer".to_owned(),
        Event::Plausible { id, .. } => format!("verifying candidate {id}"),
        Event::Verdict { accepted, .. } if !accepted => "trying candidates".to_owned(),
        Event::Progress {
            executed,
            planned,
            rate,
            best,
        } => {
            let mut text = String::new();
            if let (Some(look), Some(planned)) = (drawn, planned) {
                text.push_str(&bar(*executed, *planned, look));
            }
            let _ = match planned {
                Some(planned) if planned >= executed => {
                    let planned = plural(*planned as usize, "candidate");
                    write!(text, "{executed} of {planned} run")
                }
                _ => write!(text, "{} run", plural(*executed as usize, "candidate")),
            };
            if rate.is_finite() && *rate > 0.0 {
                let _ = write!(text, ", {rate:.1} a second");
            }
            if let Some(best) = best {
                let _ = write!(text, ", best: {}", one_line(best));
            }
            text
        }
        _ => return None,
    };
    Some(text)
}

fn bar(executed: u64, planned: u64, look: &Look) -> String {
    const WIDTH: usize = 16;
    let share = executed as f64 / planned.max(1) as f64;
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let (on, off) = if look.unicode {
        ("━", "─")
    } else {
        ("#", "-")
    };
    format!(
        "{}{} ",
        look.paint(Role::Label, &on.repeat(full)),
        look.paint(Role::Dim, &off.repeat(WIDTH - full))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(at: f64, executed: u64) -> Stamped {
        Stamped {
            at,
            event: Event::Progress {
                executed,
                planned: Some(200),
                rate: 12.34,
                best: Some("1 of 2 failing tests passes".into()),
            },
        }
    }

    #[test]
    fn plain_lines_come_every_ten_seconds() {
        let mut live = Live::plain();
        let said: Vec<bool> = [1.0, 9.9, 10.1, 15.0, 20.2]
            .into_iter()
            .map(|at| live.follow(&progress(at, 1), &Look::PLAIN).is_some())
            .collect();
        assert_eq!(said, [false, false, true, false, true]);
    }

    #[test]
    fn the_line_holds_count_rate_and_best() {
        assert_eq!(
            message(&progress(0.0, 50).event, Some(&Look::PLAIN)).as_deref(),
            Some(
                "━━━━──────────── 50 of 200 candidates run, 12.3 a second, best: 1 of 2 failing \
                 tests passes"
            )
        );
        let odd = Event::Progress {
            executed: 5,
            planned: Some(0),
            rate: f64::INFINITY,
            best: None,
        };
        assert_eq!(message(&odd, None).as_deref(), Some("5 candidates run"));
    }
}
