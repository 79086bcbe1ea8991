//! Generating and scoring.

use ndbg_simulator::model::{
    Dialect, Fused, Generated, LanguageModel, Local, Network, Request, Sampling, Transformer, Trie,
    vocabulary,
};

use crate::fixture::LLAMA;

const TOKENIZER: &[u8] = include_bytes!("../fixtures/llama/tokenizer.json");

fn local<N: Network>(network: N) -> Local<N> {
    let vocabulary = vocabulary::from_json(TOKENIZER).unwrap();
    Local::new("fixture", network, vocabulary, Dialect::Step).unwrap()
}

/// The same model on both networks.
fn models() -> [Box<dyn LanguageModel>; 2] {
    let weights = LLAMA.weights();
    [
        Box::new(local(Fused::new(LLAMA.config(), &weights).unwrap())),
        Box::new(local(Transformer::new(LLAMA.config(), &weights).unwrap())),
    ]
}

fn greedy(prompt: &[u32]) -> Request<'_> {
    Request {
        prompt,
        sampling: Sampling::Greedy,
        stop: &[],
        max_tokens: 12,
        mask: None,
    }
}

fn random(prompt: &[u32], seed: u64, samples: usize) -> Request<'_> {
    Request {
        sampling: Sampling::Random {
            temperature: 0.9,
            top_p: 0.95,
            seed,
            samples,
        },
        ..greedy(prompt)
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-4, "{a} {b}");
}

fn one(model: &dyn LanguageModel, request: &Request<'_>) -> Generated {
    let mut answers = model.generate(request).unwrap();
    assert_eq!(answers.len(), 1);
    answers.pop().unwrap()
}

#[test]
fn a_score_is_the_sum_of_what_generating_said() {
    let prompt = [256, 49, 50, 258, 7];
    for model in models() {
        let mut answers = model.generate(&random(&prompt, 3, 20)).unwrap();
        answers.push(one(model.as_ref(), &greedy(&prompt)));
        let tokens: Vec<Vec<u32>> = answers.iter().map(|answer| answer.tokens.clone()).collect();
        let scores = model.score(&prompt, &tokens).unwrap();
        for (answer, score) in answers.iter().zip(&scores) {
            assert_eq!(answer.tokens.len(), 12);
            near(answer.logprob(), *score);
            assert!(answer.allowed.iter().all(|&allowed| allowed == 0.0));
        }
        let alone: Vec<f64> = tokens
            .iter()
            .flat_map(|tokens| model.score(&prompt, std::slice::from_ref(tokens)).unwrap())
            .collect();
        for (alone, score) in alone.iter().zip(&scores) {
            near(*alone, *score);
        }
        assert_eq!(model.score(&prompt, &[vec![]]).unwrap(), [0.0]);
    }
}

#[test]
fn a_batch_says_what_its_prompts_say_alone() {
    let expected = LLAMA.expected();
    for model in models() {
        // The first to stop, and the first whose context is full, leave the others going.
        let long = vec![5; 60];
        let rows = expected.rows.iter().chain([&long]);
        let mut requests: Vec<Request<'_>> = rows.map(|row| greedy(row)).collect();
        let stops = one(model.as_ref(), &requests[1]).tokens;
        requests[1].stop = &stops[2..3];
        let together = model.generate_batch(&requests).unwrap();
        for (together, request) in together.iter().zip(&requests) {
            let alone = one(model.as_ref(), request);
            assert_eq!(together.tokens, alone.tokens);
            near(together.logprob(), alone.logprob());
        }
        assert!(together[1].stopped && !together[0].stopped);
        let at = stops.iter().position(|token| *token == stops[2]).unwrap();
        assert_eq!(together[1].tokens, stops[..=at]);
        assert_eq!(together[1].without_stop(requests[1].stop), &stops[..at]);
        assert_eq!(together.last().unwrap().tokens.len(), 4);
    }
}

