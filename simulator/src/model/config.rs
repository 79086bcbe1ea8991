//! What `config.json` says about a network.

use serde::Deserialize;

use super::dialect::Dialect;
use super::error::ModelError;

/// Sizes and constants of a decoder of the Llama family.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Number of tokens.
    pub vocabulary: usize,
    /// Numbers in the residual stream.
    pub width: usize,
    /// Layers.
    pub layers: usize,
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values; divides `heads`.
    pub kv_heads: usize,
    /// Numbers in a head; even.
    pub head_width: usize,
    /// Numbers in the feed-forward part.
    pub feed_forward: usize,
    /// Tokens that it can read.
    pub context: usize,
    /// Added to the mean square in norms.
    pub norm_epsilon: f32,
    /// Positions.
    pub rope: Rope,
    /// Whether the head's matrix is that of the embedding.
    pub tied: bool,
    /// Whether queries, keys and values have biases.
    pub biases: bool,
    /// For each layer, how many tokens back it sees (counting the token itself); all if none.
    pub windows: Vec<Option<usize>>,
    /// Name of the kind of network, for messages.
    pub architecture: String,
    /// What it was trained to say.
    pub training: Training,
}

/// The part of a configuration that is ours: `"ndbg": {…}`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Training {
    /// Name of the grammar.
    pub dialect: Option<String>,
    /// Version of the grammar.
    pub format: Option<u32>,
    /// By which logits are divided before they become probabilities, so that these are calibrated.
    pub temperature: Option<f32>,
    /// Whether nobody trained it: random weights, which only tests may use.
    pub random: bool,
}

/// Rotary positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    /// Base of the frequencies.
    pub theta: f32,
    /// How low frequencies are stretched.
    pub scaling: Option<Stretch>,
    /// What each pair's frequency is divided by: how GGUF says the same. Empty if by nothing.
    pub divisors: Vec<f32>,
    /// Whether pairs are neighbours (GGUF) rather than halves of a head apart (Hugging Face).
    pub neighbours: bool,
}

/// The scaling of Llama 3: wavelengths beyond `original / low` grow by `factor`, those below
/// `original / high` stay, and between the two it is blended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// By how much.
    pub factor: f32,
    /// Low end.
    pub low: f32,
    /// High end.
    pub high: f32,
    /// Context before it was stretched.
    pub original: f32,
}

impl Rope {
    /// Angle by position for each pair of a head: `head_width / 2` numbers.
    pub fn frequencies(&self, head_width: usize) -> Vec<f32> {
        let pairs = (0..head_width).step_by(2);
        let plain = pairs.map(|place| self.theta.powf(-(place as f32) / head_width as f32));
        let stretched =
            plain.map(|frequency| self.scaling.map_or(frequency, |by| by.apply(frequency)));
        let divisors = self.divisors.iter().copied().chain(std::iter::repeat(1.0));
        stretched
            .zip(divisors)
            .map(|(frequency, by)| frequency / by)
            .collect()
    }
}

impl Stretch {
    fn apply(self, frequency: f32) -> f32 {
        let wavelength = std::f32::consts::TAU / frequency;
        if wavelength < self.original / self.high {
            frequency
        } else if wavelength > self.original / self.low {
            frequency / self.factor
        } else {
            let blend = (self.original / wavelength - self.low) / (self.high - self.low);
            (1.0 - blend) * frequency / self.factor + blend * frequency
        }
    }
}

/// `config.json` as Hugging Face writes it, old and new.
#[derive(Debug, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "the format is not ours")]
struct Raw {
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    max_position_embeddings: usize,
    rms_norm_eps: f32,
    rope_theta: Option<f32>,
    rope_scaling: Option<RawRope>,
    rope_parameters: Option<RawRope>,
    #[serde(default)]
    tie_word_embeddings: bool,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    hidden_act: Option<String>,
    sliding_window: Option<usize>,
    #[serde(default)]
    use_sliding_window: bool,
    layer_types: Option<Vec<String>>,
    #[serde(default)]
    ndbg: Training,
}

#[derive(Debug, Deserialize)]
struct RawRope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f32>,
    factor: Option<f32>,
    low_freq_factor: Option<f32>,
    high_freq_factor: Option<f32>,
    original_max_position_embeddings: Option<f32>,
}

