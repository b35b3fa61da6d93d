"""Small graphs in every element type, against onnxruntime where it has the operator in the type."""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from cases import Case

FLOATS = {"float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
INTEGERS = {f"{sign}int{bits}": getattr(TensorProto, f"{sign}int{bits}".upper()) for bits in (8, 16, 32, 64) for sign in ("", "u")}
NAMES = FLOATS | INTEGERS
# Relative errors: of f64 by neap's and onnxruntime's functions, of f16 two roundings.
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}
OPSET = 18

# What to compute of `x` and `y` ([3, 37]) and the matrix `m` ([37, 5]); `_` stands for a result of the operands' type.
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
COMPARE = ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]
UNARY = {
    "floats": ["Abs", "Neg", "Sign", "Sqrt", "Exp", "Log", "Tanh", "Erf", "Sigmoid", "Relu", "Sin", "Cos", "Atan", "Asinh",
               "Softplus", "Floor", "Ceil", "Round", "Reciprocal"],
    "integers": ["Abs", "Neg", "Sign", "Relu"],
}
SUMS = ["ReduceSum", "ReduceMean", "ReduceProd", "CumSum", "MatMul"]
REDUCE = ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd"]


def model(name: str, nodes: list, inputs: dict, outputs: dict) -> onnx.ModelProto:
    """A model; inputs are arrays, outputs element types and shapes."""
    kind = lambda a: helper.np_dtype_to_tensor_dtype(a.dtype)
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(n, kind(a), a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info(n, *t) for n, t in outputs.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def expected(made: onnx.ModelProto, inputs: dict) -> list | None:
    """onnxruntime's results, unless it lacks the operator in the type."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, inputs)
    except Exception as error:  # onnxruntime raises several classes
        if "NOT_IMPLEMENTED" in str(error) or "not implemented" in str(error) or "Type Error" in str(error):
            return None
        raise


def operands(rng: np.random.Generator, dtype: np.dtype) -> dict[str, np.ndarray]:
    def one(*shape):
        if dtype.kind == "f":
            return rng.uniform(0.25, 3, shape).astype(dtype) * rng.choice(np.array([1, 1, -1], dtype), shape)
        values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        return np.where(values == 0, dtype.type(3), values)

    return {"x": one(3, 37), "y": one(3, 37), "m": one(37, 5)}


def single(op: str, dtype: np.dtype) -> tuple[list, list[str], str]:
    """Nodes, inputs and the output's type of one operator."""
    node = lambda inputs, **attributes: [helper.make_node(op, inputs, ["out"], **attributes)]
    if op in COMPARE:
        return node(["x", "y"]), ["x", "y"], "bool"
    if op in BINARY or op.startswith("Bitwise") and op != "BitwiseNot":
        return node(["x", "y"]), ["x", "y"], "_"
    if op.startswith("Reduce"):
        return node(["x"], keepdims=0), ["x"], "_"
    return {
        "Mod": lambda: (node(["x", "y"], fmod=int(dtype.kind == "f")), ["x", "y"], "_"),
        "BitShift": lambda: (node(["x", "y"], direction="RIGHT"), ["x", "y"], "_"),
        "MatMul": lambda: (node(["x", "m"]), ["x", "m"], "_"),
        "Softmax": lambda: (node(["x"], axis=1), ["x"], "_"),
        "Where": lambda: ([helper.make_node("Less", ["x", "y"], ["c"]), *node(["c", "x", "y"])], ["x", "y"], "_"),
        "Concat": lambda: (node(["x", "y"], axis=0), ["x", "y"], "_"),
        "ArgMax": lambda: (node(["x"], axis=1), ["x"], "int64"),
        "CumSum": lambda: ([helper.make_node("Constant", [], ["axis"], value_int=1), *node(["x", "axis"])], ["x"], "_"),
    }.get(op, lambda: (node(["x"]), ["x"], "_"))()


def operators(dtype: np.dtype) -> list[str]:
    both = BINARY + COMPARE + REDUCE + ["Mod", "MatMul", "Where", "Concat", "ArgMax", "CumSum"]
    if dtype.kind == "f":
        return both + UNARY["floats"] + ["Softmax"]
    bits = ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"] + (["BitShift"] if dtype.kind == "u" else [])
    return both + UNARY["integers"] + bits


def all_types(folder: pathlib.Path) -> list[Case]:
    """One model a type: each operator that onnxruntime has in the type, on operands of its own; and the casts to the type."""
    cases = []
    for name, number in NAMES.items():
        dtype = np.dtype(name)
        rng = np.random.default_rng(number)
        nodes, inputs, types, results = [], {}, {}, {}
        parts = [(op, *single(op, dtype), operands(rng, dtype)) for op in operators(dtype)]
        for source in NAMES:
            x = operands(rng, np.dtype(source))["x"]
            if np.dtype(source).kind == "f":  # what is outside the target's range is nobody's to say
                x = np.abs(x)
            cast = [helper.make_node("Cast", ["x"], ["out"], to=number)]
            parts.append((f"Cast_{source}", cast, ["x"], "_", {"x": x}))
        for op, own, used, result, data in parts:
            data = {k: data[k] for k in used}
            if dtype.kind in "iu" and op in SUMS:  # onnxruntime saturates some, neap wraps all
                data = {k: v % dtype.type(5) for k, v in data.items()}
            if op in ("Sqrt", "Log"):
                data["x"] = np.abs(data["x"])
            ty = number if result == "_" else helper.np_dtype_to_tensor_dtype(np.dtype(result))
            found = expected(model(op, own, data, {"out": (ty, None)}), data)
            if found is None:
                continue
            local = lambda n: f"{op}.{n}"
            for n in own:
                nodes.append(helper.make_node(n.op_type, list(map(local, n.input)), list(map(local, n.output))))
                nodes[-1].attribute.extend(n.attribute)
            inputs |= {local(k): v for k, v in data.items()}
            types[local("out")], results[local("out")] = (ty, found[0].shape), found[0]
        path = folder / f"type-{name}.onnx"
        onnx.save(model(name, nodes, inputs, types), path)
        relative = TOLERANCE.get(name, 0.0)
        cases.append(Case(f"type {name}: {len(results)} operators", path, inputs, [], results, relative, relative))
    return cases
