"""check_trace.py FILE NAME COUNT: whether trace events are as Perfetto takes them, COUNT of them called NAME."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
runs = [e for e in events if e["ph"] == "X"]
assert all(e["ph"] in "MX" for e in events) and names and runs
assert all((e["pid"], e["tid"]) in names and e["dur"] >= 0 and e["ts"] >= 0 for e in runs)
named = [e for e in runs if e["name"] == sys.argv[2]]
assert len(named) == int(sys.argv[3]), len(named)
assert all({"origin", "line", "bytes", "GB/s", "GFLOP/s"} <= set(e["args"]) and e["cat"] for e in named)
assert [e["ts"] for e in named] == sorted(e["ts"] for e in named)
