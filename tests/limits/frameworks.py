"""PyTorch's three allocators, CuPy and JAX: under the limit, with their own error, and on they go.

They run as their users run them, under a pond: the code that the driver loads into the card is
nobody's request, and the pond's reconciler charges it a little later. So each works a little and
waits for that before it takes all that it can get.
"""

import json
import subprocess
import sys

from ground import PATIENCE, Failure, Watch, check
from live import Pond

TORCH = """
import json, os, torch
def fill():
    held = []
    try:
        while True: held.append(torch.empty(1 << 28, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as error: return len(held), type(error).__name__
import time
def work():
    x = torch.randn(1024, 1024, device="cuda"); return (x @ x).sum().item()
free, total = torch.cuda.mem_get_info()
work(); time.sleep(3)
got, caught = fill()
torch.cuda.synchronize(); torch.cuda.empty_cache()
y = work()
again, _ = fill()
torch.cuda.synchronize(); torch.cuda.empty_cache()
print(json.dumps({"total": total, "free": free, "got": got << 28, "again": again << 28, "caught": caught, "goes_on": y == y}))
"""
CUPY = """
import json, cupy
def fill():
    held = []
    try:
        while True: held.append(cupy.empty(1 << 28, dtype=cupy.uint8))
    except cupy.cuda.memory.OutOfMemoryError as error: return len(held), type(error).__name__
import time
def work():
    x = cupy.ones((1024, 1024)); return float((x @ x).sum())
free, total = cupy.cuda.runtime.memGetInfo()
work(); time.sleep(3)
got, caught = fill()
cupy.get_default_memory_pool().free_all_blocks()
y = work()
again, _ = fill()
print(json.dumps({"total": total, "free": free, "got": got << 28, "again": again << 28, "caught": caught, "goes_on": y == 1024.0 ** 3}))
"""
JAX = """
import json, jax, jax.numpy as jnp
def fill():
    held = []
    try:
        while True: held.append(jnp.zeros(1 << 28, dtype=jnp.uint8).block_until_ready())
    except Exception as error:
        assert "RESOURCE_EXHAUSTED" in str(error), error
        return len(held), type(error).__name__
import time
def work():
    x = jnp.ones((1024, 1024)); return float((x @ x).sum())
jnp.zeros(1 << 28, dtype=jnp.uint8).block_until_ready(); work(); time.sleep(3)
got, caught = fill()
y = work()
again, _ = fill()
print(json.dumps({"got": got << 28, "again": again << 28, "caught": caught, "goes_on": y == 1024.0 ** 3}))
"""
PROGRAMS = {
    "torch": (TORCH, {}),
    "torch expandable segments": (TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
    "torch cudaMallocAsync": (TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
    "cupy": (CUPY, {}),
    "jax": (JAX, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    "jax preallocating": (JAX, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".75"}),
    "jax by cudaMallocAsync": (JAX, {"TF_GPU_ALLOCATOR": "cuda_malloc_async"}),
}


def frameworks(ground):
    """All at once, each with a limit of its own."""
    limit, out, wrong = ground.gib(6), {}, []
    pond, watch = Pond(ground), Watch(ground)
    command = [ground.millpond, "run", "--limit", str(limit), "--", sys.executable, "-c"]
    processes = {name: subprocess.Popen([*command, program], env=pond.environment | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                 for name, (program, variables) in PROGRAMS.items()}
    # `run` becomes the program: the process stays the same.
    watch.start([process.pid for process in processes.values()])
    try:
        said = {name: process.communicate(timeout=PATIENCE) for name, process in processes.items()}
        seen = watch.stop()
    finally:
        for process in processes.values():
            process.kill()
        watch.close()
        pond.close()
    for name, process in processes.items():
        try:
            check(process.returncode == 0, f"exit code {process.returncode}: {said[name][1][-2000:]}")
            row = out[name] = json.loads(said[name][0].splitlines()[-1]) | {"peak": seen["each"][str(process.pid)]}
            check(0 < row["peak"] <= limit, f"{row['peak']} bytes were held under {limit}")
            check(row.get("total", limit) == limit, f"it sees {row.get('total')} bytes")
            check(row["goes_on"] and row["caught"] != "", f"{row}")
            check(row["got"] >= limit // 3 and row["again"] >= limit // 3, f"it had hardly anything: {row}")
        except (Failure, ValueError, IndexError) as error:
            wrong.append(f"{name}: {error}")
    for line in wrong:
        print("wrong:", line)
    print(json.dumps(out | {"samples": seen["samples"]}))
    check(not wrong, f"{len(wrong)} of {len(PROGRAMS)}: {wrong}")
    return out
