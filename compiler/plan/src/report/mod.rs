//! What a person sees of a plan: a short table, a page, a trace.

mod html;
mod table;
mod timeline;
mod trace;

pub use html::html;
pub use table::{human, table};
pub use timeline::{Bar, Timeline};
pub use trace::trace;
