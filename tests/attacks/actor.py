"""A process of one user: runs functions of the attacks, one for each line of JSON on its standard input, and answers with
what they return. What a function keeps open it puts into `kept` of this module, so that it lives as long as the process."""

import importlib
import json
import sys
import traceback

kept = []


def main():
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            function = getattr(importlib.import_module(asked["module"]), asked["function"])
            answer = {"result": function(*asked["arguments"])}
        except Exception as error:  # whatever it is, whoever asked has to know
            answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # Under its own name, for those who import it.
    sys.modules["actor"] = sys.modules["__main__"]
    main()
