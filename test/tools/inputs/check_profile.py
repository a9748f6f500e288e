"""check_profile.py FILE NAME RUNS: whether a profile in JSON has an operation NAME that ran RUNS times."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    profile = json.load(file)
row, = (r for r in profile["thunks"] if r["operation"] == sys.argv[2])
assert profile["runs"] == row["calls"] == int(sys.argv[3])
assert row["operations"] == 2 * 64**3 and row["bytes"] == 3 * 64 * 64 * 4
assert 0 < row["least_seconds"] <= row["most_seconds"] <= row["seconds"] <= profile["seconds"]
assert "machine" not in profile and "share_of_limit" not in row
