"""Compiles and runs real models on both back ends and compares what they compute.

Each model is compiled by each back end and run on one thread, and on two over poisoned memory. The outputs must match the
expected ones within the case's tolerance, and all runs must agree bit by bit. `--full` takes the zoo's architectures in
their published sizes (some 5 GB are written and deleted, minutes).
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import time
import typing

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


def wanted(args, name: str) -> bool:
    """Whether a case was asked for."""
    return not args.only or any(word in name for word in args.only)


def zoo(args, scratch: pathlib.Path, neap: Neap, *options) -> typing.Iterator[cases.Case]:
    """The zoo's architectures, one at a time."""
    for name in neap.call("zoo", "list")["models"]:
        if wanted(args, name):
            model = scratch / f"{name}.onnx"
            neap.call("zoo", name, *options, "-o", model)
            case = cases.against_onnxruntime(model)
            base = name.removesuffix("-qdq").removesuffix("-dynamic")
            if name != base and "--small" not in options:
                # A sum that is rounded differently can move an activation by a quantum, and that the next ones: in full depth two
                # right answers are as far apart as quantising is from the float model, no further.
                float_model = scratch / f"{base}.onnx"
                neap.call("zoo", base, *options, "-o", float_model)
                exact = cases.outputs_of(float_model, case.inputs)
                case.atol = max(float(np.abs(exact[k] - v).max()) for k, v in case.outputs.items())
                float_model.unlink()
            yield case


def gather(args, scratch: pathlib.Path, neap: Neap) -> list[cases.Case]:
    """All cases whose models are there; says which are not."""
    # In small configurations, and without a download.
    found = list(zoo(args, scratch, neap, "--small"))
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
    return [case for case in found if wanted(args, case.name)]


def in_turn(args, scratch: pathlib.Path, neap: Neap):
    """Each architecture of the zoo in its full size with its verdict; a model is gone before the next one is made."""
    for case in zoo(args, scratch, neap):
        yield case, check(neap, case)
        case.model.unlink()


def at_once(args, scratch: pathlib.Path, neap: Neap):
    """All cases with their verdicts, as they come."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = {pool.submit(check, neap, case): case for case in gather(args, scratch, neap)}
        for done in concurrent.futures.as_completed(waiting):
            yield waiting[done], done.result()


def main() -> int:
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neap", type=pathlib.Path, default=here / "target/debug/neap")
    parser.add_argument("--shared", type=pathlib.Path, default=here.parent / "shared")
    parser.add_argument("--models", type=pathlib.Path, default=here / "models")
    parser.add_argument("--full", action="store_true", help="the zoo's architectures in full size, and nothing else")
    parser.add_argument("only", nargs="*", help="check only models whose names contain one of these")
    args = parser.parse_args()

    neap = Neap(args.neap.resolve())
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as scratch:
        for case, (verdict, detail) in (in_turn if args.full else at_once)(args, pathlib.Path(scratch), neap):
            counts[verdict] += 1
            print(f"{verdict:8} {case.name:28} {detail}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
