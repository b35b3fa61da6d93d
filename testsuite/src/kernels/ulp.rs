//! Errors of the elementary functions, in units in the last place, over arguments of every magnitude: those of f32 against f64
//! libm, those of f64 against the same, which is itself within one unit.

use std::fmt::{Debug, LowerExp};

use libtest_mimic::{Failed, Trial};
use neap_codegen::host_target;
use neap_kernels::scheduled::Facts;
use neap_optable::{Attrs, BinaryKind, Body, Element, GraphOp, Tensor, TensorType, UnaryKind};
use neap_spec::Backend;

use super::run;

/// A function of one argument: its bound in ulp and its domain as far as the bound is stated.
type Unary = (UnaryKind, f64, f32, fn(f64) -> f64);

const EVERYWHERE: f32 = f32::INFINITY;
/// Where trigonometric arguments are reduced exactly enough.
const REDUCED: f32 = 131_072.0;

/// The bounds that the functions' documentation states.
const UNARY: &[Unary] = &[
    (UnaryKind::Exp, 2.0, EVERYWHERE, libm::exp),
    (UnaryKind::Log, 1.5, EVERYWHERE, libm::log),
    (UnaryKind::Sin, 2.0, REDUCED, libm::sin),
    (UnaryKind::Cos, 2.0, REDUCED, libm::cos),
    (UnaryKind::Tan, 4.0, REDUCED, libm::tan),
    (UnaryKind::Tanh, 2.5, EVERYWHERE, libm::tanh),
    (UnaryKind::Erf, 1.5, EVERYWHERE, libm::erf),
    (UnaryKind::Sigmoid, 3.0, EVERYWHERE, |x| 1.0 / (1.0 + libm::exp(-x))),
    (UnaryKind::Softplus, 3.0, EVERYWHERE, |x| if x > 100.0 { x } else { libm::log1p(libm::exp(x)) }),
    (UnaryKind::Asin, 3.0, EVERYWHERE, libm::asin),
    (UnaryKind::Acos, 3.0, EVERYWHERE, libm::acos),
    (UnaryKind::Atan, 3.0, EVERYWHERE, libm::atan),
    (UnaryKind::Sinh, 3.0, EVERYWHERE, libm::sinh),
    (UnaryKind::Cosh, 3.0, EVERYWHERE, libm::cosh),
    (UnaryKind::Asinh, 3.5, EVERYWHERE, libm::asinh),
    (UnaryKind::Acosh, 3.0, EVERYWHERE, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
    (UnaryKind::Atanh, 3.0, EVERYWHERE, libm::atanh),
    (UnaryKind::Sqrt, 0.5, EVERYWHERE, libm::sqrt),
];

/// What libm may be off.
const LIBM: f64 = 1.0;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for (kind, bound, domain, exact) in UNARY.iter().copied() {
        out.push(Trial::test(format!("ulp {}", kind.name()), move || {
            let x = arguments();
            let found = evaluate(GraphOp::Unary, kind.into(), &[&x])?;
            worst(bound, x.iter().zip(&found).map(|(x, y)| ((*x, 0.0), *y, exact((*x).into()))), domain)
        }));
    }
    for (kind, bound, domain, exact) in UNARY.iter().copied() {
        let inverse = matches!(kind, UnaryKind::Asinh | UnaryKind::Acosh | UnaryKind::Atanh);
        let bound = if inverse { 4.0 } else { bound };
        out.push(Trial::test(format!("ulp {} f64", kind.name()), move || {
            let x = wide_arguments();
            let found = evaluate(GraphOp::Unary, kind.into(), &[&x])?;
            let all = x.iter().zip(&found).map(|(x, y)| ((*x, 0.0), *y, exact(*x)));
            worst_wide(bound + LIBM, all, domain.into())
        }));
    }
    for (kind, bound, exact) in [
        (BinaryKind::Pow, 2.0 + LIBM, libm::pow as fn(f64, f64) -> f64),
        (BinaryKind::Atan2, 4.0 + LIBM, libm::atan2),
        (BinaryKind::Fmod, 0.0, libm::fmod),
    ] {
        out.push(Trial::test(format!("ulp {} f64", kind.name()), move || {
            let (x, y) = wide_pairs(kind);
            let found = evaluate(GraphOp::Binary, kind.into(), &[&x, &y])?;
            let all = x.iter().zip(&y).zip(&found).map(|((x, y), z)| ((*x, *y), *z, exact(*x, *y)));
            worst_wide(bound, all, f64::INFINITY)
        }));
    }
    for (kind, bound, exact) in [
        (BinaryKind::Pow, 2.0, libm::pow as fn(f64, f64) -> f64),
        (BinaryKind::Atan2, 4.0, libm::atan2),
        (BinaryKind::Fmod, 0.5, libm::fmod),
    ] {
        out.push(Trial::test(format!("ulp {}", kind.name()), move || {
            let (x, y) = pairs(kind);
            let overflows =
                |(x, y): &(f32, f32)| kind == BinaryKind::Fmod && (f64::from(*x) / f64::from(*y)).abs() > 1e37;
            let (x, y): (Vec<f32>, Vec<f32>) =
                x.into_iter().zip(y).filter(|p| !overflows(p) || p.1 == 0.0 || p.0.is_infinite()).unzip();
            let found = evaluate(GraphOp::Binary, kind.into(), &[&x, &y])?;
            let all = x.iter().zip(&y).zip(&found).map(|((x, y), z)| ((*x, *y), *z, exact((*x).into(), (*y).into())));
            worst(bound, all, EVERYWHERE)
        }));
    }
    out
}

