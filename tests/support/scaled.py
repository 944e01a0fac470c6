# SPDX-License-Identifier: MIT
"""examples/scaling without containers: its app, its proxy configuration, and a Redis."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.error import URLError
from urllib.request import urlopen

import nginx
import redis_server
from ports import free_port
from serving import ServerProcess

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scaling"
MACHINES = 2
WORKERS = 2
READY_S = 30.0
LOOK_S = 0.02
# Where nginx may write; the rest is the file of the example.
_TEMPORARY = "\n".join(
    f"    {name}_temp_path {{own}}/{name};"
    for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
)


def missing() -> str | None:
    """Says which program is missing; None if all are there."""
    return nginx.missing() or redis_server.missing()


class Machine(ServerProcess):
    """Several workers of the app, as a machine has them.

    Args:
        number: Which one it is, from 1 on.
        folder: Where its log goes.
        redis_url: The Redis.
        limit: The rate limit.
    """

    def __init__(self, number: int, folder: Path, redis_url: str, limit: str) -> None:
        port = free_port()
        command = [sys.executable, "-m", "kit", "serve", "app.py"]
        command += ["--port", str(port), "--workers", str(WORKERS)]
        super().__init__(
            command,
            port,
            folder / f"machine{number}.log",
            folder=EXAMPLE,
            environment={"REDIS_URL": redis_url, "RATE_LIMIT": limit},
        )

    def __enter__(self) -> Self:
        super().__enter__()
        self.wait_until_ready()
        return self

    def wait_until_ready(self) -> None:
        """Waits until it says that it is ready."""
        end = time.monotonic() + READY_S
        while time.monotonic() < end and self.is_running:
            try:
                urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).close()
            except (URLError, OSError):
                time.sleep(LOOK_S)
            else:
                return
        raise RuntimeError(f"a machine is not ready:\n{self.printed()}")


class Proxy(nginx.NginxProcess):
    """nginx with the configuration of the example.

    Args:
        own: An empty folder that everyone can enter.
        machines: The machines.
    """

    def __init__(self, own: Path, machines: list[Machine]) -> None:
        port = free_port()
        config = (EXAMPLE / "proxy/nginx.conf").read_text()
        config = config.replace("listen 80;", f"listen 127.0.0.1:{port};")
        config = config.replace("http {\n", "http {\n" + _TEMPORARY.format(own=own) + "\n", 1)
        head = f"daemon off;\npid {own}/pid;\nerror_log {own}/error.log warn;\n"
        self._servers = own / "upstream.conf"
        servers = (EXAMPLE / "proxy/upstream.conf").read_text()
        for number, machine in enumerate(machines, 1):
            servers = servers.replace(f"app{number}:8000", f"127.0.0.1:{machine.port}")
        self._servers.write_text(servers)
        super().__init__(head + config, port, own)

    def drain(self, machine: Machine, limit_s: float = 15.0) -> None:
        """Sends a machine no more requests, and waits until it has answered those it has.

        Args:
            machine: The machine.
            limit_s: After so long it is left to the shutdown of the machine to end the rest.
        """
        self._change(rf"(127\.0\.0\.1:{machine.port} .*[^n]);", r"\1 down;", limit_s)

    def restore(self, machine: Machine) -> None:
        """Sends requests to a machine again."""
        self._change(rf"(127\.0\.0\.1:{machine.port} .*) down;", r"\1;", 0)

    def _change(self, pattern: str, replacement: str, limit_s: float) -> None:
        self._servers.write_text(re.sub(pattern, replacement, self._servers.read_text()))
        old = self._workers()
        self.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + READY_S
        while not self._workers() - old:
            if time.monotonic() > end:
                raise RuntimeError("nginx did not take its configuration")
            time.sleep(LOOK_S)
        # Those before finish what they have, with their connections to the machine.
        end = time.monotonic() + limit_s
        while self._workers() & old and time.monotonic() < end:
            time.sleep(LOOK_S)

    def _workers(self) -> set[str]:
        pid = self.process.pid
        return {*Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}

    def printed(self) -> str:
        """Returns the error log."""
        return (self._own / "error.log").read_text()


class Scaled:
    """All of it, while it is entered.

    Args:
        folder: An empty folder that everyone can enter.
        limit: The rate limit.

    Attributes:
        redis: The Redis, whose data survive its restart.
        machines: The machines.
        proxy: The proxy.
    """

    def __init__(self, folder: Path, *, limit: str = "600/minute") -> None:
        self._stack = ExitStack()
        for name in ("redis", "nginx"):
            (folder / name).mkdir()
        folder.chmod(0o755)
        self.redis = redis_server.RedisServer(folder / "redis", is_durable=True)
        self._stack.callback(self.redis.stop)
        self.machines = [
            Machine(number, folder, self.redis.url, limit) for number in range(1, MACHINES + 1)
        ]
        self.proxy = Proxy(folder / "nginx", self.machines)

    def __enter__(self) -> Self:
        with self._stack:
            # Whether it has started, or was started again meanwhile.
            for machine in self.machines:
                self._stack.callback(machine.kill)
            with ThreadPoolExecutor() as threads:
                [*threads.map(Machine.__enter__, self.machines)]
            self._stack.enter_context(self.proxy)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def restart(self, machine: Machine, *, drain: bool = True) -> None:
        """Restarts a machine as a deployment does: drain, SIGTERM, wait, start, ready.

        Args:
            machine: The machine.
            drain: Whether the proxy is told before.
        """
        if drain:
            self.proxy.drain(machine)
        code = machine.stop(signal.SIGTERM)
        if code:
            raise RuntimeError(f"a machine ended with {code}:\n{machine.printed()}")
        machine.__enter__()
        if drain:
            self.proxy.restore(machine)

    def kill(self, machine: Machine, down_s: float) -> None:
        """Ends a machine by SIGKILL, and starts it again.

        Args:
            machine: The machine.
            down_s: For how long it is away.
        """
        os.killpg(machine.process.pid, signal.SIGKILL)
        machine.process.wait(READY_S)
        time.sleep(down_s)
        machine.__enter__()
