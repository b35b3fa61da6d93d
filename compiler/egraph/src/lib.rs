//! Rewriting and fusion of graphs by equality saturation: the language, its rules, and extraction by the cost of a DAG.
//!
//! See `docs/architecture.md`.

#![forbid(unsafe_code)]
