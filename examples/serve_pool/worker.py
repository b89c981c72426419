#!/usr/bin/env python3
"""A worker: maps the model, answers requests from its channel, may be killed at any time.

It loads nothing. It attaches to the pond's one copy of the weights, and follows a swap at a step
boundary of its own: between two requests, or at once when it is idle. The coordinator starts it:

    worker.py MODEL --channel FD [--requests N] [--framework numpy|torch]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import select
import socket
import sys
import time

import millpond
from model import Net, generate, new_net

MESSAGE_BYTES = 1 << 16


def views(model: millpond.Model, framework: str):
    """The model's tensors by name, as views of the pond's memory."""
    return model.torch() if framework == "torch" else model.numpy()


def follow(model: millpond.Model, net: Net, framework: str) -> bool:
    """Moves to the current version, and says whether that is another one. The old one's lease ends
    when the last view of it is gone."""
    try:
        moved = model.refresh()  # no message, no work where nothing has changed
    except millpond.Error as error:
        if error.remedy != "retry":
            raise
        # What is mapped stays valid whatever happens to the pond: serve on, and try again later.
        print(f"worker: still on {model.version}: {error}", file=sys.stderr)
        return False
    if moved:
        net.load(views(model, framework))
    return moved


def serve(channel: socket.socket, model: millpond.Model, net: Net, framework: str, limit: int) -> None:
    """Answers requests, `limit` of them unless it is 0, until the coordinator hangs up."""
    # A swap is told in another thread: that one only rings, this one refreshes.
    wake, bell = socket.socketpair()
    bell.setblocking(False)

    def ring(_version: str) -> None:
        with contextlib.suppress(BlockingIOError):  # it is ringing already
            bell.send(b"!")

    model.on_swap(ring)
    served = 0
    while limit == 0 or served < limit:
        ready, _, _ = select.select([channel, wake], [], [])
        if wake in ready:
            wake.recv(MESSAGE_BYTES)
        if follow(model, net, framework):
            send(channel, {"version": model.version})
        if channel in ready:
            message = channel.recv(MESSAGE_BYTES)
            if not message:
                return
            served += 1
            answer = infer(net, json.loads(message))
            answer |= {"version": model.version, "last": served == limit}
            send(channel, answer)


def send(channel: socket.socket, message: dict) -> None:
    channel.send(json.dumps(message).encode())


def infer(net: Net, request: dict) -> dict:
    try:
        output = generate(net, request["tokens"], request["count"])
    except ValueError as error:
        return {"error": str(error)}
    return {"tokens": output.tokens, "digest": output.digest}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--framework", choices=("numpy", "torch"), default="numpy")
    args = parser.parse_args()
    channel = socket.socket(fileno=args.channel)
    net = new_net(args.framework)
    begun = time.perf_counter()
    model = millpond.attach(args.model, wait=30)
    attach_ms = (time.perf_counter() - begun) * 1e3
    net.load(views(model, args.framework))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the coordinator has gone, and so does this one
        send(channel, {"version": model.version, "attach_ms": round(attach_ms, 3)})
        serve(channel, model, net, args.framework, args.requests)


if __name__ == "__main__":
    main()
