//! neap-reference
