//! neap-codegen
