//! JSON Schemas: what providers accept of them, and JSON with one spelling.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON Schema with the name that some providers want for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Letters, digits, `_` and `-`; 64 at most.
    pub name: String,
    /// The schema: an object at the top.
    pub schema: Value,
}

impl Schema {
    /// What a model is told that no server holds to the schema.
    pub(crate) fn instruction(&self) -> String {
        format!(
            "Answer with one JSON value that fits the following JSON Schema, and with nothing else: \
             no explanation, no code fence.\n{}",
            self.schema
        )
    }
}

/// Whether OpenAI's strict mode takes the schema: every object is closed and requires all it names.
pub(crate) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            let own = match object.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = object.get("required").and_then(Value::as_array);
                    object.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(|key| {
                            required.is_some_and(|r| r.iter().any(|v| v.as_str() == Some(key)))
                        })
                }
                None => object.get("type").and_then(Value::as_str) != Some("object"),
            };
            own && object.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// The schema as Anthropic takes it: objects closed, bounds on numbers and lengths left out.
pub(crate) fn closed(schema: &Value) -> Value {
    const BOUNDS: [&str; 10] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
    ];
    match schema {
        Value::Object(object) => {
            // Below `properties` stand names of the caller's, which may well be `minimum`.
            let is_schema = object.contains_key("type");
            let mut out: Map<String, Value> = object
                .iter()
                .filter(|(key, _)| !(is_schema && BOUNDS.contains(&key.as_str())))
                .map(|(key, value)| (key.clone(), closed(value)))
                .collect();
            if out.get("type").and_then(Value::as_str) == Some("object") {
                out.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(closed).collect()),
        other => other.clone(),
    }
}

/// JSON text with sorted keys and no spaces, whatever order the map keeps.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            let inner: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::String(key.clone()), canonical(value)))
                .collect();
            format!("{{{}}}", inner.join(","))
        }
        Value::Array(items) => {
            let inner: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", inner.join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_strict_when_closed_and_complete() {
        let property = json!({"type": "string"});
        assert!(is_strict(&json!({
            "type": "object", "properties": {"a": property}, "required": ["a"],
            "additionalProperties": false
        })));
        assert!(!is_strict(&json!({
            "type": "object", "properties": {"a": property}, "required": [],
            "additionalProperties": false
        })));
        assert!(!is_strict(&json!({
            "type": "array", "items": {"type": "object", "properties": {"a": property},
            "required": ["a"]}
        })));
        assert!(!is_strict(&json!({"type": "object"})));
    }

    #[test]
    fn closing_keeps_a_property_that_is_called_like_a_bound() {
        let schema = json!({"type": "object", "properties":
            {"minimum": {"type": "integer", "minimum": 1}}});
        assert_eq!(
            closed(&schema),
            json!({"type": "object", "additionalProperties": false,
                "properties": {"minimum": {"type": "integer"}}})
        );
    }

    #[test]
    fn canonical_json_does_not_depend_on_the_order_of_keys() {
        let one: Value =
            serde_json::from_str(r#"{"b": [1, {"d": 1, "c": 2}], "a": "\""}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":"\"","b":[1,{"c":2,"d":1}]}"#);
    }
}
