//! Laws of the forward tree.

use ndbg_simulator::recording::{ActivationId, EventId, Recording};
use ndbg_simulator::{
    Action, CallForest, Destination, Ending, EventKind, Exit, Inapplicable, Node, Tree,
};
use proptest::prelude::*;

use crate::recordings;
use crate::script::Script;

/// The scope of an activation as its definition has it, by following callers.
fn scope(recording: &Recording, root: ActivationId) -> Vec<EventId> {
    let inside = |event: &EventId| {
        let mut at = Some(recording.event(*event).activation);
        while let Some(id) = at {
            if id == root {
                return true;
            }
            at = recording.activation(id).parent;
        }
        false
    };
    recording.events().filter(inside).collect()
}

pub fn roots(recording: &Recording) -> impl Iterator<Item = ActivationId> + use<> {
    (0..recording.activations().len() as u32).map(ActivationId)
}

fn go(tree: &Tree<'_>, event: EventId, action: &Action) -> Destination {
    tree.step(Node::at(event), action).unwrap()
}

fn node(event: EventId) -> Destination {
    Destination::Node(Node::at(event))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn step_into_visits_the_scope_in_the_recorded_order(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let expected = scope(&recording, root);
            prop_assert_eq!(tree.events().collect::<Vec<_>>(), expected.clone());
            for pair in expected.windows(2) {
                prop_assert_eq!(go(&tree, pair[0], &Action::StepInto), node(pair[1]));
            }
            let end = match tree.ending() {
                Ending::Left(exit) => Destination::Exit(exit),
                Ending::Endless | Ending::Unrecorded => Destination::RecordingEnds,
            };
            prop_assert_eq!(go(&tree, expected[expected.len() - 1], &Action::StepInto), end);
        }
    }

    #[test]
    fn step_over_is_the_first_later_state_that_is_not_below_this_level(
        recording in recordings::maybe_cut(),
    ) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let events: Vec<_> = tree.events().collect();
            for (at, &event) in events.iter().enumerate() {
                // Own level or one of those above; a sibling call is on neither.
                let mut levels = vec![recording.event(event).activation];
                while let Some(parent) = recording.activation(levels[levels.len() - 1]).parent {
                    levels.push(parent);
                }
                let later = &events[at + 1..];
                let expected = later.iter().find(|e| levels.contains(&recording.event(**e).activation));
                let reached = go(&tree, event, &Action::StepOver);
                if let Some(&expected) = expected {
                    prop_assert_eq!(reached, node(expected));
                    prop_assert!(tree.depth(expected) <= tree.depth(event));
                } else {
                    prop_assert!(!matches!(reached, Destination::Node(_)));
                }
            }
        }
    }

    #[test]
    fn step_return_lands_on_the_return_of_the_level(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            for event in tree.events() {
                let own = recording.event(event).activation;
                let expected = tree.events().find(|&e| {
                    recording.event(e).activation == own && recording.kind(e) == EventKind::Return
                });
                let reached = tree.step(Node::at(event), &Action::StepReturn);
                match expected {
                    Some(e) if e == event => prop_assert_eq!(reached, Err(Inapplicable::AtReturn)),
                    Some(e) => prop_assert_eq!(reached, Ok(node(e))),
                    None => prop_assert!(!matches!(reached, Ok(Destination::Node(_)))),
                }
            }
        }
    }

    #[test]
    fn a_breakpoint_is_the_first_future_state_with_that_line(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        let sources: Vec<_> = recording.events().map(|e| recording.source_line(e).to_owned()).collect();
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let events: Vec<_> = tree.events().collect();
            for (at, &event) in events.iter().enumerate() {
                for source in sources.iter().take(12) {
                    let expected = events[at + 1..].iter().find(|e| recording.source_line(**e) == source);
                    let reached = go(&tree, event, &Action::Breakpoint(source.clone()));
                    match expected {
                        Some(&e) => prop_assert_eq!(reached, node(e)),
                        None => prop_assert!(!matches!(reached, Destination::Node(_))),
                    }
                }
            }
        }
    }

    #[test]
    fn continue_gives_the_exit_of_a_complete_scope(recording in recordings::complete()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let unwound = recording.event(tree.last()).leave == Some(ndbg_simulator::recording::Leave::Unwind);
            let exit = if unwound { Exit::Error } else { Exit::Normal };
            for event in tree.events() {
                prop_assert_eq!(go(&tree, event, &Action::Continue), Destination::Exit(exit));
            }
            prop_assert_eq!(go(&tree, tree.last(), &Action::StepOver), Destination::Exit(exit));
        }
    }

    #[test]
    fn every_action_has_an_answer_at_every_node_and_stays_in_scope(recording in recordings::maybe_cut()) {
        let actions = [
            Action::StepInto, Action::StepOver, Action::StepReturn, Action::Continue,
            Action::Breakpoint("    step(1)".into()), Action::Breakpoint("nowhere".into()),
            Action::InvStepInto, Action::InvStepOver, Action::InvStepCall,
        ];
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            for event in recording.events() {
                for node in [Node::at(event), Node::calling(event)] {
                    let inside = tree.contains(event) && (!node.calling || tree.has_calls(event));
                    for action in &actions {
                        match tree.step(node, action) {
                            Ok(Destination::Node(reached)) => {
                                prop_assert!(inside && tree.contains(reached.event));
                                prop_assert!(reached != node);
                                prop_assert!(!reached.calling || tree.has_calls(reached.event));
                            }
                            Ok(_) => prop_assert!(inside),
                            Err(Inapplicable::OutsideScope) => prop_assert!(!inside),
                            Err(_) => prop_assert!(inside),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn locals_through_checkpoints_are_the_locals(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for event in recording.events() {
            prop_assert_eq!(forest.locals(event), recording.locals(event));
            prop_assert_eq!(forest.history().bound(event), recording.locals(event).len());
        }
    }

    #[test]
    fn last_positions_of_lines_are_the_same_both_ways(
        recording in recordings::maybe_cut(), from in 0.0..1.0_f64, to in 0.0..1.0_f64,
    ) {
        let forest = CallForest::new(&recording);
        let place = |share: f64| (share * recording.len() as f64) as usize;
        let (start, end) = (place(from), place(to));
        let lines = forest.lines();
        let expected: Vec<_> = (start..end)
            .filter_map(|at| Some((at, lines.at(at)?)))
            .filter(|&(at, line)| (at + 1..end).all(|later| lines.at(later) != Some(line)))
            .collect();
        prop_assert_eq!(lines.last_positions(start, end), expected.clone());
        let asked = lines.iter().filter_map(|line| Some((lines.last_before(line, end)?, line)));
        let mut asked: Vec<_> = asked.filter(|&(at, _)| at >= start).collect();
        asked.sort_unstable();
        prop_assert_eq!(asked, expected);
    }
}

/// Long enough for many checkpoints, with names that come and go.
#[test]
fn locals_of_a_long_loop_are_the_same_through_checkpoints() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let values = ["0", "1", "-", "2", "3"];
    let mut script = Script::new("def f():\n    x\n", &[("f", 1)]).call(0, &[("a", "9")]);
    for step in 0..400 {
        let name = names[step * 7 % names.len()];
        let value = values[step * 3 % values.len()];
        script = script.line(2, &[(name, value)]);
        if step % 100 == 50 {
            script = script.call(0, &[("z", "1")]).returns(2, "None");
        }
    }
    let recording = script.returns(2, "None").finish();
    let forest = CallForest::new(&recording);
    for event in recording.events() {
        assert_eq!(forest.locals(event), recording.locals(event));
        assert_eq!(forest.history().bound(event), recording.locals(event).len());
    }
}
