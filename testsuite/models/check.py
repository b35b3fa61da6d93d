"""Compiles and runs real models on both back ends and compares what they compute.

Each model is compiled by each back end and run on one thread, and on two over poisoned memory. The outputs must match the
expected ones within the case's tolerance, and all runs must agree bit by bit.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import cases
import quantised
import types_of_elements as types
from neap import Failure, Neap, mismatch, read_outputs

BACKENDS = ("llvm", "cranelift")


def check(neap: Neap, case: cases.Case) -> tuple[str, str]:
    """(verdict, detail) of one case; the verdict is passed, failed or skipped."""
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        np.savez(folder / "in.npz", **case.inputs)
        dims = [word for dim in case.dims for word in ("--dim", dim)]
        first, notes = None, []
        for backend in BACKENDS:
            artefact = folder / f"{backend}.neap"
            start = time.monotonic()
            try:
                neap.call("compile", case.model, "-o", artefact, "--backend", backend, *dims)
            except Failure as failure:
                if case.may_refuse and case.may_refuse in str(failure):
                    return "skipped", f"refused: {failure}"
                return "failed", f"{backend}: {failure}"
            compiled = time.monotonic() - start
            for threads in (1, 2):
                where = f"{backend}, {threads} threads"
                out = folder / f"{backend}-{threads}"
                try:
                    how = ["--threads", threads] + (["--poison"] if threads == 2 else [])
                    neap.call("run", artefact, "--inputs", folder / "in.npz", "--output-dir", out, *how)
                    got = read_outputs(out, case.outputs)
                except (Failure, OSError) as failure:
                    return "failed", f"{where}: {failure}"
                worst, broken = mismatch(got, case.outputs, case.atol, case.rtol)
                if broken:
                    return "failed", f"{where}: {broken}"
                if first is None:
                    first = got
                elif any(first[name].tobytes() != got[name].tobytes() for name in first):
                    return "failed", f"{where}: not the same bits as {BACKENDS[0]} on 1 thread"
            notes.append(f"{backend} compiled in {compiled:.1f} s")
        return "passed", f"off by at most {worst:.2g}; {', '.join(notes)}"


def gather(args, scratch: pathlib.Path, neap: Neap) -> list[cases.Case]:
    """All cases whose models are there; says which are not."""
    found = []
    # In small configurations, and without a download.
    for name in neap.call("zoo", "list")["models"]:
        model = scratch / f"{name}.onnx"
        neap.call("zoo", name, "--small", "-o", model)
        found.append(cases.against_onnxruntime(model))
    found += types.all_types(scratch)
    found += quantised.all_cases(scratch)
    exported = args.shared / "models" / "exported"
    if exported.is_dir():
        found += cases.exported(exported)
    else:
        print(f"left out: no {exported} (NEAP_SHARED says where the folder `shared` is)", flush=True)
    if args.models.is_dir():
        found += cases.trained(args.models)
    else:
        print(f"left out: no {args.models} (`just models` fetches the trained models)", flush=True)
    return [case for case in found if any(word in case.name for word in args.only)] if args.only else found


def main() -> int:
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neap", type=pathlib.Path, default=here / "target/debug/neap")
    parser.add_argument("--shared", type=pathlib.Path, default=here.parent / "shared")
    parser.add_argument("--models", type=pathlib.Path, default=here / "models")
    parser.add_argument("only", nargs="*", help="check only models whose names contain one of these")
    args = parser.parse_args()

    neap = Neap(args.neap.resolve())
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as scratch:
        found = gather(args, pathlib.Path(scratch), neap)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = {pool.submit(check, neap, case): case for case in found}
            for done in concurrent.futures.as_completed(waiting):
                verdict, detail = done.result()
                counts[verdict] += 1
                print(f"{verdict:8} {waiting[done].name:28} {detail}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
