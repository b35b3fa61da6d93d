//! neap-onnx
