"""A real pond for the tests, in folders of its own: on the software driver, or with
MILLPOND_TEST_GPU=1 on the GPU."""

import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

_FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="millpond-py-"))
GPU = bool(os.environ.get("MILLPOND_TEST_GPU"))
# What needs memory that the host can reach, and what needs memory that it cannot.
_GPU_ONLY = ("test_gpu.py", "test_elastic_gpu.py", "test_pool_gpu.py", "test_transports_gpu.py")
_ON_GPUS = (*_GPU_ONLY, "test_cuda_core.py", "test_torch_models.py")
_ALL = sorted(path.name for path in pathlib.Path(__file__).parent.glob("test_*.py"))
collect_ignore = [one for one in _ALL if one not in _ON_GPUS] if GPU else [*_GPU_ONLY]
# Before the first import of the package: the driver reads its environment once.
os.environ.update(
    MILLPOND_DRIVER="cuda" if GPU else "soft",
    MILLPOND_RUNTIME_DIR=str(_FOLDER / "run"),
    MILLPOND_SOFT_DIR=str(_FOLDER / "gpu"),
    MILLPOND_SOFT_MEMORY="512M",
)
os.environ.pop("MILLPOND_SOFT_STRICT", None)
os.environ.pop("MILLPOND_CONFIG", None)

import millpond  # noqa: E402

# No test waits so long unless something hangs.
DEADLINE = 60


def program():
    found = os.environ.get("MILLPOND_BIN") or shutil.which("millpond")
    if not found:
        pytest.exit("set MILLPOND_BIN to the millpond program", returncode=2)
    return found


class Server:
    """A pond that a test may start and stop."""

    def __init__(self, folder, **environment):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.log = open(self.folder.parent / f"{self.folder.name}.log", "ab")
        command = [program(), "--runtime-dir", str(self.folder), "serve", "--quiet"]
        gpus = environment.get("MILLPOND_SOFT_DIR", os.environ["MILLPOND_SOFT_DIR"])
        pathlib.Path(gpus).mkdir(mode=0o700, exist_ok=True)
        environment = {**os.environ, **environment}
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                self.pond = millpond.Pond(self.folder)
                return
            except millpond.Error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise
                time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


@pytest.fixture(scope="session", autouse=True)
def _server():
    server = Server(os.environ["MILLPOND_RUNTIME_DIR"])
    yield server
    server.stop()
    shutil.rmtree(_FOLDER, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_lease_is_left(_server):
    """Every test ends with the leases that it began with: none."""
    yield
    gc.collect()
    assert millpond.live_leases() == 0
    assert millpond.live_bytes() == 0


@pytest.fixture
def name(request):
    """A tensor name of the test's own."""
    return "t/" + "".join(c if c.isalnum() else "_" for c in request.node.name)[:200]


@pytest.fixture
def model(name, tmp_path):
    """A model of the test's own, with two versions that differ in all tensors but one; v1 is
    current. Nothing of it is left afterwards."""
    checkpoints = pytest.importorskip("checkpoints", reason="numpy or ml_dtypes is not installed")
    for version, seed in (("v1", 0), ("v2", 1)):
        arrays = {**checkpoints.arrays(seed), "same": checkpoints.arrays()["wte"]}
        path = checkpoints.write(tmp_path / f"{version}.safetensors", arrays, {"seed": str(seed)})
        millpond.load(name, path, version, like=False)
    yield name
    retire_all(name)


def retire_all(name):
    """Ends every version of a model, the current one last."""
    gc.collect()
    assert millpond.flush()
    found = [one for one in millpond.models(name) if one.name == name]
    versions = [version for one in found for version in one.versions]
    for version in sorted(versions, key=lambda one: one.current):
        try:
            millpond.retire(name, version.version, wait=DEADLINE)
        except millpond.NotFound:
            pass  # it was draining


@pytest.fixture
def pond(_server):
    return _server.pond


@pytest.fixture
def python():
    """Runs a script in another process; returns what it printed."""

    def run(script, *args, status=0):
        ended = subprocess.run(
            [sys.executable, "-c", script, *args],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert ended.returncode == status, ended.stderr
        return ended.stdout

    return run


@pytest.fixture
def limited(tmp_path):
    """The program, and an environment in which what it runs has the software driver as a library: it is limited there."""
    program = os.environ["MILLPOND_BIN"]
    folder = pathlib.Path(program).parent
    links = {"libcuda.so.1": "libcuda.so", "libnvidia-ml.so.1": "libnvidia_ml.so"}
    for link, library in links.items():
        if not (folder / library).exists() or not (folder / "libmillpond_preload.so").exists():
            pytest.skip(f"there is no {library} or no libmillpond_preload.so beside {program}")
        (tmp_path / link).symlink_to(folder / library)
    return program, {**os.environ, "MILLPOND_DRIVER": "cuda", "LD_LIBRARY_PATH": str(tmp_path)}


def pytest_sessionfinish(session):
    if not GPU:
        names = f"{', '.join(_GPU_ONLY[:-1])} and {_GPU_ONLY[-1]}"
        sys.__stdout__.write(f"\nSKIPPED: {names}: MILLPOND_TEST_GPU=1 runs them on a GPU\n")


def pytest_runtest_logreport(report):
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        sys.__stdout__.write(f"\nSKIPPED: {report.nodeid}: {reason}\n")


def pytest_collectreport(report):
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        sys.__stdout__.write(f"\nSKIPPED: {report.nodeid}: {reason}\n")
