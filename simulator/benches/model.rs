//! How fast the small model is on one core.
//!
//! `cargo bench -p ndbg-simulator --bench model` makes random weights of the embedded model's size.
//! `-- FOLDER` reads `config.json` and `model.safetensors` there instead, as
//! `simulator/train/compare_llama_cpp.py` does; `-- FOLDER candle` runs the network in candle.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use ndbg_simulator::backend::embedded;
use ndbg_simulator::backend::step::StepModel;
use ndbg_simulator::grammar::step::Operation;
use ndbg_simulator::harness::Operations as _;
use ndbg_simulator::model::weights::Bytes;
use ndbg_simulator::model::{
    Config, Dialect, Fused, LanguageModel, Local, Network, Request, Sampling, Transformer, Weights,
    vocabulary,
};
use safetensors::tensor::{Dtype, TensorView};

const PROMPT: usize = 64;
const ANSWER: usize = 64;
const ROWS: usize = 64;
const CANDIDATES: usize = 200;
const CANDIDATE: usize = 10;
/// Each figure is the best of so many: others work on the same machine.
const TRIES: usize = 7;
/// The same for what takes long.
const FEW: usize = 2;

const TOKENIZER: &[u8] = include_bytes!("../tests/fixtures/llama/tokenizer.json");

const CONFIG: &str = r#"{"model_type": "llama", "vocab_size": 550, "hidden_size": 128,
    "intermediate_size": 384, "num_hidden_layers": 6, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": true}"#;

/// Random weights as a safetensors file of 32-bit numbers.
fn random(config: &Config) -> Vec<u8> {
    let mut state: u64 = 88_172_645_463_325_252;
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut tensor = |name: String, shape: Vec<usize>| {
        let mut numbers = Vec::new();
        for _ in 0..shape.iter().product() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let number = (state >> 40) as f32 / (1 << 24) as f32 - 0.5;
            let number = if shape.len() == 1 { 1.0 } else { number * 0.2 };
            numbers.extend(number.to_le_bytes());
        }
        tensors.push((name, shape, numbers));
    };
    let (width, feed) = (config.width, config.feed_forward);
    tensor(
        "model.embed_tokens.weight".to_owned(),
        vec![config.vocabulary, width],
    );
    tensor("model.norm.weight".to_owned(), vec![width]);
    for layer in 0..config.layers {
        let mut tensor = |part: &str, shape: &[usize]| {
            tensor(
                format!("model.layers.{layer}.{part}.weight"),
                shape.to_vec(),
            );
        };
        tensor("input_layernorm", &[width]);
        tensor("post_attention_layernorm", &[width]);
        tensor("self_attn.q_proj", &[config.query_width(), width]);
        tensor("self_attn.k_proj", &[config.key_width(), width]);
        tensor("self_attn.v_proj", &[config.key_width(), width]);
        tensor("self_attn.o_proj", &[width, config.query_width()]);
        tensor("mlp.gate_proj", &[feed, width]);
        tensor("mlp.up_proj", &[feed, width]);
        tensor("mlp.down_proj", &[width, feed]);
    }
    let views = tensors.iter().map(|(name, shape, bytes)| {
        (
            name,
            TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap(),
        )
    });
    safetensors::serialize(views, None).unwrap()
}

/// Time on the processor where the system says it, so that a busy machine does not count; else time.
fn best(tries: usize, mut work: impl FnMut()) -> Duration {
    work();
    let tries = (0..tries).map(|_| {
        let (before, start) = (busy(), Instant::now());
        work();
        let wall = start.elapsed();
        match (before, busy()) {
            (Some(before), Some(now)) if now > before => Duration::from_nanos(now - before),
            _ => wall,
        }
    });
    tries.min().unwrap()
}

/// Nanoseconds that this thread ran.
fn busy() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn report(name: &str, tokens: usize, time: Duration) {
    let rate = tokens as f64 / time.as_secs_f64();
    println!("{name:<28} {rate:>9.0} tokens/s {time:>10.1?}");
}

fn ids(count: usize, seed: usize) -> Vec<u32> {
    (0..count)
        .map(|place| ((place * 7919 + seed * 104_729) % 250) as u32)
        .collect()
}

