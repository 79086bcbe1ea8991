//! Named tensors from files in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor, gguf_file};
use candle_core::{Device, Tensor};
use safetensors::tensor::{Dtype, Metadata};

use super::error::ModelError;

/// A name's suffix for the scales of a matrix of bytes: one number a row.
const SCALE: &str = "_scale";

/// What candle multiplies number by number. In eight bits the same numbers, which have five at most, are many times
/// as fast, and differ by less than a tenth of a step.
const SLOW: [GgmlDType; 4] = [
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_1,
];

/// Bytes of a file: of the program itself, or read.
pub type Bytes = Cow<'static, [u8]>;

/// Weights under the names that Hugging Face gives them.
#[derive(Debug)]
pub enum Weights {
    /// One or more safetensors files: `F32`, `F16`, `BF16`, and `I8` with `NAME_scale`.
    Safetensors(Vec<Shard>),
    /// A GGUF file, dense or quantised.
    Gguf {
        /// Where its tensors are.
        content: Box<gguf_file::Content>,
        /// The whole file.
        bytes: Bytes,
    },
}

/// One safetensors file.
#[derive(Debug)]
pub struct Shard {
    metadata: Metadata,
    bytes: Bytes,
    /// Where data begins.
    data: usize,
}

/// A matrix as it is stored: rows are outputs.
#[derive(Debug, Clone)]
pub enum Rows {
    /// Numbers, row by row.
    Floats(Vec<f32>),
    /// Bytes, row by row, and what each row is to be multiplied by.
    Scaled(Vec<i8>, Vec<f32>),
}

impl Weights {
    /// From safetensors files.
    ///
    /// # Errors
    /// [`ModelError::Weights`] for a file that is none.
    pub fn from_safetensors(shards: Vec<Bytes>) -> Result<Self, ModelError> {
        let shards = shards.into_iter().map(Shard::new);
        Ok(Self::Safetensors(shards.collect::<Result<_, _>>()?))
    }

    /// From a GGUF file.
    ///
    /// # Errors
    /// [`ModelError::Weights`] for a file that is none.
    pub fn from_gguf(bytes: Bytes) -> Result<Self, ModelError> {
        let content = gguf_file::Content::read(&mut Cursor::new(&bytes[..]))
            .map_err(|error| ModelError::Weights(super::error::first_line(&error)))?;
        Ok(Self::Gguf {
            content: Box::new(content),
            bytes,
        })
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Safetensors(shards) => shards.iter().any(|shard| shard.find(name).is_some()),
            Self::Gguf { content, .. } => content.tensor_infos.contains_key(&gguf_name(name)),
        }
    }

    /// A tensor's numbers in row-major order, whatever it is stored as.
    ///
    /// # Errors
    /// [`ModelError::MissingTensor`], [`ModelError::Shape`] or [`ModelError::Format`], with its name.
    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        match self.rows(name, shape)? {
            Rows::Floats(numbers) => Ok(numbers),
            Rows::Scaled(bytes, scales) => {
                let width = bytes.len() / scales.len().max(1);
                let rows = bytes.chunks_exact(width.max(1)).zip(scales);
                let numbers = rows
                    .flat_map(|(row, scale)| row.iter().map(move |&byte| f32::from(byte) * scale));
                Ok(numbers.collect())
            }
        }
    }

    /// A tensor as it is stored, if as bytes with scales; else its numbers.
    ///
    /// # Errors
    /// As for [`Weights::floats`].
    pub fn rows(&self, name: &str, shape: &[usize]) -> Result<Rows, ModelError> {
        match self {
            Self::Safetensors(shards) => {
                let found = shards.iter().find_map(|shard| shard.find(name));
                let found = found.ok_or_else(|| ModelError::MissingTensor(name.to_owned()))?;
                check(name, &found.shape, shape)?;
                if found.dtype == Dtype::I8 {
                    let rows = shape.first().copied().unwrap_or(1);
                    let scales = self.floats(&format!("{name}{SCALE}"), &[rows])?;
                    let bytes = found.bytes.iter().map(|&byte| byte.cast_signed());
                    return Ok(Rows::Scaled(bytes.collect(), scales));
                }
                found.floats(name).map(Rows::Floats)
            }
            Self::Gguf { .. } => {
                let tensor = self.quantised(name, shape)?.dequantize(&Device::Cpu)?;
                Ok(Rows::Floats(tensor.flatten_all()?.to_vec1()?))
            }
        }
    }

    /// A tensor for candle, of 32-bit numbers.
    ///
    /// # Errors
    /// As for [`Weights::floats`].
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let floats = self.floats(name, shape)?;
        Ok(Tensor::from_vec(floats, shape, &Device::Cpu)?)
    }

    /// Matrices (outputs, inputs) that read the same input, joined into one where that is possible.
    /// The result maps inputs to all outputs, in order.
    ///
    /// # Errors
    /// As for [`Weights::floats`].
    pub fn joined(
        &self,
        parts: &[(String, usize)],
        inputs: usize,
    ) -> Result<Vec<QMatMul>, ModelError> {
        if let Self::Gguf { .. } = self {
            let each = |(name, outputs): &(String, usize)| {
                let tensor = self.quantised(name, &[*outputs, inputs])?;
                Ok(match tensor.dtype() {
                    GgmlDType::F32 => QMatMul::Tensor(tensor.dequantize(&Device::Cpu)?),
                    kind if SLOW.contains(&kind) => {
                        let numbers = tensor.dequantize(&Device::Cpu)?;
                        QMatMul::QTensor(Arc::new(QTensor::quantize(&numbers, GgmlDType::Q8_0)?))
                    }
                    _ => QMatMul::QTensor(Arc::new(tensor)),
                })
            };
            return parts.iter().map(each).collect();
        }
        let each = |(name, outputs): &(String, usize)| self.tensor(name, &[*outputs, inputs]);
        let parts: Vec<Tensor> = parts.iter().map(each).collect::<Result<_, _>>()?;
        Ok(vec![QMatMul::Tensor(Tensor::cat(&parts, 0)?)])
    }

    fn quantised(&self, name: &str, shape: &[usize]) -> Result<QTensor, ModelError> {
        let Self::Gguf { content, bytes } = self else {
            return Err(ModelError::MissingTensor(name.to_owned()));
        };
        let stored = gguf_name(name);
        let Some(info) = content.tensor_infos.get(&stored) else {
            return Err(ModelError::MissingTensor(stored));
        };
        check(&stored, info.shape.dims(), shape)?;
        Ok(content.tensor(&mut Cursor::new(&bytes[..]), &stored, &Device::Cpu)?)
    }
}

