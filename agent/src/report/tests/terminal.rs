//! What people read on stderr.

use console::measure_text_width;

use super::stories;
use crate::report::event::Stamped;
use crate::report::look::Look;
use crate::report::story::Story;
use crate::report::terminal::{Verbosity, render};

fn said(events: &[Stamped], look: &Look, verbosity: Verbosity) -> String {
    let mut story = Story::default();
    let mut text = String::new();
    for stamped in events {
        story.absorb(stamped);
        text.push_str(&render(stamped, &story, look, verbosity));
    }
    text
}

fn check(events: &[Stamped]) -> String {
    let text = said(events, &Look::PLAIN, Verbosity::Normal);
    for line in text.lines() {
        assert!(measure_text_width(line) <= 80, "over 80 columns: {line}");
    }
    text
}

#[test]
fn fixed() {
    insta::assert_snapshot!(check(&stories::fixed()));
}

#[test]
fn not_fixed() {
    insta::assert_snapshot!(check(&stories::not_fixed()));
}

#[test]
fn flaky() {
    insta::assert_snapshot!(check(&stories::flaky()));
}

#[test]
fn environment_error() {
    insta::assert_snapshot!(check(&stories::environment_error()));
}

#[test]
fn verbose_names_each_candidate() {
    insta::assert_snapshot!(said(&stories::fixed(), &Look::PLAIN, Verbosity::Verbose));
}

#[test]
fn quiet_says_how_it_ended() {
    insta::assert_snapshot!(said(&stories::not_fixed(), &Look::PLAIN, Verbosity::Quiet));
}

#[test]
fn plain_locales_get_plain_characters() {
    let look = Look {
        unicode: false,
        ..Look::PLAIN
    };
    let text = said(&stories::not_fixed(), &look, Verbosity::Normal)
        + &said(&stories::fixed(), &look, Verbosity::Normal);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let look = Look {
        color: true,
        ..Look::PLAIN
    };
    let colored = said(&stories::not_fixed(), &look, Verbosity::Verbose);
    assert!(colored.contains("\x1b["));
    assert_eq!(
        console::strip_ansi_codes(&colored),
        said(&stories::not_fixed(), &Look::PLAIN, Verbosity::Verbose)
    );
}

#[test]
fn hostile_text_cannot_act() {
    let text = check(&stories::hostile());
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
    assert!(text.contains("\\x1b[31m"));
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{line}");
    }
}
