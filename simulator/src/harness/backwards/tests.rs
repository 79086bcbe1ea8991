//! Functions whose inputs are found.

use super::*;

/// Knows a few operations backwards.
struct Knows;

impl Inverse for Knows {
    fn invert(&self, operation: &Operation, effect: &Effect, hole: usize) -> Option<String> {
        let Effect::Gives { result, after } = effect else {
            return None;
        };
        let operand = |slot: usize| operation.operands[slot].clone();
        let number = |text: &str| text.parse::<i64>().ok();
        Some(match (operation.expression.as_str(), hole) {
            ("v0 + v1", 0) => (number(result)? - number(&operand(1))?).to_string(),
            ("v0 * v1", 1) => (number(result)? / number(&operand(0))?).to_string(),
            ("v0.upper()", 0) => result.to_lowercase(),
            ("v0.append(v1)", 0) => after.clone()?.replace(&format!(", {}]", operand(1)), "]"),
            ("v0.join(v1)", 1) => "['a', 'b']".into(),
            ("len(v0)", 0) => "'xyz'".into(),
            other => panic!("{other:?}"),
        })
    }
}

fn found(source: &str, output: &str) -> String {
    let program = Program::parse(source, "f()").unwrap();
    arguments(&program, "f", output, &Knows).unwrap().join("; ")
}

#[test]
fn assignments_on_a_straight_line_are_followed() {
    let source = "\
def f(x):
    k = 2
    y = x + 1
    z = k * y
    return z
";
    assert_eq!(found(source, "8"), "3");
}

#[test]
fn methods_are_undone_and_displays_are_taken_apart() {
    let append = "def f(xs, s):\n    xs.append(4)\n    return xs, s.upper()\n";
    assert_eq!(found(append, "([1, 4], 'AB')"), "[1]; 'ab'");
}

#[test]
fn comprehensions_are_solved_item_by_item() {
    let program = Program::parse("def f(ns):\n    return [n + 1 for n in ns]\n", "f()").unwrap();
    assert_eq!(
        arguments(&program, "f", "[2, 3]", &Knows).unwrap(),
        ["[1, 2]"]
    );
}

#[test]
fn loops_are_stepped_over_and_what_they_build_is_taken_for_their_source() {
    let source = "\
def f(text):
    out = []
    for c in text:
        out.append(c)
    return ''.join(out)
";
    assert_eq!(found(source, "'ab'"), "['a', 'b']");
}

#[test]
fn the_exit_that_gives_the_output_is_taken() {
    let source = "\
def f(a, b):
    if a:
        return False
    return len(b)
";
    assert_eq!(found(source, "3").split("; ").nth(1), Some("'xyz'"));
    assert!(arguments(&Program::parse(source, "f()").unwrap(), "g", "3", &Knows).is_none());
}

fn before(source: &str, line: u32, held: &[(&str, &str)]) -> String {
    let program = Program::parse(source, "f()").unwrap();
    let held: Vec<(String, Literal)> = held
        .iter()
        .map(|(name, text)| ((*name).to_owned(), literal::parse(text).unwrap()))
        .collect();
    arguments_before(&program, "f", line, &held, &Knows)
        .unwrap()
        .join("; ")
}

#[test]
fn a_state_in_the_middle_leads_back_to_the_arguments() {
    let source = "\
def f(x, s):
    x = x + 1
    for letter in s:
        y = 2 * x
        if y > 3:
            s = s.upper()
            print(s)
    return y
";
    // `x` was rebound before, `s` only at the line itself.
    assert_eq!(before(source, 6, &[("x", "5"), ("s", "'q'")]), "4; 'q'");
    // One step later `s` has been rebound, too.
    assert_eq!(before(source, 7, &[("x", "5"), ("s", "'AB'")]), "4; 'ab'");
    // What is not told stays what the state says of other names.
    assert_eq!(before(source, 5, &[("y", "8"), ("s", "'q'")]), "3; 'q'");
}

#[test]
fn a_line_without_a_statement_leads_nowhere() {
    let program = Program::parse("def f(x):\n    return x\n", "f()").unwrap();
    assert!(arguments_before(&program, "f", 9, &[], &Knows).is_none());
    assert!(arguments_before(&program, "g", 2, &[], &Knows).is_none());
}
