//! Where a run parts from what was needed, with the last steps before it.

use super::{Page, ROWS, code, prose};
use crate::fix::frame_table::{FrameTable, Held};
use crate::report::story::Story;
use crate::report::wording::{believed, is_open};

/// Steps of the frame that diverges.
const STEPS: usize = 12;

impl Page {
    pub(super) fn divergence(&mut self, story: &Story) {
        let stages = story.start.as_ref().and_then(|start| start.stages);
        if story.partings.is_empty() {
            // Where it was not looked for, it stands among what was not tried.
            if stages.is_some_and(|stages| stages.simulator) && !story.functions.is_empty() {
                self.heading("Where it parts from what was needed");
                self.line("Not known: walking backwards from the failed assertion found no such statement.");
            }
            return;
        }
        self.heading("Where it parts from what was needed");
        self.line(
            "Walked backwards from the expected value through the recorded run, all else as it was; each line is one way.",
        );
        self.out.push('\n');
        self.row(&["Where", "What", "Recorded", "Needed", "How it is known"].map(String::from));
        self.row(&["---", "---", "---", "---", "---"].map(String::from));
        for one in story.divergences().into_iter().take(ROWS) {
            self.row(&[
                code(&format!("{}:{}", one.file, one.line)),
                prose(&one.part),
                code(&one.recorded),
                if is_open(one) {
                    one.needed.clone()
                } else {
                    code(&one.needed)
                },
                prose(&believed(one)),
            ]);
        }
        if let Some(frame) = &story.frame {
            self.steps(frame);
        }
    }

    /// The last steps before the divergence.
    fn steps(&mut self, frame: &FrameTable) {
        let from = frame.diverges_at.saturating_sub(STEPS - 1);
        let until = (frame.diverges_at + 1).min(frame.steps.len());
        let all = frame.left_out.0 + frame.steps.len() + frame.left_out.1;
        self.out.push('\n');
        self.line(&format!(
            "Steps {} to {} of {all} of {}; the last one diverges:",
            frame.left_out.0 + from + 1,
            frame.left_out.0 + until,
            code(&frame.function)
        ));
        self.out.push('\n');
        self.row(&["Line", "Source", "Recorded", "Predicted", "Needed"].map(String::from));
        self.row(&["---:", "---", "---", "---", "---"].map(String::from));
        let cell = |held: &[Held]| {
            let all: Vec<String> = held.iter().map(|one| code(&one.to_string())).collect();
            all.join(", ")
        };
        for step in &frame.steps[from..until] {
            self.row(&[
                step.line.to_string(),
                code(&step.source),
                cell(&step.recorded),
                cell(&step.predicted),
                cell(&step.needed),
            ]);
        }
    }
}
