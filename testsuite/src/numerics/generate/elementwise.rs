//! Elementwise operators.

use neap_optable::{Attrs, BinaryKind, CompareKind, DType, GraphOp, Tensor, TensorType, UnaryKind};

use super::Row;
use crate::numerics::sample::{Dice, Sample, Style};

const INTEGERS: [DType; 8] =
    [DType::I32, DType::I64, DType::I8, DType::U8, DType::I16, DType::U16, DType::U32, DType::U64];
const ALL: [DType; 13] = [
    DType::F32,
    DType::I32,
    DType::I64,
    DType::I8,
    DType::U8,
    DType::Bool,
    DType::I16,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F64,
    DType::F16,
    DType::BF16,
];

pub const ROWS: &[Row] = &[
    Row { name: "unary f32", count: UnaryKind::ALL.len(), make: unary },
    Row { name: "unary integers", count: 4 * INTEGERS.len(), make: unary_int },
    Row { name: "binary f32", count: FLOAT_KINDS.len(), make: binary },
    Row { name: "binary integers", count: INTEGERS.len() * INT_KINDS.len() + BOOL_KINDS.len(), make: binary_int },
    Row { name: "compare", count: 6 * ALL.len(), make: compare },
    Row { name: "select", count: ALL.len(), make: select },
    Row { name: "cast", count: ALL.len() * ALL.len(), make: cast },
];

const FLOAT_KINDS: &[BinaryKind] = &[
    BinaryKind::Add,
    BinaryKind::Sub,
    BinaryKind::Mul,
    BinaryKind::Div,
    BinaryKind::Pow,
    BinaryKind::Max,
    BinaryKind::Min,
    BinaryKind::Mod,
    BinaryKind::Fmod,
    BinaryKind::Atan2,
];
const INT_KINDS: &[BinaryKind] = &[
    BinaryKind::Add,
    BinaryKind::Sub,
    BinaryKind::Mul,
    BinaryKind::Div,
    BinaryKind::Pow,
    BinaryKind::Max,
    BinaryKind::Min,
    BinaryKind::Mod,
    BinaryKind::Fmod,
    BinaryKind::And,
    BinaryKind::Or,
    BinaryKind::Xor,
    BinaryKind::Shl,
    BinaryKind::Shr,
];
const BOOL_KINDS: &[BinaryKind] = &[BinaryKind::And, BinaryKind::Or, BinaryKind::Xor];

/// One or two dims, and enough elements for special numbers to meet.
fn dims(dice: &mut Dice) -> Vec<u64> {
    match dice.below(4) {
        0 => vec![dice.pick(&[301, 640, 1023])],
        1 => vec![3, dice.pick(&[97, 130, 257]), 1],
        2 => vec![dice.pick(&[17, 31]), dice.pick(&[16, 33])],
        _ => vec![2, dice.pick(&[5, 9]), dice.pick(&[31, 64])],
    }
}

fn unary(dice: &mut Dice, i: usize) -> Sample {
    let kind = UnaryKind::ALL[i];
    let shape = dims(dice);
    let dtype = if kind == UnaryKind::Not { DType::Bool } else { DType::F32 };
    let mut x = dice.tensor(dtype, &shape, Style::Wild);
    if matches!(kind, UnaryKind::Sin | UnaryKind::Cos | UnaryKind::Tan) {
        // The stated range; beyond it results only have to be the same everywhere, which the fused graphs see to.
        let v = x.elements::<f32>().unwrap_or_default();
        let limit = (1 << 22) as f32;
        x = Tensor::new(&shape, &v.into_iter().map(|v| if v.is_finite() { v % limit } else { v }).collect::<Vec<_>>());
    }
    Sample::new(GraphOp::Unary, Attrs::new().int("kind", kind), vec![x])
}

fn unary_int(dice: &mut Dice, i: usize) -> Sample {
    let kind = [UnaryKind::Abs, UnaryKind::Neg, UnaryKind::Sign, UnaryKind::Relu][i / 8];
    let dims = dims(dice);
    let x = dice.tensor(INTEGERS[i % 8], &dims, Style::Wild);
    Sample::new(GraphOp::Unary, Attrs::new().int("kind", kind), vec![x])
}

fn binary(dice: &mut Dice, i: usize) -> Sample {
    let dims = dims(dice);
    let (x, y) = (dice.tensor(DType::F32, &dims, Style::Wild), dice.tensor(DType::F32, &dims, Style::Wild));
    Sample::new(GraphOp::Binary, Attrs::new().int("kind", FLOAT_KINDS[i]), vec![x, y])
}

fn binary_int(dice: &mut Dice, i: usize) -> Sample {
    let (kind, dtype) = match INT_KINDS.get(i / 8) {
        Some(k) => (*k, INTEGERS[i % 8]),
        None => (BOOL_KINDS[i - INTEGERS.len() * INT_KINDS.len()], DType::Bool),
    };
    let dims = dims(dice);
    let (x, y) = (dice.tensor(dtype, &dims, Style::Wild), dice.tensor(dtype, &dims, Style::Wild));
    Sample::new(GraphOp::Binary, Attrs::new().int("kind", kind), vec![x, y])
}

fn compare(dice: &mut Dice, i: usize) -> Sample {
    let dtype = ALL[i % 13];
    let dims = dims(dice);
    let (x, y) = (dice.tensor(dtype, &dims, Style::Wild), dice.tensor(dtype, &dims, Style::Wild));
    Sample::new(GraphOp::Compare, Attrs::new().int("kind", CompareKind::ALL[i / 13]), vec![x, y])
}

fn select(dice: &mut Dice, i: usize) -> Sample {
    let dims = dims(dice);
    let c = dice.tensor(DType::Bool, &dims, Style::Plain);
    let (x, y) = (dice.tensor(ALL[i], &dims, Style::Wild), dice.tensor(ALL[i], &dims, Style::Wild));
    Sample::new(GraphOp::Select, Attrs::new(), vec![c, x, y])
}

fn cast(dice: &mut Dice, i: usize) -> Sample {
    let dims = dims(dice);
    let x = dice.tensor(ALL[i / 13], &dims, Style::Wild);
    let to = TensorType::fixed(ALL[i % 13], &dims);
    Sample::typed(GraphOp::Cast, Attrs::new(), vec![x], vec![to])
}
