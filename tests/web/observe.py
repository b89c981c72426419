"""What a shell cannot do for observe.sh: many readers at once, sums over a scrape, a Prometheus.

    observe.py sums SCRAPE                       whether the memory by holder adds up
    observe.py rules DASHBOARD                   its expressions as rules, for promtool to read
    observe.py names SCRAPE FILE...              names that FILEs mention and the scrape does not have
    observe.py scrape URL COUNT SECONDS          scrapes so often, so far apart
    observe.py prometheus URL FOLDER DEPLOY TOKEN  has Prometheus scrape, and evaluates every expression
    observe.py readers URL COUNT PONDTOOL        so many readers at once, with slow and dead ones among them
    observe.py unread URL COUNT PID              so many readers that never read: the memory of the server, in KiB
    observe.py flood URL COUNT USER              so many connections of a user with half a request each, renewed until it is killed
    observe.py follow URL                        prints a line for what one reader is told
"""

import asyncio
import json
import os
import pathlib
import re
import resource
import select
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

NAME = re.compile(r"(?<![A-Za-z0-9_])millpond_[a-z0-9_]+")
# Variables of the dashboard, as Grafana would put something in their place.
VARIABLES = {"$instance": ".*", "$gpu": ".*", "$__rate_interval": "1m"}
PATIENCE = 60


