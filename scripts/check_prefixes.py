#!/usr/bin/env python3
"""Checks that every function in a header of src/ says by its name where it is found.

A name begins, up to an underscore, with one of
  - the file's name, or the singular of it (call_attributes.h: call_attribute_int); of a header for tests, x_testing.h,
    also with x;
  - the words with which the names of several files of the room begin (smith.h, smith_pool.h: smith_);
  - the room's name, or what stands for it in ROOM_PREFIXES;
  - a type that a header of the room defines.
What MLIR's macros name is in EXEMPT. Functions are those declared or defined in headers, inline ones too.

    check_prefixes.py            check the tree this script lies in; exit status 1 and one line per finding
    check_prefixes.py --self-test    feed headers to the check and demand that what is wrong is noticed
"""
import collections
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOM_PREFIXES = {"dialect": "xla_gpu"}
EXEMPT = {"MLIR_DECLARE_CAPI_DIALECT_REGISTRATION"} | {
    f"mlirGetDialectHandle__{dialect}__" for dialect in ("hal", "iree", "mhlo", "xla_gpu")}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
TYPE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{|\}\s*(\w+)\s*;|\btypedef\b[^;{]*?\b(\w+)\s*;"
                  r"|\btypedef\b[^;{]*\(\*?(\w+)\)\s*\(|\btypedef\b[^;{(]*?\b(\w+)\s*\(")
CALLED = re.compile(r"([A-Za-z_]\w*)\s*\((?!\*)")
BY_TYPE = re.compile(r"(?:extern )?\w+_fn (\w+(?:, \w+)*)$")


def plain(text):
    """The text without comments and directives."""
    return DIRECTIVE.sub("", COMMENT.sub("", text)).replace('extern "C" {', "")


def statements(text):
    """What stands outside of braces, split where a statement or a body ends."""
    depth, current = 0, ""
    for part in re.split(r"([{};])", text):
        if part == "{":
            depth += 1
        elif part == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and current.rstrip().endswith(")"):
                yield current
                current = ""
        elif depth == 0 and part == ";":
            yield current
            current = ""
        elif depth == 0:
            current += part


def functions(text):
    """Names of the functions that a header declares or defines."""
    for statement in statements(plain(text)):
        statement = " ".join(ATTRIBUTE.sub("", statement).split())
        if statement.startswith("typedef") or "=" in statement.split("(")[0]:
            continue
        by_type, called = BY_TYPE.match(statement), CALLED.search(statement)
        if by_type:
            yield from by_type.group(1).split(", ")
        elif called:
            yield called.group(1)


def families(stems):
    """Leading words that several of these names begin with."""
    count = collections.Counter()
    for stem in stems:
        count.update(itertools.accumulate(stem.split("_"), lambda a, b: f"{a}_{b}"))
    return {words for words, times in count.items() if times > 1}


def prefixes(room, stem, shared, types):
    """What names of functions in a header may begin with."""
    words = stem.split("_")
    leading = set(itertools.accumulate(words, lambda a, b: f"{a}_{b}"))
    found = {stem, stem.removesuffix("s"), stem.removesuffix("_testing"), room, ROOM_PREFIXES.get(room, room)}
    return found | (leading & shared) | types


def check_room(room, headers, stems):
    """Yields the functions of {name of a header: text} whose names begin with something else."""
    types = {name for text in headers.values() for match in TYPE.findall(plain(text)) for name in match if name}
    shared = families(stems)
    for header, text in headers.items():
        allowed = prefixes(room, header.removesuffix(".h"), shared, types)
        for name in functions(text):
            if name not in EXEMPT and not any(name == p or name.startswith(p + "_") for p in allowed):
                yield f"src/{room}/{header}: {name} begins with neither its file, nor its room, nor a type of it"


def check_tree(root):
    """All findings in the tree at `root`."""
    rooms = sorted(path.name for path in (root / "src").iterdir() if path.is_dir())
    for room in rooms:
        files = sorted((root / "src" / room).iterdir())
        stems = {path.stem for path in files if not path.stem.endswith(("_test", "_testing"))}
        headers = {path.name: path.read_text(encoding="utf-8") for path in files if path.suffix == ".h"}
        yield from check_room(room, headers, stems)


# A header `file.h` of the room `room`, in which there are pool_a.c and pool_b.c, and the names that must be noticed.
SELF_TESTS = [
    ("thing.h", "int thing_make(void);\nint room_make(void);", []),
    ("thing.h", "int make_thing(void);", ["make_thing"]),
    ("thing.h", "int things(void);", ["things"]),
    ("things.h", "int thing_make(void);", []),
    ("thing.h", "typedef struct pot { int (*lid)(int); } pot;\nint pot_fill(pot *p);\nint fill_pot(pot *p);", ["fill_pot"]),
    ("thing.h", "typedef int taking(int);\ntaking taking_all;\nint (*given)(int);", []),
    ("thing.h", "static inline int half(int x) {\n  return x / 2;\n}\nint thing_third(int x);", ["half"]),
    ("thing.h", "// int half(int);\n#define HALF(x) half(x)\nextern const int table[4];", []),
    ("thing.h", "void say(const char *, ...) __attribute__((format(printf, 1, 2)));", ["say"]),
    ("thing.h", "rule_fn thing_one,\n    two;", ["two"]),
    ("thing_testing.h", "static inline void thing_set_up(void) {}\nstatic inline void set_up(void) {}", ["set_up"]),
    ("pool_a.h", "int pool_make(void);\nint pond_make(void);", ["pond_make"]),
]


def self_test():
    """Yields what check_room got wrong."""
    for header, text, wanted in SELF_TESTS:
        stems = {"pool_a", "pool_b"}
        found = [line.split()[1] for line in check_room("room", {header: text}, stems)]
        if found != wanted:
            yield f"{text!r}: found {found}, wanted {wanted}"


def main():
    findings = list(self_test() if sys.argv[1:] == ["--self-test"] else check_tree(ROOT))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
