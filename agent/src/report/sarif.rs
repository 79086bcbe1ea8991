//! SARIF 2.1.0 (OASIS, 2020), for code scanning: the place that a verified patch mends, with the patch as a fix,
//! or else the most suspicious statements.

use std::fmt::Write as _;

use camino::Utf8Path;
use serde_json::{Value as Json, json};

use crate::report::ReportError;
use crate::report::story::Story;
use crate::report::visible::one_line;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Statements that are reported without a patch.
const SUSPECTS: usize = 10;

/// The document; `prefix` is the project's folder within the repository.
///
/// # Errors
/// It cannot be written as JSON.
pub fn render(story: &Story, prefix: &Utf8Path) -> Result<String, ReportError> {
    let version = story
        .start
        .as_ref()
        .map_or(env!("CARGO_PKG_VERSION"), |start| start.version.as_str());
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ndbg-agent",
                "semanticVersion": version,
                "rules": rules(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "%SRCROOT%": { "description": { "text": "The repository" } } },
            "invocations": [{
                "executionSuccessful": story.end.is_some(),
                "exitCode": story.end.as_ref().map_or(1, |end| end.exit_code),
            }],
            "results": results(story, prefix),
        }],
    });
    let mut text =
        serde_json::to_string_pretty(&document).map_err(|source| ReportError::Render {
            what: "SARIF",
            source: Box::new(source),
        })?;
    text.push('\n');
    Ok(text)
}

fn rules() -> Json {
    let rule = |id: &str, name: &str, text: &str| {
        json!({
            "id": id,
            "name": name,
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": "warning" },
        })
    };
    json!([
        rule(
            "NDBG001",
            "VerifiedFix",
            "A patch here makes failing tests pass, verified in a fresh tree"
        ),
        rule(
            "NDBG002",
            "SuspiciousStatement",
            "Failing tests run this more often than passing ones"
        ),
    ])
}

fn results(story: &Story, prefix: &Utf8Path) -> Vec<Json> {
    let tests: Vec<&str> = story
        .failing()
        .iter()
        .map(|failure| failure.test.as_str())
        .collect();
    let tests = if tests.len() > 3 {
        format!("{} and {} more", tests[..3].join(", "), tests.len() - 3)
    } else {
        tests.join(", ")
    };
    if let Some(patch) = story.accepted() {
        let Some(tried) = &patch.tried else {
            return Vec::new();
        };
        let message = format!("{} (failing: {tests})", one_line(&patch.claim));
        return vec![json!({
            "ruleId": "NDBG001",
            "ruleIndex": 0,
            "level": "error",
            "message": { "text": message },
            "locations": [place(&prefix.join(&tried.file), tried.line)],
            "properties": { "diff": patch.diff },
        })];
    }
    let suspects = story.statements.iter().take(SUSPECTS);
    suspects
        .map(|statement| {
            let message = format!(
                "Suspiciousness {:.2}: {} (failing: {tests})",
                statement.score,
                one_line(&statement.reasons.join("; "))
            );
            json!({
                "ruleId": "NDBG002",
                "ruleIndex": 1,
                "level": "warning",
                "rank": (statement.score * 100.0).clamp(0.0, 100.0),
                "message": { "text": message },
                "locations": [place(&prefix.join(&statement.file), statement.first_line)],
            })
        })
        .collect()
}

fn place(file: &Utf8Path, line: usize) -> Json {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": line.max(1) },
        },
    })
}

/// A relative path as a URI reference.
fn uri(path: &Utf8Path) -> String {
    let mut out = String::new();
    for byte in path.as_str().replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::stories;

    #[test]
    fn a_verified_patch_is_one_result_with_its_place() {
        let story = Story::from_events(&stories::fixed());
        insta::assert_snapshot!(render(&story, Utf8Path::new("sub")).unwrap());
    }

    #[test]
    fn without_a_patch_suspicious_statements_are_results() {
        let story = Story::from_events(&stories::not_fixed());
        let text = render(&story, Utf8Path::new("")).unwrap();
        let document: Json = serde_json::from_str(&text).unwrap();
        let results = document["runs"][0]["results"].as_array().unwrap();
        assert!(!results.is_empty());
        assert!(results.iter().all(|result| result["ruleId"] == "NDBG002"));
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri(Utf8Path::new("a b/é#.py")), "a%20b/%C3%A9%23.py");
    }
}
