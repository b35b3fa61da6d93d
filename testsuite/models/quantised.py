"""Small quantised graphs against onnxruntime: integer sums exactly, requantised results to the bit."""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from cases import Case

OPSET = 21


def built(name: str, rng: np.random.Generator):
    """Nodes, inputs, constants of one graph; its outputs are the last node's."""
    f32 = np.float32
    i8 = lambda *shape: rng.integers(-128, 127, shape, np.int8, endpoint=True)
    u8 = lambda *shape: rng.integers(0, 255, shape, np.uint8, endpoint=True)
    floats = lambda *shape: rng.normal(0, 2, shape).astype(f32)
    scales = lambda *shape: rng.uniform(0.01, 0.1, shape).astype(f32)
    kind, _, how = name.partition(" ")
    node = lambda op, inputs, **a: helper.make_node(op, inputs, [f"{op}.out"], **a)
    if kind == "QuantizeLinear":
        ty = np.dtype(how.split()[0])
        axis = "axis" in how
        zero = rng.integers(np.iinfo(ty).min // 4, np.iinfo(ty).max // 4, (5,) if axis else (), ty)
        constants = {"s": scales(5) if axis else scales(), "z": zero}
        return [node("QuantizeLinear", ["x", "s", "z"], axis=1)], {"x": floats(3, 5, 7)}, constants
    if kind == "DequantizeLinear":
        ty = np.dtype(how.split()[0])
        x = rng.integers(np.iinfo(ty).min, np.iinfo(ty).max, (3, 6, 40), ty, endpoint=True)
        if "blocks" in how:
            constants = {"s": scales(3, 2, 40), "z": rng.integers(0, 100, (3, 2, 40), ty)}
            return [node("DequantizeLinear", ["x", "s", "z"], axis=1, block_size=3)], {"x": x}, constants
        constants = {"s": scales(6), "z": np.zeros(6, ty) if ty.itemsize == 4 else rng.integers(0, 100, 6, ty)}
        return [node("DequantizeLinear", ["x", "s", "z"], axis=1)], {"x": x}, constants
    if kind == "weights":  # only the weights are quantised
        constants = {"w": i8(96, 200), "s": scales(200), "z": np.zeros(200, np.int8)}
        dq = helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wf"], axis=1)
        return [dq, node("MatMul", ["x", "wf"])], {"x": floats(4, 96)}, constants
    if kind == "DynamicQuantizeLinear":
        x = {"mixed": floats(4, 33), "positive": np.abs(floats(4, 33)), "zeros": np.zeros((4, 33), f32)}[how]
        return [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], {"x": x}, {}
    if kind == "MatMulInteger":
        left = i8(2, 9, 64) if how.startswith("int8") else u8(2, 9, 64)
        constants = {"b": i8(64, 300), "za": np.array(left.dtype.type(7)),
                     "zb": i8(300) if "columns" in how else np.array(np.int8(-3))}
        return [node("MatMulInteger", ["a", "b", "za", "zb"])], {"a": left}, constants
    if kind == "ConvInteger":
        constants = {"w": u8(6, 2, 3, 3), "zx": np.array(np.uint8(100)), "zw": np.array(np.uint8(120))}
        conv = node("ConvInteger", ["x", "w", "zx", "zw"], pads=[1, 1, 1, 1], group=2, strides=[2, 1])
        return [conv], {"x": u8(2, 4, 9, 9)}, constants
    if kind == "QLinearMatMul":
        constants = {"sa": scales(), "za": np.array(np.uint8(120)), "b": i8(48, 40), "sb": scales(40) if "columns" in how else scales(),
                     "zb": np.zeros(40, np.int8) if "columns" in how else np.array(np.int8(2)),
                     "sy": np.array(f32(0.7)), "zy": np.array(np.uint8(128))}
        names = ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]
        return [node("QLinearMatMul", names)], {"a": u8(3, 10, 48)}, constants
    if kind == "QLinearConv":
        constants = {"sx": scales(), "zx": np.array(np.uint8(110)), "w": i8(8, 4, 3, 3), "sw": scales(8), "zw": np.zeros(8, np.int8),
                     "sy": np.array(f32(1.3)), "zy": np.array(np.uint8(125)), "b": rng.integers(-5000, 5000, 8, np.int32)}
        names = ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"]
        return [node("QLinearConv", names, pads=[1, 1, 1, 1])], {"x": u8(1, 4, 12, 12)}, constants
    raise ValueError(name)


NAMES = (
    "QuantizeLinear uint8", "QuantizeLinear int8 axis", "QuantizeLinear uint16", "QuantizeLinear int16 axis",
    "DequantizeLinear uint8", "DequantizeLinear int8", "DequantizeLinear int16", "DequantizeLinear int32", "DequantizeLinear uint8 blocks",
    "weights only",
    "DynamicQuantizeLinear mixed", "DynamicQuantizeLinear positive", "DynamicQuantizeLinear zeros",
    "MatMulInteger uint8", "MatMulInteger uint8 columns", "MatMulInteger int8",
    "ConvInteger", "QLinearMatMul", "QLinearMatMul columns", "QLinearConv",
)


def all_cases(folder: pathlib.Path) -> list[Case]:
    """One graph each. Weights are constants, as exporters have them."""
    cases = []
    for number, name in enumerate(NAMES):
        nodes, inputs, constants = built(name, np.random.default_rng(number))
        kind = lambda a: helper.np_dtype_to_tensor_dtype(a.dtype)
        graph = helper.make_graph(
            nodes, "quantised",
            [helper.make_tensor_value_info(n, kind(a), a.shape) for n, a in inputs.items()],
            [onnx.ValueInfoProto(name=n) for n in nodes[-1].output],
            [numpy_helper.from_array(a, n) for n, a in constants.items()])
        made = onnx.shape_inference.infer_shapes(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10))
        path = folder / f"quantised-{number}.onnx"
        onnx.save(made, path)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = dict(zip((o.name for o in session.get_outputs()), session.run(None, inputs)))
        loose = 1e-4 if name.startswith("weights") else 0.0
        cases.append(Case(f"quantised: {name}", path, inputs, [], results, loose, loose))
    return cases
