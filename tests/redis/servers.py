"""Real Redis servers on private ports: one, a primary with its replica and a Sentinel, a cluster of three; with TLS and without."""

import os
import random
import socket
import subprocess

import redis

from harness import PATIENCE, eventually, eventually_equal

# Below what the kernel hands out by itself, also for the bus of a cluster, which is 10,000 above.
PORTS = range(11_000, 22_000)
SERVER = os.environ["REDIS_SERVER"]


def free_port():
    """A port that nobody uses, with that of a cluster's bus."""
    while True:
        port = random.choice(PORTS)
        try:
            for each in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port


class Redis:
    """One server, by a loopback port and by a unix socket."""

    def __init__(self, folder, name="redis", appendonly=False, arguments=(), tls=None, password=None, start=True):
        self.home = folder / name
        self.home.mkdir()
        self.port, self.socket, self.process = free_port(), str(self.home / "s"), None
        self.tls, self.password = tls, password
        self.arguments = ["--dir", str(self.home), "--unixsocket", self.socket, "--bind", "127.0.0.1", "--save", "", "--daemonize", "no",
                          "--appendonly", "yes" if appendonly else "no", "--logfile", str(self.home / "log"), *arguments]
        if tls:
            self.arguments += ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", str(tls.certificate), "--tls-key-file",
                               str(tls.key), "--tls-ca-cert-file", str(tls.authority), "--tls-auth-clients", "no"]
        else:
            self.arguments += ["--port", str(self.port)]
        if password:
            self.arguments += ["--requirepass", password]
        if start:
            self.start()

    @property
    def url(self):
        return f"redis{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    @property
    def unix(self):
        return f"unix://{self.socket}"

    def start(self):
        # It says nothing here; its log is a file of its own.
        self.process = subprocess.Popen([SERVER, *self.arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(f"Redis in {self.home}", lambda: self.connect().ping())
        return self

    def connect(self):
        """A connection of its own, as the user who may do everything."""
        return redis.Redis(unix_socket_path=self.socket, password=self.password, decode_responses=True, socket_timeout=PATIENCE + 5, retry=None)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def restart(self):
        """Killed and started again: empty, or as its append-only file has it."""
        self.kill()
        return self.start()

    def cli(self, *words):
        """What somebody types."""
        ran = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
        if ran.returncode:
            raise AssertionError(f"redis-cli {words}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def log(self):
        return (self.home / "log").read_text(errors="replace")


class Cluster:
    """Three primaries without replicas."""

    def __init__(self, folder):
        arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"]
        self.servers = [Redis(folder, f"c{number}", arguments=[*arguments, "--cluster-config-file", "nodes.conf"]) for number in range(3)]
        for epoch, server in enumerate(self.servers):
            server.connect().execute_command("CLUSTER", "SET-CONFIG-EPOCH", epoch + 1)
        subprocess.run(["redis-cli", "--cluster", "create", *(f"127.0.0.1:{server.port}" for server in self.servers), "--cluster-yes"],
                       check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
        for server in self.servers:
            eventually_equal("a cluster that is whole", ("ok", "3"), lambda server=server: self.state(server))

    @staticmethod
    def state(server):
        info = server.connect().execute_command("CLUSTER", "INFO")
        if isinstance(info, str):
            info = dict(line.split(":", 1) for line in info.split())
        return info["cluster_state"], info["cluster_known_nodes"]

    @property
    def urls(self):
        return [server.url for server in self.servers]

    def connect(self):
        return redis.RedisCluster(host="127.0.0.1", port=self.servers[0].port, decode_responses=True, socket_timeout=PATIENCE + 5)

    def kill(self):
        for server in self.servers:
            server.kill()


class Sentinel:
    """One, which is enough to say who is the primary."""

    def __init__(self, folder, name, primary):
        self.port, self.process = free_port(), None
        home = folder / "sentinel"
        home.mkdir()
        self.file = home / "sentinel.conf"
        self.file.write_text(f"port {self.port}\nbind 127.0.0.1\ndir {home}\nlogfile {home}/log\n"
                             f"sentinel monitor {name} 127.0.0.1 {primary.port} 1\nsentinel down-after-milliseconds {name} 1000\n"
                             f"sentinel failover-timeout {name} 10000\n")
        self.process = subprocess.Popen([SERVER, str(self.file), "--sentinel"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        eventually("a Sentinel", lambda: self.connect().ping())

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def connect(self):
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=PATIENCE, retry=None)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Certificates:
    """An authority that nobody else trusts, and a certificate of it for the loopback address."""

    def __init__(self, folder):
        home = folder / "certificates"
        home.mkdir()
        self.authority, self.key, self.certificate = home / "ca.pem", home / "key.pem", home / "cert.pem"
        extensions = home / "extensions"
        extensions.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")

        def openssl(*words):
            subprocess.run(["openssl", *map(str, words)], check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        openssl("req", "-x509", *curve, "-keyout", home / "ca.key", "-out", self.authority, "-days", "2", "-subj", "/CN=tests",
                "-addext", "basicConstraints=critical,CA:TRUE")
        openssl("req", *curve, "-keyout", self.key, "-out", home / "request", "-subj", "/CN=localhost")
        openssl("x509", "-req", "-in", home / "request", "-CA", self.authority, "-CAkey", home / "ca.key", "-CAcreateserial", "-days", "2",
                "-out", self.certificate, "-extfile", extensions)
