//! The legality check of the graph level on MLIR, so that what is wrong is said at the op's own location.

use melior::ir::Module;
use melior::ir::operation::{OperationLike, WalkOrder, WalkResult};
use neap_optable::Body;

use super::read::{Reader, functions};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ffi;

/// Checks every op of a verified module by [`neap_optable::check`]: shapes, element types, attribute values.
///
/// # Errors
/// Everything that is wrong, in order; but what has no plain form (see [`super::read`]) ends the function it is in.
pub fn check(module: &Module<'_>) -> Result<(), Diagnostics> {
    let mut all = vec![];
    for func in functions(module)? {
        let mut reader = match Reader::of(func) {
            Ok(r) => r,
            Err(d) => {
                all.push(d);
                continue;
            }
        };
        reader.found = Some(vec![]);
        let read: Result<Body, Diagnostic> = reader.function(func);
        all.extend(reader.found.take().into_iter().flatten());
        all.extend(read.err());
    }
    if all.is_empty() { Ok(()) } else { Err(Diagnostics(all)) }
}

/// Whether a module has any operator of the graph dialect.
pub fn occurs(module: &Module<'_>) -> bool {
    let mut found = false;
    module.as_operation().walk(WalkOrder::PreOrder, |op| {
        found |= ffi::identifier(op.name()).starts_with("graph.");
        if found { WalkResult::Interrupt } else { WalkResult::Advance }
    });
    found
}
