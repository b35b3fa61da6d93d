"""Times neap and onnxruntime on the same models, in turns, in one run.

Each round times one and then the other, so that a machine that slows down or speeds up does so for both. Printed are the
medians over the rounds and their ratio: above 1, neap is slower. Exits with 1 if a ratio is above --limit.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import cases  # noqa: E402
from neap import Neap  # noqa: E402

ZOO = ("resnet50", "mobilenet-v2", "bert-base")


def onnxruntime_timer(case: cases.Case, threads: int):
    """A function that runs the model once."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(case.model), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, case.inputs)


def time_runs(run, seconds: float) -> float:
    """Median milliseconds of runs within about so many seconds, at least three, after one to warm up."""
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def compare(neap: Neap, case: cases.Case, args, folder: pathlib.Path) -> dict:
    artefact, inputs = folder / f"{case.name}.neap", folder / f"{case.name}.npz"
    np.savez(inputs, **case.inputs)
    start = time.perf_counter()
    dims = [word for dim in case.dims for word in ("--dim", dim)]
    neap.call("compile", case.model, "-o", artefact, "--backend", args.backend, *dims)
    compiled = time.perf_counter() - start
    peer = onnxruntime_timer(case, args.threads)
    ours, theirs = [], []
    for _ in range(args.rounds):
        bench = neap.call("bench", artefact, "--threads", args.threads, "--inputs", inputs)
        ours.append(bench["median_ms"])
        theirs.append(time_runs(peer, args.seconds))
    a, b = statistics.median(ours), statistics.median(theirs)
    return {"model": case.name, "neap_ms": a, "onnxruntime_ms": b, "ratio": a / b, "compile_s": compiled,
            "arena_bytes": bench["arena_bytes"], "neap_rounds_ms": ours, "onnxruntime_rounds_ms": theirs}


def main() -> int:
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neap", type=pathlib.Path, default=here / "target/release/neap")
    parser.add_argument("--backend", default="llvm", choices=("llvm", "cranelift"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of onnxruntime runs in each round")
    parser.add_argument("--limit", type=float, help="fail if neap takes more than this many times onnxruntime's time")
    parser.add_argument("--trained", type=pathlib.Path, help="a folder of trained models to time as well")
    parser.add_argument("--output", type=pathlib.Path, help="write all numbers there as JSON")
    parser.add_argument("only", nargs="*", help="time only models whose names contain one of these")
    args = parser.parse_args()

    neap = Neap(args.neap.resolve())
    rows = []
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        print(f"{'model':24} {'neap':>10} {'onnxruntime':>12} {'ratio':>6} {'compile':>9} {'arena':>10}", flush=True)
        wanted = lambda name: not args.only or any(word in name for word in args.only)
        models = []
        for name in filter(wanted, ZOO):
            neap.call("zoo", name, "-o", folder / f"{name}.onnx")
            models.append((folder / f"{name}.onnx", None))
        for model in sorted(args.trained.glob("*.onnx")) if args.trained else []:
            if wanted(model.stem):
                models.append((model, cases.SHAPES.get(model.stem)))
        for model, shapes in models:
            row = compare(neap, cases.against_onnxruntime(model, shapes), args, folder)
            rows.append(row)
            print(f"{row['model']:24} {row['neap_ms']:7.2f} ms {row['onnxruntime_ms']:9.2f} ms {row['ratio']:6.2f} "
                  f"{row['compile_s']:7.1f} s {row['arena_bytes'] / 2**20:6.1f} MiB", flush=True)
    if args.output:
        args.output.write_text(json.dumps(rows, indent=1))
    slow = [row["model"] for row in rows if args.limit and row["ratio"] > args.limit]
    if slow:
        print(f"more than {args.limit} times onnxruntime's time: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
