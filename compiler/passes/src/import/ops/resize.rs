//! Resize and its predecessor Upsample.

use neap_optable::{Attrs, CoordinateMode, Dim, GraphOp, NearestMode, ResizeMode, TensorType};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::{Op, axes};
use crate::import::table::{Entry, since};

pub(super) const OPS: &[Entry] =
    &[Entry { op: "Upsample", opsets: 7..=9, convert: upsample }, since("Resize", 10, resize)];

/// How to sample, apart from the sizes.
struct Sampling {
    mode: ResizeMode,
    coordinates: CoordinateMode,
    nearest: NearestMode,
    cubic_a: f64,
}

fn mode(op: &Op<'_>) -> Res<ResizeMode> {
    match op.text("mode", "nearest")? {
        "nearest" => Ok(ResizeMode::Nearest),
        "linear" | "bilinear" => Ok(ResizeMode::Linear),
        "cubic" => Ok(ResizeMode::Cubic),
        other => invalid(format!("attribute `mode` is `{other}`, expected nearest, linear or cubic")),
    }
}

/// Emits the op, or nothing where no size changes.
fn sample(cx: &mut Cx, x: Val, how: &Sampling, scales: Vec<f64>, dims: Vec<Dim>) -> Res<Vec<Val>> {
    if dims == cx.dims(x) && scales.iter().all(|&s| s == 1.0) {
        return Ok(vec![x]);
    }
    let attrs = Attrs::new()
        .int("mode", how.mode)
        .int("coordinates", how.coordinates)
        .int("nearest", how.nearest)
        .with("scales", neap_optable::Attr::Floats(scales))
        .float("cubic_a", how.cubic_a);
    let out = TensorType { dtype: cx.dtype(x), dims };
    Ok(vec![cx.op1(GraphOp::Resize, attrs, &[x], out)?])
}

/// floor(size * scale)
fn scaled(cx: &Cx, size: &Dim, scale: f64) -> Res<Dim> {
    if !(scale > 0.0 && scale.is_finite()) {
        return invalid(format!("a scale is {scale}, expected a positive number"));
    }
    if scale.fract() == 0.0 && scale < 1e9 {
        return Ok(size.scale(scale as i64));
    }
    Ok(Dim::constant((cx.number(size)? as f64 * scale).floor() as i64))
}

fn by_scales(cx: &mut Cx, x: Val, how: &Sampling, scales: Vec<f64>) -> Res<Vec<Val>> {
    let from = cx.dims(x);
    if scales.len() != from.len() {
        return invalid(format!("{} scales are given for {}", scales.len(), cx.ty(x)));
    }
    let dims = from.iter().zip(&scales).map(|(d, &s)| scaled(cx, d, s)).collect::<Res<Vec<_>>>()?;
    sample(cx, x, how, scales, dims)
}

/// Scales at asymmetric places; reading the nearest rounds down, or up where the size shrinks.
fn old(cx: &mut Cx, op: &Op<'_>, scales: Vec<f64>) -> Res<Vec<Val>> {
    let shrinks = scales.iter().any(|&s| s < 1.0);
    let how = Sampling {
        mode: mode(op)?,
        coordinates: CoordinateMode::Asymmetric,
        nearest: if shrinks { NearestMode::Ceil } else { NearestMode::Floor },
        cubic_a: -0.75,
    };
    by_scales(cx, op.input(0)?, &how, scales)
}

fn upsample(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let scales = match op.floats("scales")? {
        Some(s) => s.iter().map(|&v| f64::from(v)).collect(),
        None => cx.float_values(op.input(1)?, "scales")?,
    };
    old(cx, op, scales)
}

