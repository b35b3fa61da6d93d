//! The legality check of a whole body.

use crate::{Body, Node, ValueId, check};

impl Body {
    /// Checks that every value is defined once and before its uses, that argument and result names fit, and every op by
    /// [`check`], fusion regions included.
    ///
    /// # Errors
    /// One line that names the node.
    pub fn verify(&self) -> Result<(), String> {
        let mut defined = vec![false; self.types.len()];
        for v in &self.args {
            define(&mut defined, *v).map_err(|e| format!("an argument: {e}"))?;
        }
        for (what, names, values) in
            [("arguments", &self.arg_names, &self.args), ("results", &self.result_names, &self.results)]
        {
            if !names.is_empty() && names.len() != values.len() {
                return Err(format!("there are {} {what} and {} names for them", values.len(), names.len()));
            }
        }
        for node in &self.nodes {
            self.verify_node(node, &mut defined)
                .map_err(|e| if node.name.is_empty() { e } else { format!("node {}: {e}", node.name) })?;
        }
        match self.results.iter().find(|v| !is_defined(&defined, **v)) {
            Some(v) => Err(format!("result {} is never defined", v.0)),
            None => Ok(()),
        }
    }

    fn verify_node(&self, node: &Node, defined: &mut [bool]) -> Result<(), String> {
        let name = node.op.name();
        if let Some(v) = node.inputs.iter().find(|v| !is_defined(defined, **v)) {
            return Err(format!("graph.{name}: operand {} is used before it is defined", v.0));
        }
        for v in &node.outputs {
            define(defined, *v).map_err(|e| format!("graph.{name}: {e}"))?;
        }
        let types = |ids: &[ValueId]| ids.iter().map(|v| self.ty(*v).clone()).collect::<Vec<_>>();
        check(node.op, &node.attrs, &types(&node.inputs), &types(&node.outputs), node.region.as_deref())
    }
}

fn is_defined(defined: &[bool], v: ValueId) -> bool {
    defined.get(v.0 as usize) == Some(&true)
}

fn define(defined: &mut [bool], v: ValueId) -> Result<(), String> {
    match defined.get_mut(v.0 as usize) {
        None => Err(format!("value {} has no type", v.0)),
        Some(true) => Err(format!("value {} is defined twice", v.0)),
        Some(d) => {
            *d = true;
            Ok(())
        }
    }
}
