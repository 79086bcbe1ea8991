//! The corners of the decision process, one by one.

use ndbg_simulator::recording::{
    ActivationId, EventId, ExitKind, Leave, Malformed, Record, Recording,
};
use ndbg_simulator::{
    Action, CallForest, Destination, EventKind, Exit, Inapplicable, Node, Stop, Trajectory,
};
use ndbg_simulator::{Arrival, Debugger, Direction, Provenance, Session, backend::oracle::Oracle};

use crate::script::{Script, count};

const TEXT: &str =
    "def f(a):\n    g(h(a))\n    return a\ndef g(x):\n    return x\ndef h(x):\n    yield x\n";
const CODES: &[(&str, u32)] = &[("f", 1), ("g", 4), ("h", 6)];

fn step(
    recording: &Recording,
    root: u32,
    event: u32,
    action: Action,
) -> Result<Destination, Inapplicable> {
    let forest = CallForest::new(recording);
    let tree = forest.tree(ActivationId(root));
    tree.step(Node::at(EventId(event)), &action)
}

fn back(recording: &Recording, root: u32, node: Node, action: Action) -> Destination {
    let forest = CallForest::new(recording);
    forest.tree(ActivationId(root)).step(node, &action).unwrap()
}

fn node(event: u32) -> Node {
    Node::at(EventId(event))
}

fn to(event: u32) -> Result<Destination, Inapplicable> {
    Ok(Destination::Node(node(event)))
}

/// Line 2 calls twice: events 2..=4 are `h`'s, 5..=7 `g`'s.
fn two_calls() -> Recording {
    Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(2, &[("x", "1")])
        .line(7, &[])
        .leave(7, "1", Leave::Yield)
        .call(1, &[("x", "1")])
        .line(5, &[])
        .returns(5, "1")
        .line(3, &[])
        .returns(3, "1")
        .finish()
}

#[test]
fn over_a_return_leaves_all_calls_of_the_line_behind_and_into_goes_to_the_next_one() {
    let recording = two_calls();
    assert_eq!(step(&recording, 0, 4, Action::StepOver), to(8));
    assert_eq!(step(&recording, 0, 4, Action::StepInto), to(5));
    assert_eq!(step(&recording, 0, 1, Action::StepOver), to(8));
    // Backwards: the last call first, then the one before it, then the line.
    let twice = Node::calling(EventId(1));
    assert_eq!(
        back(&recording, 0, node(8), Action::InvStepOver),
        Destination::Node(twice)
    );
    assert_eq!(
        back(&recording, 0, twice, Action::InvStepInto),
        Destination::Node(node(7))
    );
    assert_eq!(
        back(&recording, 0, node(5), Action::InvStepInto),
        Destination::Node(node(4))
    );
    assert_eq!(
        back(&recording, 0, node(5), Action::InvStepOver),
        Destination::Node(node(1))
    );
    assert_eq!(
        back(&recording, 0, twice, Action::InvStepOver),
        Destination::Node(node(1))
    );
    assert_eq!(
        back(&recording, 0, twice, Action::InvStepCall),
        Destination::Node(node(0))
    );
}

#[test]
fn step_return_needs_a_return_ahead() {
    let recording = two_calls();
    assert_eq!(step(&recording, 0, 6, Action::StepReturn), to(7));
    assert_eq!(
        step(&recording, 0, 7, Action::StepReturn),
        Err(Inapplicable::AtReturn)
    );
}

#[test]
fn a_breakpoint_counts_lines_of_any_event_but_only_ahead() {
    let recording = two_calls();
    let at = |line: &str| Action::Breakpoint(line.to_owned());
    assert_eq!(step(&recording, 0, 0, at("def g(x):")), to(5));
    assert_eq!(step(&recording, 0, 8, at("    return a")), to(9));
    assert_eq!(
        step(&recording, 0, 9, at("    return a")),
        Ok(Destination::Exit(Exit::Normal))
    );
    assert_eq!(
        step(&recording, 0, 0, at("return a")),
        Ok(Destination::Exit(Exit::Normal))
    );
    assert_eq!(
        step(&recording, 0, 0, at("  ")),
        Err(Inapplicable::BlankBreakpoint)
    );
    // Not beyond the scope.
    assert_eq!(
        step(&recording, 1, 2, at("    return a")),
        Ok(Destination::Exit(Exit::Normal))
    );
}

