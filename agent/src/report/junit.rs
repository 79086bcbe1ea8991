//! The runs of the verification as JUnit's XML: a suite a patch, a case a step. Patches that were not verified have
//! no cases, and readers of JUnit's XML take a suite without any for a mistake: they are left out.

use std::fmt::Write as _;

use crate::report::story::Story;

/// The document.
pub fn render(story: &Story) -> String {
    let mut suites = String::new();
    let (mut all, mut failed) = (0, 0);
    let verified = story
        .plausible
        .iter()
        .filter(|patch| !patch.steps.is_empty());
    for patch in verified {
        let failures = patch.steps.iter().filter(|step| !step.passed).count();
        all += patch.steps.len();
        failed += failures;
        let took = seconds(patch.steps.iter().map(|step| step.seconds).sum());
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{took}\">",
            escaped(&format!("patch {}: {}", patch.id, patch.claim)),
            patch.steps.len()
        );
        for step in &patch.steps {
            let _ = write!(
                suites,
                "    <testcase classname=\"ndbg-agent.verification\" name=\"{}\" time=\"{}\"",
                escaped(&step.step),
                seconds(step.seconds)
            );
            if step.passed {
                suites.push_str("/>\n");
            } else {
                let _ = writeln!(
                    suites,
                    ">\n      <failure message=\"{}\"/>\n    </testcase>",
                    escaped(&step.detail)
                );
            }
        }
        suites.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ndbg-agent\" tests=\"{all}\" \
         failures=\"{failed}\" errors=\"0\">\n{suites}</testsuites>\n"
    )
}

/// A duration. A zero has no sign, and there is none below it.
fn seconds(seconds: f64) -> String {
    let seconds = if seconds > 0.0 { seconds } else { 0.0 };
    format!("{seconds:.3}")
}

/// Text in an attribute. What XML 1.0 cannot hold at all is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            letter if (letter as u32) < 0x20 || matches!(letter as u32, 0xfffe | 0xffff) => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::stories;

    #[test]
    fn every_step_is_a_case_and_what_did_not_hold_a_failure() {
        insta::assert_snapshot!(render(&Story::from_events(&stories::fixed())));
    }

    #[test]
    fn a_patch_that_was_not_verified_is_no_suite() {
        let mut story = Story::from_events(&stories::fixed());
        story.plausible[0].steps.clear();
        let text = render(&story);
        assert_eq!(text.matches("<testsuite ").count(), 1, "{text}");
        assert!(
            text.contains("<testsuites name=\"ndbg-agent\" tests=\"4\" failures=\"0\""),
            "{text}"
        );
        story.plausible.clear();
        assert!(!render(&story).contains("<testsuite "));
    }

    #[test]
    fn no_time_is_negative() {
        assert_eq!([-0.0, -0.000_1, 0.0].map(seconds), ["0.000"; 3]);
        assert_eq!(seconds(1.234_5), "1.234");
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(
            escaped("a<b>&\"\u{0}\u{1b}\n\u{ffff}é"),
            "a&lt;b&gt;&amp;&quot;&#10;é"
        );
        let text = render(&Story::from_events(&stories::hostile()));
        assert!(!text.contains('\u{1b}'));
        assert_eq!(
            text.matches("<testsuite ").count(),
            text.matches("</testsuite>").count()
        );
    }
}
