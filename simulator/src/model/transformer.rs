//! A network of the Llama family in candle: for large ones, dense or quantised.

use candle_core::quantized::QMatMul;
use candle_core::{D, Device, Module, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope, rope_i};

use super::config::Config;
use super::error::ModelError;
use super::network::{Logits, Network};
use super::weights::Weights;

/// What a place must not see is that much less likely: finite, so that a row that sees nothing stays
/// a number.
const HIDDEN: f32 = -1e30;
/// Columns by which a cache grows at least.
const GROWTH: usize = 64;

/// The network.
#[derive(Debug)]
pub struct Transformer {
    config: Config,
    embedding: Embedding,
    layers: Vec<Layer>,
    norm: Tensor,
    head: QMatMul,
    frequencies: Vec<f32>,
}

#[derive(Debug)]
struct Embedding(Tensor);

#[derive(Debug)]
struct Layer {
    attention_norm: Tensor,
    /// Queries, keys, values: in one matrix, or in three if each is stored in another way.
    attention: Vec<QMatMul>,
    biases: Option<Tensor>,
    out: QMatMul,
    feed_norm: Tensor,
    /// Gates, values.
    feed: Vec<QMatMul>,
    down: QMatMul,
}

/// Keys and values of all rows, by layer, each (rows, heads, columns, numbers). Rows end at the same
/// column, so shorter ones begin later.
#[derive(Debug)]
pub struct Cache {
    keys: Vec<Tensor>,
    values: Vec<Tensor>,
    /// First column of each row.
    starts: Vec<usize>,
    /// Columns that are filled.
    length: usize,
}

/// Tokens to read: (rows, columns), and where each row's own begin and end among the columns.
struct Input {
    ids: Vec<u32>,
    columns: usize,
    spans: Vec<(usize, usize)>,
}

impl Input {
    /// Rows side by side, padded before them or after them.
    fn new(rows: &[&[u32]], before: bool) -> Self {
        let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let mut ids = Vec::with_capacity(rows.len() * columns);
        let mut spans = Vec::with_capacity(rows.len());
        for row in rows {
            let padding = columns - row.len();
            let start = if before { padding } else { 0 };
            ids.extend(std::iter::repeat_n(0, start));
            ids.extend_from_slice(row);
            ids.extend(std::iter::repeat_n(0, padding - start));
            spans.push((start, start + row.len()));
        }
        Self {
            ids,
            columns,
            spans,
        }
    }
}

impl Cache {
    /// Room for more columns; nothing if there is some.
    fn reserve(&mut self, columns: usize, config: &Config) -> Result<(), ModelError> {
        let wanted = self.length + columns;
        if self
            .keys
            .first()
            .is_some_and(|keys| keys.dims()[2] >= wanted)
        {
            return Ok(());
        }
        let capacity = (wanted + GROWTH.max(self.length)).min(config.context.max(wanted));
        let shape = (
            self.starts.len(),
            config.kv_heads,
            capacity,
            config.head_width,
        );
        for layer in 0..config.layers {
            for side in [&mut self.keys, &mut self.values] {
                let grown = Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu)?;
                match side.get_mut(layer) {
                    Some(old) => {
                        let filled = old.narrow(2, 0, self.length)?.contiguous()?;
                        grown.slice_set(&filled, 2, 0)?;
                        *old = grown;
                    }
                    None => side.push(grown),
                }
            }
        }
        Ok(())
    }

    /// Forgets what one row has read after so many tokens.
    pub fn shorten(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// These rows only, or again.
    fn rows(&self, rows: &[usize]) -> Result<Self, ModelError> {
        let index: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
        let index = Tensor::new(index, &Device::Cpu)?;
        let pick = |side: &[Tensor]| {
            let picked = side.iter().map(|layer| layer.index_select(&index, 0));
            picked.collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            keys: pick(&self.keys)?,
            values: pick(&self.values)?,
            starts: rows.iter().map(|&row| self.starts[row]).collect(),
            length: self.length,
        })
    }
}

