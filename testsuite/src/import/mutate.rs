//! Damaged nodes: whatever a file says, importing gives a legal graph or an error, and never panics.

use neap_onnx::proto::{Dimension, DimensionValue, ModelProto, TypeValue, ValueInfoProto};
use neap_passes::import::{ImportOptions, import};

use super::{case, rows};

/// Sizes and numbers that break careless arithmetic.
const VALUES: [i64; 14] = [0, 1, 2, 3, 5, 65, -1, -2, -3, 1 << 31, 1 << 40, 1 << 62, i64::MAX, i64::MIN];
/// Damaged copies of each row.
const COPIES: u64 = 60;

/// A small xorshift generator: the same damage on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        if n == 0 { 0 } else { (self.0 % n as u64) as usize }
    }

    fn value(&mut self) -> i64 {
        VALUES[self.below(VALUES.len())]
    }
}

/// Imports damaged copies of every row.
pub fn run() -> Result<(), String> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for (opset, node, operands, _) in rows::ROWS {
        for _ in 0..COPIES {
            let (mut model, _) = case::model(*opset, node, operands);
            for _ in 0..1 + dice.below(3) {
                damage(&mut model, &mut dice);
            }
            let Ok(model) = neap_onnx::from_proto(model, &neap_onnx::external::NoExternal) else { continue };
            if let Ok(imported) = import(&model, &ImportOptions::default()) {
                imported.body.verify().map_err(|e| format!("{node}: {e}"))?;
            }
        }
    }
    Ok(())
}

fn damage(model: &mut ModelProto, dice: &mut Dice) {
    let Some(graph) = &mut model.graph else { return };
    match dice.below(5) {
        0 => {
            let i = dice.below(graph.node[0].attribute.len());
            let Some(a) = graph.node[0].attribute.get_mut(i) else { return };
            let at = dice.below(a.ints.len());
            match (a.ints.get_mut(at), &mut a.i, &mut a.f) {
                (Some(v), ..) => *v = dice.value(),
                (None, Some(v), _) => *v = dice.value(),
                (None, None, Some(v)) => *v = [0.0, -1.0, f32::NAN, f32::INFINITY, 1e30][dice.below(5)],
                _ => {}
            }
        }
        1 => {
            let i = dice.below(graph.input.len());
            if let Some(dims) = graph.input.get_mut(i).and_then(dims) {
                let at = dice.below(dims.len() + 1);
                match dims.get_mut(at) {
                    Some(d) => *d = known(dice.value()),
                    None => dims.push(known(2)),
                }
            }
        }
        2 => {
            let i = dice.below(graph.initializer.len());
            let Some(t) = graph.initializer.get_mut(i).filter(|t| t.data_type == 7 && !t.dims.contains(&0)) else {
                return;
            };
            let mut data = t.raw_data.take().unwrap_or_default().to_vec();
            let at = dice.below(data.len() / 8) * 8;
            data[at..at + 8].copy_from_slice(&dice.value().to_le_bytes());
            t.raw_data = Some(data.into());
        }
        3 => {
            let i = dice.below(graph.node[0].input.len());
            if let Some(name) = graph.node[0].input.get_mut(i) {
                *name = ["", "x", "y"][dice.below(3)].into();
            }
        }
        _ => model.opset_import[0].version = [7, 9, 10, 11, 13, 18, 21, 24, 28][dice.below(9)],
    }
}

fn dims(info: &mut ValueInfoProto) -> Option<&mut Vec<Dimension>> {
    match info.r#type.as_mut()?.value.as_mut()? {
        TypeValue::TensorType(t) => Some(&mut t.shape.as_mut()?.dim),
        _ => None,
    }
}

fn known(size: i64) -> Dimension {
    Dimension { value: Some(DimensionValue::DimValue(size)), ..Default::default() }
}
