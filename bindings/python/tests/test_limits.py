"""A program of this package under `millpond run`: what it maps from the pond is not charged to it."""

import json
import subprocess
import sys

import millpond

SCRIPT = """
import ctypes, sys, millpond
t = millpond.get(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
free, total, pointer = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
context = ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
assert total.value == 40 << 20, total
assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(44 << 20)) == 2, "out of memory"
assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(8 << 20)) == 0
print("mapped", t.nbytes, flush=True)
sys.stdin.readline()
"""

MIB = 1 << 20


def test_what_is_mapped_is_shared_and_the_rest_is_limited(name, limited):
    program, environment = limited
    tensor = millpond.create(name, 64 * MIB, "uint8", zero=True)
    tensor.publish()
    command = [program, "run", "--limit", "40M", "--group", "readers", "--"]
    command += [sys.executable, "-c", SCRIPT, name]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=environment, text=True, **pipes)
    try:
        line = process.stdout.readline()
        assert line == f"mapped {64 * MIB}\n", process.communicate()
        seen = [program, "ps", "--group", "readers", "--json"]
        said = subprocess.run(seen, check=True, capture_output=True)
        (one,) = json.loads(said.stdout)["processes"]
        assert one["pid"] == process.pid
        (device,) = one["devices"]
        assert (device["charged_bytes"], device["shared_bytes"]) == (8 * MIB, 64 * MIB)
        _, errors = process.communicate("\n", 60)
        assert process.returncode == 0, errors
        (refusal,) = errors.splitlines()
        assert "asked for 44 MiB of GPU 0" in refusal and "group readers sets the limit" in refusal
    finally:
        process.kill()
        process.wait()
        millpond.delete(tensor)
