# SPDX-License-Identifier: MIT
"""Sends the requests of recorded programs to a server, and prints its answers as the runner does.

    python middleware_over_sockets.py PORT < tasks.jsonl > observed.jsonl

A task is a line `{"id": ..., "name": ..., "requests": [...]}`; `name` tells the server, that of
`served_middleware`, which program is meant. Time stands still in this process, as in that of the
runner.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
from collections.abc import Iterator
from typing import Any

from recorded_programs import HERE, load

sys.path.insert(0, str(HERE))
runner = load("middleware_kit_runner")

from kit import URL  # noqa: E402 - the runner stops the clock first

# What a server adds to each answer, or says of how it sends the body.
OF_THE_SERVER = ("server", "transfer-encoding", "connection")


class Headers:
    """The header lines of an answer, as the runner reads them."""

    def __init__(self, lines: list[tuple[str, str]]) -> None:
        self.lines = lines

    def items(self) -> Iterator[tuple[str, str]]:
        yield from self.lines


class Answer:
    """An answer, as the runner reads one."""

    def __init__(self, status: int, lines: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.headers = Headers(lines)
        self.body = body

    async def bytes(self) -> bytes:
        return self.body


class Remote:
    """Stands for an app that is served; requests go over one connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.name = ""

    async def request(self, given: str, init: Any, env: Any) -> Answer:
        url = URL(given if "://" in given else "http://localhost/" + given.removeprefix("/"))
        body = init.get("body")
        if body is not None and not isinstance(body, str):
            body = [chunk async for chunk in body]
        try:
            return self._exchange(url, init, body)
        except (http.client.BadStatusLine, OSError):  # closed after the answer before
            self.connection.close()
            return self._exchange(url, init, body)

    def _exchange(self, url: Any, init: Any, body: Any) -> Answer:
        sent = {name.lower() for name, _ in init["headers"]}
        put = self.connection.putheader
        self.connection.putrequest(
            init["method"], url.pathname + url.search, skip_host=True, skip_accept_encoding=True
        )
        put("x-kit-program", self.name)
        if "host" not in sent:
            put("host", url.host)
        for name, value in init["headers"]:
            put(name, value)
        if isinstance(body, str):
            body = body.encode()
            if "content-type" not in sent:
                put("content-type", "text/plain;charset=UTF-8")
            if "content-length" not in sent:
                put("content-length", str(len(body)))
            self.connection.endheaders(body)
        elif body is not None:
            put("transfer-encoding", "chunked")
            self.connection.endheaders(body, encode_chunked=True)
        else:
            self.connection.endheaders()
        response = self.connection.getresponse()
        content = response.read()
        lines = [
            (name, value)
            for name, value in response.getheaders()
            if name.lower() not in OF_THE_SERVER
        ]
        return Answer(response.status, lines, content)


async def main() -> None:
    """Answers each task."""
    remote = Remote(int(sys.argv[1]))
    for line in sys.stdin:
        task = json.loads(line)
        remote.name = task["name"]
        observed = [await runner.observe(remote, request) for request in task["requests"]]
        print(json.dumps({"id": task["id"], "observed": observed}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
