//! Recurrent networks.

pub(crate) mod lstm;
pub(crate) mod nasrnn;
