"""How a benchmark with one goal ends: its JSON, a line for people, and the exit code."""

import json
import pathlib


def close(result, out, line):
    """Prints the result and writes it to `out`, if that is given. A goal that was missed is the code 1; `ok` is None where
    no speed is judged."""
    text = json.dumps(result, indent=1)
    print(text)
    if out:
        pathlib.Path(out).write_text(text + "\n")
    print(line)
    return 1 if result["ok"] is False else 0