#[test]
fn a_generator_is_called_again_and_its_yield_is_a_return() {
    let recording = Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(2, &[("x", "1")])
        .line(7, &[])
        .leave(7, "1", Leave::Yield)
        .line(3, &[])
        .resume(2, 1, &[("x", "1")])
        .returns(7, "None")
        .returns(3, "1")
        .finish();
    assert_eq!(step(&recording, 0, 2, Action::StepReturn), to(4));
    assert_eq!(step(&recording, 0, 4, Action::StepOver), to(5));
    assert_eq!(step(&recording, 0, 5, Action::StepInto), to(6));
    // The resume is the call of its level: backwards it does not go on in the stretch before.
    assert_eq!(
        back(&recording, 0, node(7), Action::InvStepCall),
        Destination::Node(node(6))
    );
    assert_eq!(
        back(&recording, 0, node(6), Action::InvStepOver),
        Destination::Node(node(5))
    );
    // As a scope of its own, a suspended generator was left normally.
    assert_eq!(
        step(&recording, 1, 2, Action::Continue),
        Ok(Destination::Exit(Exit::Normal))
    );
}

#[test]
fn an_exception_is_a_state_in_each_level_that_it_passes() {
    let recording = Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(1, &[("x", "1")])
        .line(5, &[])
        .raises(5, "ValueError()", &[])
        .leave(5, "None", Leave::Unwind)
        .raises(2, "ValueError()", &[])
        .leave(2, "None", Leave::Unwind)
        .finish();
    assert_eq!(step(&recording, 0, 3, Action::StepOver), to(4));
    assert_eq!(step(&recording, 0, 4, Action::StepReturn), to(5));
    assert_eq!(step(&recording, 0, 5, Action::StepOver), to(6));
    assert_eq!(step(&recording, 0, 1, Action::StepOver), to(6));
    assert_eq!(
        step(&recording, 0, 0, Action::Continue),
        Ok(Destination::Exit(Exit::Error))
    );
    assert_eq!(
        step(&recording, 1, 2, Action::Continue),
        Ok(Destination::Exit(Exit::Error))
    );
}

#[test]
fn calls_may_come_from_an_exception_or_after_a_return() {
    // Event 2 is an exception that called (as `__exit__`), event 5 a return that did (`__del__`).
    let recording = Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .raises(2, "ValueError()", &[("b", "2")])
        .call(1, &[])
        .returns(5, "None")
        .returns(3, "1")
        .called_by(0, 1)
        .returns(5, "None")
        .finish();
    assert_eq!(step(&recording, 0, 2, Action::StepInto), to(3));
    assert_eq!(step(&recording, 0, 2, Action::StepOver), to(5));
    assert_eq!(step(&recording, 0, 5, Action::StepInto), to(6));
    assert_eq!(
        step(&recording, 0, 5, Action::StepOver),
        Ok(Destination::Exit(Exit::Normal))
    );
    assert_eq!(
        step(&recording, 0, 7, Action::StepInto),
        Ok(Destination::Exit(Exit::Normal))
    );
    assert_eq!(
        back(&recording, 0, node(5), Action::InvStepOver),
        Destination::Node(Node::calling(EventId(2)))
    );
    // A duplicate shows locals whatever kind of event called.
    let forest = CallForest::new(&recording);
    let oracle = Oracle::new(forest.tree(ActivationId(0)));
    let stopped = oracle.at(Node::calling(EventId(2))).unwrap();
    assert!(stopped.calling && stopped.state.event == EventKind::Line);
    assert_eq!(
        stopped.state.locals,
        [("a".into(), "1".into()), ("b".into(), "2".into())]
    );
}

#[test]
fn where_the_recording_ends_nothing_is_made_up() {
    let recording = Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(1, &[("x", "1")])
        .line(5, &[])
        .finish();
    let ends = Ok(Destination::RecordingEnds);
    for event in [1, 3] {
        assert_eq!(step(&recording, 0, event, Action::StepOver), ends);
        assert_eq!(step(&recording, 0, event, Action::StepReturn), ends);
        assert_eq!(step(&recording, 0, event, Action::Continue), ends);
        assert_eq!(
            step(&recording, 0, event, Action::Breakpoint("x".into())),
            ends
        );
    }
    assert_eq!(step(&recording, 0, 3, Action::StepInto), ends);
    let forest = CallForest::new(&recording);
    let walk = Trajectory::follow(
        &forest.tree(ActivationId(0)),
        Direction::Forward,
        [Action::StepInto, Action::Continue, Action::StepInto],
    );
    let walk = walk.unwrap();
    assert_eq!(
        (walk.nodes.len(), walk.actions.len(), walk.stop),
        (2, 1, Stop::RecordingEnds)
    );
}