impl Config {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// [`ModelError::Architecture`] for another kind of network, [`ModelError::Config`] for what
    /// cannot be read, is not supported, or does not fit together.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        // The kind first: others lack fields, and that is not what should be reported.
        #[derive(Deserialize)]
        struct Kind {
            model_type: Option<String>,
            architectures: Option<Vec<String>>,
        }
        let wrong = |error: serde_json::Error| ModelError::Config(error.to_string());
        let kind: Kind = serde_json::from_str(text).map_err(wrong)?;
        let named = kind
            .architectures
            .and_then(|names| names.into_iter().next());
        let architecture = kind.model_type.or(named).unwrap_or_default();
        if !matches!(architecture.as_str(), "llama" | "qwen2" | "cwm") {
            return Err(ModelError::Architecture(architecture));
        }
        let raw: Raw = serde_json::from_str(text).map_err(wrong)?;
        raw.settle(architecture)
    }

    /// Checks that sizes fit together.
    pub(crate) fn checked(self) -> Result<Self, ModelError> {
        let problem = if self.heads == 0 || self.kv_heads == 0 || self.layers == 0 {
            "heads and layers must not be 0"
        } else if !self.heads.is_multiple_of(self.kv_heads) {
            "heads of keys do not divide heads of queries"
        } else if self.head_width == 0 || !self.head_width.is_multiple_of(2) {
            "the width of a head is odd"
        } else if self.width == 0 || self.feed_forward == 0 || self.vocabulary == 0 {
            "a width is 0"
        } else if self.context == 0 {
            "the context is 0"
        } else {
            return Ok(self);
        };
        Err(ModelError::Config(problem.to_owned()))
    }

    /// Numbers in all heads of queries.
    pub fn query_width(&self) -> usize {
        self.heads * self.head_width
    }

    /// Numbers in all heads of keys.
    pub fn key_width(&self) -> usize {
        self.kv_heads * self.head_width
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let attention = self.width * (2 * self.query_width() + 2 * self.key_width());
        let layer = attention + 3 * self.width * self.feed_forward;
        let heads = if self.tied { 1 } else { 2 };
        self.layers * layer + heads * self.vocabulary * self.width
    }

    /// By which logits are divided: 1 if the configuration does not say.
    ///
    /// # Errors
    /// [`ModelError::Config`] if it is no positive number.
    pub fn temperature(&self) -> Result<f32, ModelError> {
        let temperature = self.training.temperature.unwrap_or(1.0);
        if temperature.is_finite() && temperature > 0.0 {
            Ok(temperature)
        } else {
            let problem = format!("the temperature {temperature} is no positive number");
            Err(ModelError::Config(problem))
        }
    }

    /// The grammar, as far as the configuration tells.
    ///
    /// # Errors
    /// [`ModelError::Dialect`] if it does not say or says another.
    pub fn dialect(&self) -> Result<Dialect, ModelError> {
        match &self.training.dialect {
            Some(name) => Dialect::from_name(name),
            None if self.architecture == "cwm" => Ok(Dialect::Cwm),
            None => Err(ModelError::Dialect(None)),
        }
    }
}

impl Raw {
    fn settle(self, architecture: String) -> Result<Config, ModelError> {
        let config = |problem: String| Err(ModelError::Config(problem));
        if let Some(activation) = self.hidden_act.as_deref().filter(|&name| name != "silu") {
            return config(format!("activation `{activation}` is not supported"));
        }
        if self.mlp_bias || (self.attention_bias && architecture == "llama") {
            return config("biases are not supported here".to_owned());
        }
        let rope = self.rope()?;
        let windows = self.windows(&architecture)?;
        Config {
            vocabulary: self.vocab_size,
            width: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            kv_heads: self.num_key_value_heads.unwrap_or(self.num_attention_heads),
            head_width: self
                .head_dim
                .unwrap_or(self.hidden_size / self.num_attention_heads.max(1)),
            feed_forward: self.intermediate_size,
            context: self.max_position_embeddings,
            norm_epsilon: self.rms_norm_eps,
            rope,
            tied: self.tie_word_embeddings,
            biases: architecture == "qwen2",
            windows,
            architecture,
            training: self.ndbg,
        }
        .checked()
    }