#[test]
fn both_networks_say_the_same() {
    let [fused, candle] = models();
    for prompt in &LLAMA.expected().rows {
        let (a, b) = (
            one(fused.as_ref(), &greedy(prompt)),
            one(candle.as_ref(), &greedy(prompt)),
        );
        assert_eq!(a.tokens, b.tokens);
        near(a.logprob(), b.logprob());
    }
}

#[test]
fn samples_are_the_same_for_a_seed_and_differ_from_each_other() {
    let prompt = [256, 49];
    for model in models() {
        let first = model.generate(&random(&prompt, 1, 8)).unwrap();
        assert_eq!(first, model.generate(&random(&prompt, 1, 8)).unwrap());
        assert_ne!(first, model.generate(&random(&prompt, 2, 8)).unwrap());
        assert!(first.iter().skip(1).any(|answer| *answer != first[0]));
        let fewer = model.generate(&random(&prompt, 1, 3)).unwrap();
        let tokens = |answers: &[Generated]| -> Vec<Vec<u32>> {
            answers.iter().map(|answer| answer.tokens.clone()).collect()
        };
        assert_eq!(tokens(&fewer), tokens(&first[..3]));
        let batch = model.generate_batch(&[random(&prompt, 1, 8)]).unwrap();
        assert_eq!(batch[0].tokens, first[0].tokens);
    }
}

#[test]
fn a_mask_is_never_left_and_confidence_stays_honest() {
    let names = [&[120][..], &[120, 121], &[97, 98, 99], &[97, 100]];
    let end = 261;
    let trie = Trie::new(names, &[end]);
    let prompt = [256, 49, 50];
    for model in models() {
        for seed in 0..20 {
            let request = Request {
                stop: &[end],
                mask: Some(&trie),
                ..random(&prompt, seed, 5)
            };
            for answer in model.generate(&request).unwrap() {
                assert!(answer.stopped);
                assert!(
                    names.contains(&answer.without_stop(&[end])),
                    "{:?}",
                    answer.tokens
                );
                let score = model
                    .score(&prompt, std::slice::from_ref(&answer.tokens))
                    .unwrap();
                near(answer.unmasked_logprob(), score[0]);
                assert!(answer.unmasked_logprob() < answer.logprob());
            }
        }
    }
}

#[test]
fn probabilities_of_a_mask_add_up_to_one() {
    let names = [[120, 121], [120, 122], [97, 98]];
    let trie = Trie::new(names, &[]);
    let prompt = [256, 49, 50];
    for model in models() {
        let request = Request {
            mask: Some(&trie),
            ..random(&prompt, 1, 200)
        };
        let mut seen = std::collections::BTreeMap::new();
        for answer in model.generate(&request).unwrap() {
            assert!(answer.stopped && answer.tokens.len() == 2);
            seen.insert(answer.tokens.clone(), answer.logprob().exp());
        }
        let scores = model
            .score(&prompt, &names.map(|name| name.to_vec()))
            .unwrap();
        assert!(scores.iter().map(|score| score.exp()).sum::<f64>() < 1.0);
        let total: f64 = seen.values().sum();
        assert!(total < 1.0 + 1e-4, "{total}");
        assert!(seen.len() < 3 || total > 1.0 - 1e-4, "{total}");
    }
}

#[test]
fn what_cannot_be_asked_is_told() {
    for model in models() {
        let told = |prompt: &[u32]| model.generate(&greedy(prompt)).unwrap_err().to_string();
        assert!(told(&[]).contains("empty"));
        assert!(told(&[9999]).contains("9999"));
        assert!(told(&[1; 65]).contains("65 tokens"));
        let long = model
            .score(&[1; 60], &[vec![1; 5]])
            .unwrap_err()
            .to_string();
        assert!(long.contains("65 tokens"), "{long}");
        assert!(model.score(&[1], &[vec![9999]]).is_err());
        let none = Request {
            max_tokens: 0,
            ..greedy(&[1])
        };
        assert_eq!(one(model.as_ref(), &none), Generated::default());
    }
}
