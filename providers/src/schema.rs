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
            spelled(&self.schema)
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

/// JSON text in which the properties of a schema stand in the order in which it requires them. Servers let a model
/// write them in the order of the schema, and what comes first is what the rest follows from; a map sorts its keys.
pub fn spelled(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(object) => {
            let required = object.get("required").and_then(Value::as_array);
            let entry = |(key, value): (&String, &Value)| {
                let value = match (value, required) {
                    (Value::Object(properties), Some(required)) if key == "properties" => {
                        in_order(properties, required)
                    }
                    _ => spelled(value),
                };
                format!("{}:{value}", Value::String(key.clone()))
            };
            format!("{{{}}}", joined(object.iter().map(entry).collect()))
        }
        Value::Array(items) => format!("[{}]", joined(items.iter().map(spelled).collect())),
        other => other.to_string(),
    }
}

fn in_order(properties: &Map<String, Value>, required: &[Value]) -> String {
    let place = |key: &str| {
        let first = required.iter().position(|name| name.as_str() == Some(key));
        first.unwrap_or(required.len())
    };
    let mut entries: Vec<_> = properties.iter().collect();
    entries.sort_by_key(|(key, _)| place(key));
    let entries = entries.into_iter();
    let entries =
        entries.map(|(key, value)| format!("{}:{}", Value::String(key.clone()), spelled(value)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
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
    fn properties_are_written_in_the_order_in_which_they_are_required() {
        let schema = json!({"type": "object", "required": ["old", "new"], "properties":
            {"new": {"type": "string"}, "also": {}, "old": {"type": "string"}}});
        let text = spelled(&json!({"format": [schema], "a": "\""}));
        assert!(
            text.contains(
                r#""properties":{"old":{"type":"string"},"new":{"type":"string"},"also":{}}"#
            ),
            "{text}"
        );
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["format"][0], schema);
    }

    #[test]
    fn canonical_json_does_not_depend_on_the_order_of_keys() {
        let one: Value =
            serde_json::from_str(r#"{"b": [1, {"d": 1, "c": 2}], "a": "\""}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":"\"","b":[1,{"c":2,"d":1}]}"#);
    }
}
