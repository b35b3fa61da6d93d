//! Options for leaving steps out.

use neap_passes::{Limits, passes};

use crate::cli::StepOptions;

/// A rule to leave out: its name begins with that of its pass.
pub fn rule(text: &str) -> Result<String, String> {
    let families: Vec<String> =
        passes().filter(|p| p.steps()).map(|p| format!("{}-", p.name().trim_start_matches("graph-"))).collect();
    if families.iter().any(|f| text.starts_with(f)) {
        return Ok(text.into());
    }
    let all = families.iter().map(|f| format!("{f}OP")).collect::<Vec<_>>().join(", ");
    Err(format!("no such rule; rules are named {all}, such as simplify-transpose or fuse-conv"))
}

impl StepOptions {
    /// The limits asked for.
    pub fn limits(&self) -> Limits {
        Limits {
            steps: None,
            rewrites: if self.no_rewrite { Some(0) } else { self.max_rewrites },
            fusions: if self.no_fusion { Some(0) } else { self.max_fusions },
            disabled: self.disable.clone(),
        }
    }
}