def expressions(dashboard: str) -> list[str]:
    board = json.loads(pathlib.Path(dashboard).read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    found += [note["expr"] for note in board["annotations"]["list"]]
    for variable, value in VARIABLES.items():
        found = [expression.replace(variable, value) for expression in found]
    if any("$" in expression for expression in found):
        raise SystemExit("a variable that nobody knows")
    return found


def sums(scrape: str) -> None:
    held, used = {}, {}
    for line in pathlib.Path(scrape).read_text().splitlines():
        if match := re.match(r'millpond_gpu_memory_(held|used)_bytes\{gpu="([^"]*)".*\} (\d+)$', line):
            sums = held if match[1] == "held" else used
            sums[match[2]] = sums.get(match[2], 0) + int(match[3])
    print("same" if held == used and used else f"{held} instead of {used}")


def rules(dashboard: str) -> None:
    lines = [{"record": f"panel:{number}", "expr": it} for number, it in enumerate(expressions(dashboard))]
    print(json.dumps({"groups": [{"name": "dashboard", "rules": lines}]}))


def names(scrape: str, *files: str) -> None:
    there = set(NAME.findall(pathlib.Path(scrape).read_text()))
    mentioned = {name for file in files for name in NAME.findall(pathlib.Path(file).read_text())}
    print(" ".join(sorted(mentioned - there)))


def scrape(url: str, count: str, seconds: str) -> None:
    answered = 0
    for _ in range(int(count)):
        begun = time.monotonic()
        with urllib.request.urlopen(f"{url}metrics", timeout=PATIENCE) as answer:
            answered += answer.read().endswith(b"# EOF\n")
        time.sleep(max(0.0, begun + float(seconds) - time.monotonic()))
    print(f"{answered} answered")


def prometheus(url: str, folder: str, deploy: str, token: str) -> None:
    work = pathlib.Path(folder) / "prometheus"
    work.mkdir()
    (work / "token").write_text(token)
    target = urllib.parse.urlparse(url).netloc
    (work / "prometheus.yml").write_text(
        "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s}\n"
        f"rule_files: ['{deploy}/prometheus/millpond.rules.yml']\n"
        "scrape_configs:\n  - job_name: millpond\n"
        f"    static_configs: [{{targets: ['{target}']}}]\n"
        f"    authorization: {{credentials_file: '{work}/token'}}\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    log = (work / "log").open("w")
    process = subprocess.Popen(
        ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data", f"--web.listen-address={address}"],
        stdout=log, stderr=log)

    def query(expression: str) -> list:
        words = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://{address}/api/v1/query?{words}", timeout=PATIENCE) as answer:
            return json.load(answer)["data"]["result"]

    def until(expression: str) -> list:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if found := query(expression):
                    return found
            except OSError:
                pass
            time.sleep(0.2)
        raise SystemExit(f"no answer to {expression}: {(work / 'log').read_text()[-2000:]}")

    try:
        until('count_over_time(millpond_up[1m]) >= 3')
        with_data = sum(bool(query(expression)) for expression in expressions(f"{deploy}/grafana/dashboards/millpond.json"))
        print(f"{with_data} expressions of the dashboard have data")
        if with_data < 30:
            raise SystemExit("too few")
        with urllib.request.urlopen(f"http://{address}/api/v1/rules", timeout=PATIENCE) as answer:
            groups = json.load(answer)["data"]["groups"]
        bad = [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"]
        firing = [rule["name"] for group in groups for rule in group["rules"] if rule.get("state") == "firing"]
        print("all is well" if not bad and not firing else f"bad: {bad}, firing: {firing}")
    finally:
        process.terminate()
        process.wait()


class Reader:
    """One connection to /api/v1/live."""

    def __init__(self, url: str) -> None:
        parsed = urllib.parse.urlparse(url)
        self.host, self.port = parsed.hostname, parsed.port
        self.status = 0
        self.names: list[str] = []

    async def open(self) -> "Reader":
        self.stream, self.writer = await asyncio.open_connection(self.host, self.port, limit=1 << 26)
        self.writer.write(f"GET /api/v1/live HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        await self.writer.drain()
        return self

    async def head(self) -> int:
        head = await asyncio.wait_for(self.stream.readuntil(b"\r\n\r\n"), PATIENCE)
        self.status = int(head.split()[1])
        return self.status

    async def event(self) -> tuple[str, bytes] | None:
        """The next event; nothing at the end. Events may be cut anywhere by the chunks of the transfer."""
        name = ""
        while True:
            line = await self.line()
            if line is None:
                return None
            if line.startswith(b"event: "):
                name = line[7:].decode()
            elif line.startswith(b"data: "):
                self.names.append(name)
                return name, line[6:]

    rest = b""

    async def line(self) -> bytes | None:
        while b"\n" not in self.rest:
            try:
                size = await self.stream.readline()
                if not size or int(size, 16) == 0:
                    return None
                self.rest += (await self.stream.readexactly(int(size, 16) + 2))[:-2]
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def close(self) -> None:
        self.writer.close()


async def until_named(reader: Reader, name: bytes) -> bool:
    """Whether an overview with a tensor of that name comes."""
    async def wait() -> bool:
        while event := await reader.event():
            if event[0] == "overview" and name in event[1]:
                return True
        return False
    return await asyncio.wait_for(wait(), PATIENCE)


def say(is_so: bool, what: str) -> None:
    print(("ok " if is_so else "not so: ") + what, flush=True)


async def readers(url: str, count: str, pondtool: str) -> None:
    number = int(count)
    gate = asyncio.Semaphore(50)

    async def join() -> Reader:
        async with gate:
            reader = await Reader(url).open()
            await reader.head()
            return reader

    # Ten of them never read, and so are cut off.
    dead = [await Reader(url).open() for _ in range(10)]
    for reader in dead:
        await reader.head()
        reader.stream._transport.pause_reading()
    crowd = await asyncio.gather(*[join() for _ in range(number - len(dead))])
    say({reader.status for reader in crowd} == {200}, f"{number} readers at once")
    late = await join()
    say(late.status == 503, "one more is refused")
    late.close()

    for at in range(2):
        name = f"for-all-{at}"
        subprocess.run([pondtool, "put", name, "4096", "1"], check=True, stdout=subprocess.DEVNULL)
        begun = time.monotonic()
        saw = await asyncio.gather(*[until_named(reader, f'"{name}"'.encode()) for reader in crowd])
        print(f"ok every reader was told of a tensor within {time.monotonic() - begun:.1f} s" if all(saw) else
              f"not so: {saw.count(False)} readers were not told of a tensor", flush=True)
    firsts = {tuple(reader.names[:2]) for reader in crowd}
    say(firsts == {("pond", "overview")}, "each is told of the pond and then of everything")
    for reader in crowd[5:]:
        reader.close()

    # Enough for the buffers of the kernel to be full: who does not read is cut off, and who reads is not.
    subprocess.run([pondtool, "many", "0" * 240, "1000", "4096"], check=True, stdout=subprocess.DEVNULL)
    living = crowd[0]

    async def churn() -> None:
        number = 0
        while True:
            number += 1
            # A change in each second, or nothing is sent.
            process = await asyncio.create_subprocess_exec(pondtool, "put", f"churn-{number}", "4096", "1", stdout=subprocess.DEVNULL)
            await process.wait()
            await asyncio.sleep(0.2)

    async def listen() -> None:
        while await living.event():
            pass

    def scraped() -> bytes:
        with urllib.request.urlopen(f"{url}metrics", timeout=PATIENCE) as answer:
            return answer.read()

    async def all_cut() -> None:
        while True:
            # In a thread: the one that reads goes on reading.
            if b"\nmillpond_web_readers 1\n" in await asyncio.to_thread(scraped):
                return
            await asyncio.sleep(0.5)

    for reader in crowd[1:5]:
        reader.close()
    churning, listening = asyncio.create_task(churn()), asyncio.create_task(listen())
    try:
        await asyncio.wait_for(all_cut(), 2 * PATIENCE)
        say(not listening.done(), "readers that do not read are cut off, and the one that reads is not")
    except TimeoutError:
        say(False, "readers that do not read are cut off")
    churning.cancel()
    listening.cancel()
    for reader in [living, *dead]:
        reader.close()


def connected(url: str, request: str) -> socket.socket:
    parsed = urllib.parse.urlparse(url)
    one = socket.create_connection((parsed.hostname, parsed.port), timeout=PATIENCE)
    one.sendall(f"{request} HTTP/1.1\r\nHost: {parsed.hostname}\r\n".encode())
    return one


def unread(url: str, count: str, pid: str) -> None:
    readers = []
    for _ in range(int(count)):
        reader = connected(url, "GET /api/v1/live")
        # What is in flight is the server's to keep, not the kernel's.
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(b"\r\n")
        readers.append(reader)
    for reader in readers:
        if not reader.recv(12).endswith(b" 200"):
            raise SystemExit("a reader is refused")
    peak = re.search(r"^VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    print(peak[1])


def flood(url: str, count: str, user: str) -> None:
    # What the user may not read is loaded before.
    "".encode("idna")
    os.setgroups([])
    os.setuid(int(user))
    ready, told = select.poll(), False
    lot: dict[int, socket.socket] = {}
    while True:
        while len(lot) < int(count):
            try:
                one = connected(url, "GET /metrics")
            except OSError:
                continue
            lot[one.fileno()] = one
            ready.register(one, select.POLLIN)
        if not told:
            print(f"{len(lot)} connections", flush=True)
            told = True
        for number, _ in ready.poll(1000):
            ready.unregister(number)
            lot.pop(number).close()


async def follow(url: str) -> None:
    reader = await Reader(url).open()
    await reader.head()
    epoch = None
    while event := await reader.event():
        name, data = event[0], json.loads(event[1])
        if name == "pond":
            print(f"pond {data['state']}", flush=True)
        elif name == "events":
            for one in data:
                print(f"event {one['kind']}", flush=True)
        elif name == "overview" and data["status"]["epoch"] != epoch:
            epoch = data["status"]["epoch"]
            print(f"epoch {epoch}", flush=True)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    made = {"sums": sums, "rules": rules, "names": names, "scrape": scrape, "prometheus": prometheus, "readers": readers, "unread": unread, "flood": flood,
            "follow": follow}[command](*arguments)
    if asyncio.iscoroutine(made):
        asyncio.run(made)
