"""Says samples as peers.py does, without measuring anything. STAND_IN_PEERS is `ok`, `failed` or `crash`."""

import json
import os
import sys

how = os.environ.get("STAND_IN_PEERS", "ok")
if how == "crash":
    sys.exit("the card caught fire")
rounds = {"pool": [[400.0, 410.0]] * 5, "async": [[800.0, 820.0]] * 5, "torch": [[600.0, 600.0]] * 5}
mixed = {name: {"rounds": samples, "first_ns": 9000.0, "card_bytes": 3 << 30, "held_bytes": 3 << 30} for name, samples in rounds.items()}
print("a line of somebody else")
print("RESULT " + json.dumps({
    "pairs": {"512": rounds, "1m": rounds}, "mixed": {"allocations": 12, "used_bytes": 2 << 30, "blocks": 1000, "peers": mixed},
    "two_streams": {"two_streams": rounds}, "known_second": {"1m": rounds}, "calls": {"getpid": [[2.0]]}, "sizes": {"512": 512, "1m": 1 << 20},
    "absent": {"rmm": "librmm is not here", "rmm_async": "librmm is not here"}, "failed": ["a block was lost"] if how == "failed" else [],
    "torch": "stand-in", "device": "stand-in"}))
