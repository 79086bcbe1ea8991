//! Units of time taken for each other.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "time-units",
    rationale: "`.seconds` leaves out the days, hours are passed as minutes",
    prior: 0.9,
    propose,
};

const UNITS: &[&str] = &[
    "days",
    "hours",
    "minutes",
    "seconds",
    "weeks",
    "milliseconds",
    "microseconds",
];

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "attribute" => {
            let (Some(object), Some(name)) = (site.field("object"), site.field("attribute")) else {
                return;
            };
            let text = site.text(object);
            let called = site.parent_kind() == "call" && site.role() == Some("function");
            let on_self = Some(text) == site.unit.scope.receiver.as_deref();
            if called || on_self || site.store {
                return;
            }
            match site.text(name) {
                "seconds" => {
                    out.replace(site.node, format!("{text}.total_seconds()"), 1.0);
                    out.replace(name, "days", 0.6);
                }
                "days" => {
                    out.replace(site.node, format!("{text}.total_seconds()"), 0.5);
                    out.replace(name, "seconds", 0.7);
                }
                "hour" => out.replace(name, "minute", 0.6),
                "minute" => {
                    out.replace(name, "hour", 0.6);
                    out.replace(name, "second", 0.6);
                }
                "month" => {
                    out.replace(name, "day", 0.6);
                    out.replace(name, "year", 0.6);
                }
                "day" => {
                    out.replace(name, "month", 0.6);
                    out.replace(name, "year", 0.4);
                }
                "year" => out.replace(name, "month", 0.4),
                _ => {}
            }
        }
        "call" => {
            let Some(function) = site.field("function") else {
                return;
            };
            let text = site.text(function);
            if text.ends_with(".total_seconds") {
                if let Some(object) = function.child_by_field_name("object") {
                    out.replace(site.node, format!("{}.days", site.text(object)), 0.6);
                    out.replace(site.node, format!("{}.seconds", site.text(object)), 0.4);
                }
            } else if text.ends_with(".weekday") || text.ends_with(".isoweekday") {
                if let Some(name) = function.child_by_field_name("attribute") {
                    let new = if text.ends_with(".weekday") {
                        "isoweekday"
                    } else {
                        "weekday"
                    };
                    out.replace(name, new, 0.8);
                }
            } else if text.rsplit('.').next() == Some("timedelta") {
                delta(site, out);
            }
        }
        _ => {}
    }
}

fn delta(site: &Site<'_>, out: &mut Proposals) {
    let Some(arguments) = site.field("arguments") else {
        return;
    };
    let mut cursor = arguments.walk();
    for argument in arguments.named_children(&mut cursor) {
        if argument.kind() == "keyword_argument" {
            let Some(name) = argument.child_by_field_name("name") else {
                continue;
            };
            for (k, unit) in UNITS.iter().enumerate() {
                if *unit != site.text(name) {
                    out.replace(name, *unit, 1.0 / (1.0 + 0.3 * k as f64));
                }
            }
        } else if !argument.is_extra() {
            for (unit, fit) in [
                ("hours", 0.8),
                ("minutes", 0.8),
                ("seconds", 0.8),
                ("weeks", 0.4),
            ] {
                out.replace(argument, format!("{unit}={}", site.text(argument)), fit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn units_are_swapped() {
        let source = "from datetime import timedelta\n\ndef f(start, end, n):\n    gap = (end - start).seconds\n    return start + timedelta(minutes=n)\n";
        check(
            &OPERATOR,
            source,
            &[
                (".seconds", ".total_seconds()"),
                (".seconds", ".days"),
                ("minutes=n", "hours=n"),
            ],
        );
    }
}
