//! Scheduled kernels to the explicit level: one `func.func` a stage.

mod body;
pub(crate) mod combine;
pub(crate) mod nest;
mod reduce;
pub(crate) mod stage;
pub(crate) mod value;

use melior::Context;
use melior::ir::{Location, Module};

use crate::explicit::BuildError;
use crate::schedule::Schedule;
use crate::scheduled::Scheduled;

/// Emits a scheduled kernel; function names are those of its stages.
///
/// # Errors
/// MLIR's verifier refusing a function, which is a bug of this lowering.
pub fn emit<'c>(s: &Scheduled<Schedule>, cx: &'c Context) -> Result<Module<'c>, BuildError> {
    let module = Module::new(Location::unknown(cx));
    match &s.schedule {
        Schedule::Contract(c) => {
            let s = Scheduled {
                kernel: s.kernel.clone(),
                schedule: c.clone(),
                stages: s.stages.clone(),
                shared: s.shared.clone(),
                packed: s.packed.clone(),
                in_place: s.in_place.clone(),
            };
            crate::contract::emit(cx, &module, &s)?;
        }
        Schedule::Loops(loops) => {
            for (stage, description) in loops.stages.iter().zip(&s.stages) {
                stage::emit(cx, &module, s, loops.masked, stage, description)?;
            }
        }
    }
    Ok(module)
}
