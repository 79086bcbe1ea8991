//! A network of the Llama family on plain slices: for small ones, where an operation of a tensor
//! library costs more than its arithmetic.
//!
//! One thread. Rows are computed independently of each other, so a batch says exactly what its
//! members say alone. Matrices of bytes stay bytes: less memory to read is what makes it fast.

mod kernel;
mod store;

use std::sync::Arc;

use pulp::Arch;

pub(crate) use kernel::log_sum_exp;
use kernel::{Lane, Packed};
use store::{Heads, Seen, Store, attend};

use super::config::Config;
use super::error::ModelError;
use super::network::{Logits, Network};
use super::weights::{Rows, Weights};

/// Tokens that go through the layers together: what is between two products stays in the cache of
/// the processor.
const TOGETHER: usize = 96;

/// The network.
#[derive(Debug)]
pub struct Fused {
    config: Config,
    arch: Arch,
    heads: Heads,
    embedding: Rows,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    head: Matrix,
    /// Angle by position, for each pair of a head.
    frequencies: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    attention_norm: Vec<f32>,
    /// Queries, keys, values.
    attention: Matrix,
    /// Of queries, keys, values; or empty.
    biases: Vec<f32>,
    out: Matrix,
    feed_norm: Vec<f32>,
    /// Gates, values.
    feed: Matrix,
    down: Matrix,
}

#[derive(Debug)]
enum Matrix {
    Floats(Packed<f32>),
    Bytes(Packed<i8>),
}

impl Matrix {
    fn read(
        weights: &Weights,
        parts: &[(String, usize)],
        inputs: usize,
    ) -> Result<Self, ModelError> {
        let rows = |(name, outputs): &(String, usize)| weights.rows(name, &[*outputs, inputs]);
        let rows: Vec<Rows> = parts.iter().map(rows).collect::<Result<_, _>>()?;
        if rows.iter().all(|rows| matches!(rows, Rows::Scaled(..))) {
            let (mut bytes, mut scales) = (Vec::new(), Vec::new());
            for rows in rows {
                if let Rows::Scaled(part, scale) = rows {
                    bytes.extend(part);
                    scales.extend(scale);
                }
            }
            // A panel has scales for all of its lanes.
            scales.resize(scales.len().next_multiple_of(kernel::LANES), 0.0);
            return Ok(Self::Bytes(Packed::new(&bytes, inputs, scales)));
        }
        let mut floats = Vec::new();
        for (name, outputs) in parts {
            floats.extend(weights.floats(name, &[*outputs, inputs])?);
        }
        Ok(Self::Floats(Packed::new(&floats, inputs, Vec::new())))
    }

    fn product(&self, arch: Arch, x: &[f32], out: &mut [f32], add: bool) {
        match self {
            Self::Floats(matrix) => matrix.product(arch, x, out, add),
            Self::Bytes(matrix) => matrix.product(arch, x, out, add),
        }
    }
}

/// What was read, and room to work in.
#[derive(Debug, Default)]
pub struct Cache {
    rows: Vec<Row>,
    room: Room,
}

/// A sequence: a beginning that it may share, and its own tokens.
#[derive(Debug, Clone)]
struct Row {
    shared: Arc<Store>,
    own: Store,
}

impl Row {
    fn length(&self) -> usize {
        self.shared.length + self.own.length
    }
}

/// Vectors between operations, kept so that a step allocates nothing.
#[derive(Debug, Default)]
struct Room {
    stream: Vec<f32>,
    normed: Vec<f32>,
    projected: Vec<f32>,
    mixed: Vec<f32>,
    gates: Vec<f32>,
    fed: Vec<f32>,
    turns: Vec<(f32, f32)>,
    scores: Vec<Lane>,
}

/// A token that is read: which row it belongs to and where it stands.
#[derive(Debug, Clone, Copy)]
struct Token {
    id: u32,
    row: usize,
    position: usize,
    /// Whether its logits are wanted.
    wanted: bool,
}