#[test]
fn a_program_that_never_ends_has_an_exit_but_no_last_state() {
    let endless = |script: Script| script.call(0, &[]).line(2, &[]).call(1, &[]).line(5, &[]);
    let killed = Script::new(TEXT, CODES).boundary("t", Some(ExitKind::Never));
    let killed = endless(killed).finish();
    let never = Ok(Destination::Exit(Exit::Never));
    let ends = Ok(Destination::RecordingEnds);
    for root in [0, 1] {
        assert_eq!(step(&killed, root, 3, Action::Continue), never);
        assert_eq!(step(&killed, root, 3, Action::StepReturn), never);
        assert_eq!(
            step(&killed, root, 3, Action::Breakpoint("x".into())),
            never
        );
        assert_eq!(step(&killed, root, 3, Action::StepInto), ends);
        assert_eq!(step(&killed, root, 3, Action::StepOver), ends);
    }
    assert_eq!(step(&killed, 0, 1, Action::StepOver), never);
    // The recorder stopped first: only the outermost call is known to have gone on for ever.
    let truncated = Script::new(TEXT, CODES).boundary("t", Some(ExitKind::Never));
    let truncated = endless(truncated).truncated().finish();
    assert_eq!(step(&truncated, 0, 3, Action::Continue), never);
    assert_eq!(step(&truncated, 1, 3, Action::Continue), ends);
    assert_eq!(step(&truncated, 0, 3, Action::Breakpoint("x".into())), ends);
    // A call that was lost sight of before is not what went on for ever.
    let lost = Script::new(TEXT, CODES).boundary("t", Some(ExitKind::Never));
    let lost = endless(lost).lose().line(3, &[]).finish();
    assert_eq!(step(&lost, 1, 3, Action::Continue), ends);
    assert_eq!(step(&lost, 0, 4, Action::Continue), never);
    // Another program's end says nothing.
    let other = Script::new(TEXT, CODES)
        .boundary("t", Some(ExitKind::Never))
        .boundary("u", None);
    assert_eq!(step(&endless(other).finish(), 0, 3, Action::Continue), ends);
}

#[test]
fn a_hole_in_the_middle_is_crossed_by_the_order_but_not_by_step_return() {
    let recording = Script::new(TEXT, CODES)
        .call(0, &[("a", "1")])
        .line(2, &[])
        .call(1, &[("x", "1")])
        .line(5, &[])
        .lose()
        .line(3, &[])
        .returns(3, "1")
        .finish();
    assert_eq!(step(&recording, 0, 3, Action::StepInto), to(4));
    assert_eq!(step(&recording, 0, 3, Action::StepOver), to(4));
    assert_eq!(
        step(&recording, 0, 3, Action::StepReturn),
        Err(Inapplicable::ReturnNotRecorded)
    );
    assert_eq!(step(&recording, 0, 1, Action::StepOver), to(4));
    assert_eq!(
        step(&recording, 1, 3, Action::Continue),
        Ok(Destination::RecordingEnds)
    );
}

#[test]
fn a_session_goes_back_and_takes_another_way() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let oracle = Oracle::new(forest.tree(ActivationId(1)));
    let mut session = Session::start(&oracle, Direction::Forward).unwrap();
    session.act(&Action::StepReturn).unwrap();
    let stopped = session.now().clone();
    assert_eq!(stopped.state.locals, [(String::new(), "1".to_owned())]);
    assert_eq!(
        (stopped.trust.provenance, oracle.name()),
        (Provenance::Recorded, "oracle")
    );
    let exit = session.act(&Action::StepInto).unwrap();
    assert!(matches!(
        exit,
        Arrival::Exited {
            exit: Exit::Normal,
            ..
        }
    ));
    assert_eq!(session.now(), &stopped);
    assert!(session.act(&Action::StepReturn).is_err());
    assert!(session.undo() && !session.undo());
    assert_eq!(session.now().state.event, EventKind::Call);
    session.act(&Action::StepOver).unwrap();
    assert_eq!(session.now().state.source, "    n = 0");
}

#[test]
fn a_resumed_frame_runs_in_its_newest_activation_only() {
    let script = Script::new(TEXT, CODES)
        .call(2, &[])
        .line(7, &[])
        .resume(2, 0, &[]);
    let mut builder = script.into_builder();
    let line = |activation| Record::Line {
        activation: ActivationId(activation),
        line: 7,
        changes: Vec::new(),
    };
    assert_eq!(builder.push(line(0)), Err(Malformed::Left(0)));
    assert_eq!(builder.push(line(1)), Ok(()));
}