struct Found<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl Shard {
    fn new(bytes: Bytes) -> Result<Self, ModelError> {
        let (header, metadata) = safetensors::SafeTensors::read_metadata(&bytes)?;
        Ok(Self {
            metadata,
            bytes,
            data: header + 8,
        })
    }

    fn find(&self, name: &str) -> Option<Found<'_>> {
        let info = self.metadata.info(name)?;
        let (start, end) = info.data_offsets;
        Some(Found {
            dtype: info.dtype,
            shape: info.shape.clone(),
            bytes: self.bytes.get(self.data + start..self.data + end)?,
        })
    }
}

impl Found<'_> {
    fn floats(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let (halves, _) = self.bytes.as_chunks::<2>();
        let (words, _) = self.bytes.as_chunks::<4>();
        Ok(match self.dtype {
            Dtype::F32 => words.iter().map(|&word| f32::from_le_bytes(word)).collect(),
            Dtype::F16 => {
                let half = |&half| from_half(u16::from_le_bytes(half));
                halves.iter().map(half).collect()
            }
            Dtype::BF16 => {
                let wide = |&half| f32::from_bits(u32::from(u16::from_le_bytes(half)) << 16);
                halves.iter().map(wide).collect()
            }
            other => {
                return Err(ModelError::Format {
                    name: name.to_owned(),
                    format: format!("{other:?}"),
                });
            }
        })
    }
}

/// An IEEE half-precision number.
fn from_half(half: u16) -> f32 {
    // Shifted into place, exponents are 112 too small; a product also gets subnormal numbers right.
    let magnitude = f32::from_bits(u32::from(half & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    let special = if half & 0x7c00 == 0x7c00 {
        0x7f80_0000
    } else {
        0
    };
    let sign = u32::from(half & 0x8000) << 16;
    f32::from_bits(magnitude.to_bits() | special | sign)
}

fn check(name: &str, found: &[usize], wanted: &[usize]) -> Result<(), ModelError> {
    if found == wanted {
        return Ok(());
    }
    Err(ModelError::Shape {
        name: name.to_owned(),
        found: found.to_vec(),
        wanted: wanted.to_vec(),
    })
}

/// What llama.cpp calls a tensor.
fn gguf_name(name: &str) -> String {
    let outer = HashMap::from([
        ("model.embed_tokens.weight", "token_embd.weight"),
        ("model.norm.weight", "output_norm.weight"),
        ("lm_head.weight", "output.weight"),
    ]);
    if let Some(known) = outer.get(name) {
        return (*known).to_owned();
    }
    let inner = [
        ("model.layers.", "blk."),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("post_attention_layernorm", "ffn_norm"),
        ("input_layernorm", "attn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
    ];
    let replace = |name: String, (from, to): (&str, &str)| name.replace(from, to);
    inner.into_iter().fold(name.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0x3555, 0.333_251_95),
            (0x8000, 0.0),
        ];
        for (half, number) in cases {
            assert!((from_half(half) - number).abs() < 1e-12, "{half:x}");
        }
        assert!(from_half(0x7c00).is_infinite() && from_half(0x7e00).is_nan());
    }

    #[test]
    fn bytes_with_scales_are_multiplied_by_row() {
        let bytes: Vec<u8> = [1i8, -2, 3, 100]
            .iter()
            .map(|b| b.cast_unsigned())
            .collect();
        let scales: Vec<u8> = [0.5f32, 2.0].iter().flat_map(|s| s.to_le_bytes()).collect();
        let matrix = safetensors::tensor::TensorView::new(Dtype::I8, vec![2, 2], &bytes).unwrap();
        let scale = safetensors::tensor::TensorView::new(Dtype::F32, vec![2], &scales).unwrap();
        let file = safetensors::serialize([("m.weight", matrix), ("m.weight_scale", scale)], None);
        let weights = Weights::from_safetensors(vec![file.unwrap().into()]).unwrap();
        let floats = weights.floats("m.weight", &[2, 2]).unwrap();
        assert_eq!(floats, [0.5, -1.0, 6.0, 200.0]);
        let told = weights.floats("m.weight", &[4, 1]).unwrap_err().to_string();
        assert!(
            told.contains("`m.weight`") && told.contains("[4, 1]"),
            "{told}"
        );
        let told = weights.floats("other", &[1]).unwrap_err().to_string();
        assert!(told.contains("`other` is missing"), "{told}");
    }
}
