//! Typed wrappers and builders of our operations, made by melior from the same ODS definitions as the C++.
//!
//! `build.rs` tracks the definitions, so that these follow them. The plain forms (`crate::graph`, the kernels' and programs' own)
//! are what most code should use; these are for rewriting IR in place.
#![allow(missing_docs, reason = "generated; docs/generated has the pages")]
#![allow(clippy::all, reason = "generated")]

melior::dialect! {
    name: "graph",
    files: ["graph/graph.td"],
    include_directory_env_vars: ["NEAP_TD"],
}

melior::dialect! {
    name: "loop",
    files: ["loop/loop.td"],
    include_directory_env_vars: ["NEAP_TD"],
}

melior::dialect! {
    name: "segment",
    files: ["segment/segment.td"],
    include_directory_env_vars: ["NEAP_TD"],
}
