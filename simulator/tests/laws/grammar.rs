//! Laws of the grammars.

use std::collections::HashMap;

use ndbg_simulator::grammar::{Piece, Role, Segment, Special, cwm, nd, plain_text};
use ndbg_simulator::recording::{ActivationId, Recording};
use ndbg_simulator::{CallForest, Direction, EventKind, Sampler, Trajectory, Tree};
use proptest::prelude::*;

use crate::forward::roots;
use crate::recordings;

/// Trajectories of a recording in both directions, one for each scope.
pub fn walks<'f>(
    forest: &'f CallForest<'f>,
    seed: u64,
    cap: usize,
) -> impl Iterator<Item = (Tree<'f>, Trajectory)> + 'f {
    let sampler = Sampler::new(seed, cap);
    let directions = [Direction::Forward, Direction::Inverse];
    roots(forest.recording()).flat_map(move |root| {
        directions.map(|direction| {
            let tree = forest.tree(root);
            let walk = sampler.sample_tree(&tree, direction, u64::from(root.0));
            (tree, walk)
        })
    })
}

fn locals(recording: &Recording, node: ndbg_simulator::Node) -> HashMap<&str, &str> {
    let locals = recording.locals(node.event);
    let text = |c: &ndbg_simulator::recording::Change| {
        (recording.text(c.name), recording.text(c.value.unwrap()))
    };
    locals.iter().map(text).collect()
}

/// What a reader of a trace believes about each level, checked against the recording.
pub fn check_reader(tree: &Tree<'_>, walk: &Trajectory, trace: &nd::Trace<'_>) {
    let recording = tree.recording();
    let mut believed: HashMap<ActivationId, HashMap<String, String>> = HashMap::new();
    for (&node, step) in walk.nodes.iter().zip(&trace.steps) {
        let level = recording.event(node.event).activation;
        let kind = recording.kind(node.event);
        let nd::Values::Locals { elided, shown } = &step.frame.values else {
            assert!(matches!(kind, EventKind::Return | EventKind::Exception) && !node.calling);
            continue;
        };
        let real = locals(recording, node);
        assert_eq!(*elided, shown.len() < real.len());
        if kind == EventKind::Call && !node.calling {
            assert!(!elided);
        }
        let belief = believed
            .entry(level)
            .or_insert_with(|| match walk.direction {
                Direction::Forward => HashMap::new(),
                // Backwards a level is entered from its end, which is taken as known.
                Direction::Inverse => {
                    let last = recording.activation(level).last;
                    let at_end = locals(recording, ndbg_simulator::Node::at(last));
                    at_end
                        .iter()
                        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                        .collect()
                }
            });
        for (name, value) in shown {
            belief.insert(name.to_string(), value.to_string());
        }
        for (name, value) in real {
            assert_eq!(
                belief.get(name).map(String::as_str),
                Some(value),
                "{name} at {node:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nd_reads_what_it_wrote(
        recording in recordings::maybe_cut(), seed in 0..1000_u64, cap in 1..40_usize,
        context in "[ -~<|\\\\é\n]{0,20}",
    ) {
        let forest = CallForest::new(&recording);
        for (tree, walk) in walks(&forest, seed, cap) {
            let trace = nd::trace(&tree, &walk, context.clone());
            let text = plain_text(&nd::encode(&trace));
            prop_assert_eq!(nd::decode(&text), Ok(trace.clone()));
            for step in &trace.steps {
                let answer = plain_text(&nd::encode_frame(&step.frame));
                prop_assert_eq!(nd::decode_answer(&answer), Ok(nd::Answer::Frame(step.frame.clone())));
                let ended = answer.clone() + "<|action_sep|>";
                prop_assert!(nd::decode_answer(&ended).is_ok());
                prop_assert!(nd::decode_answer(&(answer + "<|frame_sep|>")).is_err());
            }
        }
    }

    #[test]
    fn a_reader_of_an_nd_trace_knows_all_locals(
        recording in recordings::complete(), seed in 0..1000_u64,
    ) {
        let forest = CallForest::new(&recording);
        for (tree, walk) in walks(&forest, seed, 60) {
            check_reader(&tree, &walk, &nd::trace(&tree, &walk, ""));
        }
    }

    #[test]
    fn the_loss_counts_states_after_the_first_and_exits_only(
        recording in recordings::maybe_cut(), seed in 0..1000_u64,
    ) {
        let forest = CallForest::new(&recording);
        for (tree, walk) in walks(&forest, seed, 60) {
            let trace = nd::trace(&tree, &walk, "code");
            let segments = nd::encode(&trace);
            prop_assert!(segments.iter().all(|s| !s.loss || s.role == Role::State));
            // One event token a prediction, and none for the state that is given.
            let predicted = |s: &&Segment<'_>| s.loss && match s.piece {
                Piece::Special(special) => matches!(
                    special.role(),
                    ndbg_simulator::grammar::SpecialRole::Event
                        | ndbg_simulator::grammar::SpecialRole::Exit
                ),
                Piece::Text(_) => false,
            };
            prop_assert_eq!(segments.iter().filter(predicted).count(), walk.transitions());
            // Every predicted state says where it ends, unless the trace goes on after it.
            let ends = |s: &&Segment<'_>| s.loss && s.piece == Piece::Special(Special::ActionSep);
            let acted = trace.steps.iter().skip(1).filter(|step| step.action.is_some()).count();
            prop_assert_eq!(segments.iter().filter(ends).count(), acted);
        }
    }

    #[test]
    fn cwm_reads_what_it_wrote_and_its_reader_knows_all_locals(
        recording in recordings::maybe_cut(), cap in 1..60_usize,
    ) {
        let forest = CallForest::new(&recording);
        for root in roots(&recording) {
            let tree = forest.tree(root);
            let trace = cwm::trace(&tree, "code\n", cap);
            let text = plain_text(&cwm::encode(&trace));
            prop_assert_eq!(cwm::decode(&text), Ok(trace.clone()));
            prop_assert_eq!(trace.frames.len(), tree.len().min(cap));
            let mut believed: HashMap<ActivationId, HashMap<String, String>> = HashMap::new();
            for (event, frame) in tree.events().zip(&trace.frames) {
                let printed = plain_text(&cwm::encode(&cwm::Trace {
                    frames: vec![frame.clone()],
                    ..cwm::Trace::default()
                }));
                let answer = printed.split_once("<|frame_sep|>").unwrap().1;
                prop_assert_eq!(cwm::decode_frame(answer), Ok(frame.clone()));
                let cwm::Values::Locals(bindings) = &frame.values else { continue };
                let belief = believed.entry(recording.event(event).activation).or_default();
                belief.retain(|name, _| bindings.iter().any(|b| b.0 == *name));
                for (name, value) in bindings {
                    if let Some(value) = value {
                        belief.insert(name.to_string(), value.to_string());
                    }
                }
                let real = locals(&recording, ndbg_simulator::Node::at(event));
                prop_assert_eq!(belief.len(), real.len());
                for (name, value) in real {
                    prop_assert_eq!(belief.get(name).map(String::as_str), Some(value));
                }
            }
        }
    }

    #[test]
    fn decoders_answer_any_text(pieces in prop::collection::vec(piece(), 0..24)) {
        let text = pieces.concat();
        let errors = [
            nd::decode(&text).err(),
            nd::decode_answer(&text).err(),
            cwm::decode(&text).err(),
            cwm::decode_frame(&text).err(),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(error.at <= text.len(), "{}", error);
        }
    }

    #[test]
    fn a_damaged_trace_is_read_or_refused_at_or_before_the_damage_shows(
        recording in recordings::complete(), seed in 0..1000_u64, at in 0.0..1.0_f64,
    ) {
        let forest = CallForest::new(&recording);
        for (tree, walk) in walks(&forest, seed, 20) {
            let text = plain_text(&nd::encode(&nd::trace(&tree, &walk, "code")));
            let cut = (0..=(at * text.len() as f64) as usize).rev().find(|&c| text.is_char_boundary(c));
            let cut = cut.unwrap();
            if let Err(error) = nd::decode(&text[..cut]) {
                prop_assert!(error.at <= cut);
            }
            // One byte more or less anywhere must not panic.
            let mut damaged = text[..cut].to_owned();
            damaged.extend(text[cut..].chars().skip(1));
            let _ = nd::decode(&damaged);
        }
    }
}

/// Pieces of both grammars, whole and broken.
fn piece() -> impl Strategy<Value = String> {
    let special = prop::sample::select(Special::ALL).prop_map(|s| s.text().to_owned());
    let values = prop::sample::select(&[
        "{}",
        "{\"..\": \"..\"}",
        "{\"a\": \"1\"}",
        "\"v\"",
        "{\"a\"",
        "é",
        "<|",
        "|>",
        "\\u12",
        "\n",
        "<\\|",
    ]);
    prop_oneof![3 => special, 2 => values.prop_map(str::to_owned), 1 => "\\PC{0,4}"]
}

#[test]
fn malformed_traces_are_refused_where_they_break() {
    let begin = "<|begin_of_text|><|trace_context_start|>code";
    let call = "<|frame_sep|><|call_sep|><|src_sep|>def f():<|arg_sep|>{}";
    let check = |tail: &str, at: usize, what: &str| {
        let text = format!("{begin}{tail}");
        let error = nd::decode(&text).unwrap_err();
        assert_eq!((error.at - begin.len(), error.what), (at, what), "{tail}");
    };
    check("<|frame_sep|>", 13, "expected a state or an exit");
    check(
        "<|frame_sep|><|step_into|>",
        13,
        "expected a state or an exit",
    );
    check(
        &format!("{call}<|frame_sep|>"),
        call.len(),
        "expected `<|action_sep|>`",
    );
    check(
        &format!("{call}<|action_sep|>x"),
        call.len() + 14,
        "expected an action",
    );
    check(
        &format!("{call}<|action_sep|><|inv_step_into|>"),
        call.len() + 14,
        "both directions in one trace",
    );
    check(
        "<|frame_sep|><|line_sep|><|arg_sep|>{\"a\": 1}",
        42,
        "expected a string",
    );
    check(
        "<|frame_sep|><|line_sep|><|arg_sep|>{\"a\": \"1\", \"..\": \"..\"}<|src_sep|>x",
        36,
        "`..` is only the first name, with `..` as its value",
    );
    check(
        "<|frame_sep|><|exit_normal|>",
        28,
        "expected `<|trace_end|>`",
    );
    // Escaped text counts as it is written.
    check(
        "<|frame_sep|><|line_sep|><|arg_sep|>{\"<\\|\": 1}",
        44,
        "expected a string",
    );
    assert_eq!(
        nd::decode("x").unwrap_err().to_string(),
        "byte 0: expected `<|begin_of_text|>`"
    );
}

#[test]
fn the_token_table_is_data() {
    let mut texts: Vec<_> = Special::ALL.iter().map(|s| s.text()).collect();
    for &special in Special::ALL {
        assert_eq!(special.text(), format!("<|{}|>", special.name()));
        assert_eq!(Special::from_name(special.name()), Some(special));
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), Special::ALL.len());
    let ids: Vec<_> = cwm::TOKENS.iter().map(|t| t.1).collect();
    assert!(ids.is_sorted() && ids.contains(&128_107));
}

#[test]
fn a_prompt_ends_where_the_model_answers() {
    let recording = crate::script::count();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(1));
    let steps = [ndbg_simulator::Action::StepReturn];
    let walk = Trajectory::follow(&tree, Direction::Forward, steps).unwrap();
    let mut trace = nd::trace(&tree, &walk, "");
    let answer = trace.steps.pop().unwrap().frame;
    let prompt = plain_text(&nd::prompt(&trace));
    assert!(prompt.ends_with("<|action_sep|><|step_return|><|frame_sep|>"));
    let whole = prompt + &plain_text(&nd::encode_frame(&answer));
    assert_eq!(nd::decode(&whole).unwrap().steps.len(), 2);
    // The grammar of CWM skips a call by forcing its return.
    let called = cwm::trace(&tree, "", 1);
    let prompt = plain_text(&cwm::prompt(&called, Some(EventKind::Return)));
    assert!(prompt.ends_with("def count(s, t):\n<|frame_sep|><|return_sep|>"));
}
