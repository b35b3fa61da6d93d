"""Calling the `neap` program and comparing what it computes."""

import json
import pathlib
import re
import subprocess

import numpy as np


class Failure(Exception):
    """neap exited with an error; the message is what it printed."""


class Neap:
    """The program at a path."""

    def __init__(self, program: pathlib.Path):
        self.program = program

    def call(self, *args, timeout: float = 600) -> dict:
        """Runs a command with `--json` and returns its object."""
        command = [str(self.program), *map(str, args), "--json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"no answer within {timeout:.0f} s: {' '.join(command)}") from late
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no message"]
            message = lines[-1].removeprefix("error: ")
            raise Failure(message if done.returncode in (1, 2) else f"exit {done.returncode}: {message}")
        try:
            return json.loads(done.stdout) if done.stdout.strip() else {}
        except json.JSONDecodeError as error:
            raise Failure(f"not one JSON object on standard output: {done.stdout[:200]!r}") from error


def read_outputs(folder: pathlib.Path, names) -> dict[str, np.ndarray]:
    """What `neap run --output-dir` wrote."""
    return {name: np.load(folder / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy")) for name in names}


def mismatch(got: dict, want: dict, atol: float, rtol: float) -> tuple[float, str | None]:
    """The largest |got - want|, and what breaks |got - want| <= atol + rtol |want|, if anything does."""
    worst, broken = 0.0, None
    for name, b in want.items():
        a = got[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return np.inf, f"{name} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        a, b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore"):
            off = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        bad = ~(off <= atol + rtol * np.abs(b))
        worst = max(worst, float(off.max(initial=0.0)))
        if bad.any() and broken is None:
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            broken = f"{name}{list(at)} is {a[at]:.9g}, not {b[at]:.9g} ({int(bad.sum())} of {bad.size} differ)"
    return worst, broken
