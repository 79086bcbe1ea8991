//! Rounding the wrong way.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "rounding",
    rationale: "`int` cuts off, `round` rounds, `//` goes down",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "binary_operator" => division(site, out),
        "call" => call(site, out),
        _ => {}
    }
}

fn division(site: &Site<'_>, out: &mut Proposals) {
    let (Some(left), Some(right), Some(operator)) = (
        site.field("left"),
        site.field("right"),
        site.field("operator"),
    ) else {
        return;
    };
    let (a, b) = (site.text(left), site.text(right));
    match operator.kind() {
        "//" => {
            let factor = site.operand(left, Level::Times);
            let unary = site.operand(left, Level::Unary);
            let _ = factor;
            out.replace(
                site.node,
                site.fitted(&format!("-(-{unary} // {b})"), Level::Unary),
                0.8,
            );
            let plus = site.operand(left, Level::Plus);
            out.replace(
                site.node,
                site.fitted(&format!("({plus} + {b} - 1) // {b}"), Level::Times),
                0.7,
            );
            out.replace(site.node, format!("round({a} / {b})"), 0.6);
            out.replace(site.node, format!("int({a} / {b})"), 0.6);
        }
        "/" => {
            if site.parent_kind() != "argument_list" {
                out.replace(site.node, format!("round({a} / {b}, 2)"), 0.5);
                out.replace(site.node, format!("int({a} / {b})"), 0.4);
                out.replace(site.node, format!("round({a} / {b})"), 0.4);
            }
            if site.unit.index.imports("math") {
                out.replace(site.node, format!("math.ceil({a} / {b})"), 0.6);
            }
        }
        _ => {}
    }
}

fn call(site: &Site<'_>, out: &mut Proposals) {
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    let name = site.text(function);
    let count = arguments.named_child_count();
    let end = arguments.end_byte() - 1;
    match name {
        "int" if count == 1 => {
            out.replace(function, "round", 0.9);
            if site.unit.index.imports("math") {
                out.replace(function, "math.ceil", 0.8);
                out.replace(function, "math.floor", 0.6);
            }
        }
        "round" => {
            if count == 1 {
                out.replace(function, "int", 0.7);
                out.range(end..end, ", 2", 0.8);
                out.range(end..end, ", 1", 0.5);
                if site.unit.index.imports("math") {
                    out.replace(function, "math.ceil", 0.7);
                    out.replace(function, "math.floor", 0.7);
                }
            } else if count == 2
                && let (Some(first), Some(second)) =
                    (arguments.named_child(0), arguments.named_child(1))
            {
                out.range(first.end_byte()..second.end_byte(), "", 0.7);
            }
        }
        "math.floor" | "math.ceil" => {
            out.replace(function, "round", 0.5);
            out.replace(function, "int", 0.4);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn directions_of_rounding() {
        let source = "def f(total, size):\n    a = int(total * 100)\n    b = round(total)\n    return total // size\n";
        check(
            &OPERATOR,
            source,
            &[
                ("int(total", "round(total"),
                ("round(total)", "round(total, 2)"),
                ("total // size", "-(-total // size)"),
                ("total // size", "(total + size - 1) // size"),
            ],
        );
    }
}
