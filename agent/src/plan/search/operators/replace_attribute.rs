//! A wrong attribute or method of the right object.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "replace-attribute",
    rationale: "attributes of one object have similar names and similar types",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "attribute" {
        return;
    }
    let (Some(object), Some(attribute)) = (site.field("object"), site.field("attribute")) else {
        return;
    };
    let own = site.text(attribute);
    let index = site.unit.index;
    let on_self = Some(site.text(object)) == site.unit.scope.receiver.as_deref();
    let called = site.parent_kind() == "call" && site.role() == Some("function");
    let expected = site.types(site.node);
    if called {
        for callee in index
            .callees
            .iter()
            .filter(|c| c.class.is_some() && !c.property)
        {
            let same_class = site
                .unit
                .scope
                .class
                .is_some_and(|k| callee.class.as_ref() == Some(&k.name));
            if callee.name == own || callee.name.starts_with("__") || (on_self && !same_class) {
                continue;
            }
            let known = index
                .callees
                .iter()
                .any(|c| c.name == own && c.class.is_some());
            let fit = 0.4 + 0.6 * similarity(own, &callee.name);
            out.replace(
                attribute,
                callee.name.as_str(),
                fit * if known { 0.8 } else { 0.25 },
            );
        }
        return;
    }
    if on_self {
        if let Some(class) = site.unit.scope.class {
            for (name, types) in &class.attributes {
                if name != own {
                    let fit = types.fit(expected) * (0.6 + 0.4 * similarity(own, name));
                    out.replace(attribute, name.as_str(), fit);
                }
            }
        }
        return;
    }
    // Attributes of other objects: what the file's classes have, else what the file mentions.
    let mut offered = 0;
    // What the function says of the same object elsewhere is what it has in mind.
    let nearby = |name: &str| {
        let written = format!("{}.{name}", site.text(object));
        if site.function_text().contains(&written) {
            1.3
        } else {
            1.0
        }
    };
    for class in &index.classes {
        if !class.attributes.contains_key(own) {
            continue;
        }
        for (name, types) in &class.attributes {
            if name != own {
                let known = class.attributes[own];
                let fit = types.fit(known) * (0.6 + 0.4 * similarity(own, name));
                out.replace(attribute, name.as_str(), fit * nearby(name));
                offered += 1;
            }
        }
    }
    for (name, uses) in &index.attributes {
        let alike = similarity(own, name);
        if name != own && (alike > 0.3 || offered == 0) && !name.starts_with("__") {
            let common = (*uses as f64 / 4.0).min(1.0);
            let fit = 0.3 + 0.4 * alike + 0.1 * common;
            out.replace(attribute, name.as_str(), fit * nearby(name));
        }
    }
    if !site.store {
        out.replace(site.node, site.text(object), 0.35);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn attributes_of_the_class_and_of_others() {
        let source = "class Box:\n    def __init__(self, w, h):\n        self.width = w\n        self.height = h\n\n    def area(self, other):\n        return self.width * other.width\n";
        check(
            &OPERATOR,
            source,
            &[
                ("return self.width", "return self.height"),
                ("other.width", "other.height"),
                ("self.width = w", "self.height = w"),
            ],
        );
    }
}