fn sized(numbers: &mut Vec<f32>, count: usize) -> &mut [f32] {
    numbers.resize(count, 0.0);
    numbers
}

impl Fused {
    /// Reads the weights.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape is named.
    pub fn new(config: Config, weights: &Weights) -> Result<Self, ModelError> {
        let (width, vocabulary) = (config.width, config.vocabulary);
        let embedding = weights.rows("model.embed_tokens.weight", &[vocabulary, width])?;
        let head = if config.tied {
            "model.embed_tokens.weight"
        } else {
            "lm_head.weight"
        };
        let head = Matrix::read(weights, &[(head.to_owned(), vocabulary)], width)?;
        let layers = (0..config.layers).map(|index| Layer::read(&config, weights, index));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self {
            arch: Arch::new(),
            heads: Heads {
                queries: config.heads,
                keys: config.kv_heads,
                width: config.head_width,
            },
            embedding,
            layers,
            norm: weights.floats("model.norm.weight", &[width])?,
            head,
            frequencies: config.rope.frequencies(config.head_width),
            config,
        })
    }

    /// Reads tokens, in order within each row; the logits of those that are wanted.
    fn forward(&self, cache: &mut Cache, tokens: &[Token]) -> Logits {
        let mut logits = Logits {
            values: Vec::new(),
            vocabulary: self.config.vocabulary,
        };
        for tokens in tokens.chunks(TOGETHER) {
            self.pass(cache, tokens.to_vec(), &mut logits.values);
        }
        logits
    }

    fn pass(&self, cache: &mut Cache, mut tokens: Vec<Token>, logits: &mut Vec<f32>) {
        let Cache { rows, room } = cache;
        let (arch, heads, config) = (self.arch, self.heads, &self.config);
        let (width, queries) = (config.width, config.query_width());
        let keys = config.key_width();
        let epsilon = config.norm_epsilon;
        self.embed(&tokens, sized(&mut room.stream, tokens.len() * width));
        self.turns(&tokens, &mut room.turns);
        for (index, layer) in self.layers.iter().enumerate() {
            let count = tokens.len();
            let normed = sized(&mut room.normed, count * width);
            kernel::norm(arch, &room.stream, &layer.attention_norm, epsilon, normed);
            let joint = queries + 2 * keys;
            let projected = sized(&mut room.projected, count * joint);
            layer.attention.product(arch, normed, projected, false);
            let half = heads.width / 2;
            let each = projected.chunks_exact_mut(joint);
            let turns = room.turns.chunks_exact(half);
            for ((token, projected), turns) in tokens.iter().zip(each).zip(turns) {
                for (number, bias) in projected.iter_mut().zip(&layer.biases) {
                    *number += bias;
                }
                let (turned, values) = projected.split_at_mut(queries + keys);
                self.rotate(turned, turns);
                let row = &mut rows[token.row];
                let place = token.position - row.shared.length;
                row.own.put(index, place, heads, &turned[queries..], values);
            }
            if index + 1 == self.layers.len() {
                keep_wanted(
                    &mut tokens,
                    &mut room.stream,
                    width,
                    &mut room.projected,
                    joint,
                );
            }
            let count = tokens.len();
            let mixed = sized(&mut room.mixed, count * queries);
            let each = room.projected.chunks_exact_mut(joint);
            let outs = mixed.chunks_exact_mut(queries);
            let scale = (heads.width as f32).sqrt().recip();
            for ((token, projected), out) in tokens.iter().zip(each).zip(outs) {
                let query = &mut projected[..queries];
                for number in query.iter_mut() {
                    *number *= scale;
                }
                let row = &rows[token.row];
                let seen = seen(row, token.position, config.windows[index]);
                attend(arch, index, heads, query, seen, &mut room.scores, out);
            }
            let stream = &mut room.stream[..count * width];
            layer.out.product(arch, mixed, stream, true);
            let normed = sized(&mut room.normed, count * width);
            kernel::norm(arch, stream, &layer.feed_norm, epsilon, normed);
            let gates = sized(&mut room.gates, count * 2 * config.feed_forward);
            layer.feed.product(arch, normed, gates, false);
            let fed = sized(&mut room.fed, count * config.feed_forward);
            kernel::gate(arch, gates, config.feed_forward, fed);
            layer.down.product(arch, fed, stream, true);
        }
        let normed = sized(&mut room.normed, tokens.len() * width);
        kernel::norm(arch, &room.stream, &self.norm, epsilon, normed);
        let start = logits.len();
        logits.resize(start + tokens.len() * config.vocabulary, 0.0);
        self.head.product(arch, normed, &mut logits[start..], false);
    }

    fn embed(&self, tokens: &[Token], out: &mut [f32]) {
        let width = self.config.width;
        for (token, out) in tokens.iter().zip(out.chunks_exact_mut(width)) {
            let at = token.id as usize;
            match &self.embedding {
                Rows::Floats(rows) => out.copy_from_slice(&rows[at * width..][..width]),
                Rows::Scaled(rows, scales) => {
                    for (out, &byte) in out.iter_mut().zip(&rows[at * width..]) {
                        *out = f32::from(byte) * scales[at];
                    }
                }
            }
        }
    }

    /// Sine and cosine for each token and pair.
    fn turns(&self, tokens: &[Token], turns: &mut Vec<(f32, f32)>) {
        turns.clear();
        for token in tokens {
            let at = token.position as f32;
            turns.extend(self.frequencies.iter().map(|by| (at * by).sin_cos()));
        }
    }

    fn rotate(&self, numbers: &mut [f32], turns: &[(f32, f32)]) {
        for head in numbers.chunks_exact_mut(self.heads.width) {
            if self.config.rope.neighbours {
                let (pairs, _) = head.as_chunks_mut::<2>();
                for ([a, b], turn) in pairs.iter_mut().zip(turns) {
                    (*a, *b) = turned(*a, *b, *turn);
                }
            } else {
                let (first, second) = head.split_at_mut(turns.len());
                for ((a, b), turn) in first.iter_mut().zip(second).zip(turns) {
                    (*a, *b) = turned(*a, *b, *turn);
                }
            }
        }
    }

    fn row(&self) -> Row {
        Row {
            shared: Arc::new(Store::new(self.layers.len())),
            own: Store::new(self.layers.len()),
        }
    }
}

