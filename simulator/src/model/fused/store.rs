//! Keys and values of what was read, in blocks of [`LANES`] positions.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled for the oldest processor"
)]

use pulp::{Arch, Simd, WithSimd};

use super::kernel::{LANES, Lane, exp, tile};

/// Keys and values of one sequence, or of its beginning, in all layers.
#[derive(Debug, Clone, Default)]
pub struct Store {
    layers: Vec<Layer>,
    /// Positions that are complete.
    pub length: usize,
}

/// One layer. For each block and head: keys as (numbers of a head, positions), values as (chunks of
/// a head, positions, numbers of a chunk).
#[derive(Debug, Clone, Default)]
struct Layer {
    keys: Vec<Lane>,
    values: Vec<Lane>,
}

/// Sizes of heads.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Of queries.
    pub queries: usize,
    /// Of keys and values.
    pub keys: usize,
    /// Numbers in each.
    pub width: usize,
}

impl Heads {
    fn chunks(self) -> usize {
        self.width.div_ceil(LANES)
    }

    fn key_block(self) -> usize {
        self.keys * self.width
    }

    fn value_block(self) -> usize {
        self.keys * self.chunks() * LANES
    }
}

impl Store {
    /// Of nothing.
    pub fn new(layers: usize) -> Self {
        Self {
            layers: vec![Layer::default(); layers],
            length: 0,
        }
    }

    /// Writes the keys and values of a position, which counts from the beginning of this store.
    pub fn put(
        &mut self,
        layer: usize,
        position: usize,
        heads: Heads,
        keys: &[f32],
        values: &[f32],
    ) {
        let layer = &mut self.layers[layer];
        let (block, lane) = (position / LANES, position % LANES);
        let reach = (block + 1) * heads.key_block();
        if layer.keys.len() < reach {
            layer.keys.resize(reach, [0.0; LANES]);
            let reach = (block + 1) * heads.value_block();
            layer.values.resize(reach, [0.0; LANES]);
        }
        let place = &mut layer.keys[block * heads.key_block()..];
        for (place, &key) in place.iter_mut().zip(keys) {
            place[lane] = key;
        }
        let place = &mut layer.values[block * heads.value_block()..];
        let tiles = place.chunks_exact_mut(heads.chunks() * LANES);
        for (tiles, head) in tiles.zip(values.chunks_exact(heads.width)) {
            for (tile, chunk) in tiles.chunks_exact_mut(LANES).zip(head.chunks(LANES)) {
                tile[lane][..chunk.len()].copy_from_slice(chunk);
            }
        }
    }
}

/// A stretch of positions that a query sees.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Where they are.
    pub store: &'a Store,
    /// First position of the store that is seen.
    pub from: usize,
    /// First that is not.
    pub to: usize,
}

/// Attention of one position's queries (scaled, rotated) to stretches of positions.
pub fn attend(
    arch: Arch,
    layer: usize,
    heads: Heads,
    queries: &[f32],
    seen: [Seen<'_>; 2],
    scores: &mut Vec<Lane>,
    out: &mut [f32],
) {
    arch.dispatch(Attend {
        layer,
        heads,
        queries,
        seen,
        scores,
        out,
    });
}

struct Attend<'a> {
    layer: usize,
    heads: Heads,
    queries: &'a [f32],
    seen: [Seen<'a>; 2],
    scores: &'a mut Vec<Lane>,
    out: &'a mut [f32],
}

impl WithSimd for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if S::F32_LANES > 1 {
            self.run::<true>();
        } else {
            self.run::<false>();
        }
    }
}

impl Attend<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let heads = self.heads;
        let group = heads.queries / heads.keys;
        let queries = self.queries.chunks_exact(heads.width);
        let outs = self.out.chunks_exact_mut(heads.width);
        for (head, (query, out)) in queries.zip(outs).enumerate() {
            let (query, _) = query.as_chunks::<1>();
            self.scores.clear();
            for seen in self.seen {
                score::<FUSED>(&seen, self.layer, heads, head / group, query, self.scores);
            }
            let total = weigh::<FUSED>(self.scores);
            let mut done = 0;
            for (chunk, out) in out.chunks_mut(LANES).enumerate() {
                let mut sum = [0.0; LANES];
                done = 0;
                for seen in self.seen {
                    let blocks = seen.to.div_ceil(LANES);
                    let values = &seen.store.layers[self.layer].values;
                    for block in seen.from / LANES..blocks {
                        let at = (block * heads.keys + head / group) * heads.chunks() + chunk;
                        let Some(values) = values.get(at * LANES..(at + 1) * LANES) else {
                            break;
                        };
                        let (weights, _) = self.scores[done].as_chunks::<1>();
                        let [[part]] = tile::<FUSED, 1, 1, f32>(weights, [values]);
                        for (sum, part) in sum.iter_mut().zip(part) {
                            *sum += part;
                        }
                        done += 1;
                    }
                }
                for (out, sum) in out.iter_mut().zip(sum) {
                    *out = sum / total;
                }
            }
            debug_assert_eq!(done, self.scores.len());
        }
    }
}

/// Adds the scores of blocks of positions; those that are not seen are minus infinity.
#[inline(always)]
fn score<const FUSED: bool>(
    seen: &Seen<'_>,
    layer: usize,
    heads: Heads,
    head: usize,
    query: &[[f32; 1]],
    scores: &mut Vec<Lane>,
) {
    let keys = &seen.store.layers[layer].keys;
    let width = heads.width;
    let (first, end) = (seen.from / LANES, seen.to.div_ceil(LANES));
    let start = scores.len();
    let at = |block: usize| &keys[(block * heads.keys + head) * width..][..width];
    let mut block = first;
    while block + 4 <= end {
        let group = [at(block), at(block + 1), at(block + 2), at(block + 3)];
        scores.extend(tile::<FUSED, 1, 4, f32>(query, group).map(|[sum]| sum));
        block += 4;
    }
    for block in block..end {
        let [[sum]] = tile::<FUSED, 1, 1, f32>(query, [at(block)]);
        scores.push(sum);
    }
    if !seen.to.is_multiple_of(LANES) && end > first {
        let last = scores.len() - 1;
        scores[last][seen.to % LANES..].fill(f32::NEG_INFINITY);
    }
    if let Some(lane) = scores.get_mut(start) {
        lane[..seen.from % LANES].fill(f32::NEG_INFINITY);
    }
}

/// Scores become weights; their sum.
#[inline(always)]
fn weigh<const FUSED: bool>(scores: &mut [Lane]) -> f32 {
    let mut tops = [f32::NEG_INFINITY; LANES];
    for lane in scores.iter() {
        for (top, score) in tops.iter_mut().zip(lane) {
            *top = if *score > *top { *score } else { *top };
        }
    }
    let top = tops.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0; LANES];
    for lane in scores.iter_mut() {
        for (sum, score) in sums.iter_mut().zip(lane) {
            *score = exp::<FUSED>(*score - top);
            *sum += *score;
        }
    }
    sums.iter().sum()
}
