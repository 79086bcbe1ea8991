//! A value that may be missing has no replacement.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "fallback",
    rationale: "`None` or an empty value where the code goes on as if there were one",
    prior: 0.45,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_value()
        || !matches!(
            site.kind(),
            "identifier" | "attribute" | "call" | "subscript"
        )
    {
        return;
    }
    let slot = match (site.parent_kind(), site.role()) {
        ("assignment", Some("right")) | ("return_statement", _) => 0.8,
        ("for_statement" | "for_in_clause", Some("right")) => 0.9,
        ("argument_list" | "keyword_argument" | "pair", _) => 0.6,
        _ => return,
    };
    let types = site.types(site.node);
    let missing = if types.meets(Types::NONE) {
        1.0
    } else if types.unknown() {
        0.5
    } else {
        0.25
    };
    let looped = site.role() == Some("right") && site.parent_kind().starts_with("for");
    let mut offer = |text: &str, literal: Types, fit: f64| {
        let suits = if types.unknown() || types == Types::NONE {
            0.7
        } else {
            literal.fit(types)
        };
        let text = format!("{} or {text}", site.operand(site.node, Level::Or));
        out.replace(
            site.node,
            site.fitted(&text, Level::Or),
            slot * missing * fit * suits,
        );
    };
    offer("[]", Types::LIST, if looped { 1.0 } else { 0.7 });
    if looped {
        return;
    }
    offer("0", Types::INT, 0.7);
    offer("{}", Types::DICT, 0.6);
    if !site.in_format() {
        offer("''", Types::STR, 0.7);
    }
    for name in site
        .locals()
        .filter(|n| n.bound && n.text != site.own())
        .take(6)
    {
        offer(&name.text, name.types, 0.5);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn replacements_for_missing_values() {
        let source = "def f(xs=None, name=None, default=''):\n    for x in xs:\n        pass\n    return name\n";
        check(
            &OPERATOR,
            source,
            &[
                ("in xs", "in xs or []"),
                ("return name", "return name or default"),
                ("return name", "return name or ''"),
            ],
        );
    }
}
