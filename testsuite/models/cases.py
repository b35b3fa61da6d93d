"""Which models are checked, on which inputs, against what."""

import dataclasses
import pathlib

import numpy as np
import onnx
import onnxruntime


@dataclasses.dataclass
class Case:
    """One model with its inputs and the outputs it must give."""

    name: str
    model: pathlib.Path
    inputs: dict[str, np.ndarray]
    dims: list[str]  # values of --dim
    outputs: dict[str, np.ndarray]
    atol: float
    rtol: float
    may_refuse: str | None = None  # a word in the message with which refusing is right, for now


# Shapes for the trained models' inputs; each dimension that the model leaves open is given on the command line.
SHAPES = {
    "yolov8n_nudenet320": {"images": (1, 3, 320, 320)},
    "ppocrv6_det": {"x": (1, 3, 160, 224)},
    "ppocrv6_rec": {"x": (1, 3, 48, 160)},
    "ppocr_cls": {"x": (1, 3, 48, 192)},
    "silero_vad": {"input": (1, 576), "state": (2, 1, 128)},
    "silero_vad_ifless": {"input": (1, 576), "state": (2, 1, 128)},
    "magika_v3_3": {"bytes": (1, 2048)},
    "basic_pitch_nmp": {"serving_default_input_2:0": (1, 43844, 1)},
    "open_nsfw_resnet50thin": {"input:0": (1, 224, 224, 3)},
    "swift_f0": {"audio": (1, 16000)},
    "minilm_l6_int8": {"input_ids": (1, 16), "attention_mask": (1, 16), "token_type_ids": (1, 16)},
    "vgg16_tumor": {"input": (1, 240, 240, 3)},
}
# Values where random ones would make no sense; the others are uniform floats, or integers below 100.
VALUES = {"sr": 16000, "fmin": 46.875, "fmax": 2093.75, "attention_mask": 1, "token_type_ids": 0}
BELOW = {"bytes": 256}
# Sound swings around 0: on an offset onnxruntime with and without its optimiser differ by more than the tolerance.
SOUND = {"serving_default_input_2:0", "audio"}
# They branch on a run-time value.
REFUSABLE = {"silero_vad": "If", "silero_vad_ifless": "If"}


def exported(folder: pathlib.Path) -> list[Case]:
    """The small networks with PyTorch's own outputs beside them."""
    cases = []
    for model in sorted(folder.glob("*.onnx")):
        stored = np.load(model.with_suffix(".npz"))
        part = lambda prefix: {k.removeprefix(prefix): stored[k] for k in stored if k.startswith(prefix)}
        cases.append(Case(model.stem, model, part("in:"), [], part("out:"), atol=1e-5, rtol=1e-4))
    return cases


def trained(folder: pathlib.Path) -> list[Case]:
    """The trained models that `just models` fetched, against onnxruntime."""
    return [against_onnxruntime(model, SHAPES[model.stem]) for model in sorted(folder.glob("*.onnx"))]


def against_onnxruntime(model: pathlib.Path, shapes: dict | None = None) -> Case:
    """A case with seeded inputs and onnxruntime's outputs."""
    inputs, dims = seeded(model, shapes or {})
    outputs = outputs_of(model, inputs)
    return Case(model.stem, model, inputs, dims, outputs, 1e-4, 1e-3, REFUSABLE.get(model.stem))


def outputs_of(model: pathlib.Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What onnxruntime computes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def seeded(model: pathlib.Path, shapes: dict) -> tuple[dict[str, np.ndarray], list[str]]:
    """Seeded inputs of a model, and values of --dim for the dimensions that it leaves open."""
    rng = np.random.default_rng(0)
    graph = onnx.load(str(model), load_external_data=False).graph
    weights = {w.name for w in graph.initializer}
    inputs, dims = {}, []
    for info in (i for i in graph.input if i.name not in weights):
        declared = info.type.tensor_type
        shape = shapes.get(info.name, tuple(d.dim_value if d.dim_value > 0 else 1 for d in declared.shape.dim))
        inputs[info.name] = values(rng, info.name, shape, onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type))
        for axis, dim in enumerate(declared.shape.dim):
            if not dim.dim_value > 0:
                dims.append(f"{info.name}.{axis}={shape[axis]}")
    return inputs, dims


def values(rng: np.random.Generator, name: str, shape: tuple, dtype: np.dtype) -> np.ndarray:
    if name in VALUES:
        return np.full(shape, VALUES[name], dtype)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, BELOW.get(name, 100), shape).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if name in SOUND:
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.random(shape).astype(dtype)
