//! Recurrences over the leading dim.

use super::cx::{Cx, need_dim, need_float, need_rank, same_dtype};
use crate::TensorType;

pub(super) fn lstm(cx: &Cx<'_>) -> Result<Vec<TensorType>, String> {
    let [gates, recurrent, h0, c0] = cx.operands()?;
    cx.flag("reverse")?;
    let (all, state) = results(gates, recurrent, h0, 4)?;
    same_state("c0", c0, &state)?;
    Ok(vec![all, state.clone(), state])
}

pub(super) fn gru(cx: &Cx<'_>) -> Result<Vec<TensorType>, String> {
    let [gates, recurrent, bias, h0] = cx.operands()?;
    cx.flag("reverse")?;
    cx.flag("linear_before_reset")?;
    let (all, state) = results(gates, recurrent, h0, 3)?;
    need_rank("recurrent_bias", bias, 1)?;
    same_dtype("recurrent_bias", bias, gates.dtype)?;
    need_dim("recurrent_bias", bias, 0, &state.dims[1])?;
    Ok(vec![all, state])
}

/// Types of all states and of one state for `n` gates.
fn results(
    gates: &TensorType,
    recurrent: &TensorType,
    h0: &TensorType,
    n: i64,
) -> Result<(TensorType, TensorType), String> {
    need_float("gates", gates)?;
    need_rank("gates", gates, 3)?;
    need_rank("recurrent", recurrent, 2)?;
    same_dtype("recurrent", recurrent, gates.dtype)?;
    let hidden = recurrent.dims[1].clone();
    need_dim("recurrent", recurrent, 0, &hidden.scale(n))?;
    need_dim("gates", gates, 2, &hidden.scale(n))?;
    let state = TensorType { dtype: gates.dtype, dims: vec![gates.dims[1].clone(), hidden.clone()] };
    same_state("h0", h0, &state)?;
    let all = TensorType { dtype: gates.dtype, dims: vec![gates.dims[0].clone(), gates.dims[1].clone(), hidden] };
    Ok((all, state))
}

fn same_state(what: &str, found: &TensorType, state: &TensorType) -> Result<(), String> {
    super::cx::same_type(what, found, state)
}
