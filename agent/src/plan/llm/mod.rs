//! A planner that asks a language model. It gives facts and takes structured edits: no shell, and nothing that the
//! repository says is an instruction.
//!
//! A round: what is known goes out, hypotheses come back. A hypothesis predicts a state of the failing run; the
//! recording says whether it is so, and one that is refuted is sent back before anything runs. Edits are located,
//! screened and verified like those of any planner, and what came of them opens the next round.

mod answer;
mod brief;
mod exchange;
mod locate;
mod planner;
mod prediction;
mod prompt;
mod proposal;
mod queries;
mod repeats;

pub use answer::{Hypothesis, Prediction, Replacement, schema};
pub use exchange::{Exchange, Watch};
pub use planner::{Limits, LlmPlanner, Means};
pub use prediction::Verdict;
pub use prompt::{PromptError, check as check_prompts};
pub use queries::Lookup;
