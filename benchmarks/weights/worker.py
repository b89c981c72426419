"""A worker: it gets its weights one way or another, computes, and says so.

    worker.py --how attach|safetensors --model NAME --folder FOLDER [--soft] [--serve]

Prints one line of JSON with its first output's fingerprint. With --serve it then reads lines: a
number is for how many seconds to compute; it answers with a line: outputs, seconds, fingerprint.
"""

import argparse
import json
import os
import sys
import time

import network


def weights_of(arguments):
    if arguments.how == "attach":
        import millpond

        attached = millpond.attach(arguments.model)
        # A worker whose dictionary lives keeps its mapping; the name keeps it for the program.
        return attached, attached.numpy() if arguments.soft else attached.torch()
    import loads

    load = loads.safetensors_numpy if arguments.soft else loads.safetensors_cuda
    return None, load(None, arguments.folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--how", choices=["attach", "safetensors"], required=True)
    parser.add_argument("--model")
    parser.add_argument("--folder")
    parser.add_argument("--soft", action="store_true")
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    marks = {"start": time.monotonic()}
    if arguments.soft:
        import numpy
    else:
        import torch

        torch.empty(1, device="cuda")
    marks["context"] = time.monotonic()
    held, weights = weights_of(arguments)
    marks["weights"] = time.monotonic()
    # One look-up for each tensor and not one for each use: the dictionary may be a lazy one.
    weights = {name: weights[name] for name in weights}
    if arguments.soft:
        tokens = list(range(network.TOKENS))
        compute = lambda: network.forward_numpy(numpy, weights, tokens)
    else:
        tokens = torch.arange(network.TOKENS, device="cuda")

        def compute():
            with torch.inference_mode():
                output = network.forward_torch(torch, weights, tokens)
            torch.cuda.synchronize()
            return output

    first = network.digest(compute())
    marks["output"] = time.monotonic()
    spent = {name: marks[name] - marks["start"] for name in ("context", "weights", "output")}
    print(json.dumps({"digest": first, "seconds": spent}), flush=True)
    if not arguments.serve:
        os._exit(0)
    for line in sys.stdin:
        seconds, outputs, begun = float(line), 0, time.monotonic()
        output = None
        while time.monotonic() - begun < seconds:
            output = compute()
            outputs += 1
        took = time.monotonic() - begun
        print(json.dumps({"outputs": outputs, "seconds": took, "digest": network.digest(output)}), flush=True)


if __name__ == "__main__":
    main()
