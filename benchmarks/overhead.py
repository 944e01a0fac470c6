# SPDX-License-Identifier: MIT
"""What Kit's own middleware costs, beside the text route that it is put in front of.

    uv run python benchmarks/overhead.py [--rounds 15] [--requests 5000] [--json FILE]

The figure is (time with it - time without) / time without, in interleaved rounds of one process.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import time
from pathlib import Path
from typing import Any

from kit import Context, Kit
from kit.bearer_auth import bearer_auth
from kit.logger import logger
from kit.trailing_slash import append_trailing_slash, trim_trailing_slash

HEADERS = [(b"host", b"localhost"), (b"authorization", b"Bearer s3cret")]


def apps() -> dict[str, Kit[Any, Any]]:
    """The same text route behind each middleware."""

    async def text(c: Context) -> Any:
        return c.text("Hello, World!")

    async def pass_through(c: Context, next: Any) -> None:
        await next()

    return {
        "text": Kit().get("/", text),
        "pass-through": Kit().use(pass_through).get("/", text),
        "logger": Kit().use(logger(lambda line: None)).get("/", text),
        "bearer-auth": Kit().use(bearer_auth(token="s3cret")).get("/", text),
        "trim-trailing-slash": Kit().use(trim_trailing_slash()).get("/", text),
        "append-trailing-slash": Kit().use(append_trailing_slash()).get("/", text),
    }


async def answer(app: Kit[Any, Any], count: int) -> list[Any]:
    """Sends so many requests; the messages of the last one."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": b"",
        "headers": HEADERS,
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    for _ in range(count):
        sent.clear()
        await app(dict(scope), receive, send)
    return sent


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    contestants = apps()
    loop = asyncio.new_event_loop()
    for name, app in contestants.items():
        start, body = loop.run_until_complete(answer(app, 1))
        if start["status"] != 200 or body["body"] != b"Hello, World!":
            raise SystemExit(f"{name} answered {start['status']} {body['body']!r}")
    gc.collect()
    gc.freeze()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, app in contestants.items():
            began = time.perf_counter()
            loop.run_until_complete(answer(app, options.requests))
            times[name].append((time.perf_counter() - began) / options.requests)
    loop.close()
    overhead = {
        name: statistics.median(
            (own - text) / text for own, text in zip(taken, times["text"], strict=True)
        )
        for name, taken in times.items()
        if name != "text"
    }
    print(f"text route alone: {min(times['text']) * 1e6:.2f} µs (min)\n")
    print(f"{'middleware':24}{'overhead':>10}")
    for name, ratio in overhead.items():
        print(f"{name:24}{ratio:10.2f}")
    if options.json:
        options.json.write_text(json.dumps({"seconds": times, "overhead": overhead}, indent=1))


if __name__ == "__main__":
    main()
