//! ONNX files as plain data: decoding protobuf and checking what it says, apart from any meaning of the operators.

pub mod proto;