impl Transformer {
    /// Reads the weights.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape is named.
    pub fn new(config: Config, weights: &Weights) -> Result<Self, ModelError> {
        let (width, vocabulary) = (config.width, config.vocabulary);
        let embedded = "model.embed_tokens.weight";
        let head = if config.tied {
            embedded
        } else {
            "lm_head.weight"
        };
        let layers = (0..config.layers).map(|index| Layer::read(&config, weights, index));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self {
            embedding: Embedding(weights.tensor(embedded, &[vocabulary, width])?),
            layers,
            norm: weights.tensor("model.norm.weight", &[width])?,
            head: single(weights, head.to_owned(), vocabulary, width)?,
            frequencies: config.rope.frequencies(config.head_width),
            config,
        })
    }

    /// A cache of one row that has read nothing.
    pub fn begin(&self) -> Cache {
        Cache {
            keys: Vec::new(),
            values: Vec::new(),
            starts: vec![0],
            length: 0,
        }
    }

    /// Goes on reading in the one row of a cache. The logits follow the last token.
    ///
    /// # Errors
    /// A computation that failed.
    pub fn append(&self, cache: &mut Cache, tokens: &[u32]) -> Result<Logits, ModelError> {
        let last = tokens.len().saturating_sub(1) as u32;
        self.forward(cache, &Input::new(&[tokens], false), &[last])
    }

    /// Reads columns; the logits after those that are wanted, row by row.
    fn forward(
        &self,
        cache: &mut Cache,
        input: &Input,
        wanted: &[u32],
    ) -> Result<Logits, ModelError> {
        let config = &self.config;
        let (rows, columns) = (input.spans.len(), input.columns);
        cache.reserve(columns, config)?;
        let places = Places::new(cache, input, config, &self.frequencies)?;
        let ids = Tensor::from_slice(&input.ids, rows * columns, &Device::Cpu)?;
        let mut stream = self.embedding.0.index_select(&ids, 0)?;
        for (index, layer) in self.layers.iter().enumerate() {
            let normed = rms_norm(&stream, &layer.attention_norm, config.norm_epsilon)?;
            let mixed = self.attention(layer, index, &normed, cache, &places, (rows, columns))?;
            stream = (stream + mixed)?;
            let normed = rms_norm(&stream, &layer.feed_norm, config.norm_epsilon)?;
            let parts = applied(&layer.feed, &normed, &[config.feed_forward; 2])?;
            let gated = (silu(&parts[0])? * &parts[1])?;
            stream = (stream + layer.down.forward(&gated)?)?;
        }
        cache.length += columns;
        let wanted = Tensor::new(wanted, &Device::Cpu)?;
        let chosen = stream.index_select(&wanted, 0)?;
        let normed = rms_norm(&chosen, &self.norm, config.norm_epsilon)?;
        let logits = self.head.forward(&normed)?;
        Ok(Logits {
            values: logits.flatten_all()?.to_vec1()?,
            vocabulary: config.vocabulary,
        })
    }

    fn attention(
        &self,
        layer: &Layer,
        index: usize,
        normed: &Tensor,
        cache: &Cache,
        places: &Places,
        (rows, columns): (usize, usize),
    ) -> Result<Tensor, ModelError> {
        let config = &self.config;
        let (queries, keys) = (config.query_width(), config.key_width());
        let (heads, kv_heads, width) = (config.heads, config.kv_heads, config.head_width);
        let mut parts = applied(&layer.attention, normed, &[queries, keys, keys])?;
        if let Some(biases) = &layer.biases {
            let mut start = 0;
            for part in &mut parts {
                let size = part.dim(1)?;
                *part = part.broadcast_add(&biases.narrow(0, start, size)?)?;
                start += size;
            }
        }
        let split = |part: &Tensor, heads: usize| {
            let split = part.reshape((rows, columns, heads, width))?;
            split.transpose(1, 2)?.contiguous()
        };
        let turn = |part: Tensor| {
            if config.rope.neighbours {
                rope_i(&part, &places.cosines, &places.sines)
            } else {
                rope(&part, &places.cosines, &places.sines)
            }
        };
        let query = turn(split(&parts[0], heads)?)?;
        let key = turn(split(&parts[1], kv_heads)?)?;
        let value = split(&parts[2], kv_heads)?;
        let (all_keys, all_values) = (&cache.keys[index], &cache.values[index]);
        all_keys.slice_set(&key, 2, cache.length)?;
        all_values.slice_set(&value, 2, cache.length)?;
        let filled = cache.length + columns;
        let all_keys = all_keys.narrow(2, 0, filled)?;
        let all_values = all_values.narrow(2, 0, filled)?;
        let group = heads / kv_heads;
        // Queries that share keys are rows of one product.
        let query = (query * f64::from(width as u32).sqrt().recip())?;
        let query = query.reshape((rows, kv_heads, group * columns, width))?;
        let mut scores = query.matmul(&all_keys.transpose(2, 3)?)?;
        if let Some(mask) = &places.masks[index] {
            let split = scores.reshape((rows, kv_heads, group, columns, filled))?;
            let masked = split.broadcast_add(mask)?;
            scores = masked.reshape((rows, kv_heads, group * columns, filled))?;
        }
        let mixed = softmax_last_dim(&scores)?.matmul(&all_values)?;
        let mixed = mixed
            .reshape((rows, heads, columns, width))?
            .transpose(1, 2)?;
        let mixed = mixed.reshape((rows * columns, heads * width))?;
        Ok(layer.out.forward(&mixed)?)
    }
}