fn resize(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    if op.opset() < 11 {
        let scales = cx.float_values(op.input(1)?, "scales")?;
        return old(cx, op, scales);
    }
    let coordinates = match op.text("coordinate_transformation_mode", "half_pixel")? {
        "half_pixel" => CoordinateMode::HalfPixel,
        "asymmetric" => CoordinateMode::Asymmetric,
        "align_corners" => CoordinateMode::AlignCorners,
        "pytorch_half_pixel" => CoordinateMode::PytorchHalfPixel,
        "half_pixel_symmetric" => CoordinateMode::HalfPixelSymmetric,
        other => {
            return unsupported(format!("coordinates `{other}` are not supported; export the model with half_pixel"));
        }
    };
    let nearest = match op.text("nearest_mode", "round_prefer_floor")? {
        "round_prefer_floor" => NearestMode::RoundPreferFloor,
        "round_prefer_ceil" => NearestMode::RoundPreferCeil,
        "floor" => NearestMode::Floor,
        "ceil" => NearestMode::Ceil,
        other => return invalid(format!("attribute `nearest_mode` is `{other}`")),
    };
    let how = Sampling { mode: mode(op)?, coordinates, nearest, cubic_a: op.float("cubic_coeff_a", -0.75)? };
    if op.flag("exclude_outside", false)? && how.mode == ResizeMode::Cubic {
        return unsupported("exclude_outside is not supported; export the model without it");
    }
    let x = op.input(0)?;
    let from = cx.dims(x);
    let along = match op.ints("axes")? {
        Some(list) => axes(list, from.len())?,
        None => (0..from.len()).collect(),
    };
    // An empty operand stands for an absent one.
    let given = |cx: &Cx, i: usize| op.opt(i).filter(|v| cx.ty(*v).elements() != Some(0));
    let (mut scales, mut dims) = (vec![1.0; from.len()], from.clone());
    match (given(cx, 2), given(cx, 3)) {
        (Some(_), Some(_)) => return invalid("both scales and sizes are given"),
        (None, None) => return invalid("neither scales nor sizes are given"),
        (Some(s), None) => {
            let list = cx.float_values(s, "scales")?;
            if list.len() != along.len() {
                return invalid(format!("{} scales are given for {} dims", list.len(), along.len()));
            }
            for (&a, s) in along.iter().zip(list) {
                (scales[a], dims[a]) = (s, scaled(cx, &from[a], s)?);
            }
        }
        (None, Some(s)) => {
            let list = cx.dim_values(s, "sizes")?;
            if list.len() != along.len() {
                return invalid(format!("{} sizes are given for {} dims", list.len(), along.len()));
            }
            for (&a, to) in along.iter().zip(list).filter(|(a, to)| from[**a] != *to) {
                let (before, after) = (cx.number(&from[a])?, cx.number(&to)?);
                if before < 1 || after < 1 {
                    return invalid(format!("it resizes dim {a} from {before} to {after}"));
                }
                (scales[a], dims[a]) = (after as f64 / before as f64, to);
            }
            keep_aspect(cx, op, &along, &from, &mut scales, &mut dims)?;
        }
    }
    if op.flag("antialias", false)? && scales.iter().any(|&s| s < 1.0) {
        return unsupported("antialias is not supported; export the model without it");
    }
    sample(cx, x, &how, scales, dims)
}

/// `keep_aspect_ratio_policy`: one scale for all, so that no size is larger (or smaller) than asked for.
fn keep_aspect(cx: &Cx, op: &Op<'_>, along: &[usize], from: &[Dim], scales: &mut [f64], dims: &mut [Dim]) -> Res<()> {
    let all = along.iter().map(|&a| scales[a]);
    let scale = match op.text("keep_aspect_ratio_policy", "stretch")? {
        "stretch" => return Ok(()),
        "not_larger" => all.fold(f64::INFINITY, f64::min),
        "not_smaller" => all.fold(0.0, f64::max),
        other => return invalid(format!("attribute `keep_aspect_ratio_policy` is `{other}`")),
    };
    for &a in along {
        scales[a] = scale;
        dims[a] = Dim::constant((cx.number(&from[a])? as f64 * scale + 0.5).floor() as i64);
    }
    Ok(())
}
