//! From a function of the graph dialect to a [`Body`].

use std::collections::HashMap;

use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Module, OperationRef, RegionLike, RegionRef, Value, ValueLike};
use neap_optable::{Body, GraphOp, Node, ValueId, check};

use super::types::Decoder;
use super::{NAME, SYMBOLS, attrs};
use crate::diagnostic::{self, Diagnostic};
use crate::ffi::{self, Plain};

/// Reads a verified `func.func` whose body is in the graph dialect.
///
/// Values are numbered in order: arguments, then results of each node.
///
/// # Errors
/// The first thing that has no plain form: an op of another dialect, a type without symbols, a malformed attribute.
pub fn read(func: OperationRef<'_, '_>) -> Result<Body, Diagnostic> {
    Reader::of(func)?.function(func)
}

/// Reads every function of a module with its symbol name, in order.
///
/// # Errors
/// As [`read`], and for anything at the top level that is not a function.
pub fn read_module(module: &Module<'_>) -> Result<Vec<(String, Body)>, Diagnostic> {
    let mut out = vec![];
    for func in functions(module)? {
        out.push((name(func), read(func)?));
    }
    Ok(out)
}

/// The functions of a module, in order.
pub(super) fn functions<'c, 'a>(module: &'a Module<'c>) -> Result<Vec<OperationRef<'c, 'a>>, Diagnostic> {
    let mut out = vec![];
    let mut next = module.body().first_operation();
    while let Some(op) = next {
        if op_name(op) != "func.func" {
            return Err(Diagnostic::at(op.location(), format!("found {}, expected func.func", op_name(op))));
        }
        out.push(op);
        next = op.next_in_block();
    }
    Ok(out)
}

/// Symbol name of a function.
fn name(func: OperationRef<'_, '_>) -> String {
    match ffi::attribute(&func, "sym_name").map(ffi::plain) {
        Some(Plain::Str(s)) => s.to_string(),
        _ => String::new(),
    }
}

fn op_name<'c>(op: OperationRef<'c, '_>) -> &'c str {
    ffi::identifier(op.name())
}

/// Reads one function; with `found` set it also checks every op and collects what is wrong.
pub(super) struct Reader {
    types: Decoder,
    pub found: Option<Vec<Diagnostic>>,
}

impl Reader {
    pub fn of(func: OperationRef<'_, '_>) -> Result<Self, Diagnostic> {
        if op_name(func) != "func.func" {
            return Err(Diagnostic::at(func.location(), format!("found {}, expected func.func", op_name(func))));
        }
        let types = Decoder::new(ffi::attribute(&func, SYMBOLS)).map_err(|e| Diagnostic::at(func.location(), e))?;
        Ok(Reader { types, found: None })
    }

    pub fn function(&mut self, func: OperationRef<'_, '_>) -> Result<Body, Diagnostic> {
        let region = func.region(0).map_err(|e| Diagnostic::at(func.location(), e.to_string()))?;
        let mut body = self.region(func, region, "func.return")?;
        body.arg_names = names(func, "arg_attrs", body.args.len());
        body.result_names = names(func, "res_attrs", body.results.len());
        Ok(body)
    }

    fn region(
        &mut self,
        parent: OperationRef<'_, '_>,
        region: RegionRef<'_, '_>,
        terminator: &str,
    ) -> Result<Body, Diagnostic> {
        let one = region.first_block().filter(|b| b.next_in_region().is_none());
        let block = one.ok_or_else(|| Diagnostic::at(parent.location(), "expected one block"))?;
        let mut body = Body::default();
        let mut ids = HashMap::new();
        self.arguments(block, &mut body, &mut ids)?;
        let mut next = block.first_operation();
        while let Some(op) = next {
            next = op.next_in_block();
            if next.is_none() && op_name(op) == terminator {
                body.results = operands(op, &ids)?;
                return Ok(body);
            }
            let node = self.node(op, &mut body, &mut ids)?;
            body.nodes.push(node);
        }
        Err(Diagnostic::at(parent.location(), format!("expected {terminator} at the end")))
    }

    fn arguments(
        &mut self,
        block: BlockRef<'_, '_>,
        body: &mut Body,
        ids: &mut HashMap<usize, ValueId>,
    ) -> Result<(), Diagnostic> {
        for i in 0..block.argument_count() {
            let Ok(arg) = block.argument(i) else { continue };
            let value = Value::from(arg);
            let ty = self.types.decode(value.r#type()).map_err(|e| Diagnostic::at(value.location(), e))?;
            ids.insert(ffi::value_key(&value), body.arg(ty));
        }
        Ok(())
    }

    fn node(
        &mut self,
        op: OperationRef<'_, '_>,
        body: &mut Body,
        ids: &mut HashMap<usize, ValueId>,
    ) -> Result<Node, Diagnostic> {
        let full = op_name(op);
        let at = |e: String| Diagnostic::at(op.location(), format!("{full}: {e}"));
        let kind = full.strip_prefix("graph.").and_then(GraphOp::from_name);
        let kind = kind.filter(|k| !k.row().terminator).ok_or_else(|| {
            Diagnostic::at(op.location(), format!("found {full}, expected an operator of the graph dialect"))
        })?;
        let attrs = attrs::read(kind, &op).map_err(at)?;
        let inputs = operands(op, ids)?;
        let mut outputs = vec![];
        for r in op.results() {
            let v = body.value(self.types.decode(r.r#type()).map_err(at)?);
            ids.insert(ffi::value_key(&r), v);
            outputs.push(v);
        }
        let region = match op.region_count() {
            0 => None,
            _ => Some(Box::new(self.region(op, op.region(0).map_err(|e| at(e.to_string()))?, "graph.yield")?)),
        };
        let node = Node { op: kind, attrs, inputs, outputs, name: diagnostic::place(op.location()), region };
        if let Some(found) = &mut self.found {
            let types = |ids: &[ValueId]| ids.iter().map(|v| body.ty(*v).clone()).collect::<Vec<_>>();
            let (ins, outs) = (types(&node.inputs), types(&node.outputs));
            if let Err(e) = check(kind, &node.attrs, &ins, &outs, node.region.as_deref()) {
                found.push(Diagnostic::at(op.location(), e));
            }
        }
        Ok(node)
    }
}

fn operands(op: OperationRef<'_, '_>, ids: &HashMap<usize, ValueId>) -> Result<Vec<ValueId>, Diagnostic> {
    let undefined =
        || Diagnostic::at(op.location(), format!("{}: an operand is defined outside or later", op_name(op)));
    op.operands().map(|v| ids.get(&ffi::value_key(&v)).copied().ok_or_else(undefined)).collect()
}

/// The `graph.name`s of arguments or results; empty if none has one.
fn names(func: OperationRef<'_, '_>, attribute: &str, count: usize) -> Vec<String> {
    let Some(Plain::Array(dicts)) = ffi::attribute(&func, attribute).map(ffi::plain) else { return vec![] };
    let name = |i: usize| match ffi::entry(*dicts.get(i)?, NAME).map(ffi::plain) {
        Some(Plain::Str(s)) => Some(s.to_string()),
        _ => None,
    };
    let found: Vec<Option<String>> = (0..count).map(name).collect();
    if found.iter().all(Option::is_none) {
        return vec![];
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}
