//! Seeded weights, cheap enough to draw 100 million in a moment.

use bytes::Bytes;

/// How a tensor is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fill {
    /// Uniform around 0 with this standard deviation.
    Spread(f32),
    /// Uniform in a range.
    Range(f32, f32),
}

impl Fill {
    /// Keeps the second moment through a following ReLU (He et al. 2015).
    pub(crate) fn he(fan_in: u64) -> Self {
        Fill::Spread((2.0 / fan_in as f32).sqrt())
    }

    /// Keeps the variance through a linear layer on average of both directions (Glorot and Bengio 2010).
    pub(crate) fn glorot(fan_in: u64, fan_out: u64) -> Self {
        Fill::Spread((2.0 / (fan_in + fan_out) as f32).sqrt())
    }

    /// Little-endian f32 elements, the same for the same seed and name.
    pub(crate) fn draw(self, seed: u64, name: &str, count: u64) -> Bytes {
        let (low, high) = match self {
            Fill::Spread(deviation) => (-deviation * 3f32.sqrt(), deviation * 3f32.sqrt()),
            Fill::Range(low, high) => (low, high),
        };
        // FNV-1a of the name, so that a tensor's values do not depend on what was drawn before it.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut random = Random::new(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // 24 random bits are one f32 in [0, 1).
        let unit = |bits: u64| (bits & 0xff_ffff) as f32 * (1.0 / 16_777_216.0);
        let scaled = |bits: u64| (low + unit(bits) * (high - low)).to_le_bytes();
        let mut data = vec![0u8; count as usize * 4];
        for pair in data.chunks_mut(8) {
            let bits = random.bits();
            pair[..4].copy_from_slice(&scaled(bits));
            if let Some(second) = pair.get_mut(4..) {
                second.copy_from_slice(&scaled(bits >> 32)[..second.len()]);
            }
        }
        data.into()
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Below `n`, which is at least 1 and far below 2^32.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }
}
