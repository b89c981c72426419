#!/usr/bin/env python3
"""N workers that infer with one attached copy of the weights, without MPS and with it.

    mps.py --millpond PROGRAM [--out mps.json] [--wheel WHEEL] [--workers 1,2,4,8] [--seconds 2]
    mps.py --table RESULTS.json        the results as the table of docs/mps.md

MPS is started in a temporary folder of its own, for these workers only, and ended again; no setting
of the GPU is changed. Where it cannot be started this prints `SKIPPED` with the reason, and only
the numbers without it. Every worker's output must be the same to the last bit.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pond as ponds
import wheels

HERE = pathlib.Path(__file__).resolve().parent
SERVE = {"kind": "dense", "hidden": 1024, "intermediate": 4096, "layers": 16, "vocabulary": 32768}
SMALL = {"kind": "dense", "hidden": 64, "intermediate": 192, "layers": 4, "vocabulary": 4096}


class NoMps(Exception):
    """MPS cannot be used here, with the reason."""


@contextlib.contextmanager
def mps():
    """The environment of clients of a control daemon of our own."""
    control = shutil.which("nvidia-cuda-mps-control")
    if not control:
        raise NoMps("nvidia-cuda-mps-control is not on this machine")
    # Names of sockets are short.
    folder = tempfile.mkdtemp(prefix="mps-", dir="/tmp")
    env = os.environ | {"CUDA_MPS_PIPE_DIRECTORY": f"{folder}/pipe", "CUDA_MPS_LOG_DIRECTORY": f"{folder}/log"}
    for name in ("pipe", "log"):
        os.mkdir(f"{folder}/{name}")
    try:
        started = subprocess.run([control, "-d"], env=env, capture_output=True, text=True, timeout=30)
        if started.returncode != 0:
            raise NoMps(f"nvidia-cuda-mps-control -d: exit code {started.returncode}: {(started.stderr or started.stdout).strip()}")
        probe(env, folder)
        yield {name: env[name] for name in ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")}
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([control], input="quit\n", env=env, capture_output=True, text=True, timeout=30)
        # Only the one that was started here: its own file says which it is.
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(pathlib.Path(f"{folder}/pipe/nvidia-cuda-mps-control.pid").read_text()), signal.SIGTERM)
        shutil.rmtree(folder, ignore_errors=True)


def probe(env, folder):
    """Raises where a bare program gets no context under MPS: then it is not the workers' fault."""
    program = "import driver; driver.Driver().context()"
    try:
        done = subprocess.run([sys.executable, "-c", program], env=env | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True, timeout=60)
        error = (done.stderr.strip().splitlines() or ["no message"])[-1] if done.returncode != 0 else None
    except subprocess.TimeoutExpired:
        error = "no answer within 60 s"
    if error:
        logs = [log.read_text(errors="replace")[-300:] for log in sorted(pathlib.Path(folder, "log").glob("*.log"))]
        raise NoMps(f"a program under MPS gets no context: {error}; {' '.join(' '.join(logs).split())}")


class Workers:
    """Worker processes that have attached and computed once."""

    def __init__(self, count, env, soft):
        command = [sys.executable, str(HERE / "worker.py"), "--how", "attach", "--model", "serve", "--serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.processes = [subprocess.Popen(command + (["--soft"] if soft else []), env=env, text=True, **pipes) for _ in range(count)]
        try:
            self.digests = {json.loads(self._line(process))["digest"] for process in self.processes}
        except BaseException:
            self.end()
            raise

    def _line(self, process):
        line = process.stdout.readline()
        if not line.startswith("{"):
            process.kill()
            raise RuntimeError(f"a worker ended: {process.communicate()[1].strip()[-1500:]}")
        return line

    def run(self, count, seconds):
        """Outputs a second of the first `count` workers together."""
        chosen = self.processes[:count]
        for process in chosen:
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
        answers = [json.loads(self._line(process)) for process in chosen]
        self.digests |= {answer["digest"] for answer in answers}
        return sum(answer["outputs"] / answer["seconds"] for answer in answers)

    def end(self):
        for process in self.processes:
            with contextlib.suppress(OSError):
                process.stdin.close()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def used_bytes(soft):
    """What the card says is in use, or None."""
    if soft:
        return None
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True, timeout=30).stdout.split()[0]) << 20


