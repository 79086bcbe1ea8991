//! Models that say what was recorded are debuggers like the recording itself.

use std::collections::HashMap;

use ndbg_simulator::backend::oracle::Oracle;
use ndbg_simulator::backend::trajectory::{Start, TrajectoryModel};
use ndbg_simulator::context::scope_source;
use ndbg_simulator::grammar::{Special, cwm, nd, step};
use ndbg_simulator::model::{
    Dialect, Generated, LanguageModel, ModelError, Request, TokenSet, Vocabulary, vocabulary,
};
use ndbg_simulator::recording::{ActivationId, Recording};
use ndbg_simulator::{
    Action, Arrival, CallForest, Debugger, Direction, EventKind, Exit, Inapplicable, Simulator,
    State, Trajectory, Tree, Unavailable,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::forward::roots;
use crate::grammar::walks;
use crate::recordings;
use crate::script;

/// Logarithm of the probability of each token that a replay says.
const SAID: f64 = -0.01;

fn words() -> Box<dyn Vocabulary> {
    let table = step::Vocabulary::get().tokenizer_json();
    let mut table: Value = serde_json::from_str(&table).unwrap();
    let specials = Special::ALL.iter().zip(256_u32..);
    let added = specials.map(|(special, id)| json!({"id": id, "content": special.text()}));
    table["added_tokens"] = added.collect();
    vocabulary::from_json(table.to_string().as_bytes()).unwrap()
}

/// Says what follows a prompt, if the mask lets it through.
struct Replay<F> {
    words: Box<dyn Vocabulary>,
    dialect: Dialect,
    follows: F,
}

impl<F: Fn(&[u32]) -> Option<Vec<u32>> + Send + Sync> LanguageModel for Replay<F> {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn context(&self) -> usize {
        1 << 20
    }

    fn vocabulary(&self) -> &dyn Vocabulary {
        self.words.as_ref()
    }

    fn generate(&self, request: &Request<'_>) -> Result<Vec<Generated>, ModelError> {
        let text = || self.words.decode(request.prompt);
        let tokens = (self.follows)(request.prompt).unwrap_or_else(|| panic!("{}", text()));
        let mut walk = request.mask.unwrap().begin();
        let mut allowed = TokenSet::new(self.words.size());
        for (at, &token) in tokens.iter().enumerate() {
            allowed.clear();
            walk.allowed(&mut allowed);
            if !allowed.contains(token) {
                let said = self.words.decode(&tokens[..=at]);
                return Err(ModelError::Computation(format!("masked: {said}")));
            }
            walk.advance(token);
        }
        Ok(vec![Generated {
            logprobs: vec![SAID; tokens.len()],
            allowed: vec![0.0; tokens.len()],
            stopped: tokens
                .last()
                .is_some_and(|last| request.stop.contains(last)),
            tokens,
        }])
    }

    fn score(&self, prefix: &[u32], answers: &[Vec<u32>]) -> Result<Vec<f64>, ModelError> {
        let said = (self.follows)(prefix);
        let score = |answer: &Vec<u32>| {
            if said.as_ref() == Some(answer) {
                -0.5
            } else {
                -30.0
            }
        };
        Ok(answers.iter().map(score).collect())
    }
}

/// What follows each prompt of a trace.
fn learn(words: &dyn Vocabulary, trace: &nd::Trace<'_>, known: &mut HashMap<Vec<u32>, Vec<u32>>) {
    for (index, step) in trace
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.action.is_some())
    {
        let so_far = nd::Trace {
            steps: trace.steps[..=index].to_vec(),
            exit: None,
            ..trace.clone()
        };
        let prompt = words.encode_segments(&nd::prompt(&so_far)).unwrap();
        let id = |special: Special| words.token(special.text()).unwrap();
        let answer = match (trace.steps.get(index + 1), trace.exit) {
            (Some(next), _) => {
                let mut answer = words
                    .encode_segments(&nd::encode_frame(&next.frame))
                    .unwrap();
                answer.push(id(Special::ActionSep));
                answer
            }
            (None, Some(exit)) => {
                let exit = match exit {
                    Exit::Normal => Special::ExitNormal,
                    Exit::Error => Special::ExitError,
                    Exit::Never => Special::ExitNever,
                    Exit::Entry => Special::InvExitEntry,
                };
                vec![id(exit), id(Special::TraceEnd)]
            }
            (None, None) => panic!("{:?}", step.action),
        };
        known.insert(prompt, answer);
    }
}

