"""Times neap, onnxruntime and OpenVINO on the same models, in turns, in one run.

Each runs in a process of its own, pinned to as many cores as it has threads, and keeps its session. After a warm-up, each
round times one after the other, so that a machine that slows down or speeds up does so for all; the order turns round by
round. All compute in f32 (OpenVINO is told so: it would take bf16 on chips with AMX). Outputs are compared with
onnxruntime's. Printed are medians over all runs and `speed`: the faster peer's time over neap's, so that above 1 neap is the
faster one, and at the end the geometric mean of these. Exits with 1 if outputs differ or a speed is below --at-least.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HERE / "testsuite/models"))

# Name, name in the zoo, its options.
MODELS = (
    ("resnet50", "resnet50", []),
    ("mobilenet-v2", "mobilenet-v2", []),
    ("efficientnet-b0", "efficientnet-b0", []),
    ("squeezenet", "squeezenet", []),
    ("inception-v3", "inception-v3", []),
    ("densenet121", "densenet121", []),
    ("bert-base-s128", "bert-base", ["--seq", 128]),
    ("vit-b16", "vit-b16", []),
    ("gpt2-s512", "gpt2", ["--seq", 512]),
    ("gpt2-decode-512", "gpt2-decode", ["--past", 512]),
    ("unet-256", "unet", []),
)
PEERS = ("onnxruntime", "openvino")


def runner_neap(model, feed, threads, library):
    import capi

    session = capi.Session(capi.Model(library, model), feed, threads)
    named = lambda: {t.name.decode(): a for t, a in zip(session.model.outputs, session.results)}
    return session.run, lambda: (session.run(), named())[1]


def runner_onnxruntime(model, feed, threads, _library):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return lambda: session.run(names, feed), lambda: dict(zip(names, session.run(names, feed)))


def runner_openvino(model, feed, threads, _library):
    import openvino

    core = openvino.Core()
    read = core.read_model(model)
    read.reshape({name: list(a.shape) for name, a in feed.items()})
    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
             "ENABLE_CPU_PINNING": False}
    compiled = core.compile_model(read, "CPU", hints)
    request = compiled.create_infer_request()
    for name, a in feed.items():
        request.set_tensor(name, openvino.Tensor(a, shared_memory=True))
    outputs = lambda: {o.get_any_name(): request.get_tensor(o).data for o in compiled.outputs}
    return request.infer, lambda: (request.infer(), outputs())[1]


def child(peer: str, model: str, inputs: str, threads: int, library: str):
    """Answers lines on standard input, `time SECONDS` and `outputs FILE`, with a line each."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    with np.load(inputs) as stored:
        feed = dict(stored)
    run, outputs = {"neap": runner_neap, "onnxruntime": runner_onnxruntime, "openvino": runner_openvino}[peer](
        model, feed, threads, library)
    print("ready", flush=True)
    for line in sys.stdin:
        word, value = line.split(maxsplit=1)
        if word == "outputs":
            np.savez(value.strip(), **outputs())
            print("[]", flush=True)
            continue
        times, end = [], time.perf_counter() + float(value)
        while len(times) < 2 or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(1e3 * (time.perf_counter() - start))
        print(json.dumps(times), flush=True)


