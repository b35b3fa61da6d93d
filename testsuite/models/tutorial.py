"""Runs the commands of a tutorial and compares what they print with what the page says.

In blocks marked `sh`, a line that begins with `$ ` is a command and the lines up to the next are what it prints, standard
error included; `...` stands for any text, also over several lines. A command must succeed, or, where the page says that it
prints a line beginning with `error:`, fail. A block marked `python NAME` is written to that file; each line of a block marked
`sh tour` is a command that must succeed, whatever it prints.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(page: str):
    for info, body in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        yield info.split(), body


def commands(info: list[str], body: str):
    """Commands of a block, each with what it prints."""
    if info[1:] == ["tour"]:
        yield from ((line, "...") for line in body.splitlines())
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def pattern(printed: str) -> re.Pattern:
    # Columns are as wide as their widest cell: any run of spaces is like any other.
    words = [re.sub(r"(\\ )+", r"\\s+", re.escape(text.strip(" "))) for text in printed.strip().split("...")]
    return re.compile(r"\s*" + r".*?".join(r"\s*" + w + r"\s*" if w else "" for w in words) + r"\s*", re.DOTALL)


def check(page: pathlib.Path, neap: pathlib.Path) -> int:
    env = {**os.environ, "PATH": os.pathsep.join([str(neap.parent), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]),
           "NO_COLOR": "1", "COLUMNS": "200"}
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for info, body in blocks(page.read_text()):
            if info[0] == "python" and len(info) == 2:
                (pathlib.Path(folder) / info[1]).write_text(body)
            for command, printed in commands(info, body) if info[0] == "sh" else ():
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
                fails = bool(re.search(r"^error:", printed, re.MULTILINE))
                if (done.returncode != 0) != fails or not pattern(printed).fullmatch(done.stdout):
                    print(f"{page}: `{command}` ends with {done.returncode} and prints\n{done.stdout}\nbut the page says\n{printed}")
                    return 1
                ran += 1
    print(f"{page.name}: {ran} commands print what the page says")
    return 0 if ran else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--neap", type=pathlib.Path, required=True)
    parser.add_argument("page", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    return max(check(page, args.neap.resolve()) for page in args.page)


if __name__ == "__main__":
    sys.exit(main())
