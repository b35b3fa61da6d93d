//! neap-mlir