class Worker:
    """One peer with a model in a process of its own."""

    def __init__(self, peer, model, inputs, threads, library):
        self.peer, self.times = peer, []
        command = [sys.executable, __file__, "--child", peer, str(model), str(inputs), str(threads), str(library)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self) -> str:
        # Libraries may print lines of their own.
        for line in self.process.stdout:
            if line.startswith("[") or line == "ready\n":
                return line
        raise SystemExit(f"{self.peer} ended with {self.process.wait()}")

    def ask(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.answer())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(neap, case, threads: int, args, folder: pathlib.Path) -> dict:
    from neap import mismatch

    artefact, inputs = folder / f"{case.name}.neap", folder / f"{case.name}.npz"
    if not artefact.exists():
        np.savez(inputs, **case.inputs)
        dims = [word for dim in case.dims for word in ("--dim", dim)]
        neap.call("compile", case.model, "-o", artefact, "--backend", args.backend, *dims)
    workers = [Worker(p, artefact if p == "neap" else case.model, inputs, threads, args.library)
               for p in ("neap", *args.peers)]
    wrong = None
    for w in workers:
        w.ask("outputs " + str(folder / "outputs.npz"))
        with np.load(folder / "outputs.npz") as stored:
            off, broken = mismatch(dict(stored), case.outputs, case.atol, case.rtol)
        if broken:
            print(f"{case.name}: {w.peer}: {broken}")
            wrong = broken if w.peer == "neap" else wrong
        w.ask(f"time {min(args.seconds, 0.3)}")
    for r in range(args.rounds):
        for w in workers[r % len(workers):] + workers[:r % len(workers)]:
            w.times += w.ask(f"time {args.seconds / args.rounds}")
    for w in workers:
        w.close()
    ms = {w.peer: statistics.median(w.times) for w in workers}
    best = min(ms[p] for p in args.peers)
    return {"model": case.name, "threads": threads, "ms": ms, "speed": best / ms["neap"], "wrong": wrong,
            "runs": {w.peer: len(w.times) for w in workers}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neap", type=pathlib.Path, default=HERE / "target/release/neap")
    parser.add_argument("--library", type=pathlib.Path, default=HERE / "target/release/libneap_runtime.so")
    parser.add_argument("--backend", default="llvm", choices=("llvm", "cranelift"))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10.0, help="of runs of each peer in all")
    parser.add_argument("--batch", type=int, help="batch size of the zoo's image models")
    parser.add_argument("--small", action="store_true", help="small configurations, to try this program")
    parser.add_argument("--at-least", type=float, help="fail if the faster peer's time over neap's is below this")
    parser.add_argument("--trained", type=pathlib.Path, help="a folder of trained models to time as well")
    parser.add_argument("--output", type=pathlib.Path, help="write all numbers there as JSON")
    parser.add_argument("--table", type=pathlib.Path, help="write the table there as Markdown")
    parser.add_argument("only", nargs="*", help="only models whose names contain one of these")
    args = parser.parse_args()
    import cases
    from neap import Neap

    args.threads = [t for t in args.threads if t <= len(os.sched_getaffinity(0))]
    neap, rows = Neap(args.neap.resolve()), []
    wanted = lambda name: not args.only or any(word in name for word in args.only)
    head = ["model", "threads", "neap ms", *(f"{p} ms" for p in args.peers), "speed"]
    line = lambda cells: f"{cells[0]:22} {cells[1]:>7} " + " ".join(f"{c:>15}" for c in cells[2:])
    cells = lambda r: [r["model"], str(r["threads"]), f"{r['ms']['neap']:.3f}",
                       *(f"{r['ms'][p]:.3f}" for p in args.peers), f"{r['speed']:.2f}"]
    print(line(head), flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        makers = []
        for title, name, options in filter(lambda m: wanted(m[0]), MODELS):
            path = folder / f"{title}.onnx"
            batch = ["--batch", args.batch] if args.batch and "--seq" not in options and "--past" not in options else []
            options, small = ([], ["--small"]) if args.small else (options, [])
            makers.append((path, None, lambda n=name, o=(*options, *batch, *small), p=path: neap.call("zoo", n, *o, "-o", p)))
        for path in sorted(args.trained.glob("*.onnx")) if args.trained else []:
            if wanted(path.stem):
                makers.append((path, cases.SHAPES.get(path.stem), lambda: None))
        for path, shapes, make in makers:
            make()
            case = cases.against_onnxruntime(path, shapes)
            for threads in args.threads:
                rows.append(compare(neap, case, threads, args, folder))
                print(line(cells(rows[-1])), flush=True)
            for left in folder.glob(f"{case.name}.*"):
                left.unlink()
    if not rows:
        raise SystemExit(f"no model's name contains {' or '.join(args.only)}")
    means = [f"{statistics.geometric_mean(r['speed'] for r in rows if r['threads'] == t):.3f} on {t} thread{'s' if t > 1 else ''}"
             for t in args.threads]
    summary = f"Geometric mean of the speeds: {', '.join(means)}."
    print(summary)
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1))
    if args.table:
        text = "\n".join("| " + " | ".join(c) + " |" for c in [head, ["---", *["--:"] * (len(head) - 1)], *map(cells, rows)])
        args.table.write_text(f"# neap beside its peers\n\nWritten by `just bench-peers`, medians of runs in turns, f32. Speed is the "
                              f"faster peer's time over neap's.\n\n{text}\n\n{summary}\n")
    slow = [f"{r['model']} on {r['threads']}" for r in rows if args.at_least and r["speed"] < args.at_least]
    if slow:
        print(f"below {args.at_least} times the faster peer's speed: {', '.join(slow)}")
    return 1 if slow or any(r["wrong"] for r in rows) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        peer, model, inputs, threads, library = sys.argv[2:]
        child(peer, model, inputs, int(threads), library)
        sys.exit(0)
    sys.exit(main())
