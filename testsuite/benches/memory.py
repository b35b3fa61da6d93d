"""Peak memory of a run in neap and in onnxruntime, to the byte, in one run of this program.

Both run in a process of their own under an allocation shim (memory_shim.c) that counts every byte allocated or mapped:

- onnxruntime: bytes live before the session's first run are weights and the session itself; the high-water mark of the
  next three runs less these is what running takes: intermediates, scratch and the outputs, which it allocates. `on` is with
  the memory pattern, `off` without, both without its CPU arena, which would round up to powers of two; `arena` is with
  both, as it comes. One thread. The caller's inputs are there before and are not counted.
- neap: what making a session and running it three times maps and allocates beyond the loaded model. It must be the arena
  that the session names. As onnxruntime does, the session holds the outputs (`--hold-outputs`). Beside it stand the arena
  where the caller gives buffers for the outputs, which are then there during the whole run, and the outputs' bytes.

Exits with 1 if neap's bytes are above onnxruntime's without the pattern, or above the bound proven for the model.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))

MODELS = (
    ("ResNet-50 b16", "resnet50", ["--batch", 16]),
    ("MobileNetV2 b16", "mobilenet-v2", ["--batch", 16]),
    ("U-Net 256 b4", "unet", ["--batch", 4]),
    ("Inception-v3 b8", "inception-v3", ["--batch", 8]),
    ("DenseNet-121 b8", "densenet121", ["--batch", 8]),
    ("BERT-base b8 s128", "bert-base", ["--batch", 8, "--seq", 128]),
    ("GPT-2 s512", "gpt2", ["--seq", 512]),
)
RUNS = 3
# enable_mem_pattern, enable_cpu_mem_arena
PEERS = {"on": (True, False), "off": (False, False), "arena": (True, True)}


class Shim:
    """The counters of the shim that this process runs under."""

    def __init__(self, path: str):
        self.library = ctypes.CDLL(path)
        for name in ("live", "high"):
            getattr(self.library, f"memory_shim_{name}").restype = ctypes.c_int64

    def live(self) -> int:
        return self.library.memory_shim_live()

    def peak_of(self, work) -> int:
        """The high-water mark of `work` above what is live now."""
        before = self.live()
        self.library.memory_shim_reset()
        work()
        return self.library.memory_shim_high() - before


def peer(shim: Shim, model: str, inputs: str, mode: str) -> dict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern, options.enable_cpu_mem_arena = PEERS[mode]
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = dict(np.load(inputs))
    # The outputs of one run are dropped before the next.
    peak = shim.peak_of(lambda: [session.run(None, feed) and None for _ in range(RUNS)])
    return {"bytes": peak, "outputs": sum(o.nbytes for o in session.run(None, feed))}


def ours(shim: Shim, artefact: str, inputs: str, library: str) -> dict:
    import capi

    model, feed, sessions = capi.Model(library, artefact), dict(np.load(inputs)), []

    def work():
        sessions.append(capi.Session(model, feed, outputs=False))
        for _ in range(RUNS):
            sessions[0].run()

    peak = shim.peak_of(work)
    return {"bytes": peak, "arena": sessions[0].arena_bytes(), "outputs": sum(t.bytes for t in model.outputs)}


def child(shim: pathlib.Path, *args) -> dict:
    """Runs one of the two above in a process under the shim."""
    env = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONMALLOC": "malloc"}
    command = [sys.executable, __file__, "--child", str(shim), *map(str, args)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def measure(args, neap, title: str, name: str, options: list, folder: pathlib.Path) -> dict:
    import cases

    model, artefact, inputs = (folder / f"{name}.{end}" for end in ("onnx", "neap", "npz"))
    neap.call("zoo", name, *([] if args.full else ["--small"]), *options, "-o", model)
    case_inputs, _ = cases.seeded(model, {})
    np.savez(inputs, **case_inputs)
    compiled = neap.call("compile", model, "-o", artefact, "--backend", args.backend, "--hold-outputs")
    row = {"model": title, "plan": compiled["arena_bytes"], "bound": compiled["lower_bound_bytes"],
           "apart": neap.call("plan", model, "--backend", args.backend)["arena_bytes"],
           "method": compiled["method"], "neap": child(args.shim, "ours", artefact, inputs, args.library)}
    for mode in PEERS:
        row[mode] = child(args.shim, "peer", model, inputs, mode)["bytes"]
    model.unlink()
    artefact.unlink()
    return row


def main() -> int:
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neap", type=pathlib.Path, default=here / "target/release/neap")
    parser.add_argument("--library", type=pathlib.Path, default=here / "target/release/libneap_runtime.so")
    parser.add_argument("--shim", type=pathlib.Path, required=True, help="memory_shim.c, compiled")
    parser.add_argument("--backend", default="cranelift", choices=("llvm", "cranelift"), help="plans are the same")
    parser.add_argument("--small", dest="full", action="store_false", help="small configurations, to try this program")
    parser.add_argument("--output", type=pathlib.Path, help="write all numbers there as JSON")
    parser.add_argument("only", nargs="*", help="only models whose names contain one of these")
    args = parser.parse_args()
    from neap import Neap

    neap, rows, broken = Neap(args.neap.resolve()), [], []
    mb = lambda n: f"{n / 1e6:9.3f}"
    print("MB of 10^6 bytes      ort on   ort off ort arena      neap     bound     apart + outputs  how", flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        for title, name, options in MODELS:
            if args.only and not any(word in name for word in args.only):
                continue
            row = measure(args, neap, title, name, options, pathlib.Path(tmp))
            rows.append(row)
            arena, outputs = row["neap"]["arena"], row["neap"]["outputs"]
            columns = (row["on"], row["off"], row["arena"], arena, row["bound"], row["apart"], outputs)
            print(f"{title:18}", *map(mb, columns), f" {row['method']}", flush=True)
            if row["plan"] > row["bound"]:
                broken.append(f"{title}: planned {row['plan']} bytes, but the bound is {row['bound']}")
            if arena > row["off"]:
                broken.append(f"{title}: {arena} bytes, onnxruntime {row['off']}")
            # Beside the arena there are only the session's own tables.
            if not arena <= row["neap"]["bytes"] <= arena + (1 << 20):
                broken.append(f"{title}: the session names {arena} bytes, {row['neap']['bytes']} were allocated")
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1))
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        path, what, *rest = sys.argv[2:]
        print(json.dumps({"peer": peer, "ours": ours}[what](Shim(path), *rest)))
        sys.exit(0)
    sys.exit(main())
