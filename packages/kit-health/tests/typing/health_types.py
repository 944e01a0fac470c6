# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

from kit.health import Health, health
from kit.interface import Middleware


async def database(env: Mapping[str, Any]) -> bool:
    return bool(env["db"])


def disk(env: Mapping[str, Any]) -> None: ...


probes = health({"database": database, "disk": disk, "cache": lambda env: env["cache"].ping()})
health({"disk": lambda: True})
assert_type(probes, Health)
assert_type(probes.draining, bool)
assert_type(health(live=None, startup="/startupz", timeout=1, cache=0.5), Health)
assert_type(health(drain_file=Path("/tmp/draining"), show_errors=True), Health)
probes.drain()
middleware: Middleware = probes
