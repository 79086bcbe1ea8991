//! Patches in the form that the official evaluation of SWE-bench reads.

use serde::Serialize;

use super::results::Header;

/// One line of `predictions.jsonl`.
#[derive(Debug, Serialize)]
pub struct Prediction<'a> {
    instance_id: &'a str,
    model_name_or_path: &'a str,
    model_patch: String,
}

/// Name under which the patches are handed in.
pub fn model_name(header: &Header) -> String {
    let mut name = format!("ndbg-agent-{}-{}", header.version, header.planner);
    if let Some(model) = &header.model {
        name += "-";
        // The name becomes part of a folder's.
        name += &model.replace(['/', '\\', ' '], "_");
    }
    name
}

/// A patch as a prediction. JSON holds text alone: a patch of a file in another encoding than UTF-8 is
/// handed in with replacement characters, and will not apply there.
pub fn prediction<'a>(task: &'a str, model: &'a str, patch: &[u8]) -> Prediction<'a> {
    Prediction {
        instance_id: task,
        model_name_or_path: model,
        model_patch: String::from_utf8_lossy(patch).into_owned(),
    }
}
