//! Traces letter by letter.

use ndbg_simulator::context::{root_source, scope_source};
use ndbg_simulator::grammar::{cwm, nd, plain_text};
use ndbg_simulator::recording::{ActivationId, Recording};
use ndbg_simulator::{Action, CallForest, Direction, Trajectory};

use crate::script::{COUNT, Script, count};

/// What `actions` print from the entry of an activation, without the CODE.
fn printed(recording: &Recording, root: u32, direction: Direction, actions: &[Action]) -> String {
    let forest = CallForest::new(recording);
    let tree = forest.tree(ActivationId(root));
    let walk = Trajectory::follow(&tree, direction, actions.iter().cloned()).unwrap();
    let trace = nd::trace(&tree, &walk, "");
    let text = plain_text(&nd::encode(&trace));
    assert_eq!(nd::decode(&text).unwrap(), trace);
    let body = text
        .strip_prefix("<|begin_of_text|><|trace_context_start|>")
        .unwrap();
    body.to_owned()
}

#[test]
fn the_worked_example_of_the_paper() {
    let recording = Script::new(
        "def count(s, t):\n    n = 0\n    for c in s:\n        n += c == t\n    return n\n",
        &[("count", 1)],
    )
    .call(0, &[("s", "'berry'"), ("t", "'r'")])
    .line(2, &[])
    .line(3, &[("n", "0")])
    .line(4, &[("c", "'b'")])
    .finish();
    let steps = [Action::StepInto, Action::StepInto, Action::StepInto];
    assert_eq!(
        printed(&recording, 0, Direction::Forward, &steps),
        concat!(
            r#"<|frame_sep|><|call_sep|><|src_sep|>def count(s, t):<|arg_sep|>{"s": "'berry'", "t": "'r'"}<|action_sep|><|step_into|>"#,
            r#"<|frame_sep|><|line_sep|><|arg_sep|>{"..": ".."}<|src_sep|>    n = 0<|action_sep|><|step_into|>"#,
            r#"<|frame_sep|><|line_sep|><|arg_sep|>{"..": "..", "n": "0"}<|src_sep|>    for c in s:<|action_sep|><|step_into|>"#,
            r#"<|frame_sep|><|line_sep|><|arg_sep|>{"..": "..", "c": "'b'"}<|src_sep|>        n += c == t"#,
        )
    );
}

#[test]
fn a_whole_forward_trace_begins_at_main_and_ends_in_an_exit() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    assert_eq!(scope_source(&tree), COUNT);
    assert!(COUNT.ends_with(&(nd::main_line("count", "'ab', 'b'") + "\n")));
    let actions = [
        Action::StepInto,
        Action::StepInto,
        Action::Breakpoint("    return n".into()),
        Action::StepReturn,
        Action::StepOver,
        Action::Continue,
    ];
    assert_eq!(
        printed(&recording, 0, Direction::Forward, &actions),
        concat!(
            "<|frame_sep|><|call_sep|><|src_sep|>def main(): return count('ab', 'b')<|arg_sep|>{}<|action_sep|><|step_into|>",
            "<|frame_sep|><|line_sep|><|arg_sep|>{}<|src_sep|>def main(): return count('ab', 'b')<|action_sep|><|step_into|>",
            r#"<|frame_sep|><|call_sep|><|src_sep|>def count(s, t):<|arg_sep|>{"s": "'ab'", "t": "'b'"}<|action_sep|><|breakpoint|>    return n"#,
            r#"<|frame_sep|><|line_sep|><|arg_sep|>{"s": "'ab'", "t": "'b'", "n": "1", "c": "'b'"}<|src_sep|>    return n<|action_sep|><|step_return|>"#,
            r#"<|frame_sep|><|return_sep|><|src_sep|>    return n<|arg_sep|>"1"<|action_sep|><|step_over|>"#,
            r#"<|frame_sep|><|return_sep|><|src_sep|>def main(): return count('ab', 'b')<|arg_sep|>"1"<|action_sep|><|continue|>"#,
            "<|frame_sep|><|exit_normal|><|trace_end|><|end_of_text|>",
        )
    );
}