fn measure<N: Network>(network: N) {
    let vocabulary = vocabulary::from_json(TOKENIZER).unwrap();
    let model = Local::new("bench", network, vocabulary, Dialect::Step).unwrap();
    let prompt = ids(PROMPT, 1);
    let request = |prompt| Request {
        prompt,
        sampling: Sampling::Greedy,
        stop: &[],
        max_tokens: ANSWER,
        mask: None,
    };
    let long = ids(256, 2);
    let time = best(TRIES, || drop(model.network().read(&[&long]).unwrap()));
    report("prefill, 256 tokens", long.len(), time);
    let first = Request {
        max_tokens: 1,
        ..request(&prompt)
    };
    let start = best(TRIES, || drop(model.generate(&first).unwrap()));
    let whole = best(TRIES, || drop(model.generate(&request(&prompt)).unwrap()));
    report("decode, one", ANSWER - 1, whole.saturating_sub(start));
    let prompts: Vec<Vec<u32>> = (0..ROWS).map(|row| ids(20 + row, row)).collect();
    let requests: Vec<Request<'_>> = prompts.iter().map(|prompt| request(prompt)).collect();
    let whole = best(FEW, || drop(model.generate_batch(&requests).unwrap()));
    let first = Request {
        max_tokens: 1,
        ..request(&prompt)
    };
    let firsts: Vec<Request<'_>> = prompts
        .iter()
        .map(|prompt| Request { prompt, ..first })
        .collect();
    let start = best(FEW, || drop(model.generate_batch(&firsts).unwrap()));
    report(
        "decode, 64 together",
        ROWS * (ANSWER - 1),
        whole.saturating_sub(start),
    );
    let candidates: Vec<Vec<u32>> = (0..CANDIDATES).map(|row| ids(CANDIDATE, row)).collect();
    let together = best(TRIES, || drop(model.score(&prompt, &candidates).unwrap()));
    let alone = best(FEW, || {
        for candidate in &candidates {
            model
                .score(&prompt, std::slice::from_ref(candidate))
                .unwrap();
        }
    });
    println!(
        "scoring {CANDIDATES} x {CANDIDATE} after {PROMPT}    {together:.1?} together, {alone:.1?} one by one: {:.1} times",
        alone.as_secs_f64() / together.as_secs_f64()
    );
}

/// Predicted steps a second of the embedded model: each operation is one, with its own operands.
fn operations() {
    let operation = |number: usize| {
        let (a, b) = (number * 7 % 90, number * 13 % 50);
        let word = &"the quick brown fox jumps over"[number % 12..12 + number % 17];
        let (expression, operands) = match number % 6 {
            0 => ("v0 + v1", vec![a.to_string(), b.to_string()]),
            1 => ("v0 < v1", vec![a.to_string(), b.to_string()]),
            2 => ("v0.upper()", vec![format!("'{word}{a}'")]),
            3 => ("len(v0)", vec![format!("[{a}, {b}, {number}, 4]")]),
            4 => ("v0[v1:]", vec![format!("'{word}{b}'"), (a % 7).to_string()]),
            _ => (
                "v0.append(v1)",
                vec![format!("[{a}, {b}]"), number.to_string()],
            ),
        };
        Operation {
            expression: expression.to_owned(),
            operands,
        }
    };
    let asked: Vec<Operation> = (0..384).map(operation).collect();
    // A new model each time: what was asked once is known.
    let alone = best(FEW, || {
        let model = StepModel::new(embedded::open().unwrap());
        for operation in &asked {
            let _ = model.perform(operation);
        }
    });
    let together = best(FEW, || {
        let model = StepModel::new(embedded::open().unwrap());
        for operations in asked.chunks(ROWS) {
            drop(model.perform_all(operations));
        }
    });
    let rate = |time: Duration| asked.len() as f64 / time.as_secs_f64();
    println!(
        "embedded model               {:>9.0} steps/s one by one, {:.0} in batches of {ROWS}",
        rate(alone),
        rate(together)
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let read = |name: &str| {
        let folder = arguments.first()?;
        std::fs::read(std::path::Path::new(folder).join(name)).ok()
    };
    let config = read("config.json").map_or(CONFIG.to_owned(), |b| String::from_utf8(b).unwrap());
    let config = Config::from_json(&config).unwrap();
    let file: Bytes = read("model.safetensors")
        .unwrap_or_else(|| random(&config))
        .into();
    let load = || Weights::from_safetensors(vec![file.clone()]).unwrap();
    println!(
        "{:.2} million parameters, {} bytes",
        config.parameters() as f64 / 1e6,
        file.len()
    );
    if arguments.get(1).is_some_and(|kind| kind == "candle") {
        let time = best(TRIES, || {
            drop(Transformer::new(config.clone(), &load()).unwrap());
        });
        println!("load {time:>33.1?}");
        measure(Transformer::new(config.clone(), &load()).unwrap());
    } else {
        let time = best(TRIES, || drop(Fused::new(config.clone(), &load()).unwrap()));
        println!("load {time:>33.1?}");
        measure(Fused::new(config.clone(), &load()).unwrap());
        operations();
    }
}
