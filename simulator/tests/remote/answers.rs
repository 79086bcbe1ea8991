//! What servers say, and what is made of it.

use ndbg_simulator::backend::remote::{Kind, Prompts};
use ndbg_simulator::model::{LanguageModel, Request, Sampling};
use serde_json::{Value, json};

use crate::server::{Answer, Seen, Server};

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

fn random(prompt: &[u32], samples: usize) -> Request<'_> {
    Request {
        prompt,
        sampling: Sampling::Random {
            temperature: 0.5,
            top_p: 0.9,
            seed: 7,
            samples,
        },
        stop: &[261],
        max_tokens: 4,
        mask: None,
    }
}

/// vLLM: ids in both directions, a prompt's probabilities with `echo`.
fn vllm(request: &Seen) -> Answer {
    let body = &request.body;
    let mut tokens: Vec<u64> = Vec::new();
    let mut logprobs: Vec<Option<f64>> = Vec::new();
    if body["echo"] == json!(true) {
        tokens.extend(
            body["prompt"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_u64),
        );
        logprobs.extend((0..tokens.len()).map(|at| (at > 0).then_some(-0.125 * at as f64)));
    }
    let choices = (0..body["n"].as_u64().unwrap_or(1)).map(|index| {
        let own = [49 + index, 261];
        let (mut tokens, mut logprobs) = (tokens.clone(), logprobs.clone());
        tokens.extend(own);
        logprobs.extend([Some(-0.5), Some(-0.25)]);
        let texts: Vec<String> = tokens.iter().map(|id| format!("token_id:{id}")).collect();
        json!({"index": index, "text": "", "finish_reason": "stop", "token_ids": own,
            "prompt_token_ids": body["prompt"],
            "logprobs": {"tokens": texts, "token_logprobs": logprobs}})
    });
    let mut choices: Vec<Value> = choices.collect();
    choices.reverse();
    Answer::json(&json!({"choices": choices}))
}

#[test]
fn samples_come_in_their_order() {
    let server = Server::start("vllm", |request, _| vllm(request));
    let model = server.open(|_| ()).unwrap();
    assert_eq!(
        (model.name(), model.context(), model.served().kind),
        ("tiny", 64, Kind::Vllm)
    );
    let answers = model.generate(&random(&[256, 50], 3)).unwrap();
    let tokens: Vec<&[u32]> = answers.iter().map(|answer| &answer.tokens[..]).collect();
    assert_eq!(tokens, [[49, 261], [50, 261], [51, 261]]);
    assert!(answers.iter().all(|answer| answer.stopped));
    near(answers[0].logprob(), -0.75);
    near(answers[0].unmasked_logprob(), -0.75);
    let asked = &server.seen()[0];
    assert!(asked.line.starts_with("POST /v1/completions "));
    assert_eq!(asked.body["prompt"], json!([256, 50]));
    assert_eq!(asked.body["n"], json!(3));
    assert_eq!(asked.body["max_tokens"], json!(4));
    assert!(!asked.headers.contains("authorization"));
}

#[test]
fn a_score_is_that_of_the_continuation_alone() {
    for owner in ["vllm", "sglang", "somebody"] {
        let server = Server::start(owner, |request, _| vllm(request));
        let model = server.open(|_| ()).unwrap();
        let scores = model
            .score(&[256, 50], &[vec![1, 2], vec![], vec![3]])
            .unwrap();
        for (score, wanted) in scores.iter().zip([-0.125 * 5.0, 0.0, -0.25]) {
            near(*score, wanted);
        }
        assert_eq!(server.seen().len(), 2);
    }
}

#[test]
fn a_server_that_repeats_no_prompt_cannot_score() {
    let server = Server::start("somebody", |request, _| {
        let mut request = request.clone();
        request.body["echo"] = json!(false);
        vllm(&request)
    });
    let model = server.open(|_| ()).unwrap();
    let told = model.score(&[256], &[vec![1]]).unwrap_err().to_string();
    assert!(told.contains("echo"), "{told}");
}

#[test]
fn sglang_is_asked_again_for_what_it_heated() {
    let server = Server::start("sglang", |request, _| vllm(request));
    let model = server.open(|_| ()).unwrap();
    let answer = model.generate(&random(&[256, 50], 1)).unwrap();
    near(answer[0].logprob(), -0.125 * 5.0);
    assert_eq!(server.seen()[1].body["prompt"], json!([256, 50, 49, 261]));
}

/// Text in both directions: what any server of this API does.
fn texts(tokens: &[&str], logprobs: &Value) -> Answer {
    Answer::json(
        &json!({"choices": [{"index": 0, "text": tokens.concat(), "finish_reason": "stop",
        "logprobs": {"tokens": tokens, "token_logprobs": logprobs}}]}),
    )
}

