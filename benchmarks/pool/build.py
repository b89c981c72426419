"""Compiles the loops and the peers, each by itself: one that cannot be compiled is a reason, and the others are measured."""

import concurrent.futures
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120
sys.path.insert(0, str(HERE.parent / "weights"))

import wheels  # noqa: E402

# Headers and the library of RMM, and what its library needs. The Python package is not needed.
RMM_WHEELS = ("librmm-cu13", "rapids-logger")
PEERS_OF = {"torch": ("torch",), "cub": ("cub", "cub_2"), "rmm": ("rmm", "rmm_async")}


class Absent(Exception):
    """A unit that is not there, and why."""


class Places:
    """Where compilers, headers and libraries are; what is missing raises when it is asked for."""

    def __init__(self, env=os.environ, peers=None, folder=None):
        self.env, self.peers, self.folder = env, peers, folder
        spec = importlib.util.find_spec("torch")
        self.torch = pathlib.Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
        self.nvcc = shutil.which("nvcc", path=env.get("PATH"))
        roots = [env.get("CUDA_HOME"), pathlib.Path(self.nvcc).resolve().parent.parent if self.nvcc else None, "/usr/local/cuda"]
        # Torch's own wheels have headers too, if not all of them.
        roots += [self.torch.parent / "nvidia" / name for name in ("cu13", "cuda_runtime")] if self.torch else []
        self.roots = [pathlib.Path(root) for root in roots if root and pathlib.Path(root).is_dir()]

    def compiler(self):
        found = shutil.which(self.env.get("CXX") or "g++", path=self.env.get("PATH")) or shutil.which("c++", path=self.env.get("PATH"))
        if not found:
            raise Absent("no C++ compiler: neither g++ nor c++ is in PATH")
        return found

    def headers(self, name):
        """The first folder of headers that has one."""
        for root in self.roots:
            for folder in (root / "include", root / "include" / "cccl"):
                if (folder / name).is_file():
                    return folder
        raise Absent(f"no {name} in the CUDA toolkit (CUDA_HOME, nvcc's folder, /usr/local/cuda) or beside torch")

    def rmm(self):
        """The folder with RMM's wheels, unpacked when it is first asked for."""
        folder = pathlib.Path(self.folder or ".") / "rmm"
        return folder if folder.is_dir() and self.folder else unpack_rmm(self.peers, folder)

    def runtime(self):
        """The runtime's library: the one that torch loads, or else the toolkit's."""
        beside = [root for root in self.roots if self.torch and self.torch.parent in root.parents]
        for root in beside + self.roots:
            for folder in ("lib", "lib64", "targets/x86_64-linux/lib"):
                found = sorted((root / folder).glob("libcudart.so*"), key=lambda path: len(path.name))
                if found:
                    return found[0]
        raise Absent("no libcudart.so beside torch or in the CUDA toolkit")


def attempts(unit, places, target):
    """The commands that may make a unit, in the order in which they are tried."""
    plain = [places.compiler(), "-O2", "-shared", "-fPIC", "-Wl,--no-undefined", "-o", str(target)]
    if unit == "peers":
        return [[*plain, "-std=c++17", str(HERE / "peers.cpp"), "-ldl"]]
    source, cuda = str(HERE / f"peer_{unit}.cpp"), places.headers("crt/host_config.h")
    if unit == "torch":
        if not places.torch:
            raise Absent("torch is not installed")
        libraries = places.torch / "lib"
        return [[*plain, "-std=c++17", "-isystem", f"{places.torch}/include", "-isystem", str(cuda), source, f"-L{libraries}", "-lc10_cuda", "-lc10",
                 f"-Wl,-rpath,{libraries}", str(places.runtime())]]
    if unit == "cub":
        cccl = places.headers("cub/util_allocator.cuh")
        by_nvcc = [places.nvcc, "-x", "cu", "-O2", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "--cudart", "shared", "-o", str(target), source]
        return [[*plain, "-std=c++17", "-isystem", str(cccl), "-isystem", str(cuda), source, str(places.runtime())], *([by_nvcc] if places.nvcc else [])]
    library, logger = places.rmm() / "librmm", places.rmm() / "rapids_logger"
    folders = [library / "include", library / "include" / "rapids", logger / "include", cuda]
    return [[*plain, "-std=c++20", *(f"-isystem{folder}" for folder in folders), source, f"-L{library}/lib64", "-lrmm", f"-L{logger}/lib64",
             "-lrapids_logger", str(places.runtime())]]


def blame(command, said):
    """The first error of a compiler, in one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line.lower() or "cannot find" in line), lines[-1] if lines else "it said nothing")
    return f"{pathlib.Path(command[0]).name}: {first[:300]}"


def compile_unit(unit, places, folder):
    """The library of a unit. Raises Absent with what each attempt said."""
    target = pathlib.Path(folder) / f"bench_{unit}.so"
    said = []
    for command in attempts(unit, places, target):
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            said.append(f"{pathlib.Path(command[0]).name}: {error}"[:300])
            continue
        if ran.returncode == 0:
            return target
        said.append(blame(command, ran.stderr + ran.stdout))
    raise Absent("; ".join(said))


def unpack_rmm(peers, folder):
    """RMM's wheels, unpacked."""
    found = {name: wheels.find(peers, name) for name in RMM_WHEELS}
    missing = [name for name, wheel in found.items() if wheel is None]
    if missing:
        raise Absent(f"{' and '.join(missing)} not among the peers' wheels (benchmarks/weights/peers fetches them)")
    try:
        for wheel in found.values():
            wheels.unpack(wheel, folder)
    except wheels.BadWheel as error:
        raise Absent(str(error)) from error
    return pathlib.Path(folder)


def build(places, folder, units=("peers", "torch", "cub", "rmm")):
    """All units at once: {unit: library}, and {unit: why there is none}."""
    made, absent = {}, {}
    with concurrent.futures.ThreadPoolExecutor(len(units)) as pool:
        waiting = {unit: pool.submit(compile_unit, unit, places, folder) for unit in units}
        for unit, one in waiting.items():
            try:
                made[unit] = one.result()
            except Absent as error:
                absent[unit] = str(error)
    return made, absent