/// All lines that any state can have, and all names.
fn code(recording: &Recording) -> String {
    let files = recording.files().iter();
    let lines = files.flat_map(|file| (1..=file.line_count()).map(|line| file.line(line)));
    let names = (0..recording.text_count() as u32)
        .map(|text| recording.text(ndbg_simulator::recording::TextId(text)));
    let names: Vec<&str> = names.filter(|text| !text.contains('\n')).collect();
    let lines: Vec<&str> = lines.collect();
    format!("{}\n# {}\n", lines.join("\n"), names.join(" "))
}

fn start(oracle: &Oracle<'_>, direction: Direction, code: &str) -> Start {
    let state = oracle.entry(direction).unwrap().state;
    Start {
        code: code.to_owned(),
        state,
    }
}

/// Forwards all locals are known, but deleted ones may stay; backwards those that are known are right.
#[track_caller]
fn agrees(direction: Direction, said: &State, real: &State) {
    assert_eq!((said.event, &said.source), (real.event, &real.source));
    let held: HashMap<&str, &str> = said
        .locals
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    for (name, value) in &real.locals {
        let known = held.get(name.as_str());
        assert!(
            known.is_some() || direction == Direction::Inverse,
            "{name} in {said:?}"
        );
        assert!(
            known.is_none_or(|known| known == value),
            "{name}: {said:?} {real:?}"
        );
    }
}

#[track_caller]
fn same<P: std::fmt::Debug, Q: std::fmt::Debug>(
    direction: Direction,
    said: &Result<Arrival<P>, Unavailable>,
    real: &Result<Arrival<Q>, Unavailable>,
) {
    match (said, real) {
        (Ok(Arrival::Stopped(said)), Ok(Arrival::Stopped(real))) => {
            agrees(direction, &said.state, &real.state);
            assert_eq!(said.calling, real.calling);
            assert!(said.trust.confidence < 1.0 && said.trust.confidence > 0.0);
        }
        (Ok(Arrival::Exited { exit: said, .. }), Ok(Arrival::Exited { exit: real, .. })) => {
            assert_eq!(said, real);
        }
        (Err(said), Err(real)) => assert_eq!(said, real),
        other => panic!("{other:?}"),
    }
}