    fn rope(&self) -> Result<Rope, ModelError> {
        let parameters = self.rope_parameters.as_ref().or(self.rope_scaling.as_ref());
        let inner = parameters.and_then(|rope| rope.rope_theta);
        let theta = self.rope_theta.or(inner).unwrap_or(10_000.0);
        let kind = parameters.and_then(|rope| rope.rope_type.as_deref());
        let scaling = match (kind, parameters) {
            (None | Some("default"), _) | (_, None) => None,
            (Some("llama3"), Some(rope)) => Some(rope.stretch()?),
            (Some(other), _) => {
                let problem = format!("rope scaling `{other}` is not supported (llama3)");
                return Err(ModelError::Config(problem));
            }
        };
        Ok(Rope {
            theta,
            scaling,
            divisors: Vec::new(),
            neighbours: false,
        })
    }

    fn windows(&self, architecture: &str) -> Result<Vec<Option<usize>>, ModelError> {
        let windowed = self.use_sliding_window || architecture == "cwm";
        let Some(window) = self.sliding_window.filter(|_| windowed) else {
            return Ok(vec![None; self.num_hidden_layers]);
        };
        let kinds = self.layer_types.as_ref();
        let Some(kinds) = kinds.filter(|kinds| kinds.len() == self.num_hidden_layers) else {
            let problem = "a sliding window without `layer_types`";
            return Err(ModelError::Config(problem.to_owned()));
        };
        let window = |kind: &String| (kind == "sliding_attention").then_some(window);
        Ok(kinds.iter().map(window).collect())
    }
}

impl RawRope {
    fn stretch(&self) -> Result<Stretch, ModelError> {
        let numbers = (
            self.factor,
            self.low_freq_factor,
            self.high_freq_factor,
            self.original_max_position_embeddings,
        );
        let (Some(factor), Some(low), Some(high), Some(original)) = numbers else {
            let problem = "rope scaling `llama3` lacks a number";
            return Err(ModelError::Config(problem.to_owned()));
        };
        Ok(Stretch {
            factor,
            low,
            high,
            original,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(changes: &[(&str, serde_json::Value)]) -> String {
        let text = include_str!("../../tests/fixtures/llama/config.json");
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        for (name, change) in changes {
            value[*name] = change.clone();
        }
        value.to_string()
    }

    fn problem(changes: &[(&str, serde_json::Value)]) -> String {
        Config::from_json(&json(changes)).unwrap_err().to_string()
    }

    #[test]
    fn reads_sizes_dialect_and_temperature() {
        let config = Config::from_json(&json(&[])).unwrap();
        assert_eq!((config.width, config.heads, config.kv_heads), (32, 4, 2));
        assert_eq!((config.head_width, config.tied), (8, true));
        assert_eq!(config.dialect().unwrap(), Dialect::Step);
        assert_eq!(config.training.temperature, Some(1.25));
    }

    #[test]
    fn another_architecture_is_named() {
        let told = problem(&[("model_type", "mamba".into())]);
        assert!(told.contains("`mamba`") && told.contains("llama"), "{told}");
    }

    #[test]
    fn an_unknown_dialect_is_named_with_those_that_exist() {
        let config = Config::from_json(&json(&[(
            "ndbg",
            serde_json::json!({"dialect": "klingon"}),
        )]));
        let told = config.unwrap().dialect().unwrap_err().to_string();
        assert!(told.contains("`klingon`"), "{told}");
        assert!(told.contains("nd, cwm, step"), "{told}");
        let config = Config::from_json(&json(&[("ndbg", serde_json::json!({}))])).unwrap();
        let told = config.dialect().unwrap_err().to_string();
        assert!(told.contains("nd, cwm, step"), "{told}");
    }

    #[test]
    fn a_scaling_of_positions_that_is_not_known_is_named() {
        let rope = serde_json::json!({"rope_type": "yarn", "factor": 4.0});
        let told = problem(&[("rope_parameters", rope)]);
        assert!(told.contains("`yarn`"), "{told}");
    }

    #[test]
    fn sizes_that_do_not_fit_together_are_an_error() {
        let told = problem(&[("num_key_value_heads", 3.into())]);
        assert!(told.contains("divide"), "{told}");
        let told = problem(&[("num_attention_heads", 0.into())]);
        assert!(told.contains("must not be 0"), "{told}");
    }
}