fn turned(a: f32, b: f32, (sine, cosine): (f32, f32)) -> (f32, f32) {
    (a * cosine - b * sine, b * cosine + a * sine)
}

/// What a token at a position sees of its row: itself and what is before it, as far as the window.
fn seen(row: &Row, position: usize, window: Option<usize>) -> [Seen<'_>; 2] {
    let from = window.map_or(0, |window| (position + 1).saturating_sub(window));
    let shared = row.shared.length;
    [
        Seen {
            store: &row.shared,
            from: from.min(shared),
            to: shared,
        },
        Seen {
            store: &row.own,
            from: from.saturating_sub(shared),
            to: position + 1 - shared,
        },
    ]
}

/// Nobody asks for the others any more: in the last layer they only give keys and values.
fn keep_wanted(
    tokens: &mut Vec<Token>,
    stream: &mut Vec<f32>,
    width: usize,
    projected: &mut Vec<f32>,
    joint: usize,
) {
    let mut kept = 0;
    for (place, token) in tokens.iter().enumerate() {
        if token.wanted {
            stream.copy_within(place * width..(place + 1) * width, kept * width);
            projected.copy_within(place * joint..(place + 1) * joint, kept * joint);
            kept += 1;
        }
    }
    stream.truncate(kept * width);
    projected.truncate(kept * joint);
    tokens.retain(|token| token.wanted);
}