def measure(env, counts, seconds, soft, with_mps):
    """Rows for each count; the workers are started once, and each time some of them work."""
    before = used_bytes(soft)
    begun = time.monotonic()
    workers = Workers(max(counts), env, soft)
    try:
        started = time.monotonic() - begun
        after = used_bytes(soft)
        each = None if after is None else (after - before) // max(counts)
        rows = []
        for count in counts:
            workers.run(count, seconds / 4)
            rows.append({"workers": count, "mps": with_mps, "outputs_per_second": round(workers.run(count, seconds), 1),
                         "gpu_bytes_per_worker": each, "start_seconds": round(started, 2)})
            print(f"  {count} workers, {'MPS' if with_mps else 'no MPS'}: {rows[-1]['outputs_per_second']} outputs/s", flush=True)
    finally:
        workers.end()
    if len(workers.digests) != 1:
        raise RuntimeError(f"outputs differ between workers: {sorted(workers.digests)}")
    return rows, workers.digests.pop()


def table(result):
    """The markdown of docs/mps.md."""
    found = {(row["workers"], row["mps"]): row for row in result["rows"]}
    lines = [f"<!-- from {result.get('gpu') or 'the software driver'}, {result.get('date')} -->",
             "| workers | outputs/s without MPS | with MPS | ratio | GPU memory of a worker without MPS | with MPS |",
             "| ---: | ---: | ---: | ---: | ---: | ---: |"]
    memory = lambda row: "-" if not row or row["gpu_bytes_per_worker"] is None else f"{row['gpu_bytes_per_worker'] / (1 << 20):,.0f} MiB"
    for count in sorted({workers for workers, _ in found}):
        plain, shared = found.get((count, False)), found.get((count, True))
        speed = lambda row: f"{row['outputs_per_second']:,.1f}" if row else "-"
        ratio = f"{shared['outputs_per_second'] / plain['outputs_per_second']:.2f}" if plain and shared and plain["outputs_per_second"] else "-"
        lines.append(f"| {count} | {speed(plain)} | {speed(shared)} | {ratio} | {memory(plain)} | {memory(shared)} |")
    if result.get("skipped"):
        lines.append(f"\nWith MPS: not measured, {result['skipped']}.")
    return "\n".join(lines)


def run(arguments):
    soft, folder = arguments.soft, pathlib.Path(tempfile.mkdtemp(prefix="mpsb-", dir=arguments.folder))
    counts = sorted({int(count) for count in arguments.workers.split(",")})
    python = [str(HERE)]
    pond = None
    try:
        if arguments.wheel:
            wheels.unpack(arguments.wheel, folder / "python")
            python.append(str(folder / "python"))
        spec = (SMALL if arguments.small else SERVE) | {"dtype": "F32" if soft else "BF16"}
        made = ponds.run([sys.executable, str(HERE / "checkpoints.py"), str(folder / "serve"), json.dumps(spec)])
        pond = ponds.Pond(arguments.millpond, soft)
        pond.cli("load", "serve", folder / "serve", "--version", "v1", "--activate")
        env = pond.env | {"PYTHONPATH": ":".join(python + ([os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []))}
        rows, output = measure(env, counts, arguments.seconds, soft, False)
        result = {"weights_bytes": made.json()["bytes"], "skipped": None}
        try:
            if soft:
                raise NoMps("the software driver has no MPS")
            with mps() as extra:
                more, other = measure(env | extra, counts, arguments.seconds, soft, True)
            if other != output:
                raise RuntimeError(f"outputs with MPS ({other}) and without ({output}) differ")
            rows += more
        except NoMps as reason:
            print(f"SKIPPED: with MPS: {reason}", flush=True)
            result["skipped"] = str(reason)
        return result | {"rows": rows}
    finally:
        if pond:
            pond.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--millpond", default=os.environ.get("MILLPOND_BIN"))
    parser.add_argument("--wheel")
    parser.add_argument("--out")
    parser.add_argument("--folder")
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--soft", action="store_true")
    parser.add_argument("--table", metavar="RESULTS")
    arguments = parser.parse_args()
    if arguments.table:
        result = json.loads(pathlib.Path(arguments.table).read_text())
        print(table(result.get("mps") or result))
        return 0
    if not arguments.millpond:
        parser.error("--millpond or MILLPOND_BIN must name the program")
    import side_by_side

    result = {"date": time.strftime("%Y-%m-%d"), "gpu": None if arguments.soft else side_by_side.machine()} | run(arguments)
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))
    print(f"{len(result['rows'])} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
