//! Models from files.

use std::io::Cursor;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use ndbg_simulator::backend::{checkpoint, embedded};
use ndbg_simulator::model::{
    Dialect, LanguageModel, Network, Request, Sampling, Transformer, Weights,
};

use crate::fixture::{LLAMA, difference};

const TOKENIZER: &str = include_str!("../fixtures/llama/tokenizer.json");

fn opened(config: &str, dialect: Option<Dialect>) -> Result<Box<dyn LanguageModel>, String> {
    let shards = vec![LLAMA.weights.into()];
    let tokenizer = TOKENIZER.as_bytes();
    let model = checkpoint::from_parts("test", config, tokenizer, shards, dialect);
    model.map_err(|error| error.to_string())
}

fn said(model: &dyn LanguageModel) -> Vec<u32> {
    let request = Request {
        prompt: &[256, 49, 50],
        sampling: Sampling::Greedy,
        stop: &[],
        max_tokens: 10,
        mask: None,
    };
    model.generate(&request).unwrap().remove(0).tokens
}

#[test]
fn a_checkpoint_of_hugging_face_is_opened() {
    let model = opened(LLAMA.config, None).unwrap();
    assert_eq!((model.name(), model.dialect()), ("test", Dialect::Step));
    assert_eq!(model.context(), 64);
    assert_eq!(model.vocabulary().encode("<|step|>1").unwrap(), [256, 49]);
    assert_eq!(said(model.as_ref()).len(), 10);
}

#[test]
fn the_dialect_is_that_of_the_configuration_or_of_whoever_asks() {
    let silent = LLAMA.config.replace("\"ndbg\"", "\"other\"");
    let told = opened(&silent, None).err().unwrap();
    assert!(told.contains("nd, cwm, step"), "{told}");
    let model = opened(&silent, Some(Dialect::Nd)).unwrap();
    assert_eq!(model.dialect(), Dialect::Nd);
    let strange = LLAMA.config.replace("\"step\"", "\"klingon\"");
    let told = opened(&strange, None).err().unwrap();
    assert!(
        told.contains("`klingon`") && told.contains("nd, cwm, step"),
        "{told}"
    );
    let newer = LLAMA.config.replace("\"format\": 1", "\"format\": 2");
    let told = opened(&newer, None).err().unwrap();
    assert!(told.contains("format 2"), "{told}");
}

#[test]
fn a_temperature_that_is_no_positive_number_is_an_error() {
    let cold = LLAMA.config.replace("1.25", "0");
    let told = opened(&cold, None).err().unwrap();
    assert!(told.contains("temperature 0"), "{told}");
}

#[test]
fn files_that_are_none_are_errors() {
    let tokenizer = TOKENIZER.as_bytes();
    for bytes in [&b""[..], b"junk junk junk junk"] {
        let open =
            |config| checkpoint::from_parts("test", config, tokenizer, vec![bytes.into()], None);
        assert!(open(LLAMA.config).is_err());
        assert!(open("{").is_err());
        assert!(checkpoint::from_gguf("test", bytes.into(), None, None).is_err());
    }
}

/// The fixture as llama.cpp has it, with matrices of a kind.
fn gguf(kind: GgmlDType, architecture: &str, dialect: Option<&str>) -> Vec<u8> {
    let config = LLAMA.config();
    let weights = LLAMA.weights();
    let quantise = |name: &str, shape: &[usize]| {
        let mut tensor = weights.tensor(name, shape).unwrap();
        let heads = match name {
            _ if name.contains("q_proj") => config.heads,
            _ if name.contains("k_proj") => config.kv_heads,
            _ => 0,
        };
        if heads > 0 {
            let halves = tensor
                .reshape((heads, 2, shape[0] / heads / 2, shape[1]))
                .unwrap();
            tensor = halves.transpose(1, 2).unwrap().contiguous().unwrap();
            tensor = tensor.reshape(shape).unwrap();
        }
        // Rows must be made of whole blocks.
        let blocks = shape.len() == 2 && shape[1].is_multiple_of(kind.block_size());
        let kind = if blocks { kind } else { GgmlDType::F32 };
        QTensor::quantize(&tensor, kind).unwrap()
    };
    let (width, feed, keys) = (config.width, config.feed_forward, config.key_width());
    let mut tensors = vec![
        (
            "token_embd".to_owned(),
            quantise("model.embed_tokens.weight", &[265, width]),
        ),
        (
            "output_norm".to_owned(),
            quantise("model.norm.weight", &[width]),
        ),
    ];
    for layer in 0..config.layers {
        for (theirs, ours, shape) in [
            ("attn_norm", "input_layernorm", vec![width]),
            ("ffn_norm", "post_attention_layernorm", vec![width]),
            ("attn_q", "self_attn.q_proj", vec![width, width]),
            ("attn_k", "self_attn.k_proj", vec![keys, width]),
            ("attn_v", "self_attn.v_proj", vec![keys, width]),
            ("attn_output", "self_attn.o_proj", vec![width, width]),
            ("ffn_gate", "mlp.gate_proj", vec![feed, width]),
            ("ffn_up", "mlp.up_proj", vec![feed, width]),
            ("ffn_down", "mlp.down_proj", vec![width, feed]),
        ] {
            let tensor = quantise(&format!("model.layers.{layer}.{ours}.weight"), &shape);
            tensors.push((format!("blk.{layer}.{theirs}"), tensor));
        }
    }
    let tensors: Vec<(String, QTensor)> = tensors
        .into_iter()
        .map(|(name, tensor)| (format!("{name}.weight"), tensor))
        .collect();
    let tensors: Vec<(&str, &QTensor)> =
        tensors.iter().map(|(name, t)| (name.as_str(), t)).collect();
    let tokenizer: serde_json::Value = serde_json::from_str(TOKENIZER).unwrap();
    let mut tokens = vec![(String::new(), 1); 265];
    for (text, id) in tokenizer["model"]["vocab"].as_object().unwrap() {
        tokens[id.as_u64().unwrap() as usize] = (text.clone(), 1);
    }
    for added in tokenizer["added_tokens"].as_array().unwrap() {
        let id = added["id"].as_u64().unwrap() as usize;
        tokens[id] = (added["content"].as_str().unwrap().to_owned(), 3);
    }
    let size = |size: usize| Value::U32(size as u32);
    let mut metadata = vec![
        (
            "general.architecture",
            Value::String(architecture.to_owned()),
        ),
        ("llama.embedding_length", size(width)),
        ("llama.block_count", size(config.layers)),
        ("llama.feed_forward_length", size(feed)),
        ("llama.context_length", size(config.context)),
        ("llama.attention.head_count", size(config.heads)),
        ("llama.attention.head_count_kv", size(config.kv_heads)),
        (
            "llama.attention.layer_norm_rms_epsilon",
            Value::F32(config.norm_epsilon),
        ),
        ("tokenizer.ggml.model", Value::String("gpt2".to_owned())),
        (
            "tokenizer.ggml.tokens",
            Value::Array(
                tokens
                    .iter()
                    .map(|token| Value::String(token.0.clone()))
                    .collect(),
            ),
        ),
        (
            "tokenizer.ggml.token_type",
            Value::Array(tokens.iter().map(|token| Value::I32(token.1)).collect()),
        ),
        ("ndbg.temperature", Value::F32(1.25)),
    ];
    if let Some(dialect) = dialect {
        metadata.push(("ndbg.dialect", Value::String(dialect.to_owned())));
    }
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &tensors).unwrap();
    file.into_inner()
}

