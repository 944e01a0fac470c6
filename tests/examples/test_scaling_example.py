# SPDX-License-Identifier: MIT
"""examples/scaling without containers: the files of the example, beside a real nginx and Redis."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import scaled
import yaml
from ports import free_port
from workspace import packages

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(scaled.missing() is not None, reason=str(scaled.missing())),
]

WAIT_S = 30.0


class Answer(NamedTuple):
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(port: int, method: str, path: str, cookie: str = "") -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path, headers={"cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())


def wait_for(condition: Callable[[], bool], seen: Callable[[], str] = str) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, seen()
        time.sleep(0.02)


def compose() -> dict[str, Any]:
    return yaml.safe_load((scaled.EXAMPLE / "compose.yaml").read_text())["services"]


@contextmanager
def running(
    *command: str, log: Path = Path(os.devnull), **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program of the example, whose output goes to `log`; it and what it started ends."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=scaled.EXAMPLE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def all_of_it() -> Iterator[scaled.Scaled]:
    # Not below tmp_path, which nginx without rights may not enter.
    with (
        tempfile.TemporaryDirectory() as folder,
        scaled.Scaled(Path(folder), limit="1000/hour") as found,
    ):
        yield found


def test_session_and_limit_are_those_of_all_workers(all_of_it: scaled.Scaled) -> None:
    port = all_of_it.proxy.port
    first = ask(port, "POST", "/visits")
    cookie = first.headers["set-cookie"].partition(";")[0]
    assert first.json["count"] == 1
    workers = {first.json["worker"]}
    left = [first]
    for count in range(2, 30):
        answer = ask(port, "POST", "/visits", cookie)
        assert answer.json["count"] == count
        workers.add(answer.json["worker"])
        left.append(answer)
        if len(workers) > 1:
            break
    # A machine takes the connections that nginx keeps in one worker, so these are on both machines.
    assert len(workers) > 1
    remaining = [int(re.findall(r";r=(\d+)", each.headers["ratelimit"])[0]) for each in left]
    assert remaining == [*range(remaining[0], remaining[0] - len(left), -1)]


def test_event_of_one_machine_reaches_the_other(all_of_it: scaled.Scaled) -> None:
    one, other = all_of_it.machines
    with closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=20)) as connection:
        connection.request("GET", "/events")
        events = connection.getresponse()
        assert events.readline() == b"event: subscribed\n"
        assert ask(other.port, "POST", "/visits").status == 201
        while (line := events.readline()) != b"data: 1\n":
            assert line, "the events ended"


def test_job_is_done_by_another_process(all_of_it: scaled.Scaled) -> None:
    port = all_of_it.proxy.port
    ordered = ask(port, "POST", "/reports/sales")
    assert ordered.status == 202
    path = f"/reports/{ordered.json['id']}"
    assert ask(port, "GET", path).status == 404
    name, *arguments = compose()["jobs"]["command"].split()
    with running(sys.executable, "-m", name, *arguments, REDIS_URL=all_of_it.redis.url) as worker:
        wait_for(lambda: ask(port, "GET", path).status == 200)
        done = ask(port, "GET", path).json
        assert done["name"] == "sales"
        assert os.getsid(done["made_by"]) == worker.pid


def test_is_not_ready_without_redis(all_of_it: scaled.Scaled) -> None:
    port = all_of_it.machines[0].port
    assert ask(port, "GET", "/readyz").status == 200
    all_of_it.redis.stop()
    try:
        assert ask(port, "GET", "/readyz").status == 503
        assert ask(port, "GET", "/livez").status == 200
        assert ask(port, "POST", "/visits").status == 503
    finally:
        all_of_it.redis.start()
    wait_for(lambda: ask(port, "GET", "/readyz").status == 200)


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no caddy")
def test_caddy_asks_for_readiness(all_of_it: scaled.Scaled, tmp_path: Path) -> None:
    port = free_port()
    config = (scaled.EXAMPLE / "proxy/Caddyfile").read_text()
    config = config.replace(":80 {", f"http://127.0.0.1:{port} {{", 1)
    for number, machine in enumerate(all_of_it.machines, 1):
        config = config.replace(f"app{number}:8000", f"127.0.0.1:{machine.port}")
    file = tmp_path / "Caddyfile"
    file.write_text("{\n\tadmin off\n}\n" + config)
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    seen: list[object] = []
    log = tmp_path / "log"
    command = ("caddy", "run", "--adapter", "caddyfile", "--config", str(file))
    with running(*command, log=log, **home):

        def answers() -> bool:
            try:
                seen.append(ask(port, "POST", "/visits"))
            except OSError as error:
                seen.append(error)
            return getattr(seen[-1], "status", 0) == 201

        wait_for(answers, lambda: f"{len(seen)} answers, the last: {seen[-1]!r}; {log.read_text()}")


def test_files_agree() -> None:
    services = compose()
    assert services["app1"]["command"] == (
        f"kit serve app.py --host 0.0.0.0 --workers {scaled.WORKERS}"
    )
    assert services["app2"] == services["app1"]
    for name in ("upstream.conf", "Caddyfile"):
        hosts = re.findall(r"\b(app\d):8000", (scaled.EXAMPLE / "proxy" / name).read_text())
        assert sorted(hosts) == ["app1", "app2"]
    mounted = [volume.split(":")[0] for volume in services["proxy"]["volumes"]]
    # The folder: a file that is replaced stays the old one for the container.
    assert mounted == ["./proxy"]
    required = (scaled.EXAMPLE / "requirements.txt").read_text().split()
    known = packages()
    ours = [re.split(r"\[", each)[0] for each in required if each.startswith("kit-")]
    assert [each for each in ours if each not in known] == []
