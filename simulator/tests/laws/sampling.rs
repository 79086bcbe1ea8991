//! Laws of the sampler.

use std::fmt::Write as _;

use ndbg_simulator::recording::ActivationId;
use ndbg_simulator::{
    Action, ActionKind, CallForest, Destination, Direction, Entries, EventKind, Exit, Level, Node,
    Policy, Sampler, Statistics, Stop,
};
use proptest::prelude::*;

use crate::recordings;
use crate::script::{Script, count};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_trajectory_is_a_walk_that_the_tree_allows(
        recording in recordings::maybe_cut(), seed in 0..1000_u64, cap in 1..50_usize,
    ) {
        let forest = CallForest::new(&recording);
        let sampler = Sampler::new(seed, cap);
        for level in [Level::Function, Level::Repository] {
            let entries = Entries::new(&forest, level);
            for (number, direction) in [Direction::Forward, Direction::Inverse].iter().cycle().take(8).enumerate() {
                let number = number as u64;
                let Some(walk) = sampler.sample(&forest, &entries, *direction, number) else { continue };
                let again = sampler.sample(&forest, &entries, *direction, number);
                prop_assert_eq!(Some(&walk), again.as_ref());
                let tree = forest.tree(walk.root);
                prop_assert!(walk.nodes.len() <= cap);
                let exits = matches!(walk.stop, Stop::Exit(_));
                prop_assert_eq!(walk.actions.len(), walk.nodes.len() - usize::from(!exits));
                for (index, action) in walk.actions.iter().enumerate() {
                    let reached = tree.step(walk.nodes[index], action).unwrap();
                    if let Some(&next) = walk.nodes.get(index + 1) {
                        prop_assert_eq!(reached, Destination::Node(next));
                    } else {
                        let Destination::Exit(exit) = reached else { panic!("{reached:?}") };
                        prop_assert_eq!(walk.stop, Stop::Exit(exit));
                        prop_assert_eq!(exit == Exit::Entry, *direction == Direction::Inverse);
                    }
                    // A breakpoint that is drawn is one that is hit.
                    if matches!(action, Action::Breakpoint(_)) {
                        prop_assert!(matches!(reached, Destination::Node(_)));
                        prop_assert_eq!(*direction, Direction::Forward);
                    }
                }
                if walk.stop == Stop::Capped {
                    prop_assert_eq!(walk.nodes.len(), cap);
                }
            }
        }
    }

    #[test]
    fn repository_entries_are_calls_that_end_and_have_something_to_step_through(
        recording in recordings::maybe_cut(),
    ) {
        let forest = CallForest::new(&recording);
        let entries = Entries::new(&forest, Level::Repository);
        for index in 0..recording.activations().len() as u32 {
            let id = ActivationId(index);
            let tree = forest.tree(id);
            let wanted = tree.len() >= 3 && tree.return_of(tree.entry()).is_some();
            prop_assert_eq!(entries.roots().contains(&id), wanted);
        }
    }
}

/// One level of `lines` different lines.
fn long(lines: u32) -> ndbg_simulator::recording::Recording {
    let mut text = "def f():\n".to_owned();
    for line in 0..lines {
        writeln!(text, "    x = {line}").unwrap();
    }
    let mut script = Script::new(&text, &[("f", 1)]).call(0, &[]);
    for line in 0..lines {
        script = script.line(line + 2, &[("x", "0")]);
    }
    script.returns(lines + 1, "None").finish()
}

#[test]
fn actions_come_as_often_as_the_policy_says() {
    let recording = long(400);
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let mut sampler = Sampler::new(7, 100);
    sampler.policies = [Policy::JUMPS; 2];
    let mut first = Statistics::default();
    for number in 0..20_000 {
        let mut walk = sampler.sample_tree(&tree, Direction::Forward, number);
        // Only the first action of each: at the entry everything is available.
        walk.actions.truncate(1);
        first.add(&walk);
    }
    let share = |kind| first.of(kind) as f64 / first.transitions() as f64;
    for (kind, weight) in Policy::JUMPS.weights(Direction::Forward) {
        let expected = weight / 0.8;
        assert!(
            (share(kind) - expected).abs() < 0.015,
            "{kind:?}: {}",
            share(kind)
        );
    }
    let mut back = Statistics::default();
    for number in 0..20_000 {
        let mut walk = sampler.sample_tree(&tree, Direction::Inverse, number);
        walk.actions.truncate(1);
        back.add(&walk);
    }
    let share = |kind| back.of(kind) as f64 / back.transitions() as f64;
    assert!((share(ActionKind::InvStepInto) - 0.35 / 0.65).abs() < 0.015);
    assert!((share(ActionKind::InvStepCall) - 0.2 / 0.65).abs() < 0.015);
    assert_eq!(
        back.of(ActionKind::Breakpoint) + back.of(ActionKind::Continue),
        0
    );
}

