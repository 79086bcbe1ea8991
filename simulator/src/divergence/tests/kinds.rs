//! Mistakes of different kinds: the line with the mistake has the most belief, or is on the way.

use std::fmt::Write as _;

use super::points_of;

/// Lines of a run, the one most believed in first.
fn ranked(source: &str, run: &str, needed: &str) -> Vec<u32> {
    let mut lines: Vec<(u32, f64)> = Vec::new();
    for point in points_of(source, run, needed) {
        match lines.iter_mut().find(|(line, _)| *line == point.line) {
            Some((_, total)) => *total += point.confidence,
            None => lines.push((point.line, point.confidence)),
        }
    }
    lines.sort_by(|a, b| b.1.total_cmp(&a.1));
    lines.into_iter().map(|(line, _)| line).collect()
}

#[test]
fn a_sum_over_a_generator_expression_leads_to_what_it_goes_through() {
    let lines = ranked(
        "def f(n):\n    xs = list(range(1, n))\n    return sum(x for x in xs)\n",
        "call f 1 n=3\nline 2\nline 3 xs=[1,~2]\nreturn 3 3",
        "6",
    );
    assert!(lines.contains(&2), "{lines:?}");
}

#[test]
fn a_call_that_no_rule_undoes_is_gone_into_without_a_value() {
    let found = points_of(
        "def g(a):\n    return hash(a) % 7\n\n\ndef f(x):\n    return hash(g(x))\n",
        "call f 5 x=4\nline 6\ncall g 1 a=4\nline 2\nreturn 2 4\nreturn 6 4",
        "6",
    );
    let inner = found.iter().find(|point| point.function == "g").unwrap();
    assert_eq!(inner.line, 2);
    assert!(!inner.needed_known);
    assert_eq!(inner.needed, super::ANOTHER);
}

#[test]
fn a_sort_key_is_gone_into_when_the_order_is_wrong() {
    let lines = ranked(
        "def key(x):\n    return -x\n\n\ndef f(xs):\n    return sorted(xs, key=key)\n",
        "call f 5 xs=[1,~2]\nline 6\ncall key 1 x=1\nline 2\nreturn 2 -1\ncall key 1 x=2\nline 2\n\
         return 2 -2\nreturn 6 [2,~1]",
        "[1, 2]",
    );
    assert_eq!(lines[0], 2, "{lines:?}");
}

#[test]
fn a_statement_that_did_not_run_is_found_by_its_condition() {
    let lines = ranked(
        "def f(xs):\n    n = 0\n    for x in xs:\n        if x > 2:\n            n += 1\n    return n\n",
        "call f 1 xs=[2]\nline 2\nline 3 n=0\nline 4 x=2\nline 3\nline 6\nreturn 6 0",
        "1",
    );
    assert!(lines.contains(&4), "{lines:?}");
}

#[test]
fn a_default_that_an_earlier_call_changed_is_out_of_order() {
    let lines = ranked(
        "def add(x, xs=[]):\n    xs.append(x)\n    return xs\n\n\ndef f():\n    a = add(1)\n    return add(2)\n",
        "call f 6\nline 7\ncall add 1 x=1 xs=[]\nline 2\nline 3 xs=[1]\nreturn 3 [1]\nline 8 a=[1]\n\
         call add 1 x=2 xs=[1]\nline 2\nline 3 xs=[1,~2]\nreturn 3 [1,~2]\nreturn 8 [1,~2]",
        "[2]",
    );
    assert_eq!(lines[0], 1, "{lines:?}");
}

#[test]
fn an_iterator_that_was_gone_through_before_is_out_of_order() {
    let lines = ranked(
        "def f(xs):\n    n = len(list(xs))\n    total = sum(xs)\n    return total\n",
        "call f 1 xs=<generator>\nline 2\nline 3 n=2\nline 4 total=0\nreturn 4 0",
        "3",
    );
    assert_eq!(lines[0], 2, "{lines:?}");
}

#[test]
fn a_constant_of_the_module_is_followed() {
    let found = points_of(
        "RATE = 3\n\n\ndef f(x):\n    return x * RATE\n",
        "call f 4 x=2\nline 5\nreturn 5 6",
        "8",
    );
    let constant = found.iter().find(|point| point.line == 1).unwrap();
    assert_eq!(constant.event, None);
    assert_eq!(constant.recorded, "3");
}

#[test]
fn a_guard_that_would_have_given_something_else_again_is_not_to_blame() {
    let lines = ranked(
        "def f(x):\n    if x < 0:\n        return 0\n    return x * 2\n",
        "call f 1 x=4\nline 2\nline 4\nreturn 4 8",
        "12",
    );
    assert!(!lines.contains(&2), "{lines:?}");
}

#[test]
fn an_argument_of_a_constructor_is_followed_to_the_call() {
    let lines = ranked(
        "class P:\n    def __init__(self, a):\n        self.a = a\n\n\ndef f(x):\n    p = P(x - 1)\n    return p.a\n",
        "call f 6 x=4\nline 7\ncall P.__init__ 2 self=<P> a=3\nline 3\nreturn 3 None self=<P~a=3>\n\
         line 8 p=<P~a=3>\nreturn 8 3",
        "4",
    );
    assert_eq!(lines[0], 7, "{lines:?}");
}

#[test]
fn a_long_loop_does_not_take_long() {
    let mut run = String::from("call f 1 n=20000\nline 2\nline 3 t=0\n");
    for i in 1..=20_000 {
        let _ = write!(run, "line 4 i={i}\nline 3 t={i}\n");
    }
    run.push_str("line 5\nreturn 5 20000");
    let begun = std::time::Instant::now();
    let lines = ranked(
        "def f(n):\n    t = 0\n    for i in range(n):\n        t = t + 1\n    return t\n",
        &run,
        "20001",
    );
    assert!(!lines.is_empty());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
