//! neap-passes
