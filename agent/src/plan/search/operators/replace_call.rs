//! A wrong function is called.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;
use crate::plan::search::types::Types;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "replace-call",
    rationale: "min for max, sum for len, one helper for its sibling",
    prior: 0.7,
    propose,
};

/// Builtins that are taken for each other.
const KIN: &[&[&str]] = &[
    &["min", "max"],
    &["sum", "len", "max", "min"],
    &["sorted", "list", "reversed", "set", "tuple"],
    &["int", "float", "round", "str", "bool", "abs"],
    &["isinstance", "issubclass"],
    &["str", "repr"],
    &["ord", "chr", "int", "str"],
    &["enumerate", "zip", "range", "len"],
    &["map", "filter"],
    &["getattr", "hasattr"],
    &["list", "dict", "set", "tuple"],
    &["bytes", "bytearray", "str"],
];

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "call" {
        return;
    }
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    if function.kind() == "attribute" {
        module_function(site, function, out);
        return;
    }
    if function.kind() != "identifier" {
        return;
    }
    let own = site.text(function);
    let expected = site.types(site.node);
    for family in KIN.iter().filter(|f| f.contains(&own)) {
        for name in *family {
            if *name != own {
                out.replace(function, *name, if family.len() == 2 { 0.9 } else { 0.45 });
            }
        }
    }
    let count = arguments.named_child_count();
    let builtin = KIN.iter().any(|f| f.contains(&own));
    for callee in &site.unit.index.callees {
        if callee.class.is_some() || callee.name == own {
            continue;
        }
        let fits = takes(callee, count);
        let fit = callee.returns.fit(expected) * (0.5 + 0.5 * similarity(own, &callee.name));
        out.replace(
            function,
            callee.name.as_str(),
            fit * if fits { 0.9 } else { 0.2 } * if builtin { 0.3 } else { 1.0 },
        );
    }
    for name in site
        .names()
        .filter(|n| n.text != own && n.origin != Origin::Definition)
    {
        if name.types.within(Types::CALLABLE.or(Types::CLASS)) {
            let fit = name.fit(Types::CALLABLE) * (0.3 + 0.7 * similarity(own, &name.text));
            out.replace(function, name.text.as_str(), fit * 0.6);
        }
    }
    // A method of one's own class, called without `self`.
    if let (Some(receiver), Some(class)) = (&site.unit.scope.receiver, site.unit.scope.class) {
        let method = site
            .unit
            .index
            .callees
            .iter()
            .any(|c| c.name == own && c.class.as_ref() == Some(&class.name));
        if method {
            out.replace(function, format!("{receiver}.{own}"), 1.0);
        }
    }
}

fn takes(callee: &crate::plan::search::names::Callee, count: usize) -> bool {
    let required = callee
        .parameters
        .iter()
        .filter(|p| p.default.is_none() && !p.variadic)
        .count();
    let variadic = callee.parameters.iter().any(|p| p.variadic);
    count >= required && (variadic || count <= callee.parameters.len())
}

/// `math.floor` for `math.ceil` and the like.
fn module_function(site: &Site<'_>, function: Node<'_>, out: &mut Proposals) {
    let Some(name) = function.child_by_field_name("attribute") else {
        return;
    };
    let kin: &[&str] = match site.text(name) {
        "floor" => &["ceil", "trunc"],
        "ceil" => &["floor"],
        "trunc" => &["floor", "ceil"],
        "sin" => &["cos", "tan"],
        "cos" => &["sin"],
        "radians" => &["degrees"],
        "degrees" => &["radians"],
        "log" => &["log2", "log10", "exp"],
        "log10" | "log2" => &["log"],
        "loads" => &["load"],
        "load" => &["loads"],
        "dumps" => &["dump"],
        "dump" => &["dumps"],
        "match" => &["search", "fullmatch"],
        "search" => &["match", "fullmatch"],
        "fullmatch" => &["match", "search"],
        "permutations" => &["combinations", "product"],
        "combinations" => &["permutations", "combinations_with_replacement"],
        "copy" => &["deepcopy"],
        "join" => &["dirname", "basename"],
        "dirname" => &["basename"],
        "basename" => &["dirname"],
        _ => return,
    };
    for (k, new) in kin.iter().enumerate() {
        out.replace(name, *new, 0.9 / (k + 1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn siblings_and_kin() {
        let source = "import math\n\ndef encode(x):\n    return x\n\ndef decode(x):\n    return encode(x) + max(x) + math.floor(x)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("max(x)", "min(x)"),
                ("encode(x) +", "decode(x) +"),
                ("math.floor", "math.ceil"),
            ],
        );
    }
}
