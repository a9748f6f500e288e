"""pipes.py FILE...: whether heddle says the same of each program by its name, by standard input as a file and as a pipe,
by a descriptor's name and by a named pipe: what a run prints and what a program takes."""
import json
import os
import subprocess
import sys
import threading


def ask(words, **how):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100, **how)
    return done.returncode, done.stdout, done.stderr


def by_file(words, path):
    with open(path, "rb") as file:
        return ask([*words, "-"], stdin=file)


def by_pipe(words, path):
    return ask(["sh", "-c", 'cat "$0" | "$@" -', path, *words])


def by_descriptor(words, path):
    return ask(["bash", "-c", 'file=$1; shift; "$@" <(cat "$file")', "bash", path, *words])


def by_named_pipe(words, path):
    name = path + ".fifo"
    os.mkfifo(name)
    writer = threading.Thread(target=lambda: subprocess.run(["sh", "-c", 'cat "$0" > "$1"', path, name], check=False))
    writer.start()
    found = ask([*words, name])
    writer.join()
    os.unlink(name)
    return found


def plain(said):
    """What was said but for the file's name."""
    if not said.startswith(b"{"):
        return said
    facts = json.loads(said)
    return {key: facts[key] for key in facts if key not in ("file", "module")}


same = other = 0
for path in sys.argv[1:]:
    for words in (["heddle", "run", "--random", "--print"], ["heddle", "info", "--json"]):
        wanted = ask([*words, path])
        for way in (by_file, by_pipe, by_descriptor, by_named_pipe):
            found = way(words, path)
            if wanted[0] == found[0] == 0 and plain(wanted[1]) == plain(found[1]):
                same += 1
            else:
                other += 1
                print(path, words, way.__name__, found)
print(f"{same} ways give the same, {other} do not")