#[test]
fn a_gguf_file_says_what_the_checkpoint_says() {
    let wanted = opened(LLAMA.config, None).unwrap();
    let file = gguf(GgmlDType::F32, "llama", Some("step"));
    let model = checkpoint::from_gguf("test", file.into(), None, None).unwrap();
    assert_eq!(model.dialect(), Dialect::Step);
    assert_eq!(model.vocabulary().encode("<|step|>1").unwrap(), [256, 49]);
    assert_eq!(said(model.as_ref()), said(wanted.as_ref()));
    let answers = [vec![9, 8, 7], vec![120]];
    let (found, wanted) = (
        model.score(&[1, 2], &answers),
        wanted.score(&[1, 2], &answers),
    );
    for (found, wanted) in found.unwrap().iter().zip(wanted.unwrap()) {
        assert!((found - wanted).abs() < 1e-4);
    }
}

#[test]
fn quantised_matrices_are_computed_with_as_they_are() {
    let weights = Weights::from_gguf(gguf(GgmlDType::Q8_0, "llama", None).into()).unwrap();
    let Weights::Gguf { content, .. } = &weights else {
        panic!("not a GGUF file");
    };
    let config = ndbg_simulator::model::gguf::config(content, &weights);
    let network = Transformer::new(config.unwrap(), &weights).unwrap();
    let exact = Transformer::new(LLAMA.config(), &LLAMA.weights()).unwrap();
    let (_, found) = network.read(&[&[1, 2, 3]]).unwrap();
    let (_, wanted) = exact.read(&[&[1, 2, 3]]).unwrap();
    let far = difference(found.place(0), wanted.place(0));
    assert!(far > 1e-4 && far < 0.5, "{far}");
}

#[test]
fn what_a_gguf_file_lacks_is_named() {
    let told = |file: Vec<u8>| {
        let model = checkpoint::from_gguf("test", file.into(), None, None);
        model.err().unwrap().to_string()
    };
    let strange = told(gguf(GgmlDType::F32, "mamba", Some("step")));
    assert!(strange.contains("`mamba`"), "{strange}");
    let silent = told(gguf(GgmlDType::F32, "llama", None));
    assert!(silent.contains("nd, cwm, step"), "{silent}");
}

#[test]
fn files_of_bytes_are_read_as_the_embedded_ones_are() {
    let model = embedded::read(embedded::CONFIG, embedded::TOKENIZER, embedded::WEIGHTS).unwrap();
    assert_eq!(model.dialect(), Dialect::Step);
    let weights = Weights::from_safetensors(vec![embedded::WEIGHTS.into()]).unwrap();
    let config = model.network().config().clone();
    let dense = Transformer::new(config, &weights).unwrap();
    let prompt: &[u32] = &[256, 49, 50, 51, 258];
    let (_, found) = model.network().read(&[prompt]).unwrap();
    let (_, wanted) = dense.read(&[prompt]).unwrap();
    let far = difference(found.place(0), wanted.place(0));
    assert!(far < 1e-4, "{far}");
}

#[test]
fn the_embedded_model_is_one_that_was_trained() {
    let random = embedded::CONFIG.contains("\"random\": true");
    assert_eq!(embedded::open().is_err(), random);
}