/// Angles and masks of what is read, the same in all layers with the same window.
struct Places {
    /// (rows, columns, pairs).
    cosines: Tensor,
    sines: Tensor,
    /// By layer, (rows, 1, 1, columns, columns read), to be added to scores.
    masks: Vec<Option<Tensor>>,
}

impl Places {
    fn new(
        cache: &Cache,
        input: &Input,
        config: &Config,
        frequencies: &[f32],
    ) -> Result<Self, ModelError> {
        let (rows, columns) = (input.spans.len(), input.columns);
        let first = |row: usize| {
            if cache.length == 0 {
                input.spans[row].0
            } else {
                cache.starts[row]
            }
        };
        let mut turns = Vec::with_capacity(rows * columns * frequencies.len());
        for row in 0..rows {
            for column in 0..columns {
                let position = (cache.length + column).saturating_sub(first(row)) as f32;
                turns.extend(frequencies.iter().map(|by| (position * by).sin_cos()));
            }
        }
        let shape = (rows, columns, frequencies.len());
        let cosines = turns.iter().map(|turn| turn.1).collect::<Vec<_>>();
        let sines = turns.iter().map(|turn| turn.0).collect::<Vec<_>>();
        let mask = |window: Option<usize>| {
            let filled = cache.length + columns;
            let mut any = false;
            let mut mask = Vec::with_capacity(rows * columns * filled);
            for row in 0..rows {
                for at in cache.length..filled {
                    let from = window.map_or(0, |window| (at + 1).saturating_sub(window));
                    let from = from.max(first(row)).min(at);
                    let hidden = |seen: usize| seen > at || seen < from;
                    any |= from > 0 || at + 1 < filled;
                    mask.extend((0..filled).map(|seen| if hidden(seen) { HIDDEN } else { 0.0 }));
                }
            }
            let shape = (rows, 1, 1, columns, filled);
            let tensor = any.then(|| Tensor::from_vec(mask, shape, &Device::Cpu));
            tensor.transpose()
        };
        let mut made: Vec<(Option<usize>, Option<Tensor>)> = Vec::new();
        let mut masks = Vec::with_capacity(config.layers);
        for &window in &config.windows {
            let known = made.iter().find(|(known, _)| *known == window);
            let tensor = match known {
                Some((_, tensor)) => tensor.clone(),
                None => mask(window)?,
            };
            made.push((window, tensor.clone()));
            masks.push(tensor);
        }
        Ok(Self {
            cosines: Tensor::from_vec(cosines, shape, &Device::Cpu)?,
            sines: Tensor::from_vec(sines, shape, &Device::Cpu)?,
            masks,
        })
    }
}

