"""Answers as train.py does, without training anything. STAND_IN_WRONG is a kind whose parameters differ, STAND_IN_DIES one that
ends by a signal at its first block. The group `pool-small` has too little memory, unless STAND_IN_ENOUGH is set."""

import json
import os
import signal
import sys

kind, group = sys.argv[sys.argv.index("--allocator") + 1], sys.argv[sys.argv.index("--group") + 1]
print(json.dumps({"ready": True, "torch": "stand-in", "parameters": 7}), flush=True)
for line in sys.stdin:
    word, *count = line.split()
    if word == "end":
        break
    if group == "pool-small" and "STAND_IN_ENOUGH" not in os.environ:
        sys.exit(f"Traceback\nRuntimeError: no memory for a block in group {group}")
    if os.environ.get("STAND_IN_DIES") == kind:
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"seconds": 0.02 * int(count[0]), "losses": [2.5] * int(count[0])}), flush=True)
memory = {"max_memory_reserved": 1 << 30, "max_memory_allocated": 1 << 29}
print(json.dumps({"hash": "other" if os.environ.get("STAND_IN_WRONG") == kind else "same", "memory": memory}), flush=True)