/// Bit patterns in steps of a prime, so that every exponent and both signs occur; and the special values.
fn arguments() -> Vec<f32> {
    let mut out: Vec<f32> = (0..u32::MAX / 30_011).map(|i| f32::from_bits(i * 30_011)).collect();
    // Where functions change formula, more densely.
    out.extend((-60_000..60_000).map(|i| i as f32 * 1.7e-3));
    out.extend((-20_000..20_000).map(|i| i as f32 * 7.3e-5));
    out.extend([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::MAX]);
    out
}

fn pairs(kind: BinaryKind) -> (Vec<f32>, Vec<f32>) {
    let special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -3.0, 1e-40, 1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let (mut x, mut y): (Vec<f32>, Vec<f32>) = special.iter().flat_map(|x| special.map(|y| (*x, y))).unzip();
    // Quotients that are far from overflow, and powers that are mostly finite.
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    for i in 0..100_000u32 {
        let (p, q) = (next(), next());
        let a = f32::from_bits((p & 0x007f_ffff) | (100 + p % 56) << 23);
        let b = (q as f32 / u32::MAX as f32 - 0.5) * 40.0;
        let sign = if kind == BinaryKind::Pow || i % 2 == 0 { 1.0 } else { -1.0 };
        x.push(a * sign);
        y.push(b);
    }
    (x, y)
}

/// Bit patterns in even steps, and steps of every size around 0.
fn wide_arguments() -> Vec<f64> {
    const STEP: u64 = 0x0000_2cb7_1a1d_9d37;
    let mut out: Vec<f64> = (0..u64::MAX / STEP).map(|i| f64::from_bits(i * STEP)).collect();
    out.extend((-60_000..60_000).map(|i| f64::from(i) * 1.712_345_678_9e-3));
    out.extend((-20_000..20_000).map(|i| f64::from(i) * 7.312_345_678_9e-5));
    out.extend(arguments().into_iter().filter(|x| !x.is_finite() || *x == 0.0 || x.abs() == 1.0).map(f64::from));
    out.extend([f64::MIN_POSITIVE, f64::MAX, 709.9, -745.2]);
    out
}

