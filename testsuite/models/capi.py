"""The C API of the runtime (runtime/include/neap.h), for Python programs that measure it from inside a process."""

import ctypes

import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_uint64)), ("bytes", ctypes.c_uint64)]

    def shape(self) -> tuple[int, ...]:
        return tuple(self.dims[i] for i in range(self.rank))


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


# numpy's types by the header's numbers; bf16, which numpy lacks, as its bits.
DTYPES = (np.float32, np.float64, np.float16, np.uint16, np.int8, np.int16, np.int32, np.int64,
          np.uint8, np.uint16, np.uint32, np.uint64, np.bool_)


class Model:
    """A loaded artefact."""

    def __init__(self, library: str, artefact: str):
        self.neap = ctypes.CDLL(library)
        self.neap.neap_last_error.restype = ctypes.c_char_p
        self.neap.neap_session_arena_bytes.restype = ctypes.c_uint64
        self.neap.neap_model_input_count.restype = self.neap.neap_model_output_count.restype = ctypes.c_size_t
        self.model = ctypes.c_void_p()
        self.call("model_load", str(artefact).encode(), 0, ctypes.byref(self.model))
        self.inputs, self.outputs = self._tensors("input"), self._tensors("output")

    def call(self, name: str, *args):
        if getattr(self.neap, f"neap_{name}")(*args) != 0:
            raise SystemExit(self.neap.neap_last_error().decode())

    def _tensors(self, kind: str) -> list[Tensor]:
        out = []
        for i in range(getattr(self.neap, f"neap_model_{kind}_count")(self.model)):
            out.append(Tensor())
            self.call(f"model_{kind}", self.model, ctypes.c_size_t(i), ctypes.byref(out[-1]))
        return out


class Session:
    """A session of a model; `run` gives its inputs, and takes the outputs into arrays of its own unless they are held."""

    def __init__(self, model: Model, feed: dict, threads: int = 1, outputs: bool = True):
        self.model, self.session = model, ctypes.c_void_p()
        self.arrays = [np.ascontiguousarray(feed[t.name.decode()]) for t in model.inputs]
        self.results = [np.empty(t.shape(), DTYPES[t.dtype]) for t in model.outputs] if outputs else []
        self.given, self.taken = (
            (Buffer * len(list_))(*[Buffer(a.ctypes.data, a.nbytes) for a in list_]) for list_ in (self.arrays, self.results))
        model.call("session_new", model.model, threads, 0, ctypes.byref(self.session))

    def run(self):
        count = ctypes.c_size_t
        taken = self.taken if self.results else None
        self.model.call("session_run", self.session, self.given, count(len(self.arrays)), taken, count(len(self.results)))

    def arena_bytes(self) -> int:
        return self.model.neap.neap_session_arena_bytes(self.session)
