//! The arithmetic of a small network on plain slices, compiled for the processor it runs on.
//!
//! Everything is built from one tile: rows of inputs times a panel of [`LANES`] outputs, summed over
//! the inputs in order. So a row's result does not depend on how many rows are computed with it.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled for the oldest processor"
)]

use pulp::{Arch, Simd, WithSimd};

/// Outputs that are computed side by side.
pub const LANES: usize = 16;
/// Numbers side by side.
pub type Lane = [f32; LANES];

/// Rows of inputs that share a load of weights.
const TILE_ROWS: usize = 4;
/// Panels that one row of inputs is multiplied by at a time, so that sums do not wait for each other.
const TILE_PANELS: usize = 4;

/// How a weight is stored.
pub trait Stored: Copy + Default {
    /// The number, but for the scale of its row.
    fn widen(self) -> f32;
}

impl Stored for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

impl Stored for i8 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from(self)
    }
}

/// A matrix, packed: for each panel of outputs, for each input, the weights side by side.
#[derive(Debug, Clone)]
pub struct Packed<T> {
    panels: Vec<[T; LANES]>,
    inputs: usize,
    outputs: usize,
    /// By output; empty if all are 1.
    scales: Vec<f32>,
}

impl<T: Stored> Packed<T> {
    /// From rows of outputs: `outputs * inputs` weights.
    pub fn new(rows: &[T], inputs: usize, scales: Vec<f32>) -> Self {
        let outputs = rows.len() / inputs.max(1);
        let mut panels = Vec::with_capacity(outputs.div_ceil(LANES) * inputs);
        for panel in rows.chunks(LANES * inputs.max(1)) {
            panels.extend((0..inputs).map(|input| {
                let mut side_by_side = [T::default(); LANES];
                let column = panel.iter().skip(input).step_by(inputs);
                for (place, &weight) in side_by_side.iter_mut().zip(column) {
                    *place = weight;
                }
                side_by_side
            }));
        }
        Self {
            panels,
            inputs,
            outputs,
            scales,
        }
    }

    fn panel(&self, index: usize) -> &[[T; LANES]] {
        &self.panels[index * self.inputs..][..self.inputs]
    }

    /// `out (rows, outputs) = x (rows, inputs) * self`, or added to what is there.
    pub fn product(&self, arch: Arch, x: &[f32], out: &mut [f32], add: bool) {
        arch.dispatch(Product {
            matrix: self,
            x,
            out,
            add,
        });
    }
}

struct Product<'a, T> {
    matrix: &'a Packed<T>,
    x: &'a [f32],
    out: &'a mut [f32],
    add: bool,
}

impl<T: Stored> WithSimd for Product<'_, T> {
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

impl<T: Stored> Product<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self {
            matrix,
            x,
            out,
            add,
        } = self;
        let inputs = matrix.inputs;
        let write = Write {
            scales: &matrix.scales,
            outputs: matrix.outputs,
            add,
        };
        let mut mixed: Vec<[f32; TILE_ROWS]> = Vec::new();
        let rows = x.chunks(inputs * TILE_ROWS);
        for (rows, out) in rows.zip(out.chunks_mut(matrix.outputs * TILE_ROWS)) {
            if rows.len() == inputs * TILE_ROWS {
                mixed.clear();
                mixed.extend(
                    (0..inputs).map(|input| std::array::from_fn(|row| rows[row * inputs + input])),
                );
                for panel in 0..matrix.outputs.div_ceil(LANES) {
                    let [sums] = tile::<FUSED, TILE_ROWS, 1, T>(&mixed, [matrix.panel(panel)]);
                    for (sum, out) in sums.iter().zip(out.chunks_mut(matrix.outputs)) {
                        write.lane(panel, sum, out);
                    }
                }
            } else {
                let single = rows.chunks_exact(inputs);
                for (row, out) in single.zip(out.chunks_mut(matrix.outputs)) {
                    one_row::<FUSED, T>(matrix, row, out, &write);
                }
            }
        }
    }
}