fn wide_pairs(kind: BinaryKind) -> (Vec<f64>, Vec<f64>) {
    let (x, y) = pairs(kind);
    let more = |v: f32, i: usize| f64::from(v) * (1.0 + i as f64 * 1e-13);
    let mut x: Vec<f64> = x.into_iter().enumerate().map(|(i, v)| more(v, i)).collect();
    let mut y: Vec<f64> = y.into_iter().enumerate().map(|(i, v)| more(v, 3 * i)).collect();
    // Quotients and powers of every size.
    for (i, a) in wide_arguments().into_iter().enumerate().filter(|(i, _)| i % 5 == 0) {
        x.push(a);
        y.push(f64::from_bits((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
    (x, y)
}

fn worst_wide(bound: f64, all: impl Iterator<Item = ((f64, f64), f64, f64)>, domain: f64) -> Result<(), Failed> {
    let all = all.filter(|((x, _), ..)| x.abs() <= domain || !x.is_finite());
    within(bound, all, |found, exact| {
        if found.is_nan() && exact.is_nan() || found == exact {
            return 0.0;
        }
        let near_the_end = |v: f64| v.is_infinite() || v.abs() > f64::MAX * (1.0 - 1e-15);
        let overflows = found.signum() == exact.signum() && near_the_end(found) && near_the_end(exact);
        let spacing = libm::ldexp(1.0, libm::frexp(exact).1.max(-1021) - 53);
        if overflows { 0.0 } else { (found - exact).abs() / spacing }
    })
}

/// Whether all errors, in ulp, keep to the bound; an error that is no number never does.
fn within<T: Copy + Debug + LowerExp>(
    bound: f64,
    all: impl Iterator<Item = ((T, T), T, f64)>,
    error: impl Fn(T, f64) -> f64,
) -> Result<(), Failed> {
    let mut most: Option<(f64, (T, T), T, f64)> = None;
    for (at, found, exact) in all {
        let error = error(found, exact);
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if most.as_ref().is_none_or(|(worst, ..)| error > *worst) {
            most = Some((error, at, found, exact));
        }
    }
    match most {
        Some((error, at, found, exact)) if error > bound => {
            Err(format!("{error:.2} ulp at {at:?}: {found:e}, expected {exact:e}; the bound is {bound}").into())
        }
        _ => Ok(()),
    }
}

fn evaluate<T: Element>(op: GraphOp, kind: i64, operands: &[&[T]]) -> Result<Vec<T>, Failed> {
    let n = operands[0].len() as u64;
    let ty = TensorType::fixed(T::DTYPE, &[n]);
    let mut body = Body::default();
    let args: Vec<_> = operands.iter().map(|_| body.arg(ty.clone())).collect();
    body.results = body.push(op, Attrs::new().int("kind", kind), &args, [ty.clone()], "ulp");
    let kernel = run::build(&body, &Facts::default(), &host_target(Backend::Llvm))??;
    let inputs: Vec<Tensor> = operands.iter().map(|x| Tensor::new(&[n], x)).collect();
    let found = kernel.run(&inputs, &[ty], &|_| 0, 1)?;
    Ok(found[0].elements().expect("the operands' type"))
}

/// Spacing of f32 around a value.
fn spacing(x: f64) -> f64 {
    let exponent = libm::frexp(x).1.max(-125);
    libm::ldexp(1.0, exponent - 24)
}

fn worst(bound: f64, all: impl Iterator<Item = ((f32, f32), f32, f64)>, domain: f32) -> Result<(), Failed> {
    let all = all.filter(|((x, _), ..)| x.abs() <= domain || !x.is_finite());
    within(bound, all, |found, exact| {
        let rounded = exact as f32;
        if found.is_nan() && rounded.is_nan() || found == rounded {
            return 0.0;
        }
        let overflows = rounded.is_infinite() != found.is_infinite()
            && (exact.abs() - f64::from(f32::MAX)).abs() < spacing(exact) * bound;
        if overflows { 0.0 } else { (f64::from(found) - exact).abs() / spacing(exact) }
    })
}
