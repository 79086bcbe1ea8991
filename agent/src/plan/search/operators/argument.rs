//! A missing, spare or misplaced argument.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "argument",
    rationale: "an optional parameter that is not passed on, a value in the wrong slot",
    prior: 0.65,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "call" {
        return;
    }
    let Some(arguments) = site
        .field("arguments")
        .filter(|a| a.kind() == "argument_list")
    else {
        return;
    };
    let mut cursor = arguments.walk();
    let parts: Vec<_> = arguments
        .named_children(&mut cursor)
        .filter(|p| !p.is_extra())
        .collect();
    let keyword = |n: Node<'_>| n.kind() == "keyword_argument";
    let name_of = |n: Node<'_>| n.child_by_field_name("name").map_or("", |m| site.text(m));
    let positional = parts.iter().take_while(|p| !keyword(**p)).count();
    // Spare arguments go from the end.
    for (i, part) in parts.iter().enumerate() {
        let fit = if keyword(*part) {
            0.5
        } else if i + 1 == parts.len() {
            0.3
        } else {
            0.15
        };
        if parts.len() == 1 {
            out.replace(*part, "", fit * 0.5);
        } else if i > 0 {
            out.range(parts[i - 1].end_byte()..part.end_byte(), "", fit);
        } else {
            out.range(part.start_byte()..parts[1].start_byte(), "", fit);
        }
    }
    let end = arguments.end_byte() - 1;
    let trailing = site.source()[..end].trim_end().ends_with(',');
    let comma = if parts.is_empty() || trailing {
        ""
    } else {
        ", "
    };
    let Some(callee) = site.callee(site.node) else {
        return;
    };
    let mut names: Vec<_> = site.locals().filter(|n| n.bound).take(14).collect();
    names.sort_by_key(|n| n.attribute);
    let free: Vec<_> = callee
        .parameters
        .iter()
        .skip(positional)
        .filter(|p| !p.variadic && !parts.iter().any(|a| keyword(*a) && name_of(*a) == p.name))
        .collect();
    for (k, parameter) in free.iter().enumerate().take(5) {
        let required = parameter.default.is_none();
        let base = if required { 1.0 } else { 0.7 } / (1.0 + 0.2 * k as f64);
        for name in &names {
            let alike = similarity(&parameter.name, name.text.trim_start_matches("self."));
            if !required && alike < 0.4 {
                continue;
            }
            let fit = base * (0.35 + 0.65 * alike);
            if k == 0 && parts.iter().all(|p| !keyword(*p)) {
                out.range(end..end, format!("{comma}{}", name.text), fit);
            }
            out.range(
                end..end,
                format!("{comma}{}={}", parameter.name, name.text),
                fit * if required { 0.7 } else { 1.0 },
            );
        }
        if !required {
            for (text, fit) in [
                ("True", 0.3),
                ("False", 0.3),
                ("None", 0.15),
                ("0", 0.15),
                ("1", 0.15),
            ] {
                if parameter.default.as_deref() != Some(text) {
                    out.range(
                        end..end,
                        format!("{comma}{}={text}", parameter.name),
                        base * fit,
                    );
                }
            }
        }
    }
    // A missing argument in the middle.
    if parts.len() < callee.parameters.len() && positional == parts.len() {
        for (i, part) in parts.iter().enumerate() {
            if let Some(parameter) = callee.parameters.get(i) {
                for name in names.iter().filter(|n| !n.attribute).take(8) {
                    let alike = similarity(&parameter.name, &name.text);
                    let at = part.start_byte();
                    out.range(at..at, format!("{}, ", name.text), 0.25 + 0.45 * alike);
                }
            }
        }
    }
    // A positional argument in the slot of another parameter.
    if let Some(last) = parts[..positional]
        .last()
        .filter(|p| !p.kind().ends_with("splat"))
    {
        for parameter in callee
            .parameters
            .iter()
            .skip(positional)
            .filter(|p| !p.variadic)
        {
            let alike = similarity(&parameter.name, site.text(*last));
            let at = last.start_byte();
            out.range(at..at, format!("{}=", parameter.name), 0.4 + 0.5 * alike);
        }
    }
    for part in parts.iter().filter(|p| keyword(**p)) {
        let own = name_of(*part);
        if let Some(name) = part.child_by_field_name("name") {
            for parameter in callee
                .parameters
                .iter()
                .filter(|p| !p.variadic && p.name != own)
            {
                out.replace(
                    name,
                    parameter.name.as_str(),
                    0.4 + 0.3 * similarity(&parameter.name, own),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn arguments_come_go_and_move() {
        let source = "def render(text, width=80, indent=0):\n    return text\n\ndef f(text, indent, depth):\n    render(text, indent)\n    render(text)\n    f(text, depth)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("render(text, indent)", "render(text, indent=indent)"),
                ("render(text, indent)", "render(text)"),
                ("render(text)\n", "render(text, indent=indent)\n"),
                ("f(text, depth)", "f(text, indent, depth)"),
            ],
        );
    }
}