#[test]
fn breakpoints_are_uniform_over_the_different_lines_ahead() {
    let recording = long(10);
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let mut sampler = Sampler::new(3, 2);
    let only = Policy {
        into: 0.0,
        over: 0.0,
        end: 0.0,
        breakpoint: 1.0,
        exit: 0.0,
    };
    sampler.policies = [only; 2];
    let mut hits = [0_u32; 12];
    for number in 0..10_000 {
        let walk = sampler.sample_tree(&tree, Direction::Forward, number);
        hits[walk.nodes[1].event.index()] += 1;
    }
    // Ten lines; the return reads as the last of them, which comes first.
    assert_eq!((hits[0], hits[11]), (0, 0));
    assert!(
        hits[1..11].iter().all(|&n| (850..1150).contains(&n)),
        "{hits:?}"
    );
}

#[test]
fn half_of_the_trajectories_walk() {
    let recording = long(100);
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let sampler = Sampler::new(11, 1000);
    let walks = (0..2000).map(|n| sampler.sample_tree(&tree, Direction::Forward, n));
    // Steps alone never skip a state of a run without calls; with jumps hardly any run gets by.
    let whole = walks.filter(|walk| walk.nodes.len() == tree.len()).count();
    assert!((900..1100).contains(&whole), "{whole}");
}

#[test]
fn seeds_and_numbers_give_different_trajectories() {
    let recording = long(100);
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let draw = |seed, number| Sampler::new(seed, 50).sample_tree(&tree, Direction::Forward, number);
    let all: Vec<_> = (0..4).flat_map(|s| (0..4).map(move |n| (s, n))).collect();
    let different: std::collections::HashSet<_> = all
        .iter()
        .map(|&(s, n)| format!("{:?}", draw(s, n).actions))
        .collect();
    assert!(different.len() > 8, "{}", different.len());
}

/// What a seed draws must not change: data sets name their seeds.
#[test]
fn a_seed_draws_the_same_trajectory_for_ever() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let entries = Entries::new(&forest, Level::Function);
    let sampler = Sampler::new(1, 8);
    let drawn: Vec<_> = (0..5)
        .map(|number| {
            sampler
                .sample(&forest, &entries, Direction::Forward, number)
                .unwrap()
        })
        .map(|walk| {
            walk.nodes
                .iter()
                .map(|node| node.event.0)
                .collect::<Vec<_>>()
        })
        .collect();
    let expected: [&[u32]; 5] = [
        &[0, 11],
        &[0, 1, 2],
        &[0, 1, 11],
        &[0, 1, 2, 3, 4, 5, 6, 7],
        &[0, 1, 11],
    ];
    assert_eq!(drawn, expected);
}

#[test]
fn backwards_the_function_stands_for_its_main() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let function = Entries::new(&forest, Level::Function);
    assert_eq!(function.roots(), [ActivationId(0)]);
    let sampler = Sampler::new(5, 100);
    let walk = sampler
        .sample(&forest, &function, Direction::Inverse, 0)
        .unwrap();
    assert_eq!(walk.root, ActivationId(1));
    assert_eq!(recording.kind(walk.nodes[0].event), EventKind::Return);
    let walk = sampler
        .sample(&forest, &function, Direction::Forward, 0)
        .unwrap();
    assert_eq!(
        (walk.root, walk.nodes[0]),
        (ActivationId(0), Node::at(forest.tree(walk.root).entry()))
    );
}

#[test]
fn statistics_add_up() {
    let recording = count();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let sampler = Sampler::new(5, 6);
    let (mut all, mut halves) = (Statistics::default(), [Statistics::default(); 2]);
    for number in 0..200_u64 {
        let walk = sampler.sample_tree(&tree, Direction::Forward, number);
        all.add(&walk);
        halves[number as usize % 2].add(&walk);
    }
    let [mut sum, other] = halves;
    sum.merge(&other);
    assert_eq!(sum, all);
    assert_eq!(all.trajectories, all.exits(Exit::Normal) + all.capped);
    assert_eq!(
        all.states + all.exits(Exit::Normal),
        all.transitions() + all.trajectories
    );
}

/// Holes are in no data set: a step into a lost callee and out again is no real transition.
#[test]
fn a_trajectory_stops_at_a_hole() {
    let text = "def f():\n    g()\n    1\ndef g():\n    2\n";
    let recording = Script::new(text, &[("f", 1), ("g", 4)])
        .call(0, &[])
        .line(2, &[])
        .call(1, &[])
        .line(5, &[])
        .lose()
        .line(3, &[])
        .returns(3, "None")
        .finish();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let sampler = Sampler::new(2, 100);
    let mut stopped = 0;
    for number in 0..300 {
        let walk = sampler.sample_tree(&tree, Direction::Forward, number);
        for pair in walk.nodes.windows(2) {
            assert!((pair[0].event.0, pair[1].event.0) != (3, 4), "{walk:?}");
        }
        stopped += usize::from(walk.stop == Stop::RecordingEnds);
    }
    assert!(stopped > 20, "{stopped}");
}
