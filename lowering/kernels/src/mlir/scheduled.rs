//! A kernel with its schedule, for dumps: the schedule is an attribute that says what the planner and the runtime see of it.

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationMutLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Location, Module};
use neap_mlir::Diagnostic;
use neap_mlir::inspect::ints;

use super::write::write;
use crate::schedule::Schedule;
use crate::scheduled::{Packing, Scheduled, Stage};

/// Writes a scheduled kernel as a module; [`super::read`] gives the kernel alone.
///
/// # Errors
/// As [`super::write()`].
pub fn write_scheduled<'c>(cx: &'c Context, kernel: &Scheduled<Schedule>) -> Result<Module<'c>, Diagnostic> {
    let int = |v: u64| -> Attribute<'c> { IntegerAttribute::new(IntegerType::new(cx, 64).into(), v as i64).into() };
    let dict = |entries: &[(&str, Attribute<'c>)]| -> Attribute<'c> {
        let named: Vec<_> = entries.iter().map(|(n, a)| (Identifier::new(cx, n), *a)).collect();
        DictionaryAttribute::new(cx, &named).into()
    };
    let stage = |s: &Stage| {
        dict(&[
            ("function", StringAttribute::new(cx, &s.function).into()),
            ("extent", int(s.extent)),
            ("grain", int(s.grain)),
            ("scratch", int(s.scratch)),
        ])
    };
    let stages: Vec<Attribute<'c>> = kernel.stages.iter().map(stage).collect();
    let mut entries = vec![
        ("family", StringAttribute::new(cx, kernel.schedule.name()).into()),
        ("stages", ArrayAttribute::new(cx, &stages).into()),
    ];
    if !kernel.shared.is_empty() {
        entries.push(("shared", ints(cx, &kernel.shared.iter().map(|b| *b as i64).collect::<Vec<_>>())));
    }
    if !kernel.in_place.is_empty() {
        let pairs = kernel.in_place.iter().map(|(i, o)| ints(cx, &[*i as i64, *o as i64]));
        entries.push(("in_place", ArrayAttribute::new(cx, &pairs.collect::<Vec<_>>()).into()));
    }
    if kernel.packed.iter().any(Option::is_some) {
        let layout = |p: &Option<Packing>| match p {
            None => Attribute::unit(cx),
            Some(Packing::Panels { width, .. }) => dict(&[("panels", int(*width))]),
        };
        let layouts: Vec<Attribute<'c>> = kernel.packed.iter().map(layout).collect();
        entries.push(("packed", ArrayAttribute::new(cx, &layouts).into()));
    }
    let mut op = write(cx, &kernel.kernel)?;
    op.set_attribute("schedule", dict(&entries));
    let module = Module::new(Location::unknown(cx));
    module.body().append_operation(op);
    Ok(module)
}
