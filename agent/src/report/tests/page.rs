//! The report for browsers: well-formed, self-contained, deaf to what it quotes.

use super::stories;
use crate::report::event::Stamped;
use crate::report::html;
use crate::report::story::Story;

/// Elements that have no end tag.
const VOID: [&str; 3] = ["meta", "input", "!doctype"];
/// Every element that the page may hold; anything else came from the quoted text.
const KNOWN: [&str; 51] = [
    "article",
    "body",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "input",
    "label",
    "html",
    "i",
    "li",
    "line",
    "main",
    "mark",
    "ol",
    "p",
    "pre",
    "rect",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "meta",
    "!doctype",
    "a",
    "b",
    "g",
    "path",
];

/// Renders, checks that tags nest, and answers the page.
fn check(events: &[Stamped]) -> String {
    let page = html::render(&Story::from_events(events)).expect("renders");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.as_str();
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/', '\n'])
            .next()
            .unwrap_or("");
        assert!(
            KNOWN.contains(&name) && !["a", "b"].contains(&name),
            "unknown <{tag}>"
        );
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "<{tag}> closes something else");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
    page
}

#[test]
fn pages_are_well_formed_at_every_moment_of_every_run() {
    for events in [
        stories::fixed(),
        stories::not_fixed(),
        stories::flaky(),
        stories::environment_error(),
        stories::hostile(),
    ] {
        for end in 0..=events.len() {
            check(&events[..end]);
        }
    }
}

#[test]
fn pages_need_nothing_from_elsewhere() {
    let page = check(&stories::fixed());
    for outside in [
        "http:", "https:", "src=", "href=", "url(", "@import", "<script",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn quoted_text_stays_text() {
    let page = check(&stories::hostile());
    assert!(page.contains("&#60;script&#62;alert(1)"));
    assert!(!page.contains("<script") && !page.contains("<img"));
    assert!(!page.contains('\x1b') && !page.contains('\u{202e}'));
}

#[test]
fn the_template_escapes_everything() {
    let template = include_str!("../../../templates/report.html");
    assert!(!template.contains("|safe") && !template.contains("| safe"));
    assert!(!template.contains("autoescape"));
}

#[test]
fn both_sides_and_the_patch_are_shown() {
    let page = check(&stories::fixed());
    for text in [
        "<figcaption>expected",
        "<figcaption>actual",
        "git apply .ndbg-agent/runs/0001",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("subtotal() &#62;<mark>=</mark> 100:"));
}

/// Writes the pages for a look in a browser: `cargo test -- --ignored pages_to_look_at`.
#[test]
#[ignore = "writes files"]
fn pages_to_look_at() {
    let folder = std::env::temp_dir().join("ndbg-agent-pages");
    std::fs::create_dir_all(&folder).expect("makes the folder");
    for (name, events) in [
        ("fixed", stories::fixed()),
        ("not-fixed", stories::not_fixed()),
        ("flaky", stories::flaky()),
        ("environment", stories::environment_error()),
        ("hostile", stories::hostile()),
    ] {
        let page = check(&events);
        let dark = page.replace("<html lang", "<html data-theme=\"dark\" lang");
        std::fs::write(folder.join(format!("{name}.html")), page).expect("writes");
        std::fs::write(folder.join(format!("{name}-dark.html")), dark).expect("writes");
    }
}
