//! Where a person would start, when no patch was found.

use crate::report::story::Story;
use crate::report::wording::{place_in_prose, screened, sentence};

/// Functions named.
const FUNCTIONS: usize = 3;

/// Sentences, the best lead first.
pub fn leads(story: &Story) -> Vec<String> {
    let mut leads = Vec::new();
    if let Some(near) = story.near_misses.first() {
        let result = screened(&near.result);
        leads.push(format!("The nearest miss, {}: {result}", sentence(near)));
    }
    for (index, function) in story.functions.iter().take(FUNCTIONS).enumerate() {
        let at = place_in_prose(
            &function.qualname,
            function.file.as_str(),
            function.first_line,
        );
        let what = if index == 0 {
            "The most suspicious code"
        } else {
            "Then"
        };
        let why = function
            .reasons
            .first()
            .map_or(String::new(), |why| format!(": {why}"));
        leads.push(format!("{what}, {at}{why}"));
    }
    if let Some(statement) = story.statements.first() {
        let at = place_in_prose(
            &statement.qualname,
            statement.file.as_str(),
            statement.first_line,
        );
        let why = statement
            .reasons
            .first()
            .map_or(String::new(), |why| format!(": {why}"));
        leads.push(format!("The most suspicious statement, {at}{why}"));
    }
    leads
}