#[test]
fn an_inverse_trace_begins_at_the_return_and_shows_what_was_before() {
    let recording = count();
    let forest = CallForest::new(&recording);
    assert_eq!(
        root_source(&forest.tree(ActivationId(1))),
        COUNT.split_once("def main").unwrap().0
    );
    let actions = [
        Action::InvStepInto,
        Action::InvStepOver,
        Action::InvStepOver,
        Action::InvStepCall,
        Action::InvStepOver,
    ];
    assert_eq!(
        printed(&recording, 1, Direction::Inverse, &actions),
        concat!(
            r#"<|frame_sep|><|inv_return_sep|><|src_sep|>    return n<|arg_sep|>"1"<|action_sep|><|inv_step_into|>"#,
            r#"<|frame_sep|><|inv_line_sep|><|src_sep|>    return n<|arg_sep|>{"..": ".."}<|action_sep|><|inv_step_over|>"#,
            r#"<|frame_sep|><|inv_line_sep|><|src_sep|>    for c in s:<|arg_sep|>{"..": ".."}<|action_sep|><|inv_step_over|>"#,
            r#"<|frame_sep|><|inv_line_sep|><|src_sep|>        n += c == t<|arg_sep|>{"..": "..", "n": "0"}<|action_sep|><|inv_step_call|>"#,
            r#"<|frame_sep|><|inv_call_sep|><|src_sep|>def count(s, t):<|arg_sep|>{"s": "'ab'", "t": "'b'"}<|action_sep|><|inv_step_over|>"#,
            "<|frame_sep|><|inv_exit_entry|><|trace_end|><|end_of_text|>",
        )
    );
}

#[test]
fn a_line_that_called_is_met_twice_backwards() {
    let recording = count();
    let actions = [
        Action::InvStepInto,
        Action::InvStepInto,
        Action::InvStepCall,
        Action::InvStepInto,
    ];
    assert_eq!(
        printed(&recording, 0, Direction::Inverse, &actions),
        concat!(
            r#"<|frame_sep|><|inv_return_sep|><|src_sep|>def main(): return count('ab', 'b')<|arg_sep|>"1"<|action_sep|><|inv_step_into|>"#,
            "<|frame_sep|><|inv_line_call_sep|><|src_sep|>def main(): return count('ab', 'b')<|arg_sep|>{}<|action_sep|><|inv_step_into|>",
            r#"<|frame_sep|><|inv_return_sep|><|src_sep|>    return n<|arg_sep|>"1"<|action_sep|><|inv_step_call|>"#,
            r#"<|frame_sep|><|inv_call_sep|><|src_sep|>def count(s, t):<|arg_sep|>{"s": "'ab'", "t": "'b'"}<|action_sep|><|inv_step_into|>"#,
            "<|frame_sep|><|inv_line_sep|><|src_sep|>def main(): return count('ab', 'b')<|arg_sep|>{}",
        )
    );
}

