//! Strides, dilations and pads of sliding windows, `auto_pad` resolved.

use neap_optable::{Attrs, Dim};

use crate::import::cx::Cx;
use crate::import::error::{Res, invalid};
use crate::import::op::Op;

/// The windows of a convolution or pooling, one entry a spatial dim.
pub(super) struct Window {
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// Before and after each dim.
    pub low: Vec<i64>,
    pub high: Vec<i64>,
}

/// A list attribute with one entry a spatial dim, each at least `least`.
pub(super) fn list(op: &Op<'_>, name: &str, n: usize, default: i64, least: i64) -> Res<Vec<i64>> {
    match op.ints(name)? {
        None => Ok(vec![default; n]),
        Some(v) if v.len() != n => invalid(format!("attribute `{name}` has {} entries, expected {n}", v.len())),
        Some(v) => match v.iter().find(|x| !(least..=1 << 31).contains(*x)) {
            Some(x) => invalid(format!("attribute `{name}` has the entry {x}, expected at least {least}")),
            None => Ok(v.to_vec()),
        },
    }
}

impl Window {
    /// Reads the attributes of a node over `spatial` sizes with a kernel of these sizes.
    pub fn read(cx: &Cx, op: &Op<'_>, spatial: &[Dim], kernel: Vec<i64>) -> Res<Self> {
        let n = spatial.len();
        let strides = list(op, "strides", n, 1, 1)?;
        let dilations = list(op, "dilations", n, 1, 1)?;
        let mut w = Window { kernel, strides, dilations, low: vec![0; n], high: vec![0; n] };
        let upper = match op.text("auto_pad", "NOTSET")? {
            "NOTSET" | "" => {
                let pads = list(op, "pads", 2 * n, 0, 0)?;
                (w.low, w.high) = (pads[..n].to_vec(), pads[n..].to_vec());
                return Ok(w);
            }
            "VALID" => return Ok(w),
            "SAME_UPPER" => true,
            "SAME_LOWER" => false,
            other => {
                return invalid(format!(
                    "attribute `auto_pad` is `{other}`, expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"
                ));
            }
        };
        for (i, size) in spatial.iter().enumerate() {
            // As many windows as strides begun; with stride 1 that needs no size.
            let covered = if w.strides[i] == 1 {
                w.reach(i) - 1
            } else {
                let size = cx.number(size)?;
                let count = size.saturating_add(w.strides[i] - 1) / w.strides[i];
                (count - 1).saturating_mul(w.strides[i]).saturating_add(w.reach(i)).saturating_sub(size)
            };
            let total = covered.max(0);
            let less = total / 2;
            (w.low[i], w.high[i]) = if upper { (less, total - less) } else { (total - less, less) };
        }
        Ok(w)
    }

    /// Elements from the first to the last one a window touches.
    pub fn reach(&self, i: usize) -> i64 {
        (self.kernel[i] - 1).saturating_mul(self.dilations[i]).saturating_add(1)
    }

    /// Number of windows along dim `i` of this size. With `ceil` a last window may hang over the end, unless it would
    /// start there.
    pub fn count(&self, i: usize, size: &Dim, ceil: bool) -> Res<Dim> {
        let stride = Dim::constant(self.strides[i]);
        let span = size.add(&Dim::constant(self.low[i] + self.high[i])).sub(&Dim::constant(self.reach(i)));
        if span.as_i64().is_some_and(|s| s < 0 && !ceil) {
            return invalid(format!(
                "the kernel reaches over {} elements, more than the padded size of dim {}",
                self.reach(i),
                i + 2
            ));
        }
        let up = if ceil { self.strides[i] - 1 } else { 0 };
        let steps = span.add(&Dim::constant(up)).floor_div(&stride).unwrap_or(Dim::constant(0));
        let count = steps.add(&Dim::constant(1));
        match (count.as_i64(), size.as_i64()) {
            (Some(c), Some(s))
                if ceil && c > 1 && (c - 1).saturating_mul(self.strides[i]) >= s.saturating_add(self.low[i]) =>
            {
                Ok(Dim::constant(c - 1))
            }
            _ => Ok(count),
        }
    }

    /// Low pads of all dims, then the high ones.
    pub fn pads(&self) -> Vec<i64> {
        [self.low.as_slice(), self.high.as_slice()].concat()
    }

    /// Strides, pads and dilations as graph attributes.
    pub fn attrs(&self) -> Attrs {
        Attrs::new().ints("strides", &*self.strides).ints("pads", self.pads()).ints("dilations", &*self.dilations)
    }
}
