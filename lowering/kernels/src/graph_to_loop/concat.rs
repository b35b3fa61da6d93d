//! Concatenation: one nest an input, each storing at its offset.

use neap_optable::{Dim, Node};

use super::Unlowerable;
use super::layout::iterate;
use super::region::Lowering;
use crate::ir::{Access, Effect, Index};

pub(super) fn concat<'a>(cx: &mut Lowering<'a>, n: &'a Node) -> Result<(), Unlowerable> {
    cx.set_outer(n, vec![])?;
    let axis = n.attrs.get_int("axis") as usize;
    let buffer = cx.only_output(n, 0)?;
    let mut offset = Dim::constant(0);
    for v in &n.inputs {
        let dims = &cx.ty(*v).dims;
        let (iters, index) = iterate(dims, 0);
        let mut nest = cx.nest(iters);
        let value = nest.value(cx, *v, &index)?;
        let mut at = index;
        at[axis] = at[axis].add(&Index::Size(offset.clone()));
        let at = at.iter().map(|i| nest.space.simplify(i)).collect();
        nest.effect(Effect::Store { to: Access { buffer, index: at, outside: None }, value, when: None });
        // An empty input has nothing to copy.
        if dims[axis].as_const() != Some(0) {
            cx.nests.push(nest.build());
        }
        offset = offset.add(&dims[axis]);
    }
    Ok(())
}
