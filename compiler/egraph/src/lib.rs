//! neap-egraph
