//! Ranges of activations without data: means and variances of channels, carried through the network.
//!
//! Weights are taken to be independent of activations, and activations to be normal, as in data-free quantisation (Nagel et al.,
//! "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019), which takes six deviations around the mean.

/// Deviations around the mean that a range covers.
const DEVIATIONS: f64 = 6.0;

/// Mean and variance of each channel, and the range of all.
#[derive(Clone)]
pub(super) struct Moments {
    pub channels: Vec<(f64, f64)>,
    pub range: (f64, f64),
}

impl Moments {
    /// Images as torchvision normalises them: black and white lie at -2.12 and 2.64.
    pub fn images(channels: usize) -> Self {
        Moments { channels: vec![(0.0, 1.0); channels], range: (-2.12, 2.64) }
    }

    fn of(channels: Vec<(f64, f64)>) -> Self {
        let spread = |(m, v): &(f64, f64)| (m - DEVIATIONS * v.sqrt(), m + DEVIATIONS * v.sqrt());
        let ends = channels.iter().map(spread);
        let range = ends.fold((0f64, 0f64), |r, e| (r.0.min(e.0), r.1.max(e.1)));
        Moments { channels, range }
    }

    /// Through a filter [outputs, inputs / groups, taps...] and a bias.
    pub fn filtered(&self, filter: &[f32], outputs: usize, groups: usize, bias: Option<&[f32]>) -> Self {
        let each = filter.len() / outputs;
        let inputs = self.channels.len() / groups;
        let taps = each / inputs;
        let one = |o: usize| {
            let first = o / (outputs / groups) * inputs;
            let start = (bias.map_or(0.0, |b| f64::from(b[o])), 0.0);
            filter[o * each..][..each].iter().enumerate().fold(start, |(mean, variance), (i, w)| {
                let (m, v) = self.channels[first + i / taps];
                let w = f64::from(*w);
                (mean + w * m, variance + w * w * v)
            })
        };
        Self::of((0..outputs).map(one).collect())
    }

    /// Without what is below zero.
    pub fn rectified(&self) -> Self {
        let one = |&(m, v): &(f64, f64)| {
            let s = v.sqrt().max(1e-12);
            let density = libm::exp(-m * m / (2.0 * v.max(1e-24))) / (2.0 * std::f64::consts::PI).sqrt();
            let above = 0.5 * (1.0 + libm::erf(m / s * std::f64::consts::FRAC_1_SQRT_2));
            let mean = m * above + s * density;
            (mean, ((m * m + v) * above + m * s * density - mean * mean).max(0.0))
        };
        Moments { channels: self.channels.iter().map(one).collect(), range: (0.0, self.range.1) }
    }

    pub fn plus(&self, other: &Self) -> Self {
        let sum = self.channels.iter().zip(&other.channels).map(|(a, b)| (a.0 + b.0, a.1 + b.1)).collect();
        let all = Self::of(sum);
        let most = (self.range.0 + other.range.0, self.range.1 + other.range.1);
        Moments { range: (all.range.0.max(most.0), all.range.1.min(most.1)), ..all }
    }

    /// The greatest of nine neighbours: 1.485 deviations above the mean, with 0.357 of the variance, were they independent.
    pub fn greatest(&self) -> Self {
        let channels = self.channels.iter().map(|(m, v)| (m + 1.485 * v.sqrt(), 0.357 * v)).collect();
        Moments { channels, range: self.range }
    }

    /// Averages over images: neighbours are alike, so that the variance falls by less than the count; an eighth is left.
    pub fn averaged(&self) -> Self {
        let all = Self::of(self.channels.iter().map(|(m, v)| (*m, v / 8.0)).collect());
        Moments { range: (all.range.0.max(self.range.0), all.range.1.min(self.range.1)), ..all }
    }
}
