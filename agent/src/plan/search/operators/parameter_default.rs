//! A wrong default of a parameter.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "parameter-default",
    rationale: "the default contradicts what the function or its callers expect",
    prior: 0.5,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !matches!(site.kind(), "default_parameter" | "typed_default_parameter") {
        return;
    }
    let Some(value) = site.field("value") else {
        return;
    };
    let own = site.text(value);
    let types = site.types(value);
    for (text, literal, fit) in [
        ("None", Types::NONE, 0.7),
        ("True", Types::BOOL, 0.7),
        ("False", Types::BOOL, 0.7),
        ("0", Types::INT, 0.7),
        ("1", Types::INT, 0.7),
        ("''", Types::STR, 0.6),
        ("()", Types::TUPLE, 0.3),
        ("2", Types::INT, 0.3),
        ("-1", Types::INT, 0.3),
    ] {
        if text != own {
            out.replace(value, text, fit * literal.fit(types).max(0.3));
        }
    }
    for constant in &site.unit.index.module {
        if constant
            .name
            .chars()
            .all(|c| c.is_uppercase() || c == '_' || c.is_numeric())
            && constant.name != own
        {
            out.replace(
                value,
                constant.name.as_str(),
                0.5 * constant.types.fit(types),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn defaults_change() {
        check(
            &OPERATOR,
            "LIMIT = 3\n\ndef f(a=True, n=5):\n    return a\n",
            &[
                ("a=True", "a=False"),
                ("a=True", "a=None"),
                ("n=5", "n=LIMIT"),
            ],
        );
    }
}