/// The outputs of matrices that were joined or not, apart again.
fn applied(
    matrices: &[QMatMul],
    input: &Tensor,
    widths: &[usize],
) -> Result<Vec<Tensor>, ModelError> {
    let each = |matrix: &QMatMul| matrix.forward(input);
    let outputs: Vec<Tensor> = matrices.iter().map(each).collect::<Result<_, _>>()?;
    let [joint] = outputs.as_slice() else {
        return Ok(outputs);
    };
    let mut start = 0;
    let mut parts = Vec::with_capacity(widths.len());
    for &width in widths {
        parts.push(joint.narrow(D::Minus1, start, width)?.contiguous()?);
        start += width;
    }
    Ok(parts)
}

fn single(
    weights: &Weights,
    name: String,
    outputs: usize,
    inputs: usize,
) -> Result<QMatMul, ModelError> {
    let mut matrices = weights.joined(&[(name.clone(), outputs)], inputs)?;
    matrices.pop().ok_or(ModelError::MissingTensor(name))
}

impl Layer {
    fn read(config: &Config, weights: &Weights, index: usize) -> Result<Self, ModelError> {
        let name = |part: &str| format!("model.layers.{index}.{part}");
        let (queries, keys, width) = (config.query_width(), config.key_width(), config.width);
        let parts = [("q", queries), ("k", keys), ("v", keys)];
        let part = |kind: &str| {
            parts.map(|(part, outputs)| (name(&format!("self_attn.{part}_proj.{kind}")), outputs))
        };
        let biases = if config.biases {
            let each = part("bias").map(|(name, outputs)| weights.tensor(&name, &[outputs]));
            let each = each.into_iter().collect::<Result<Vec<_>, _>>()?;
            Some(Tensor::cat(&each, 0)?)
        } else {
            None
        };
        let feed = ["mlp.gate_proj.weight", "mlp.up_proj.weight"];
        let feed = feed.map(|part| (name(part), config.feed_forward));
        let (out, down) = (
            name("self_attn.o_proj.weight"),
            name("mlp.down_proj.weight"),
        );
        Ok(Self {
            attention_norm: weights.tensor(&name("input_layernorm.weight"), &[width])?,
            attention: weights.joined(&part("weight"), width)?,
            biases,
            out: single(weights, out, width, queries)?,
            feed_norm: weights.tensor(&name("post_attention_layernorm.weight"), &[width])?,
            feed: weights.joined(&feed, width)?,
            down: single(weights, down, width, config.feed_forward)?,
        })
    }
}

impl Network for Transformer {
    type Cache = Cache;

    fn config(&self) -> &Config {
        &self.config
    }

    fn read(&self, prompts: &[&[u32]]) -> Result<(Cache, Logits), ModelError> {
        let input = Input::new(prompts, true);
        let mut cache = Cache {
            keys: Vec::new(),
            values: Vec::new(),
            starts: input.spans.iter().map(|span| span.0).collect(),
            length: 0,
        };
        let last = (1..=prompts.len()).map(|row| (row * input.columns - 1) as u32);
        let last: Vec<u32> = last.collect();
        let logits = self.forward(&mut cache, &input, &last)?;
        Ok((cache, logits))
    }

    fn step(&self, cache: &mut Cache, tokens: &[u32]) -> Result<Logits, ModelError> {
        let rows: Vec<&[u32]> = tokens.chunks(1).collect();
        let wanted: Vec<u32> = (0..tokens.len() as u32).collect();
        self.forward(cache, &Input::new(&rows, true), &wanted)
    }

    fn extend(&self, cache: &mut Cache, suffixes: &[&[u32]]) -> Result<Logits, ModelError> {
        let mut copies = cache.rows(&vec![0; suffixes.len()])?;
        let input = Input::new(suffixes, false);
        let spans = input.spans.iter().enumerate();
        let wanted = spans.flat_map(|(row, &(start, end))| {
            (start..end).map(move |column| (row * input.columns + column) as u32)
        });
        let wanted: Vec<u32> = wanted.collect();
        self.forward(&mut copies, &input, &wanted)
    }

    fn fork(&self, cache: &mut Cache, copies: usize) -> Result<(), ModelError> {
        *cache = cache.rows(&vec![0; copies])?;
        Ok(())
    }

    fn retain(&self, cache: &mut Cache, rows: &[usize]) -> Result<(), ModelError> {
        *cache = cache.rows(rows)?;
        Ok(())
    }
}