impl Layer {
    fn read(config: &Config, weights: &Weights, index: usize) -> Result<Self, ModelError> {
        let name = |part: &str| format!("model.layers.{index}.{part}");
        let (queries, keys, width) = (config.query_width(), config.key_width(), config.width);
        let attention = [("q", queries), ("k", keys), ("v", keys)];
        let part = |kind: &str| {
            attention
                .map(|(part, outputs)| (name(&format!("self_attn.{part}_proj.{kind}")), outputs))
        };
        let mut biases = Vec::new();
        if config.biases {
            for (name, outputs) in part("bias") {
                biases.extend(weights.floats(&name, &[outputs])?);
            }
        }
        let feed = ["mlp.gate_proj.weight", "mlp.up_proj.weight"];
        let feed = feed.map(|part| (name(part), config.feed_forward));
        let out = [(name("self_attn.o_proj.weight"), width)];
        let down = [(name("mlp.down_proj.weight"), width)];
        Ok(Self {
            attention_norm: weights.floats(&name("input_layernorm.weight"), &[width])?,
            attention: Matrix::read(weights, &part("weight"), width)?,
            biases,
            out: Matrix::read(weights, &out, queries)?,
            feed_norm: weights.floats(&name("post_attention_layernorm.weight"), &[width])?,
            feed: Matrix::read(weights, &feed, width)?,
            down: Matrix::read(weights, &down, config.feed_forward)?,
        })
    }
}

impl Network for Fused {
    type Cache = Cache;

    fn config(&self) -> &Config {
        &self.config
    }

    fn read(&self, prompts: &[&[u32]]) -> Result<(Cache, Logits), ModelError> {
        let mut cache = Cache {
            rows: prompts.iter().map(|_| self.row()).collect(),
            room: Room::default(),
        };
        let tokens = laid_out(&cache, prompts, false);
        let logits = self.forward(&mut cache, &tokens);
        for (row, prompt) in cache.rows.iter_mut().zip(prompts) {
            row.own.length = prompt.len();
        }
        Ok((cache, logits))
    }

    fn step(&self, cache: &mut Cache, tokens: &[u32]) -> Result<Logits, ModelError> {
        let tokens = tokens.iter().zip(&cache.rows).enumerate();
        let token = |(row, (&id, at)): (usize, (&u32, &Row))| Token {
            id,
            row,
            position: at.length(),
            wanted: true,
        };
        let tokens: Vec<Token> = tokens.map(token).collect();
        let logits = self.forward(cache, &tokens);
        cache.rows.iter_mut().for_each(|row| row.own.length += 1);
        Ok(logits)
    }

    fn extend(&self, cache: &mut Cache, suffixes: &[&[u32]]) -> Result<Logits, ModelError> {
        self.fork(cache, suffixes.len())?;
        let tokens = laid_out(cache, suffixes, true);
        let logits = self.forward(cache, &tokens);
        if let Some(row) = cache.rows.first_mut() {
            row.own = Store::new(self.layers.len());
        }
        cache.rows.truncate(1);
        Ok(logits)
    }

    fn fork(&self, cache: &mut Cache, copies: usize) -> Result<(), ModelError> {
        let row = cache.rows.drain(..).next();
        let mut row = row.unwrap_or_else(|| self.row());
        if row.own.length > 0 && row.shared.length == 0 {
            let own = std::mem::replace(&mut row.own, Store::new(self.layers.len()));
            row.shared = Arc::new(own);
        }
        cache.rows = vec![row; copies];
        Ok(())
    }

    fn retain(&self, cache: &mut Cache, rows: &[usize]) -> Result<(), ModelError> {
        let mut row = 0;
        cache.rows.retain(|_| {
            row += 1;
            rows.binary_search(&(row - 1)).is_ok()
        });
        Ok(())
    }
}

/// Tokens row by row; the logits of all of them are wanted, or of the last in each row.
fn laid_out(cache: &Cache, rows: &[&[u32]], all: bool) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(rows.iter().map(|row| row.len()).sum());
    for (row, (ids, at)) in rows.iter().zip(&cache.rows).enumerate() {
        tokens.extend(ids.iter().enumerate().map(|(place, &id)| Token {
            id,
            row,
            position: at.length() + place,
            wanted: all || place + 1 == ids.len(),
        }));
    }
    tokens
}