#[test]
fn without_a_tokenizer_tokens_are_bytes_and_words() {
    let server = Server::start("somebody", |request, _| {
        if request.body["echo"] == json!(true) {
            texts(
                &["<|step|>", "ab", "c1", "<|end|>", "?"],
                &json!([null, -1, -2, -4, -8]),
            )
        } else {
            texts(&["ab", "é", "<|end|>"], &json!([-1.0, -0.5, -0.25]))
        }
    });
    let model = server.open(|settings| settings.tokenizer = None).unwrap();
    let words = model.vocabulary();
    let prompt = words.encode("<|step|>ab").unwrap();
    let stop = words.encode("<|end|>").unwrap();
    let request = Request {
        stop: &stop,
        ..random(&prompt, 1)
    };
    let answer = &model.generate(&request).unwrap()[0];
    assert_eq!(words.decode(&answer.tokens), "abé<|end|>");
    assert!(answer.stopped);
    near(answer.logprob(), -1.75);
    let seen = &server.seen()[0].body;
    assert_eq!(seen["prompt"], json!("<|step|>ab"));
    assert_eq!(seen["stop"], json!(["<|end|>"]));
    // A border between tokens of the server is one here; another one is not.
    let end = words.encode("c1<|end|>").unwrap();
    near(model.score(&prompt, &[end]).unwrap()[0], -6.0);
    let shorter = words.encode("<|step|>a").unwrap();
    let told = model
        .score(&shorter, &[words.encode("bc1<|end|>").unwrap()])
        .unwrap_err();
    assert!(told.to_string().contains("cannot score"), "{told}");
    // What would read as a word is not sent as text.
    let spelled = words.encode_text("<|end|>").unwrap();
    assert!(
        model
            .generate(&Request {
                prompt: &spelled,
                ..request
            })
            .is_err()
    );
}

#[test]
fn settings_that_do_not_fit_are_told() {
    let server = Server::start("llamacpp", |request, _| vllm(request));
    let told = server
        .open(|settings| settings.tokenizer = None)
        .err()
        .unwrap()
        .to_string();
    assert!(told.contains("tokenizer.json"), "{told}");
    let server = Server::start("vllm", |request, _| vllm(request));
    let both = server.open(|settings| {
        settings.tokenizer = None;
        settings.prompts = Some(Prompts::Ids);
    });
    assert!(both.is_err());
    let wanted = server.open(|settings| settings.model = Some("other".into()));
    assert!(wanted.err().unwrap().to_string().contains("tiny"));
    let shorter = server.open(|settings| settings.context = Some(8)).unwrap();
    assert_eq!(shorter.context(), 8);
}

/// llama.cpp, as it was seen to answer: no entry for a token in the middle of a character, none for a
/// stop word, probabilities of forced tokens.
#[test]
fn what_llama_cpp_leaves_out_is_asked_for() {
    let server = Server::start("llamacpp", |request, _| {
        let body = &request.body;
        let entry = |id: u32, text: &str, logprob: f64| {
            json!({"id": id, "token": text, "logprob": logprob, "top_logprobs": [
                {"id": 195, "token": "", "logprob": -0.75}, {"id": 97, "token": "a", "logprob": -3.0}]})
        };
        let (tokens, content) = match body["logit_bias"][0][0].as_u64() {
            None => (
                json!([49, 195, 169, 261]),
                json!([entry(49, "1", -0.5), entry(169, "é", -0.25)]),
            ),
            Some(195) => (json!([195]), Value::Null),
            Some(97) => (json!([97]), json!([entry(97, "a", -3.0)])),
            Some(261) => (json!([261]), json!([entry(261, "", -0.125)])),
            Some(other) => panic!("{other}"),
        };
        let count = tokens.as_array().unwrap().len();
        Answer::json(&json!({"choices": [{"index": 0, "finish_reason": "stop",
            "logprobs": if content.is_null() { Value::Null } else { json!({"content": content}) }}],
            "usage": {"completion_tokens": count}, "__verbose": {"tokens": tokens}}))
    });
    let model = server.open(|_| ()).unwrap();
    let request = Request {
        sampling: Sampling::Greedy,
        ..random(&[256], 1)
    };
    let answer = &model.generate(&request).unwrap()[0];
    assert_eq!(answer.tokens, [49, 195, 169, 261]);
    assert_eq!(answer.logprobs, [-0.5, -0.75, -0.25, -0.125]);
    let seen = server.seen();
    assert_eq!(seen[0].body["stop"], json!(["<|end|>"]));
    assert_eq!(seen[2].body["prompt"], json!([256, 49]));
    near(model.score(&[256, 49], &[vec![195]]).unwrap()[0], -0.75);
}
