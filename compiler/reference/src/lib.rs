//! The reference interpreter: what every graph op computes, slowly and obviously.
//!
//! It is the oracle of the tests and of `neap verify`, and folds constants. Floats are computed in f64 and rounded once when
//! stored (so a contraction or reduction of f32 is more exact than compiled code, which is compared with a tolerance);
//! integers are computed exactly and wrap when stored. All element types work everywhere that [`neap_optable::check`] allows.
//!
//! Where ONNX leaves a case open, this crate decides: an integer divided by 0 is 0; a gather clamps an index out of range and
//! a scatter drops its update; a NaN counts as the greatest number when sorting and as the extreme in arg-reductions.

mod body;
pub mod cases;
mod contract;
mod elementwise;
mod error;
mod index;
mod order;
mod pool;
mod recurrent;
mod reduce;
mod resize;
mod shape;
#[cfg(test)]
mod tests;
mod values;
mod walk;

use neap_optable::{Attr, Attrs, GraphOp, Tensor, TensorType, check};

pub use body::eval_body;
pub use error::EvalError;

/// Computes one op. `out_types` are its result types, with all sizes known.
///
/// `graph.fusion` and `graph.weight` need what lies outside the op and are computed by [`eval_body`] alone.
///
/// # Errors
/// When [`check`] refuses the op, when a size is symbolic, or when the result is too large to address.
pub fn eval(op: GraphOp, attrs: &Attrs, ins: &[&Tensor], out_types: &[TensorType]) -> Result<Vec<Tensor>, EvalError> {
    let types: Vec<TensorType> = ins.iter().map(|t| t.ty()).collect();
    check(op, attrs, &types, out_types, None).map_err(EvalError::Illegal)?;
    for t in out_types {
        if let Some(d) = t.dims.iter().find(|d| d.as_const().is_none()) {
            return Err(EvalError::Symbolic {
                what: format!("the result {t} of graph.{}", op.name()),
                dim: d.to_string(),
            });
        }
        // Working values take up to 16 bytes an element.
        if t.elements().and_then(|n| n.checked_mul(16)).is_none_or(|n| n > isize::MAX as u64) {
            return Err(EvalError::TooLarge(format!("the result {t} of graph.{}", op.name())));
        }
    }
    let axis = || attrs.get_int("axis") as usize;
    let dims = out_types[0].static_dims().unwrap_or_default();
    let out = match op {
        GraphOp::Unary => elementwise::unary(attrs.get_enum("kind"), ins[0]),
        GraphOp::Binary => elementwise::binary(attrs.get_enum("kind"), ins[0], ins[1]),
        GraphOp::Compare => elementwise::compare(attrs.get_enum("kind"), ins[0], ins[1]),
        GraphOp::Select => elementwise::select(ins[0], ins[1], ins[2]),
        GraphOp::Cast => elementwise::cast(ins[0], out_types[0].dtype),
        GraphOp::Iota => elementwise::iota(ins[0], ins[1], &dims, axis()),
        GraphOp::Constant => constant(attrs, &dims),
        GraphOp::Broadcast => shape::broadcast(ins[0], &dims),
        GraphOp::Reshape => ins[0].reshaped(&dims),
        GraphOp::Transpose => shape::transpose(ins[0], attrs.get_ints("permutation")),
        GraphOp::Slice => shape::slice(ins[0], attrs.get_ints("starts"), attrs.get_ints("steps"), &dims),
        GraphOp::Concat => shape::concat(ins, axis(), &dims),
        GraphOp::Pad => shape::pad(ins[0], ins[1], attrs.get_enum("mode"), attrs.get_ints("low"), &dims),
        GraphOp::Resize => resize::resize(ins[0], attrs, &dims),
        GraphOp::Matmul => {
            let transpose = (attrs.get_bool("transpose_lhs"), attrs.get_bool("transpose_rhs"));
            contract::matmul(ins[0], ins[1], transpose, &dims)
        }
        GraphOp::Conv => contract::conv(ins[0], ins[1], attrs, &dims),
        GraphOp::ConvTranspose => contract::conv_transpose(ins[0], ins[1], attrs, &dims),
        GraphOp::Pool => pool::pool(ins[0], attrs, &dims),
        GraphOp::Reduce => reduce::reduce(attrs.get_enum("kind"), ins[0], attrs.get_ints("axes"), &dims),
        GraphOp::Softmax => reduce::softmax(ins[0], axis(), attrs.get_bool("log")),
        GraphOp::LayerNorm => reduce::layer_norm(ins[0], axis(), attrs.get_float("epsilon"), attrs.get_bool("rms")),
        GraphOp::Cumsum => reduce::cumsum(ins[0], axis(), attrs.get_bool("exclusive"), attrs.get_bool("reverse")),
        GraphOp::ArgReduce => order::arg_reduce(attrs.get_enum("kind"), ins[0], axis(), attrs.get_bool("select_last")),
        GraphOp::TopK => return Ok(order::top_k(ins[0], axis(), dims[axis()], attrs.get_bool("largest"))),
        GraphOp::Gather => index::gather(ins[0], ins[1], axis(), &dims),
        GraphOp::GatherElements => index::gather_elements(ins[0], ins[1], axis()),
        GraphOp::GatherNd => index::gather_nd(ins[0], ins[1], attrs.get_int("batch_dims") as usize, &dims),
        GraphOp::ScatterElements => index::scatter_elements(attrs.get_enum("kind"), ins[0], ins[1], ins[2], axis()),
        GraphOp::ScatterNd => index::scatter_nd(attrs.get_enum("kind"), ins[0], ins[1], ins[2]),
        GraphOp::Lstm => return Ok(recurrent::lstm(ins[0], ins[1], ins[2], ins[3], attrs.get_bool("reverse"))),
        GraphOp::Gru => {
            let (linear, reverse) = (attrs.get_bool("linear_before_reset"), attrs.get_bool("reverse"));
            return Ok(recurrent::gru(ins[0], ins[1], ins[2], ins[3], linear, reverse));
        }
        GraphOp::Fusion | GraphOp::Weight | GraphOp::Yield => {
            return Err(EvalError::Illegal(format!("graph.{} is no op to evaluate alone", op.name())));
        }
    };
    Ok(vec![out])
}

fn constant(attrs: &Attrs, dims: &[u64]) -> Tensor {
    let Some(Attr::Elements { dtype, data, splat, .. }) = attrs.get("value") else {
        unreachable!("checked: a constant has elements")
    };
    let data = if *splat { data.repeat(dims.iter().product::<u64>() as usize) } else { data.clone() };
    Tensor { dtype: *dtype, dims: dims.to_vec(), data: data.into() }
}
