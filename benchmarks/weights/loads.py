"""Loads of a checkpoint as the peers do it, each in a process of its own, warm and repeated.

    loads.py '{"how": "safetensors", "folder": "...", "rounds": 3}'

A load ends when every tensor is on the device and belongs to the caller: where a peer hands out
memory that it uses again, the copy that its users need counts. Three tensors are compared with the
file, byte by byte. Imports, the context and the first allocation are not counted.
"""

import contextlib
import gc
import glob
import json
import os
import sys
import time

import checkpoints


def files(folder):
    return sorted(glob.glob(os.path.join(folder, "*.safetensors")))


def safetensors_cuda(torch, folder):
    from safetensors.torch import load_file

    tensors = {}
    for file in files(folder):
        tensors |= load_file(file, device="cuda")
    return tensors


def safetensors_then_cuda(torch, folder):
    from safetensors.torch import load_file

    tensors = {}
    for file in files(folder):
        tensors |= {name: tensor.cuda() for name, tensor in load_file(file).items()}
    return tensors


def safetensors_numpy(torch, folder):
    from safetensors.numpy import load_file

    tensors = {}
    for file in files(folder):
        tensors |= load_file(file)
    return tensors


def fastsafetensors(torch, folder):
    from fastsafetensors import SafeTensorsFileLoader

    loader = SafeTensorsFileLoader(None, "cuda:0", nogds=True)
    loader.add_filenames({0: files(folder)})
    buffers = loader.copy_files_to_device()
    return {name: buffers.get_tensor(name) for name in loader.get_keys()}, (loader, buffers)


def runai(torch, folder):
    from runai_model_streamer import SafetensorsStreamer

    tensors = {}
    with SafetensorsStreamer() as streamer:
        streamer.stream_files(files(folder), device="cuda:0")
        for name, tensor in streamer.get_tensors():
            tensors[name] = tensor if tensor.is_cuda else tensor.to("cuda:0")
    return tensors


def instanttensor(torch, folder):
    from instanttensor import BackendPolicy, safe_open

    with safe_open(files(folder), framework="pt", device=0, backend=BackendPolicy.BUFFERED) as opened:
        return dict(opened.tensors())


def torch_load(torch, folder):
    return torch.load(os.path.join(folder, "model.pt"), map_location="cuda:0", weights_only=True)


HOWS = {
    "safetensors": safetensors_cuda, "safetensors-then-cuda": safetensors_then_cuda,
    "safetensors-numpy": safetensors_numpy, "fastsafetensors": fastsafetensors, "runai": runai,
    "instanttensor": instanttensor, "torch": torch_load,
}


def version_of(how):
    from importlib import metadata

    project = {"runai": "runai-model-streamer", "torch": "torch"}.get(how, how.split("-")[0])
    try:
        return f"{project} {metadata.version(project)}"
    except metadata.PackageNotFoundError:
        return project


def raw_bytes(torch, tensor):
    if torch is None:
        return tensor.tobytes()
    return tensor.contiguous().reshape(-1).view(torch.uint8).cpu().numpy().tobytes()


def check(torch, tensors, folder):
    """Raises where a tensor is not as the file has it."""
    names = sorted(tensors)
    for name in {names[0], names[len(names) // 2], names[-1]}:
        _, shape, expected = checkpoints.read_tensor(folder, name)
        if list(tensors[name].shape) != list(shape) or raw_bytes(torch, tensors[name]) != expected:
            raise ValueError(f"tensor '{name}' is not as the file has it")


def main(how, folder, rounds):
    torch = None
    if how != "safetensors-numpy":
        import torch

        torch.empty(1, device="cuda")
        torch.cuda.synchronize()
    if how == "torch":
        # One shard's tensors in torch's own format: its speed does not depend on how many there are.
        from safetensors.torch import load_file

        torch.save(load_file(files(folder)[0]), os.path.join(folder, "model.pt"))
    times, bytes_ = [], 0
    try:
        for _ in range(rounds):
            begun = time.monotonic()
            tensors = HOWS[how](torch, folder)
            keep = None
            if isinstance(tensors, tuple):
                tensors, keep = tensors
            if torch is not None:
                torch.cuda.synchronize()
            times.append(time.monotonic() - begun)
            bytes_ = sum(tensor.nbytes for tensor in tensors.values())
            count = len(tensors)
            check(torch, tensors, folder)
            del tensors
            for part in reversed(keep or ()):
                part.close()
            keep = None
            gc.collect()
            if torch is not None:
                torch.cuda.empty_cache()
    finally:
        if how == "torch":
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, "model.pt"))
    return {"seconds": times, "bytes": bytes_, "tensors": count, "version": version_of(how)}


if __name__ == "__main__":
    print("RESULT " + json.dumps(main(**json.loads(sys.argv[1]))), flush=True)
    # A peer that crashes while the interpreter ends has been measured already.
    os._exit(0)