fn check_walk(tree: Tree<'_>, walk: &Trajectory, code: &str) {
    let words = words();
    let mut known = HashMap::new();
    learn(words.as_ref(), &nd::trace(&tree, walk, code), &mut known);
    let oracle = Oracle::new(tree);
    let follows = move |prompt: &[u32]| known.get(prompt).cloned();
    let replay = Replay {
        words,
        dialect: Dialect::Nd,
        follows,
    };
    let begin = Some(start(&oracle, walk.direction, code));
    let (forward, inverse) = match walk.direction {
        Direction::Forward => (begin, None),
        Direction::Inverse => (None, begin),
    };
    let model = TrajectoryModel::new(replay, forward, inverse).unwrap();
    let mut said = model.entry(walk.direction).unwrap();
    let mut real = oracle.entry(walk.direction).unwrap();
    assert_eq!(said.state, real.state);
    for action in &walk.actions {
        let (next, wanted) = (
            model.step(&said.position, action),
            oracle.step(&real.position, action),
        );
        same(walk.direction, &next, &wanted);
        let (Ok(Arrival::Stopped(next)), Ok(Arrival::Stopped(wanted))) = (next, wanted) else {
            break;
        };
        (said, real) = (next, wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_model_that_says_what_was_recorded_debugs_as_the_recording(
        recording in recordings::complete(), seed in 0..1000_u64,
    ) {
        let forest = CallForest::new(&recording);
        let code = code(&recording);
        for (tree, walk) in walks(&forest, seed, 25).take(8) {
            check_walk(tree, &walk, &code);
        }
    }

    #[test]
    fn cwm_steps_over_returns_and_continues_by_stepping(recording in recordings::complete()) {
        let forest = CallForest::new(&recording);
        let code = code(&recording);
        for root in roots(&recording).take(2) {
            check_cwm(forest.tree(root), &code, 4);
        }
    }
}

/// The worked example, whose locals are exact.
#[test]
fn every_action_everywhere_leads_where_it_led() {
    let recording = script::count();
    let forest = CallForest::new(&recording);
    let tree = forest.tree(ActivationId(0));
    let code = scope_source(&tree);
    for (direction, into) in [
        (Direction::Forward, Action::StepInto),
        (Direction::Inverse, Action::InvStepInto),
    ] {
        let words = words();
        let lines = code.lines().map(|line| Action::Breakpoint(line.to_owned()));
        let actions: Vec<Action> = match direction {
            Direction::Forward => [
                Action::StepInto,
                Action::StepOver,
                Action::StepReturn,
                Action::Continue,
            ]
            .into_iter()
            .chain(lines)
            .collect(),
            Direction::Inverse => vec![
                Action::InvStepInto,
                Action::InvStepOver,
                Action::InvStepCall,
            ],
        };
        let mut known = HashMap::new();
        let all = Trajectory::follow(&tree, direction, vec![into.clone(); 100]).unwrap();
        for steps in 0..all.nodes.len() {
            for action in &actions {
                let path = vec![into.clone(); steps]
                    .into_iter()
                    .chain([action.clone()]);
                if let Ok(walk) = Trajectory::follow(&tree, direction, path) {
                    learn(words.as_ref(), &nd::trace(&tree, &walk, &*code), &mut known);
                }
            }
        }
        let oracle = Oracle::new(tree);
        let follows = move |prompt: &[u32]| known.get(prompt).cloned();
        let replay = Replay {
            words,
            dialect: Dialect::Nd,
            follows,
        };
        let begin = |wanted| (wanted == direction).then(|| start(&oracle, direction, &code));
        let model =
            TrajectoryModel::new(replay, begin(Direction::Forward), begin(Direction::Inverse))
                .unwrap();
        let mut said = model.entry(direction).unwrap();
        let mut real = oracle.entry(direction).unwrap();
        loop {
            for action in &actions {
                let next = model.step(&said.position, action);
                let wanted = oracle.step(&real.position, action);
                same(direction, &next, &wanted);
                if let (Ok(Arrival::Stopped(next)), Ok(Arrival::Stopped(wanted))) = (&next, &wanted)
                {
                    if direction == Direction::Forward {
                        assert_eq!(next.state, wanted.state);
                    }
                    let score = model.score(&said.position, action, &wanted.state, wanted.calling);
                    // Backwards it may have been printed in a way that a state does not show.
                    if direction == Direction::Forward {
                        assert!(
                            (score.unwrap() + 0.5).abs() < 1e-9,
                            "{action:?} {:?}",
                            wanted.state
                        );
                    }
                }
            }
            let (next, wanted) = (
                model.step(&said.position, &into),
                oracle.step(&real.position, &into),
            );
            let (Ok(Arrival::Stopped(next)), Ok(Arrival::Stopped(wanted))) = (next, wanted) else {
                break;
            };
            (said, real) = (next, wanted);
        }
        assert_eq!(
            model.step(&said.position, &into).unwrap(),
            Arrival::Exited {
                exit: if direction == Direction::Forward {
                    Exit::Normal
                } else {
                    Exit::Entry
                },
                trust: match model.step(&said.position, &into).unwrap() {
                    Arrival::Exited { trust, .. } => trust,
                    other => panic!("{other:?}"),
                },
            }
        );
    }
}

/// A model of CWM that says all states in order, and returns where they are forced.
fn check_cwm(tree: Tree<'_>, code: &str, positions: usize) {
    let words = words();
    let id = |special: Special| words.token(special.text()).unwrap();
    let trace = cwm::trace(&tree, "", usize::MAX);
    let encode = |frame: &cwm::Frame<'_>| {
        let alone = cwm::Trace {
            frames: vec![frame.clone()],
            ..cwm::Trace::default()
        };
        words
            .encode_segments(&cwm::encode(&alone))
            .unwrap()
            .split_off(3)
    };
    let frames: Vec<Vec<u32>> = trace.frames.iter().map(encode).collect();
    let events: Vec<_> = tree.events().collect();
    let place = |event| events.iter().position(|&other| other == event);
    let returns: Vec<Option<usize>> = events
        .iter()
        .map(|&event| tree.return_of(event).and_then(place))
        .collect();
    let kinds: Vec<EventKind> = events
        .iter()
        .map(|&event| tree.recording().kind(event))
        .collect();
    let (frame_sep, return_sep, end) = (
        id(Special::FrameSep),
        id(Special::ReturnSep),
        id(Special::EndOfText),
    );
    let follows = move |prompt: &[u32]| {
        let head = prompt.iter().position(|&token| token == frame_sep).unwrap() + 1;
        let mut rest = prompt[head..].strip_prefix(&frames[0][..]).unwrap();
        let mut at = 0;
        loop {
            if rest.is_empty() {
                return Some(frames.get(at + 1).cloned().unwrap_or_else(|| vec![end]));
            }
            if *rest == [return_sep] {
                return Some(frames[returns[at]?][1..].to_vec());
            }
            let next = frames.get(at + 1).map_or(&[][..], |frame| frame);
            let skipped = returns[at].filter(|_| kinds[at] == EventKind::Call);
            (at, rest) = match (rest.strip_prefix(next), skipped) {
                (Some(rest), _) => (at + 1, rest),
                (None, Some(skipped)) => (skipped, rest.strip_prefix(&frames[skipped][..])?),
                (None, None) => return None,
            };
        }
    };
    let oracle = Oracle::new(tree);
    let model = TrajectoryModel::new(
        Replay {
            words: self::words(),
            dialect: Dialect::Cwm,
            follows,
        },
        Some(start(&oracle, Direction::Forward, code)),
        None,
    );
    let model = model.unwrap();
    let mut said = model.entry(Direction::Forward).unwrap();
    let mut real = oracle.entry(Direction::Forward).unwrap();
    let lines: Vec<String> = code
        .lines()
        .filter(|line| line.contains("step"))
        .map(str::to_owned)
        .collect();
    for _ in 0..positions {
        let breakpoints = lines.iter().take(4).cloned().map(Action::Breakpoint);
        let actions = [
            Action::StepInto,
            Action::StepOver,
            Action::StepReturn,
            Action::Continue,
        ];
        for action in actions.into_iter().chain(breakpoints) {
            let (next, wanted) = (
                model.step(&said.position, &action),
                oracle.step(&real.position, &action),
            );
            match (&next, &wanted) {
                (Ok(Arrival::Stopped(next)), Ok(Arrival::Stopped(wanted))) => {
                    assert_eq!(next.state, wanted.state, "{action:?}");
                }
                // How a run ends is only guessed from what it does before.
                (Ok(Arrival::Exited { .. }), Ok(Arrival::Exited { .. })) => {}
                (Err(next), Err(wanted)) => assert_eq!(next, wanted),
                other => panic!("{action:?}: {other:?}"),
            }
        }
        let into = Action::StepInto;
        let (next, wanted) = (
            model.step(&said.position, &into),
            oracle.step(&real.position, &into),
        );
        let (Ok(Arrival::Stopped(next)), Ok(Arrival::Stopped(wanted))) = (next, wanted) else {
            break;
        };
        (said, real) = (next, wanted);
    }
    let back = model
        .step(&said.position, &Action::InvStepInto)
        .unwrap_err()
        .to_string();
    assert!(back.contains("no way back"), "{back}");
    assert!(model.entry(Direction::Inverse).is_err());
}

#[test]
fn cwm_debugs_the_worked_example() {
    let recording = script::count();
    let forest = CallForest::new(&recording);
    for root in [0, 1] {
        let tree = forest.tree(ActivationId(root));
        check_cwm(tree, &scope_source(&tree), usize::MAX);
    }
}

const CODE: &str = "def f(a):\n    b = a\n    return b\n";

/// The answer to `step_into` from the call of `f(1)`, if a model says `text`.
fn answer(
    text: &str,
) -> Result<Arrival<ndbg_simulator::backend::trajectory::Position>, Unavailable> {
    let words = words();
    let said = words.encode(text).unwrap();
    let follows = move |_: &[u32]| Some(said.clone());
    let arguments = [("a".to_owned(), "1".to_owned())];
    let start = Start::call(CODE, "def f(a):", &arguments);
    let model = TrajectoryModel::new(
        Replay {
            words,
            dialect: Dialect::Nd,
            follows,
        },
        Some(start),
        None,
    );
    let model = model.unwrap();
    let entry = model.entry(Direction::Forward).unwrap();
    model.step(&entry.position, &Action::StepInto)
}

#[test]
fn nothing_but_states_of_the_code_gets_through() {
    let line = |locals: &str, source: &str| {
        format!("<|line_sep|><|arg_sep|>{locals}<|src_sep|>{source}<|action_sep|>")
    };
    let Ok(Arrival::Stopped(good)) =
        answer(&line("{\"..\": \"..\", \"b\": \"2\"}", "    return b"))
    else {
        panic!()
    };
    let held = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(good.state.locals, [held("a", "1"), held("b", "2")]);
    let surely = SAID * good.position.tokens().len() as f64;
    assert!(good.trust.confidence > surely.exp());
    for text in [
        line("{}", "    return c"),
        line("{}", "    return"),
        line("{\"c\": \"1\"}", "    return b"),
        line("{\"b\": 1}", "    return b"),
        line("{\"b\": \"1\"", "    return b"),
        line("[]", "    return b"),
        line("{}", "    return b").replace("line_sep", "inv_line_sep"),
        line("{}", "    return b").replace("<|src_sep|>", ""),
        "<|exit_never|><|trace_end|>".to_owned(),
        "<|call_sep|><|src_sep|>def f(a):<|arg_sep|>{\"..\": \"..\"}<|action_sep|>".to_owned(),
        "<|return_sep|><|src_sep|>    return b<|arg_sep|>1<|action_sep|>".to_owned(),
        String::new(),
        "<|line_sep|>".to_owned(),
    ] {
        let told = answer(&text);
        assert!(
            matches!(told, Err(Unavailable::Unknown(_))),
            "{text}: {told:?}"
        );
    }
    // A value that reads like a token is a value.
    let spelled =
        answer("<|return_sep|><|src_sep|>    return b<|arg_sep|>\"'<\\\\|frame'\"<|action_sep|>");
    assert!(matches!(spelled, Ok(Arrival::Stopped(_))), "{spelled:?}");
}

#[test]
fn what_cannot_be_asked_is_told() {
    let said = "<|line_sep|><|arg_sep|>{\"..\": \"..\"}<|src_sep|>    b = a<|action_sep|>";
    let words = words();
    let said = words.encode(said).unwrap();
    let follows = move |_: &[u32]| Some(said.clone());
    let start = Start::main(CODE, "f", "1");
    assert!(
        start
            .code
            .ends_with("    return b\ndef main(): return f(1)\n")
    );
    let end = Start::returned(CODE, "    return b", "1");
    let replay = Replay {
        words,
        dialect: Dialect::Nd,
        follows,
    };
    let model = TrajectoryModel::new(replay, Some(start), Some(end)).unwrap();
    let entry = model.entry(Direction::Forward).unwrap();
    let ask = |action: Action| model.step(&entry.position, &action).unwrap_err();
    assert_eq!(
        ask(Action::Breakpoint(" ".into())),
        Inapplicable::BlankBreakpoint.into()
    );
    for action in [Action::Breakpoint("    c = 1".into()), Action::InvStepInto] {
        assert!(matches!(ask(action), Unavailable::Unknown(_)));
    }
    let back = model.entry(Direction::Inverse).unwrap();
    assert!(model.step(&back.position, &Action::StepInto).is_err());
    // One step from a state alone.
    let state = State {
        event: EventKind::Call,
        locals: vec![("a".into(), "1".into())],
        source: "def f(a):".into(),
    };
    let next = model.predict(CODE, &state, &Action::StepInto).unwrap();
    assert_eq!(
        (next.state.event, &*next.state.source),
        (EventKind::Line, "    b = a")
    );
    assert_eq!(next.state.locals, state.locals);
    let score = Simulator::score(&model, CODE, &state, &Action::StepInto, &next.state).unwrap();
    assert!((score + 0.5).abs() < 1e-9, "{score}");
}