#[test]
fn what_an_exception_hides_is_shown_at_the_next_line() {
    let text = "def f(a):\n    try:\n        a, b = 2, 3; 1 / 0\n    except Exception:\n        del b\n    return a\n";
    let recording = Script::new(text, &[("f", 1)])
        .call(0, &[("a", "1")])
        .line(2, &[])
        .line(3, &[])
        .raises(
            3,
            "ZeroDivisionError('division by zero')",
            &[("a", "2"), ("b", "3")],
        )
        .line(4, &[])
        .line(5, &[])
        .line(6, &[("b", "-")])
        .returns(6, "2")
        .finish();
    let steps = vec![Action::StepOver; 6];
    let text = printed(&recording, 0, Direction::Forward, &steps);
    let frames: Vec<_> = text.split("<|frame_sep|>").skip(4).collect();
    assert_eq!(
        frames,
        [
            r#"<|exception_sep|><|src_sep|>        a, b = 2, 3; 1 / 0<|arg_sep|>"ZeroDivisionError('division by zero')"<|action_sep|><|step_over|>"#,
            r#"<|line_sep|><|arg_sep|>{"a": "2", "b": "3"}<|src_sep|>    except Exception:<|action_sep|><|step_over|>"#,
            r#"<|line_sep|><|arg_sep|>{"..": ".."}<|src_sep|>        del b<|action_sep|><|step_over|>"#,
            r#"<|line_sep|><|arg_sep|>{"..": ".."}<|src_sep|>    return a"#,
        ]
    );
    let back = printed(
        &recording,
        0,
        Direction::Inverse,
        &vec![Action::InvStepOver; 5],
    );
    let frames: Vec<_> = back.split("<|frame_sep|>").skip(2).collect();
    assert_eq!(
        frames,
        [
            r#"<|inv_line_sep|><|src_sep|>    return a<|arg_sep|>{"..": ".."}<|action_sep|><|inv_step_over|>"#,
            r#"<|inv_line_sep|><|src_sep|>        del b<|arg_sep|>{"..": "..", "b": "3"}<|action_sep|><|inv_step_over|>"#,
            r#"<|inv_line_sep|><|src_sep|>    except Exception:<|arg_sep|>{"..": ".."}<|action_sep|><|inv_step_over|>"#,
            r#"<|inv_exception_sep|><|src_sep|>        a, b = 2, 3; 1 / 0<|arg_sep|>"ZeroDivisionError('division by zero')"<|action_sep|><|inv_step_over|>"#,
            r#"<|inv_line_sep|><|src_sep|>        a, b = 2, 3; 1 / 0<|arg_sep|>{"a": "1"}"#,
        ]
    );
}

#[test]
fn everything_is_shown_after_a_return_however_it_was_reached() {
    let text = "def f(a):\n    g()\n    return a\ndef g():\n    if 1:\n        pass\n";
    let recording = Script::new(text, &[("f", 1), ("g", 4)])
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(1, &[])
        .line(5, &[])
        .returns(6, "None")
        .line(3, &[])
        .finish();
    let actions = [
        Action::StepInto,
        Action::Breakpoint("        pass".into()),
        Action::StepInto,
    ];
    let text = printed(&recording, 0, Direction::Forward, &actions);
    let frames: Vec<_> = text.split("<|frame_sep|>").skip(3).collect();
    assert_eq!(
        frames,
        [
            r#"<|return_sep|><|src_sep|>        pass<|arg_sep|>"None"<|action_sep|><|step_into|>"#,
            r#"<|line_sep|><|arg_sep|>{"a": "1"}<|src_sep|>    return a"#,
        ]
    );
}

#[test]
fn cwm_prints_every_name_and_keeps_the_newline() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(1));
    let context = cwm::mark_entry(&root_source(&tree), "def count(s, t):");
    let trace = cwm::trace(&tree, context, 100);
    let text = plain_text(&cwm::encode(&trace));
    assert_eq!(
        text,
        concat!(
            "<|begin_of_text|><|trace_context_start|>def count(s, t):  # << START_OF_TRACE\n    n = 0\n",
            "    for c in s:\n        n += c == t\n    return n\n<|frame_sep|>",
            "<|call_sep|>{\"s\": \"'ab'\", \"t\": \"'b'\"}<|action_sep|>def count(s, t):\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\"}<|action_sep|>    n = 0\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"0\"}<|action_sep|>    for c in s:\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"..\", \"c\": \"'a'\"}<|action_sep|>        n += c == t\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"..\", \"c\": \"..\"}<|action_sep|>    for c in s:\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"..\", \"c\": \"'b'\"}<|action_sep|>        n += c == t\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"1\", \"c\": \"..\"}<|action_sep|>    for c in s:\n<|frame_sep|>",
            "<|line_sep|>{\"s\": \"..\", \"t\": \"..\", \"n\": \"..\", \"c\": \"..\"}<|action_sep|>    return n\n<|frame_sep|>",
            "<|return_sep|><|action_sep|>    return n\n<|arg_sep|>\"1\"<|frame_sep|><|end_of_text|>",
        )
    );
    assert_eq!(cwm::decode(&text).unwrap(), trace);
    let capped = cwm::trace(&tree, "", 3);
    assert!(!capped.ended && capped.frames.len() == 3);
}
