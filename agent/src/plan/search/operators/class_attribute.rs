//! A mutable class attribute, shared by all instances.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::layout::Change;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "class-attribute",
    rationale: "a name assigned in the class body belongs to the class",
    prior: 1.4,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "expression_statement" || site.unit.scope.function.is_some() {
        return;
    }
    let Some(assignment) = site
        .node
        .named_child(0)
        .filter(|a| a.kind() == "assignment")
    else {
        return;
    };
    let (Some(left), Some(right)) = (
        assignment.child_by_field_name("left"),
        assignment.child_by_field_name("right"),
    ) else {
        return;
    };
    let mutable = matches!(right.kind(), "list" | "dictionary" | "set" | "call");
    let Some(class) = site
        .above(2)
        .map(|s| s.node)
        .filter(|c| c.kind() == "class_definition")
    else {
        return;
    };
    let text = site.text(right);
    if !mutable || left.kind() != "identifier" || text.contains('\n') {
        return;
    }
    let line = format!("self.{} = {text}", site.text(left));
    let fit = if right.kind() == "call" { 0.7 } else { 1.0 };
    let Some(body) = class.child_by_field_name("body") else {
        return;
    };
    let init = layout::statements(body).into_iter().find(|s| {
        s.kind() == "function_definition"
            && s.child_by_field_name("name")
                .is_some_and(|n| site.text(n) == "__init__")
    });
    let syntax = site.syntax();
    if let Some(init) = init {
        let first = init.child_by_field_name("body").and_then(|b| {
            layout::statements(b)
                .into_iter()
                .find(|s| !layout::is_docstring(*s))
        });
        let insertion = first.and_then(|f| site.insert_before(f, &[(0, &line)]));
        if let Some(insertion) = insertion {
            out.together(
                vec![layout::remove(syntax, site.node), insertion],
                fit,
                "the attribute is shared by all instances",
            );
        }
        return;
    }
    let derived = class
        .child_by_field_name("superclasses")
        .is_some_and(|s| s.named_child_count() > 0 && site.text(s) != "(object)");
    let lines: Vec<layout::Line<'_>> = if derived {
        vec![
            (0, "def __init__(self, *args, **kwargs):"),
            (1, "super().__init__(*args, **kwargs)"),
            (1, &line),
        ]
    } else {
        vec![(0, "def __init__(self):"), (1, &line)]
    };
    if let Some(insertion) = site.insert_before(site.node, &lines) {
        // The new method takes the statement's place.
        let text = insertion.text.trim_end().to_owned();
        out.together(
            vec![Change::new(site.node.byte_range(), text)],
            fit,
            "the attribute is shared by all instances",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn the_attribute_moves_to_the_instance() {
        check(
            &OPERATOR,
            "class A:\n    items = []\n\n    def add(self, x):\n        self.items.append(x)\n",
            &[(
                "    items = []\n",
                "    def __init__(self):\n        self.items = []\n",
            )],
        );
        check(
            &OPERATOR,
            "class A:\n    items = []\n\n    def __init__(self, x):\n        self.x = x\n",
            &[(
                "    items = []\n\n    def __init__(self, x):\n",
                "\n    def __init__(self, x):\n        self.items = []\n",
            )],
        );
    }
}
