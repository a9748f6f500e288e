#!/usr/bin/env python3
"""Whether the guards of `make test` notice what they are there for: made-up outcomes, and what has to be said of them."""
import pathlib
import stat
import sys
import tempfile

import conformance
import run_tests


def judged(rows, known):
    """What conformance.judge says is wrong when the runner reports these rows."""
    conformance.run = lambda *_: (7, rows)
    conformance.listed_cases = lambda _: known
    return conformance.judge("cpu", "heddle")[1]


def check_conformance():
    known = {"sine": "differs"}
    assert judged([["differs", "sine", "hlo", "off"]], known) == []
    for verdict in ("crashed", "timeout", "refused"):
        assert judged([[verdict, "sine", "hlo", "off"]], known), f"{verdict} of a known failure is excused"
    assert judged([["differs", "cosine", "hlo", "off"]], known) == ["differs cosine (hlo): off", "sine is listed in "
                                                                   "cpu.txt but passes"]
    assert judged([], known), "a listed case that passes goes unnoticed"
    message = f"a.mlir:1:1: error: {conformance.READ_ONLY}: sizes"
    conformance.is_dynamic = lambda name: name == "open"
    assert judged([["refused", "open", "mlir", message]], {}) == []
    assert judged([["refused", "closed", "mlir", message]], {}), "a program that did not run passes"


def smith_says(output, status=0):
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder) / "bin" / "hlo-smith"
        tool.parent.mkdir()
        tool.write_text(f"#!/bin/sh\nprintf '{output}'\nexit {status}\n", encoding="utf-8")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        result = run_tests.Result()
        run_tests.smith(result, folder, {"text": 10}, 1)
        return [name for name, _ in result.failures]


def check_smith():
    assert smith_says("10 passed, 0 failed\\n") == []
    for output in ("1 refused by name\\n9 passed, 0 failed\\n", "9 passed, 0 failed\\n", ""):
        assert smith_says(output), f"{output!r} passes"
    assert smith_says("9 passed, 1 failed\\n", 1)


def main():
    check_conformance()
    check_smith()
    print("the guards notice")


if __name__ == "__main__":
    sys.exit(main())
