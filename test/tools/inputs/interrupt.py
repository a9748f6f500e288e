"""interrupt.py FOLDER [--signal=TERM] [--within=60] COMMAND...: starts the command, interrupts it after a while, and
demands that it ends within so many seconds with the status of interrupted processes, and that FOLDER is empty then."""
import os
import signal
import subprocess
import sys
import time

folder, *command = sys.argv[1:]
number = signal.SIGINT
if command[0].startswith("--signal="):
    number = getattr(signal, "SIG" + command.pop(0).split("=")[1])
within = int(command.pop(0).split("=")[1]) if command[0].startswith("--within=") else 60
# The tests' runner ignores the signal, which its children would inherit.
signal.signal(signal.SIGINT, signal.SIG_DFL)
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(1)
assert process.poll() is None, process.communicate()
process.send_signal(number)
try:
    process.wait(timeout=within)
except subprocess.TimeoutExpired:
    process.kill()
    raise
assert process.returncode == 128 + number, (process.returncode, process.stderr.read())
assert process.stderr.read() == "interrupted\n"
assert not os.listdir(folder), os.listdir(folder)