#[inline(always)]
fn one_row<const FUSED: bool, T: Stored>(
    matrix: &Packed<T>,
    row: &[f32],
    out: &mut [f32],
    write: &Write<'_>,
) {
    let (row, _) = row.as_chunks::<1>();
    let panels = matrix.outputs.div_ceil(LANES);
    let mut panel = 0;
    while panel + TILE_PANELS <= panels {
        let group = std::array::from_fn(|place| matrix.panel(panel + place));
        let sums = tile::<FUSED, 1, TILE_PANELS, T>(row, group);
        for (place, [sum]) in sums.iter().enumerate() {
            write.lane(panel + place, sum, out);
        }
        panel += TILE_PANELS;
    }
    for panel in panel..panels {
        let [[sum]] = tile::<FUSED, 1, 1, T>(row, [matrix.panel(panel)]);
        write.lane(panel, &sum, out);
    }
}

struct Write<'a> {
    scales: &'a [f32],
    outputs: usize,
    add: bool,
}

impl Write<'_> {
    #[inline(always)]
    fn lane(&self, panel: usize, sum: &Lane, out: &mut [f32]) {
        let start = panel * LANES;
        let end = (start + LANES).min(self.outputs);
        let mut sum = *sum;
        if let Some(scales) = self.scales.get(start..end) {
            for (number, scale) in sum.iter_mut().zip(scales) {
                *number *= scale;
            }
        }
        let out = &mut out[start..end];
        if self.add {
            for (out, number) in out.iter_mut().zip(sum) {
                *out += number;
            }
        } else {
            out.copy_from_slice(&sum[..end - start]);
        }
    }
}

/// Sums over the inputs, for each panel and row.
#[inline(always)]
pub fn tile<const FUSED: bool, const ROWS: usize, const PANELS: usize, T: Stored>(
    x: &[[f32; ROWS]],
    panels: [&[[T; LANES]]; PANELS],
) -> [[Lane; ROWS]; PANELS] {
    let mut sums = [[[0.0; LANES]; ROWS]; PANELS];
    let panels = panels.map(|panel| &panel[..x.len()]);
    for (place, x) in x.iter().enumerate() {
        for (sums, panel) in sums.iter_mut().zip(&panels) {
            let weights = panel[place].map(T::widen);
            for (sum, &x) in sums.iter_mut().zip(x) {
                for (sum, weight) in sum.iter_mut().zip(weights) {
                    *sum = multiply_add::<FUSED>(x, weight, *sum);
                }
            }
        }
    }
    sums
}

/// `a * b + c`; in one instruction if there is one, for without it is a call that costs a hundred.
#[inline(always)]
pub fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// e to the power of `x`, to within a few units in the last place; never below 1e-38.
#[inline(always)]
pub fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Adding this leaves the nearest whole number in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const TERMS: [f32; 6] = [
        1.987_569_1e-4,
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        1.666_666_5e-1,
        0.5,
    ];
    let x = x.clamp(-87.0, 88.0);
    let shifted = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    let rest = multiply_add::<FUSED>(whole, -LN_2_HIGH, x);
    let rest = multiply_add::<FUSED>(whole, -LN_2_LOW, rest);
    let mut sum = TERMS[0];
    for term in &TERMS[1..] {
        sum = multiply_add::<FUSED>(sum, rest, *term);
    }
    let power = multiply_add::<FUSED>(sum, rest * rest, rest) + 1.0;
    power * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

/// Each row divided by the root of its mean square, times the gains.
pub fn norm(arch: Arch, x: &[f32], gains: &[f32], epsilon: f32, out: &mut [f32]) {
    struct Norm<'a>(&'a [f32], &'a [f32], f32, &'a mut [f32]);
    impl WithSimd for Norm<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(x, gains, epsilon, out) = self;
            let width = gains.len();
            for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                let (lanes, rest) = x.as_chunks::<LANES>();
                let mut squares = [0.0; LANES];
                for lane in lanes {
                    for (square, x) in squares.iter_mut().zip(lane) {
                        *square += x * x;
                    }
                }
                let rest: f32 = rest.iter().map(|x| x * x).sum();
                let square = squares.iter().sum::<f32>() + rest;
                let scale = 1.0 / (square / width as f32 + epsilon).sqrt();
                for ((out, x), gain) in out.iter_mut().zip(x).zip(gains) {
                    *out = x * scale * gain;
                }
            }
        }
    }
    arch.dispatch(Norm(x, gains, epsilon, out));
}

