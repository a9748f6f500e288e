"""fails.py STATUS COMMAND...: demands that the command ends with that exit status, in time, having said `error:` (or, with
status 3, `mismatch:`) once on standard error, and nothing of a sanitizer's. Prints what the command said, for FileCheck."""
import subprocess
import sys

status, command = int(sys.argv[1]), sys.argv[2:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=100)
print(done.stdout + done.stderr)
if done.returncode != status:
    sys.exit(f"fails.py: found exit status {done.returncode}, wanted {status}")
errors = done.stderr.count("mismatch: " if status == 3 else "error: ")
if errors != 1:
    sys.exit(f"fails.py: found {errors} errors, wanted 1")
