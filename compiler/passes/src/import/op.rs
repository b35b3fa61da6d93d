//! An ONNX node as converters see it.

use neap_onnx::{Attribute, Node};
use neap_optable::DType;

use super::cx::{Cx, Val};
use super::error::{Res, invalid};

/// One node with its operands.
pub(super) struct Op<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its operands, absent optional ones as `None`.
    pub inputs: Vec<Option<Val>>,
}

impl Op<'_> {
    /// The opset version that gives the node its meaning.
    pub fn opset(&self) -> i64 {
        self.node.opset
    }

    /// A required operand.
    pub fn input(&self, i: usize) -> Res<Val> {
        match self.opt(i) {
            Some(v) => Ok(v),
            None => invalid(format!("operand {i} is missing")),
        }
    }

    /// An optional operand.
    pub fn opt(&self, i: usize) -> Option<Val> {
        self.inputs.get(i).copied().flatten()
    }

    /// All operands, of which there must be some and none absent.
    pub fn all(&self) -> Res<Vec<Val>> {
        if self.inputs.is_empty() {
            return invalid("it has no operands");
        }
        (0..self.inputs.len()).map(|i| self.input(i)).collect()
    }

    /// Whether result `i` has a name, so may be used.
    pub fn wants(&self, i: usize) -> bool {
        self.node.outputs.get(i).is_some_and(|o| !o.is_empty())
    }

    /// Converts the node with f16 and bf16 operands in f32, as ONNX asks of ops that are sums of many steps, and its results back.
    pub fn in_f32(&self, cx: &mut Cx, convert: impl Fn(&mut Cx, &Op<'_>) -> Res<Vec<Val>>) -> Res<Vec<Val>> {
        let half = self.inputs.iter().flatten().map(|v| cx.dtype(*v)).find(|t| t.is_half());
        let Some(half) = half else { return convert(cx, self) };
        let mut inputs = vec![];
        for v in &self.inputs {
            inputs.push(match v {
                Some(v) if cx.dtype(*v).is_half() => Some(cx.cast(*v, DType::F32)?),
                other => *other,
            });
        }
        let results = convert(cx, &Op { node: self.node, inputs })?;
        results.into_iter().map(|v| if cx.dtype(v) == DType::F32 { cx.cast(v, half) } else { Ok(v) }).collect()
    }

    fn wrong<T>(&self, name: &str, expected: &str) -> Res<T> {
        invalid(format!("attribute `{name}` is not {expected}"))
    }

    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.node.attributes.get(name)
    }

    pub fn int_opt(&self, name: &str) -> Res<Option<i64>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Int(v)) => Ok(Some(*v)),
            Some(_) => self.wrong(name, "an integer"),
        }
    }

    pub fn int(&self, name: &str, default: i64) -> Res<i64> {
        Ok(self.int_opt(name)?.unwrap_or(default))
    }

    pub fn flag(&self, name: &str, default: bool) -> Res<bool> {
        Ok(self.int(name, default.into())? != 0)
    }

    pub fn float_opt(&self, name: &str) -> Res<Option<f64>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Float(v)) => Ok(Some(f64::from(*v))),
            Some(_) => self.wrong(name, "a float"),
        }
    }

    /// A float; its default is rounded to f32 as the file's values are.
    pub fn float(&self, name: &str, default: f32) -> Res<f64> {
        Ok(self.float_opt(name)?.unwrap_or(f64::from(default)))
    }

    pub fn ints(&self, name: &str) -> Res<Option<&[i64]>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Ints(v)) => Ok(Some(v)),
            Some(_) => self.wrong(name, "a list of integers"),
        }
    }

    pub fn floats(&self, name: &str) -> Res<Option<&[f32]>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Floats(v)) => Ok(Some(v)),
            Some(_) => self.wrong(name, "a list of floats"),
        }
    }

    pub fn text<'b>(&'b self, name: &str, default: &'b str) -> Res<&'b str> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Str(v)) => Ok(v),
            Some(_) => self.wrong(name, "a string"),
        }
    }

    pub fn texts(&self, name: &str) -> Res<Option<&[String]>> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Strs(v)) => Ok(Some(v)),
            Some(_) => self.wrong(name, "a list of strings"),
        }
    }

    /// The attribute `axis`, as a dim of a value of this rank.
    pub fn axis(&self, default: i64, rank: usize) -> Res<usize> {
        axis(self.int("axis", default)?, rank)
    }

    /// Axes from an attribute up to some opset, from an operand after it.
    pub fn axes(&self, cx: &Cx, name: &str, operand: usize) -> Res<Option<Vec<i64>>> {
        match self.opt(operand) {
            Some(v) => Ok(Some(cx.int_values(v, &format!("operand `{name}`"))?)),
            None => Ok(self.ints(name)?.map(<[i64]>::to_vec)),
        }
    }
}

/// An axis, counted from the end if negative, as a dim of a value of this rank.
pub(super) fn axis(axis: i64, rank: usize) -> Res<usize> {
    let r = rank as i64;
    match if axis < 0 { axis.saturating_add(r) } else { axis } {
        a if (0..r).contains(&a) => Ok(a as usize),
        _ => invalid(format!("axis {axis} does not exist in a tensor of rank {rank}")),
    }
}

/// Several axes, each once.
pub(super) fn axes(list: &[i64], rank: usize) -> Res<Vec<usize>> {
    let mut out = vec![];
    for &a in list {
        let a = axis(a, rank)?;
        if out.contains(&a) {
            return invalid(format!("axes {list:?} name an axis twice"));
        }
        out.push(a);
    }
    Ok(out)
}
