"""The same tensors handed to another process by torch.multiprocessing: what attach is beside.

    handover.py '{"shapes": [[4, 4], ...], "rounds": 5}'
"""

import json
import os
import sys
import time


def receive(pipe):
    import torch

    torch.empty(1, device="cuda")
    pipe.send("ready")
    while True:
        tensors = pipe.recv()
        if tensors is None:
            return
        taken = time.monotonic()
        count = len(tensors)
        del tensors
        pipe.send((taken, count))


def main(shapes, rounds):
    import torch
    import torch.multiprocessing as multiprocessing

    multiprocessing = multiprocessing.get_context("spawn")
    tensors = {f"t{at}": torch.empty(shape, dtype=torch.bfloat16, device="cuda") for at, shape in enumerate(shapes)}
    torch.cuda.synchronize()
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=receive, args=(theirs,), daemon=True)
    process.start()
    if not ours.poll(60):
        raise RuntimeError("the other process did not start")
    ours.recv()
    times = []
    for _ in range(rounds):
        begun = time.monotonic()
        ours.send(tensors)
        if not ours.poll(60):
            raise RuntimeError("the other process did not take the tensors")
        taken, count = ours.recv()
        if count != len(tensors):
            raise RuntimeError(f"{count} of {len(tensors)} tensors arrived")
        times.append(taken - begun)
    ours.send(None)
    process.join(10)
    return {"seconds": times, "tensors": len(tensors), "bytes": sum(tensor.nbytes for tensor in tensors.values())}


if __name__ == "__main__":
    print("RESULT " + json.dumps(main(**json.loads(sys.argv[1]))), flush=True)
    os._exit(0)
