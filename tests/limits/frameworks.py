"""PyTorch's three allocators, CuPy and JAX: under the limit, with their own error, and on they go."""

import json
import subprocess
import sys

from ground import PATIENCE, Failure, Watch, check

TORCH = """
import json, os, torch
def fill():
    held = []
    try:
        while True: held.append(torch.empty(1 << 28, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as error: return len(held), type(error).__name__
free, total = torch.cuda.mem_get_info()
got, caught = fill()
torch.cuda.synchronize(); torch.cuda.empty_cache()
x = torch.randn(1024, 1024, device="cuda"); y = (x @ x).sum().item()
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
free, total = cupy.cuda.runtime.memGetInfo()
got, caught = fill()
cupy.get_default_memory_pool().free_all_blocks()
x = cupy.ones((1024, 1024)); y = float((x @ x).sum())
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
jnp.zeros(1).block_until_ready()
got, caught = fill()
x = jnp.ones((1024, 1024)); y = float((x @ x).sum())
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
    limit, out, wrong = ground.gib(6), {}, []
    watch = Watch(ground)
    for name, (program, variables) in PROGRAMS.items():
        process = subprocess.Popen([sys.executable, "-c", program], env=ground.group(limit) | variables,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watch.start([process.pid])
        try:
            said, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            said, errors = process.communicate()
        seen = watch.stop()
        try:
            check(process.returncode == 0, f"{name}: exit code {process.returncode}: {errors[-2000:]}")
            row = json.loads(said.splitlines()[-1]) | {"peak": seen["peak"], "samples": seen["samples"]}
            out[name] = row
            check(row["peak"] <= limit, f"{name}: {row['peak']} bytes were held under {limit}")
            check(row.get("total", limit) == limit, f"{name}: it sees {row.get('total')} bytes")
            check(row["goes_on"] and row["caught"] != "", f"{name}: {row}")
            check(row["got"] >= limit // 3 and row["again"] >= limit // 3, f"{name}: it had hardly anything: {row}")
        except (Failure, ValueError, IndexError) as error:
            wrong.append(f"{name}: {error}")
    watch.close()
    for line in wrong:
        print("wrong:", line)
    check(not wrong, f"{len(wrong)} of {len(PROGRAMS)}: {wrong}")
    return out
