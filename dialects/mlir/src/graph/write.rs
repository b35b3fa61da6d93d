//! From a [`Body`] to a function of the graph dialect.

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationMutLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, Block, Identifier, Location, Module, Operation, Region, RegionLike, Type, Value};
use neap_optable::{Body, Node, ValueId};

use super::types::Encoder;
use super::{NAME, SYMBOLS, attrs};
use crate::diagnostic::Diagnostic;

/// Writes a body as a `func.func`; reading it back gives the same body, values renumbered in order.
///
/// # Errors
/// If the body is not well formed: a value used before its definition, an attribute missing or of another kind.
pub fn write<'c>(cx: &'c Context, name: &str, body: &Body) -> Result<Operation<'c>, Diagnostic> {
    let mut writer = Writer { cx, types: Encoder::new(cx) };
    let region = writer.region(body, "func.return", name)?;
    let types = |w: &mut Writer<'c>, ids: &[ValueId]| -> Vec<Type<'c>> {
        ids.iter().map(|v| w.types.encode(body.ty(*v))).collect()
    };
    let (ins, outs) = (types(&mut writer, &body.args), types(&mut writer, &body.results));
    let id = |s: &str| Identifier::new(cx, s);
    let mut attributes: Vec<(Identifier<'c>, Attribute<'c>)> = vec![
        (id("sym_name"), StringAttribute::new(cx, name).into()),
        (id("function_type"), TypeAttribute::new(FunctionType::new(cx, &ins, &outs).into()).into()),
    ];
    if let Some(a) = names(cx, &body.arg_names, body.args.len()) {
        attributes.push((id("arg_attrs"), a));
    }
    if let Some(a) = names(cx, &body.result_names, body.results.len()) {
        attributes.push((id("res_attrs"), a));
    }
    let func = OperationBuilder::new("func.func", Location::unknown(cx))
        .add_attributes(&attributes)
        .add_regions([region])
        .build()
        .map_err(|e| Diagnostic::error(name, e.to_string()))?;
    if let Some(symbols) = writer.types.symbols() {
        let mut func = func;
        func.set_attribute(SYMBOLS, symbols);
        return Ok(func);
    }
    Ok(func)
}

/// Writes functions as a module.
///
/// # Errors
/// As [`write`].
pub fn write_module<'c>(cx: &'c Context, functions: &[(&str, &Body)]) -> Result<Module<'c>, Diagnostic> {
    let module = Module::new(Location::unknown(cx));
    for (name, body) in functions {
        module.body().append_operation(write(cx, name, body)?);
    }
    Ok(module)
}

struct Writer<'c> {
    cx: &'c Context,
    types: Encoder<'c>,
}

impl<'c> Writer<'c> {
    fn region(&mut self, body: &Body, terminator: &str, place: &str) -> Result<Region<'c>, Diagnostic> {
        let unknown = Location::unknown(self.cx);
        let args: Vec<(Type<'c>, Location<'c>)> =
            body.args.iter().map(|v| (self.types.encode(body.ty(*v)), unknown)).collect();
        let region = Region::new();
        let block = region.append_block(Block::new(&args));
        let mut values: Vec<Option<Value<'c, '_>>> = vec![None; body.types.len()];
        for (i, v) in body.args.iter().enumerate() {
            let arg = block.argument(i).map_err(|e| Diagnostic::error(place, e.to_string()))?;
            values[v.0 as usize] = Some(arg.into());
        }
        for node in &body.nodes {
            let op = self.node(body, node, &values)?;
            let op = block.append_operation(op);
            for (i, v) in node.outputs.iter().enumerate() {
                let result = op.result(i).map_err(|e| Diagnostic::error(&node.name, e.to_string()))?;
                values[v.0 as usize] = Some(result.into());
            }
        }
        let results = operands(&values, &body.results).map_err(|e| Diagnostic::error(place, e))?;
        let end = OperationBuilder::new(terminator, unknown).add_operands(&results).build();
        block.append_operation(end.map_err(|e| Diagnostic::error(place, e.to_string()))?);
        Ok(region)
    }

    fn node(
        &mut self,
        body: &Body,
        node: &Node,
        values: &[Option<Value<'c, '_>>],
    ) -> Result<Operation<'c>, Diagnostic> {
        let name = format!("graph.{}", node.op.name());
        let at = |e: String| Diagnostic::error(&node.name, format!("{name}: {e}"));
        let inputs = operands(values, &node.inputs).map_err(at)?;
        let attributes: Vec<(Identifier<'c>, Attribute<'c>)> = attrs::write(self.cx, node.op, &node.attrs)
            .map_err(at)?
            .into_iter()
            .map(|(n, a)| (Identifier::new(self.cx, n), a))
            .collect();
        let results: Vec<Type<'c>> = node.outputs.iter().map(|v| self.types.encode(body.ty(*v))).collect();
        let location = match node.name.as_str() {
            "" => Location::unknown(self.cx),
            name => Location::name(self.cx, name, Location::unknown(self.cx)),
        };
        let mut builder = OperationBuilder::new(&name, location)
            .add_operands(&inputs)
            .add_attributes(&attributes)
            .add_results(&results);
        match (&node.region, node.op.row().regions) {
            (None, 0) => {}
            (Some(inner), 1) => builder = builder.add_regions([self.region(inner, "graph.yield", &node.name)?]),
            (_, n) => return Err(at(format!("expected {n} regions"))),
        }
        builder.build().map_err(|e| at(e.to_string()))
    }
}

fn operands<'c, 'a>(values: &[Option<Value<'c, 'a>>], ids: &[ValueId]) -> Result<Vec<Value<'c, 'a>>, String> {
    ids.iter()
        .map(|v| {
            values
                .get(v.0 as usize)
                .copied()
                .flatten()
                .ok_or_else(|| format!("value {} is used before it is defined", v.0))
        })
        .collect()
}

/// The array of `{graph.name = ...}`; `None` without names.
fn names<'c>(cx: &'c Context, names: &[String], count: usize) -> Option<Attribute<'c>> {
    if names.is_empty() {
        return None;
    }
    let key = Identifier::new(cx, NAME);
    let dict = |i: usize| {
        let name = names.get(i).map_or("", String::as_str);
        DictionaryAttribute::new(cx, &[(key, StringAttribute::new(cx, name).into())]).into()
    };
    let dicts: Vec<Attribute<'c>> = (0..count).map(dict).collect();
    Some(ArrayAttribute::new(cx, &dicts).into())
}
