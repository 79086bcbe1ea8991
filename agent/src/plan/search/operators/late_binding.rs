//! A closure made in a loop sees the last value of the loop variable.

use super::Operator;
use crate::plan::search::bindings::Origin;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "late-binding",
    rationale: "a closure looks its names up when it runs, not when it is made",
    prior: 0.8,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "lambda" {
        return;
    }
    let Some(body) = site.field("body") else {
        return;
    };
    let start = site.node.start_byte();
    let text = site.text(body);
    for name in site.names().filter(|n| n.origin == Origin::Loop) {
        let own = name.only_in.as_ref().is_some_and(|r| r.start == start);
        let used = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|w| w == name.text);
        if own || !used {
            continue;
        }
        let looped = site.unit.loops > 0 || name.only_in.is_some();
        if !looped {
            continue;
        }
        match site.field("parameters") {
            Some(parameters) => {
                let end = parameters.end_byte();
                out.range(end..end, format!(", {0}={0}", name.text), 1.0);
            }
            None => out.range(start + 6..start + 6, format!(" {0}={0}", name.text), 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn the_value_is_kept_by_a_default() {
        let source = "def f(xs):\n    out = []\n    for x in xs:\n        out.append(lambda: x)\n    return out + [lambda a: a + y for y in xs]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("lambda: x", "lambda x=x: x"),
                ("lambda a: a", "lambda a, y=y: a"),
            ],
        );
    }
}
