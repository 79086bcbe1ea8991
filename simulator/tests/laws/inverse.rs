//! Laws of the inverse tree.

use ndbg_simulator::{Action, CallForest, Destination, Exit, Inapplicable, Node};
use proptest::prelude::*;

use crate::forward::roots;
use crate::recordings;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_inverse_order_turned_round_is_the_forward_order(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let mut events: Vec<_> =
                tree.inverse_nodes().filter(|n| !n.calling).map(|n| n.event).collect();
            events.reverse();
            prop_assert_eq!(events, tree.events().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_duplicate_stands_before_its_callees_and_its_event_after_them(
        recording in recordings::maybe_cut(),
    ) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let nodes: Vec<_> = tree.inverse_nodes().collect();
            let place = |node: Node| nodes.iter().position(|&n| n == node);
            for event in tree.events() {
                let double = place(Node::calling(event));
                prop_assert_eq!(double.is_some(), tree.has_calls(event));
                let Some(double) = double else { continue };
                let own = place(Node::at(event)).unwrap();
                let below = tree.end_of_calls(event) - forest.position(event) - 1;
                let between = &nodes[double + 1..own];
                prop_assert_eq!(between.iter().filter(|n| !n.calling).count(), below);
                prop_assert!(between.iter().all(|n| tree.depth(n.event) > tree.depth(event)));
            }
        }
    }

    #[test]
    fn inv_step_into_follows_the_inverse_order(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let nodes: Vec<_> = tree.inverse_nodes().collect();
            for pair in nodes.windows(2) {
                prop_assert_eq!(
                    tree.step(pair[0], &Action::InvStepInto), Ok(Destination::Node(pair[1])));
            }
            prop_assert_eq!(nodes.last().copied(), Some(Node::at(tree.entry())));
            for action in [Action::InvStepInto, Action::InvStepOver] {
                prop_assert_eq!(
                    tree.step(Node::at(tree.entry()), &action), Ok(Destination::Exit(Exit::Entry)));
            }
        }
    }

    #[test]
    fn inv_step_over_never_goes_down_and_inv_step_call_reaches_the_call(
        recording in recordings::maybe_cut(),
    ) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            for node in tree.inverse_nodes() {
                let own = recording.event(node.event).activation;
                if let Ok(Destination::Node(reached)) = tree.step(node, &Action::InvStepOver) {
                    prop_assert!(tree.depth(reached.event) <= tree.depth(node.event));
                    let level = recording.event(reached.event).activation;
                    prop_assert!(level == own || recording.activation(own).parent == Some(level));
                    prop_assert!(reached.event < node.event || node.calling);
                }
                let call = Node::at(recording.activation(own).first);
                let expected = if call == node {
                    Err(Inapplicable::AtCall)
                } else {
                    Ok(Destination::Node(call))
                };
                prop_assert_eq!(tree.step(node, &Action::InvStepCall), expected);
            }
        }
    }

    #[test]
    fn forward_again_from_a_duplicate_skips_what_was_called(recording in recordings::maybe_cut()) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            for node in tree.inverse_nodes().filter(|n| n.calling) {
                let over = tree.step(Node::at(node.event), &Action::StepOver);
                if let Ok(Destination::Node(_)) = over {
                    prop_assert_eq!(tree.step(node, &Action::StepOver), over);
                }
                if let Ok(Destination::Node(next)) = tree.step(node, &Action::StepInto) {
                    prop_assert_eq!(forest.position(next.event), tree.end_of_calls(node.event));
                }
            }
        }
    }
}
