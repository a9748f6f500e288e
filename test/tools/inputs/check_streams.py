"""check_streams.py FILE: how many executions of each kind the rows of a trace have, a line for each row and kind."""
import collections
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
runs = [e for e in events if e["ph"] == "X"]
assert all(("stream" in e["args"]) != ("threads" in e["args"]) for e in runs)
counts = collections.Counter((rows[e["pid"], e["tid"]], e["cat"]) for e in runs)
for (row, kind), count in sorted(counts.items()):
    print(f"{row}: {count} {kind}s")
