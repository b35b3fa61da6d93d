//! The typed wrappers: built through them, read through them.

use libtest_mimic::Trial;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{IntegerType, RankedTensorType};
use melior::ir::{Block, Location, Operation, Type, ValueLike};
use neap_mlir::ods::graph::{UnaryOperation, r#yield};
use neap_optable::UnaryKind;

/// The trials.
pub fn trials() -> Vec<Trial> {
    vec![Trial::test("typed wrappers build and read ops", || Ok(wrappers()?))]
}

fn wrappers() -> Result<(), String> {
    let cx = neap_mlir::context();
    let unknown = Location::unknown(&cx);
    let ty: Type<'_> = RankedTensorType::new(&[2, 3], Type::float32(&cx), None).into();
    let block = Block::new(&[(ty, unknown)]);
    let x = block.argument(0).map_err(|e| e.to_string())?;
    let kind = IntegerAttribute::new(IntegerType::new(&cx, 32).into(), UnaryKind::Tanh.into());
    let made = UnaryOperation::builder(&cx, unknown).input(x.into()).kind(kind.into()).result(ty).build();
    let made = UnaryOperation::try_from(Operation::from(made)).map_err(|e| e.to_string())?;
    let read = made.kind().and_then(IntegerAttribute::try_from).map_err(|e| e.to_string())?.value();
    let input = made.input().map_err(|e| e.to_string())?;
    if read != i64::from(UnaryKind::Tanh) || input.r#type() != ty {
        return Err(format!("reads as kind {read}"));
    }
    let made = block.append_operation(made.into());
    let y = made.result(0).map_err(|e| e.to_string())?;
    let end = block.append_operation(r#yield(&cx, &[y.into()], unknown).into());
    if made.verify() && end.operand_count() == 1 { Ok(()) } else { Err(format!("not valid: {made}")) }
}
