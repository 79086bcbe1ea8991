//! The checkpoints in `tests/fixtures`, made by `simulator/train/make_parity_fixture.py`.

use ndbg_simulator::model::weights::Bytes;
use ndbg_simulator::model::{Config, Weights};

/// A checkpoint and what `transformers` says about it.
pub struct Fixture {
    pub name: &'static str,
    pub config: &'static str,
    pub weights: &'static [u8],
    expected: &'static str,
}

macro_rules! fixture {
    ($name:literal) => {
        Fixture {
            name: $name,
            config: include_str!(concat!("../fixtures/", $name, "/config.json")),
            weights: include_bytes!(concat!("../fixtures/", $name, "/model.safetensors")),
            expected: include_str!(concat!("../fixtures/", $name, "/expected.json")),
        }
    };
}

pub const LLAMA: Fixture = fixture!("llama");
pub const ALL: [Fixture; 3] = [LLAMA, fixture!("llama3"), fixture!("qwen2")];

/// Rows of token ids; for the first the logits after each place, for the others after the last.
#[derive(serde::Deserialize)]
pub struct Expected {
    pub rows: Vec<Vec<u32>>,
    pub logits: Vec<Vec<Vec<f32>>>,
}

impl Fixture {
    pub fn config(&self) -> Config {
        Config::from_json(self.config).unwrap()
    }

    pub fn weights(&self) -> Weights {
        Weights::from_safetensors(vec![Bytes::Borrowed(self.weights)]).unwrap()
    }

    pub fn expected(&self) -> Expected {
        serde_json::from_str(self.expected).unwrap()
    }
}

/// The largest difference.
pub fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let each = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    each.fold(0.0, f32::max)
}
