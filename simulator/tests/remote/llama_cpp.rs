//! A real llama.cpp: `simulator/train/serve_llama_cpp.py` starts one.
//!
//! `NDBG_TEST_LLAMA_SERVER` is its address, `NDBG_TEST_LLAMA_MODEL` the folder that it serves, the
//! fixture if that is not set. Without the first nothing is tested.

use std::path::{Path, PathBuf};

use ndbg_simulator::backend::{checkpoint, remote};
use ndbg_simulator::grammar::step::{Operation, encode_question};
use ndbg_simulator::model::{Dialect, LanguageModel, Request, Sampling};

use crate::server::quick;

/// Most that a logarithm of a probability may differ.
const CLOSE: f64 = 1e-2;

struct Both {
    ours: Box<dyn LanguageModel>,
    theirs: remote::Remote,
}

fn both() -> Option<Both> {
    let url = std::env::var("NDBG_TEST_LLAMA_SERVER").ok()?;
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/llama");
    let folder = std::env::var("NDBG_TEST_LLAMA_MODEL").map_or(fixture, PathBuf::from);
    let config = std::fs::read_to_string(folder.join("config.json")).unwrap();
    let tokenizer = std::fs::read(folder.join("tokenizer.json")).unwrap();
    let files = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let weights = files.filter(|path| path.extension().is_some_and(|end| end == "safetensors"));
    let weights = weights
        .map(|path| std::fs::read(path).unwrap().into())
        .collect();
    let dialect = Some(Dialect::Step);
    let ours = checkpoint::from_parts("ours", &config, &tokenizer, weights, dialect).unwrap();
    let mut settings = quick();
    settings.tokenizer = Some(tokenizer);
    let theirs = remote::open(&url, settings).unwrap();
    Some(Both { ours, theirs })
}

/// Questions of the step grammar where the vocabulary has it, else anything.
fn prompts(model: &dyn LanguageModel) -> Vec<Vec<u32>> {
    let operations = [
        ("v0+v1", &["12", "30"][..]),
        ("v0.append(v1)", &["[1,'a']", "3"]),
        ("v0.upper()", &["'née'"]),
        ("int(v0)", &["'x'"]),
        ("v0[v1]", &["{'k':1}", "'z'"]),
        ("sorted(v0)", &["[3,1,2]"]),
    ];
    let table = ndbg_simulator::grammar::step::Vocabulary::get();
    if model.vocabulary().size() == table.len() {
        let question = |&(expression, operands): &(&str, &[&str])| {
            encode_question(&Operation {
                expression: expression.into(),
                operands: operands.iter().map(|&operand| operand.into()).collect(),
            })
        };
        return operations.iter().map(question).collect();
    }
    (0..12_u32)
        .map(|row| (0..=row).map(|at| (row * 37 + at * 91) % 265).collect())
        .collect()
}

#[test]
fn llama_cpp_says_what_we_say() {
    let Some(Both { ours, theirs }) = both() else {
        return;
    };
    let end = ours.vocabulary().token("<|end|>").unwrap();
    let prompts = prompts(ours.as_ref());
    let longest = ours.context().min(theirs.context());
    let request = |prompt: &'static [u32]| Request {
        prompt,
        sampling: Sampling::Greedy,
        stop: std::slice::from_ref(Box::leak(Box::new(end))),
        max_tokens: 24.min(longest - prompt.len() - 1),
        mask: None,
    };
    let requests: Vec<Request<'_>> = prompts
        .into_iter()
        .map(|prompt| request(prompt.leak()))
        .collect();
    let together = theirs.generate_batch(&requests).unwrap();
    let mut furthest: f64 = 0.0;
    let mut tokens = 0;
    for (theirs, request) in together.iter().zip(&requests) {
        let ours = &ours.generate(request).unwrap()[0];
        assert_eq!(ours.tokens, theirs.tokens);
        assert_eq!(ours.stopped, theirs.stopped);
        for (ours, theirs) in ours.logprobs.iter().zip(&theirs.logprobs) {
            furthest = furthest.max((ours - theirs).abs());
        }
        tokens += ours.tokens.len();
    }
    println!("{tokens} greedy tokens are equal; logarithms differ by {furthest:.1e} at most");
    assert!(furthest < CLOSE, "{furthest}");
}

#[test]
fn llama_cpp_stops_where_we_stop() {
    let Some(Both { ours, theirs }) = both() else {
        return;
    };
    let mut stopped = 0;
    for prompt in prompts(ours.as_ref()).into_iter().take(2) {
        let request = Request {
            prompt: &prompt,
            sampling: Sampling::Greedy,
            stop: &[],
            max_tokens: 12,
            mask: None,
        };
        let all = ours.generate(&request).unwrap().remove(0).tokens;
        for stop in [all[3], all[6], all[9]] {
            let request = Request {
                stop: &[stop],
                ..request
            };
            let ours = &ours.generate(&request).unwrap()[0];
            let theirs = &theirs.generate(&request).unwrap()[0];
            assert_eq!(ours.tokens, theirs.tokens, "{stop:?}");
            assert!(ours.stopped && theirs.stopped);
            assert!((ours.logprob() - theirs.logprob()).abs() < CLOSE);
            stopped += 1;
        }
    }
    println!("{stopped} answers stop at the same token");
}

#[test]
fn llama_cpp_scores_what_we_score() {
    let Some(Both { ours, theirs }) = both() else {
        return;
    };
    let size = ours.vocabulary().size() as u32;
    let prefix = &prompts(ours.as_ref())[3];
    // Every token once, also pieces of characters and special ones, and some longer texts.
    let mut continuations: Vec<Vec<u32>> = (0..size).step_by(7).map(|token| vec![token]).collect();
    continuations.push(ours.vocabulary().encode_text("né'").unwrap());
    continuations.push(vec![]);
    continuations.push(vec![size - 1, 195, 195, 169, 48]);
    let (a, b) = (
        ours.score(prefix, &continuations).unwrap(),
        theirs.score(prefix, &continuations).unwrap(),
    );
    let furthest = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    println!("{} scores differ by {furthest:.1e} at most", a.len());
    assert!(furthest < CLOSE, "{furthest}");
}

#[test]
fn samples_of_llama_cpp_are_the_same_for_a_seed_and_have_honest_probabilities() {
    let Some(Both { ours, theirs }) = both() else {
        return;
    };
    let prompt = &prompts(ours.as_ref())[2];
    let request = |seed| Request {
        prompt,
        sampling: Sampling::Random {
            temperature: 0.8,
            top_p: 0.95,
            seed,
            samples: 4,
        },
        stop: &[],
        max_tokens: 8,
        mask: None,
    };
    let answers = theirs.generate(&request(1)).unwrap();
    assert_eq!(answers.len(), 4);
    let tokens = |answers: &[ndbg_simulator::model::Generated]| -> Vec<Vec<u32>> {
        answers.iter().map(|answer| answer.tokens.clone()).collect()
    };
    assert_eq!(
        tokens(&answers),
        tokens(&theirs.generate(&request(1)).unwrap())
    );
    let scores = ours.score(prompt, &tokens(&answers)).unwrap();
    for (answer, score) in answers.iter().zip(scores) {
        assert!(
            (answer.logprob() - score).abs() < CLOSE,
            "{} {score}",
            answer.logprob()
        );
    }
}
