//! A mutable default argument, shared by all calls.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::layout::Change;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "mutable-default",
    rationale: "a default is made once, when the function is defined",
    prior: 1.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !matches!(site.kind(), "default_parameter" | "typed_default_parameter") {
        return;
    }
    let (Some(name), Some(value)) = (site.field("name"), site.field("value")) else {
        return;
    };
    let text = site.text(value);
    let mutable = matches!(
        value.kind(),
        "list" | "dictionary" | "set" | "list_comprehension"
    ) || (value.kind() == "call" && !text.contains('\n'));
    let Some(body) = site
        .unit
        .scope
        .function
        .and_then(|f| f.child_by_field_name("body"))
    else {
        return;
    };
    let Some(first) = layout::statements(body)
        .into_iter()
        .find(|s| !layout::is_docstring(*s))
    else {
        return;
    };
    if !mutable || text.contains('\n') {
        return;
    }
    let name = site.text(name);
    let header = format!("if {name} is None:");
    let line = format!("{name} = {text}");
    let Some(guard) = site.insert_before(first, &[(0, &header), (1, &line)]) else {
        return;
    };
    let fit = if value.kind() == "call" { 0.6 } else { 1.0 };
    out.together(
        vec![Change::new(value.byte_range(), "None"), guard],
        fit,
        "the default is shared by all calls",
    );
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn the_default_is_made_per_call() {
        let source = "def f(x, xs=[]):\n    \"\"\"Doc.\"\"\"\n    xs.append(x)\n    return xs\n";
        check(
            &OPERATOR,
            source,
            &[(
                "xs=[]):\n    \"\"\"Doc.\"\"\"\n",
                "xs=None):\n    \"\"\"Doc.\"\"\"\n    if xs is None:\n        xs = []\n",
            )],
        );
    }
}
