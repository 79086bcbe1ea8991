//! What a model answers: hypotheses, each with a state that would confirm it and the edits that follow.

use ndbg_providers::Schema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// Hypotheses that are looked at, and edits of each.
const HYPOTHESES: usize = 5;
const EDITS: usize = 8;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Answer {
    /// The likeliest first.
    pub hypotheses: Vec<Hypothesis>,
}

/// What may be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hypothesis {
    /// In a sentence.
    pub claim: String,
    /// File of the place.
    #[serde(default)]
    pub file: String,
    /// One-based line of the place.
    #[serde(default)]
    pub line: usize,
    /// What would be seen in the failing run.
    #[serde(default)]
    pub prediction: Option<Prediction>,
    /// What would mend it, together.
    #[serde(default)]
    pub edits: Vec<Replacement>,
}

/// A state at a breakpoint: the condition holds there in the failing run at least once, if the hypothesis is
/// right.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Prediction {
    /// File of the breakpoint.
    pub file: String,
    /// One-based line, before which the condition holds.
    pub line: usize,
    /// A comparison of local variables, as Python reads it.
    pub condition: String,
}

/// An exact text and what is to stand in its place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Replacement {
    /// File, relative to the project.
    pub file: String,
    /// Copied from it.
    pub old: String,
    /// Instead.
    pub new: String,
}

/// The JSON that an answer is held to. Properties stand in the order in which they are to be thought of: what is
/// wrong before what follows from it, the old text before the new.
pub fn schema() -> Schema {
    let text = || json!({ "type": "string" });
    let line = || json!({ "type": "integer" });
    let list = |items: Json| json!({ "type": "array", "items": items });
    let object = |properties: &[(&str, Json)]| {
        let names: Vec<&str> = properties.iter().map(|property| property.0).collect();
        let properties: serde_json::Map<String, Json> = properties
            .iter()
            .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        })
    };
    let prediction = object(&[("file", text()), ("line", line()), ("condition", text())]);
    let edit = object(&[("file", text()), ("old", text()), ("new", text())]);
    let hypothesis = object(&[
        ("claim", text()),
        ("file", text()),
        ("line", line()),
        ("prediction", prediction),
        ("edits", list(edit)),
    ]);
    Schema {
        name: "hypotheses".into(),
        schema: object(&[("hypotheses", list(hypothesis))]),
    }
}

/// Reads an answer: a JSON object, alone, in a fence, or with prose around it.
///
/// # Errors
/// What is wrong with it, for the model.
pub fn read(text: &str) -> Result<Answer, String> {
    let value = object_in(without_thinking(text))?;
    let Some(Json::Array(listed)) = value.get("hypotheses") else {
        return Err("the JSON has no list `hypotheses`".into());
    };
    // One that is not as asked does not spoil the others.
    let mut problem = None;
    let mut found: Vec<Hypothesis> = Vec::new();
    for one in listed {
        match Hypothesis::deserialize(one) {
            Ok(one) => found.push(one),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    if let (true, Some(problem)) = (found.is_empty(), problem) {
        return Err(format!("the JSON is not as asked: {problem}"));
    }
    let mut answer = Answer { hypotheses: found };
    answer.hypotheses.truncate(HYPOTHESES);
    for hypothesis in &mut answer.hypotheses {
        hypothesis.edits.truncate(EDITS);
        hypothesis.claim = hypothesis.claim.trim().to_owned();
        // A schema asks for a prediction even of who has none.
        hypothesis.prediction = hypothesis
            .prediction
            .take()
            .filter(|prediction| !prediction.condition.trim().is_empty());
    }
    if answer.hypotheses.is_empty() {
        return Err("there is no hypothesis in it".into());
    }
    Ok(answer)
}

/// What follows the thoughts that some models write down first.
fn without_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest
            .rsplit_once("</think>")
            .map_or(rest, |(_, answer)| answer),
        None => text,
    }
}

/// The object in a text; one that other text surrounds is the largest that can be read.
fn object_in(text: &str) -> Result<Json, String> {
    let text = text.trim();
    let whole = match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(object)) => return Ok(Json::Object(object)),
        Ok(Json::Array(items)) => return Ok(json!({ "hypotheses": items })),
        Ok(_) => "it is no object".to_owned(),
        Err(error) => error.to_string(),
    };
    for (at, _) in text.match_indices('{').take(50) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Json>();
        if let Some(Ok(Json::Object(object))) = values.next()
            && object.contains_key("hypotheses")
        {
            return Ok(Json::Object(object));
        }
    }
    Err(if text.contains('{') {
        format!("the answer is no JSON: {whole}")
    } else {
        "the answer is prose, not JSON".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"hypotheses": [{"claim": " off by one ", "file": "a.py", "line": 3,
        "prediction": {"file": "a.py", "line": 4, "condition": "n == 0"},
        "edits": [{"file": "a.py", "old": "n", "new": "n + 1"}]}]}"#;

    #[test]
    fn answers_are_read_alone_in_fences_and_within_prose() {
        let plain = read(WHOLE).unwrap();
        assert_eq!(plain.hypotheses[0].claim, "off by one");
        assert_eq!(plain.hypotheses[0].edits.len(), 1);
        for text in [
            format!("```json\n{WHOLE}\n```"),
            format!("I think {{so}}. Here it is:\n{WHOLE}\nDone."),
        ] {
            assert_eq!(read(&text).unwrap(), plain, "{text}");
        }
        // The list alone.
        let whole: Json = serde_json::from_str(WHOLE).unwrap();
        assert_eq!(read(&whole["hypotheses"].to_string()).unwrap(), plain);
    }

    #[test]
    fn thoughts_and_hypotheses_that_are_not_as_asked_do_not_spoil_the_others() {
        let text = format!("<think>maybe {{\"hypotheses\": []}}</think>\n{WHOLE}");
        assert_eq!(read(&text).unwrap(), read(WHOLE).unwrap());
        let text = WHOLE.replacen("[{", "[7, null, {\"claim\": 5}, {", 1);
        assert_eq!(read(&text).unwrap(), read(WHOLE).unwrap());
    }

    #[test]
    fn an_empty_prediction_is_none() {
        let text = WHOLE.replace("n == 0", " ");
        assert_eq!(read(&text).unwrap().hypotheses[0].prediction, None);
    }

    #[test]
    fn what_cannot_be_read_is_explained_to_the_model() {
        for (text, why) in [
            ("I cannot do that.", "prose"),
            (&WHOLE[..60], "no JSON"),
            (r#"{"hypotheses": []}"#, "no hypothesis"),
            (r#"{"hypotheses": [{"file": "a.py"}]}"#, "claim"),
            ("3", "prose"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn everything_in_the_schema_is_required_and_nothing_else_allowed() {
        fn check(schema: &Json) {
            if schema["type"] == "object" {
                let properties = schema["properties"].as_object().unwrap();
                assert_eq!(
                    schema["required"].as_array().unwrap().len(),
                    properties.len()
                );
                assert_eq!(schema["additionalProperties"], false);
                properties.values().for_each(check);
            } else if schema["type"] == "array" {
                check(&schema["items"]);
            }
        }
        check(&schema().schema);
    }
}