/// For each row of gates and then as many values, `silu(gate) * value`.
pub fn gate(arch: Arch, x: &[f32], width: usize, out: &mut [f32]) {
    struct Gate<'a>(&'a [f32], usize, &'a mut [f32]);
    impl WithSimd for Gate<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(x, width, out) = self;
            let rows = x.chunks_exact(2 * width);
            for (x, out) in rows.zip(out.chunks_exact_mut(width)) {
                let (gates, values) = x.split_at(width);
                for ((out, &gate), value) in out.iter_mut().zip(gates).zip(values) {
                    let below = if S::F32_LANES > 1 {
                        exp::<true>(-gate)
                    } else {
                        exp::<false>(-gate)
                    };
                    *out = gate / (1.0 + below) * value;
                }
            }
        }
    }
    arch.dispatch(Gate(x, width, out));
}

/// The logarithm of the sum of e to the power of each number; the same whatever else is computed.
pub fn log_sum_exp(arch: Arch, x: &[f32]) -> f32 {
    struct Sum<'a>(&'a [f32], f32);
    impl WithSimd for Sum<'_> {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f32 {
            let Self(x, top) = self;
            let (lanes, rest) = x.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for lane in lanes {
                for (sum, x) in sums.iter_mut().zip(lane) {
                    *sum += if S::F32_LANES > 1 {
                        exp::<true>(x - top)
                    } else {
                        exp::<false>(x - top)
                    };
                }
            }
            let rest: f32 = rest.iter().map(|x| (x - top).exp()).sum();
            sums.iter().sum::<f32>() + rest
        }
    }
    let top = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if top.is_finite() {
        top + arch.dispatch(Sum(x, top)).ln()
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_close() {
        for step in -8700..8800 {
            let x = step as f32 / 100.0;
            let (close, exact) = (exp::<true>(x), f64::from(x).exp());
            let error = (f64::from(close) - exact).abs() / exact;
            assert!(error < 3e-7, "{x}: {error}");
        }
        assert!(exp::<true>(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn products_do_not_depend_on_the_number_of_rows() {
        let (inputs, outputs, rows) = (37, 83, 7);
        let numbers = |count: usize, seed: usize| -> Vec<f32> {
            let number = |i| ((i * 7919 + seed) % 101) as f32 / 50.0 - 1.0;
            (0..count).map(number).collect()
        };
        let (weights, x) = (numbers(inputs * outputs, 3), numbers(rows * inputs, 5));
        let matrix = Packed::new(&weights, inputs, Vec::new());
        let arch = Arch::new();
        let mut all = vec![1.0; rows * outputs];
        matrix.product(arch, &x, &mut all, true);
        for (row, out) in x.chunks(inputs).zip(all.chunks(outputs)) {
            let mut alone = vec![1.0; outputs];
            matrix.product(arch, row, &mut alone, true);
            assert_eq!(alone, out);
            for (weights, out) in weights.chunks(inputs).zip(out) {
                let exact: f32 = weights.iter().zip(row).map(|(w, x)| w * x).sum();
                assert!((exact + 1.0 - out).abs() < 1e-4);
            }
        }
        let bytes: Vec<i8> = (0..inputs * outputs).map(|i| (i % 255) as i8).collect();
        let scales: Vec<f32> = (0..outputs).map(|i| i as f32 / 1000.0).collect();
        let wide = bytes.iter().enumerate();
        let wide: Vec<f32> = wide
            .map(|(i, &b)| f32::from(b) * scales[i / inputs])
            .collect();
        let (mut by_bytes, mut plain) = (vec![0.0; rows * outputs], vec![0.0; rows * outputs]);
        Packed::new(&bytes, inputs, scales).product(arch, &x, &mut by_bytes, false);
        Packed::new(&wide, inputs, Vec::new()).product(arch, &x, &mut plain, false);
        for (bytes, plain) in by_bytes.iter().zip(plain) {
            assert!((bytes - plain).abs() < 1e-3 * (1.0 + plain.abs()));
        }
    }
}
