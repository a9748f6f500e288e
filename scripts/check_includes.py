#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not see.

The rooms of src/ have an order (src/rooms.txt); an #include may only point to a room above, and files of one room may
include each other in a circle only by twos. What else is read off the tree: where C++ and MLIR's headers may appear,
the size of files and of src/dialect, names that say nothing, notes left for later, and that ARCHITECTURE.md lists the
rooms as they are.

    check_includes.py            check the tree this script lies in; exit status 1 and one line per finding
    check_includes.py --self-test    feed bad trees to the checks and demand that each is noticed
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_rooms(path):
    """Rooms in order, {room: what it sees if that is less than all above it}, {room: those below that see it}."""
    order, only, seen_by = [], {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        order.append(words[0])
        if words[1:2] == ["sees"]:
            only[words[0]] = set(words[2:])
        if words[1:2] == ["for"]:
            seen_by[words[0]] = set(words[2:])
    return order, only, seen_by


ORDER, ONLY, SEEN_BY = read_rooms(ROOT / "src" / "rooms.txt")
# MLIR and LLVM stay between emit and target; their C++ headers stay in the dialect. emitters_opt reads and prints MLIR.
EXTERNAL = [
    (re.compile(r"mlir-c/"), {"dialect", "emit", "lower", "tile", "target", "tools"}),
    (re.compile(r"llvm-c/"), {"dialect", "target", "simulate"}),
    (re.compile(r"(mlir|llvm)/[A-Z]"), {"dialect"}),  # a room of ours is called mlir, too
]
CXX = {".cc", ".cpp", ".cxx", ".hh", ".hpp", ".td"}
EMPTY_NAMES = {"util", "utils", "common", "misc", "helper", "helpers", "core"}
LONGEST_FILE = 1000
LARGEST_CIRCLE = 2
DIALECT_BUDGET = 2275

ROOM_ROW = re.compile(r"^\| `([a-z]+)` \|", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LATER = re.compile(r"\b(TODO|FIXME|XXX)\b")


def may_include(room, other):
    """Whether a file of `room` may include a header of `other`."""
    if room == other:
        return True
    if room in ONLY:
        return other in ONLY[room]
    if other in SEEN_BY and room not in SEEN_BY[other]:
        return False
    return ORDER.index(other) < ORDER.index(room)


def check_include(path, room, quote, target):
    """Yields what is wrong with one #include of the file `path` in `room`."""
    first, *rest = target.split("/")
    if first in ORDER and len(rest) == 1:
        if quote == "<":
            yield f"{path}: <{target}> is ours: write it in quotes"
        if not may_include(room, first):
            yield f"{path}: {room} may not include {target}"
    elif first == "heddle":
        if target != "heddle/status.h" and ORDER.index(room) < ORDER.index("rt"):
            yield f"{path}: {target} is for the public interface: {room} lies above it"
    elif quote == '"' and room != "dialect":
        yield f'{path}: "{target}" is written without its module'
    for pattern, rooms in EXTERNAL:
        if pattern.match(target) and room not in rooms:
            yield f"{path}: {target} is for {', '.join(sorted(rooms))}"


def check_source(root, path):
    """Yields the findings in one file of src/ or include/."""
    name = path.relative_to(root)
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        yield f"{name}: {lines} lines, {LONGEST_FILE} allowed: split it by idea"
    if LATER.search(text):
        yield f"{name}: a note for later: {LATER.search(text).group()}"
    if name.parts[0] == "include":
        for _, target in INCLUDE.findall(text):
            if "/" in target and not target.startswith(("heddle/", "sys/")):
                yield f"{name}: a public header may not include {target}"
        return
    room = name.parts[1]
    includes = INCLUDE.findall(text)
    for quote, target in includes:
        yield from check_include(name, room, quote, target)
    own = f"{room}/{path.stem}.h"
    if path.suffix == ".c" and (root / "src" / own).exists() and (not includes or includes[0][1] != own):
        yield f"{name}: its own header {own} comes first"


def check_place(root, path):
    """Yields what is wrong with where a file lies and what it is called."""
    name = path.relative_to(root)
    for part in name.parts:
        words = set(re.split(r"[_.-]", part)) & EMPTY_NAMES
        if words:
            yield f"{name}: '{words.pop()}' says nothing about what is inside"
    if name.parts[0] != "src" or len(name.parts) < 3:
        return
    if name.parts[1] not in ORDER:
        yield f"{name}: {name.parts[1]} is no module"
    if len(name.parts) > 3:
        yield f"{name}: src/<module>/<file>, no deeper"
    if path.suffix in CXX and name.parts[1] != "dialect":
        yield f"{name}: C++ and TableGen live in src/dialect"


def include_graph(root):
    """{room/stem: those it includes}: a source and its header are one."""
    graph = {}
    for path in sorted(root.glob("src/*/*")):
        if path.suffix not in CXX | {".c", ".h", ".def"} or path.stem.endswith("_test"):
            continue
        own = f"{path.parent.name}/{path.stem}"
        targets = (target.rsplit(".", 1)[0] for _, target in INCLUDE.findall(path.read_text(encoding="utf-8")))
        graph.setdefault(own, set()).update(target for target in targets if target != own)
    return graph


def circles(graph):
    """Largest sets of nodes that all reach each other, of two and more (Tarjan's algorithm, without recursion)."""
    index, low, stack, found = {}, {}, [], []
    for start in graph:
        work = [] if start in index else [(start, iter(graph[start]))]
        if work:
            index[start] = low[start] = len(index)
            stack.append(start)
        while work:
            node, targets = work[-1]
            target = next((t for t in targets if t in graph and (t not in index or t in stack)), None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    found += [sorted(members)] if len(members) > 1 else []
            elif target in index:
                low[node] = min(low[node], index[target])
            else:
                index[target] = low[target] = len(index)
                stack.append(target)
                work.append((target, iter(graph[target])))
    return found


def check_circles(root):
    """Yields the circles of includes that are too large."""
    for members in circles(include_graph(root)):
        if len(members) > LARGEST_CIRCLE or len({m.split("/")[0] for m in members}) > 1:
            yield f"src: {', '.join(members)} include each other in a circle"


def check_document(root):
    """Yields what ARCHITECTURE.md's table of rooms says other than src/rooms.txt."""
    path = root / "ARCHITECTURE.md"
    listed = ROOM_ROW.findall(path.read_text(encoding="utf-8")) if path.exists() else ORDER
    if listed != ORDER:
        yield f"ARCHITECTURE.md: lists the rooms {' '.join(listed)}, src/rooms.txt has {' '.join(ORDER)}"


def check_tree(root):
    """All findings in the tree at `root`, one string each."""
    findings = [*check_circles(root), *check_document(root)]
    budget = 0
    for path in sorted(p for top in ("src", "include", "test") for p in (root / top).rglob("*") if p.is_file()):
        if "__pycache__" in path.parts:
            continue
        findings += check_place(root, path)
        name = path.relative_to(root)
        is_source = path.suffix in CXX | {".c", ".h", ".def"}
        if is_source and (name.parts[0] == "include" or (name.parts[0] == "src" and name.parts[1] in ORDER)):
            findings += check_source(root, path)
        if name.parts[:2] == ("src", "dialect") and is_source and not path.stem.endswith("_test"):
            budget += path.read_text(encoding="utf-8").count("\n")
    if budget > DIALECT_BUDGET:
        findings.append(f"src/dialect: {budget} lines, {DIALECT_BUDGET} allowed")
    return findings


# One file each, with the words its finding must have; None: there must be none.
SELF_TESTS = [
    ("src/hlo/a.c", '#include "base/arena.h"\n#include <stdio.h>\n', None),
    ("src/hlo/a.c", '#include "index/interval.h"\n', "hlo may not include index/interval.h"),
    ("src/index/a.c", '  #  include "emit/a.h"\n', "index may not include emit/a.h"),
    ("src/base/a.c", '#include "hlo/shape.h"\n', "base may not include hlo/shape.h"),
    ("src/prog/a.c", '#include "base/str.h"\n', None),
    ("src/prog/a.c", '#include "hlo/shape.h"\n', "prog may not include hlo/shape.h"),
    ("src/rt/a.c", '#include "prog/program.h"\n#include "heddle/run.h"\n', None),
    ("src/rt/a.c", '#include "kernel/launch.h"\n', "rt may not include kernel/launch.h"),
    ("src/target/a.c", '#include "prog/program.h"\n', "target may not include prog/program.h"),
    ("src/api/a.c", '#include "rt/executor.h"\n#include "target/cpu.h"\n', None),
    ("src/lower/a.c", '#include "dialect/xla_gpu.h"\n', None),
    ("src/target/a.c", '#include "dialect/xla_gpu.h"\n', None),
    ("src/tools/a.c", '#include "dialect/xla_gpu.h"\n', "tools may not include dialect/xla_gpu.h"),
    ("src/dialect/a.cpp", '#include "index/indexing_map.h"\n#include "mlir/IR/OpDefinition.h"\n', None),
    ("src/dialect/a.cpp", '#include "emit/a.h"\n', "dialect may not include emit/a.h"),
    ("src/emit/a.c", "#include <mlir-c/IR.h>\n", None),
    ("src/emit/a.c", "#include <mlir/IR/Operation.h>\n", "mlir/IR/Operation.h is for dialect"),
    ("src/api/a.c", "#include <mlir-c/IR.h>\n", "mlir-c/IR.h is for"),
    ("src/lower/a.c", "#include <llvm-c/Core.h>\n", "llvm-c/Core.h is for"),
    ("src/hlo/a.c", "#include <base/arena.h>\n", "write it in quotes"),
    ("src/hlo/a.c", '#include "shape.h"\n', "without its module"),
    ("src/hlo/a.c", '#include "heddle/compile.h"\n', "is for the public interface"),
    ("src/hlo/a.cpp", "", "live in src/dialect"),
    ("src/hlo/a.td", "", "live in src/dialect"),
    ("src/hlo/deep/a.c", "", "no deeper"),
    ("src/things/a.c", "", "things is no module"),
    ("src/hlo/shape_utils.c", "", "says nothing"),
    ("test/common/a.hlo", "", "says nothing"),
    ("src/hlo/a.c", "\n" * 1001, "1001 lines"),
    ("src/hlo/a.c", "// " + "TO" + "DO: later\n", "a note for later"),
    ("src/dialect/a.cpp", "\n" * 1000, None),
    ("include/heddle/a.h", '#include "heddle/status.h"\n', None),
    ("include/heddle/a.h", '#include "base/str.h"\n', "a public header may not include base/str.h"),
]


def findings_for(files):
    """Findings in a made-up tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return check_tree(root)


def self_test():
    """Feeds good and bad trees to check_tree; returns what it got wrong."""
    wrong = []
    cases = [({name: text}, wanted) for name, text, wanted in SELF_TESTS]
    cases.append(({"src/dialect/a.cpp": "\n" * 900, "src/dialect/b.td": "\n" * 1400}, "2300 lines, 2275 allowed"))
    cases.append(({"src/hlo/a.c": '#include "base/str.h"\n', "src/hlo/a.h": ""}, "comes first"))
    cases.append(({"src/hlo/a.c": '#include "hlo/a.h"\n#include "base/str.h"\n', "src/hlo/a.h": ""}, None))
    ring = {f"src/hlo/{a}.h": f'#include "hlo/{b}.h"\n' for a, b in ("ab", "bc", "ca")}
    cases.append((ring, "src: hlo/a, hlo/b, hlo/c include each other in a circle"))
    pair = {"src/hlo/a.h": '#include "hlo/b.h"\n', "src/hlo/b.c": '#include "hlo/b.h"\n#include "hlo/a.h"\n',
            "src/hlo/b.h": ""}
    cases.append((pair, None))
    for files, wanted in cases:
        found = findings_for(files)
        if (wanted is None and found) or (wanted and not any(wanted in line for line in found)):
            wrong.append(f"{files}: found {found}, wanted {wanted}")
    return wrong


def main():
    findings = self_test() if sys.argv[1:] == ["--self-test"] else check_tree(ROOT)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
