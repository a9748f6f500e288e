"""json_error.py STATUS COMMAND...: demands that the command ends with that exit status and that its standard output is an
object with an error, whose text stands on standard error, too. Prints the error's message and place."""
import json
import subprocess
import sys

status, command = int(sys.argv[1]), sys.argv[2:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
if done.returncode != status:
    sys.exit(f"json_error.py: found exit status {done.returncode}, wanted {status}: {done.stderr}")
error = json.loads(done.stdout)["error"]
assert error["text"] in done.stderr and error["message"] in error["text"]
print(error["message"], ":".join(str(error[key]) for key in ("file", "line", "column") if key in error))
