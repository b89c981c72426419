//! Models: what their keys and values take, and how fast they are.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Tokens of one block, as in vLLM.
pub const BLOCK_TOKENS: u64 = 16;

/// A page of the driver.
pub const GRANULE: u64 = 2 << 20;

/// Keys and values are numbers of 16 bits.
const NUMBER_BYTES: u64 = 2;

const SECOND: u64 = 1_000_000_000;

/// A model on the card. Its speeds are those of one request and do not depend on others: what is
/// simulated is memory, and everything else is the same for all ways to divide it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What requests call it.
    pub name: String,
    /// Layers with keys and values.
    pub layers: u64,
    /// Heads of keys and values in each layer.
    pub kv_heads: u64,
    /// Numbers of a head.
    pub head_dim: u64,
    /// What its weights take of the card.
    pub weight_bytes: u64,
    /// Tokens of a prompt that are read in a second.
    pub prefill_per_second: u64,
    /// Tokens that are written in a second.
    pub decode_per_second: u64,
}

impl Model {
    /// Parts of its cache: keys and values of each layer.
    #[must_use]
    pub fn segments(&self) -> u64 {
        2 * self.layers
    }

    /// A block in one segment.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        BLOCK_TOKENS * self.kv_heads * self.head_dim * NUMBER_BYTES
    }

    /// A block in all segments.
    #[must_use]
    pub fn whole_block_bytes(&self) -> u64 {
        self.segments() * self.block_bytes()
    }

    /// How long a prompt is read.
    #[must_use]
    pub fn prefill(&self, tokens: u64) -> Duration {
        at_speed(tokens, self.prefill_per_second)
    }

    /// How long so many tokens are written.
    #[must_use]
    pub fn decode(&self, tokens: u64) -> Duration {
        at_speed(tokens, self.decode_per_second)
    }

    /// How many tokens are written in this time.
    #[must_use]
    pub fn decoded(&self, time: Duration) -> u64 {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        nanos.saturating_mul(self.decode_per_second) / SECOND
    }

    /// What a request holds over its life, in bytes times seconds.
    #[must_use]
    pub fn demand(&self, prompt_tokens: u64, output_tokens: u64) -> f64 {
        let token = self.whole_block_bytes() as f64 / BLOCK_TOKENS as f64;
        let (prompt, output) = (prompt_tokens as f64, output_tokens as f64);
        let reads = prompt / self.prefill_per_second as f64;
        let writes = output / self.decode_per_second as f64;
        token * (prompt * reads + (prompt + output / 2.0) * writes)
    }
}

/// Blocks for so many tokens.
#[must_use]
pub fn blocks_for(tokens: u64) -> u64 {
    tokens.div_ceil(BLOCK_TOKENS)
}

fn at_speed(tokens: u64, per_second: u64) -> Duration {
    Duration::from_nanos(tokens.saturating_mul(SECOND) / per_second.max(1))
}

/// A line of [`CATALOG`]: name, layers, heads, numbers of a head, billions of weights times ten,
/// tokens a second of a prompt, tokens a second of an answer.
type Row = (&'static str, u64, u64, u64, u64, u64, u64);

/// Shapes of public models. Their speeds are of the order of an H200 under load, and assumed.
const CATALOG: [Row; 8] = [
    ("llama-3.1-8b", 32, 8, 128, 80, 20_000, 50),
    ("llama-2-13b", 40, 40, 128, 130, 12_000, 40),
    ("mistral-7b", 32, 8, 128, 72, 22_000, 50),
    ("llama-3.2-3b", 28, 8, 128, 32, 48_000, 80),
    ("qwen2.5-14b", 48, 8, 128, 147, 11_000, 40),
    ("llama-2-7b", 32, 32, 128, 67, 22_000, 50),
    ("llama-3.2-1b", 16, 8, 64, 12, 110_000, 120),
    ("qwen3-4b", 36, 8, 128, 40, 38_000, 70),
];

/// Most models that are known here.
pub const MOST_MODELS: usize = CATALOG.len();

/// The first models of the catalogue.
#[must_use]
pub fn catalogue(count: usize) -> Vec<Model> {
    let model = |(name, layers, kv_heads, head_dim, tenths, prefill, decode): Row| Model {
        name: name.to_owned(),
        layers,
        kv_heads,
        head_dim,
        weight_bytes: tenths * 100_000_000 * NUMBER_BYTES,
        prefill_per_second: prefill,
        decode_per_second: decode,
    };
    CATALOG.into_iter().take(count).map(model).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_takes_what_the_papers_say() {
        let bytes = |model: &Model| model.whole_block_bytes() / BLOCK_TOKENS;
        let all = catalogue(MOST_MODELS);
        let kib: Vec<u64> = all.iter().map(|model| bytes(model) >> 10).collect();
        assert_eq!(kib, [128, 800, 128, 112, 192, 512, 32, 144]);
        assert_eq!(all[0].decode(100), Duration::from_secs(2));
        assert_eq!(all[0].decoded(Duration::from_secs(2)), 100);
        assert_eq!((blocks_for(1), blocks_for(16), blocks_for(17)), (1, 1, 2));
    }
}
