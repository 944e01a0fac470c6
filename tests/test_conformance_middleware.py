# SPDX-License-Identifier: MIT
"""Kit's middleware against the recorded answers of Hono 4.13 in `conformance/`.

The differences that are meant are the rules of `compare.py` and `middleware_compare.py`.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "conformance"
# The modules of the programs: those that Kit has, and those that it doesn't have yet.
MODULES: tuple[str, ...] = ("body_limit", "combine", "timeout")
ABSENT = {
    "kit.accepts",
    "kit.basic_auth",
    "kit.compress",
    "kit.context_storage",
    "kit.cors",
    "kit.csrf",
    "kit.etag",
    "kit.factory",
    "kit.ip_restriction",
    "kit.jwk",
    "kit.jwt",
    "kit.language",
    "kit.method_not_allowed",
    "kit.method_override",
    "kit.powered_by",
    "kit.pretty_json",
    "kit.request_id",
    "kit.secure_headers",
    "kit.serve_static",
    "kit.timing",
}


@pytest.fixture(scope="module")
def compare() -> Iterator[Any]:
    sys.path.insert(0, str(HERE))
    spec = importlib.util.spec_from_file_location(
        "middleware_compare", HERE / "middleware_compare.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(HERE))


@pytest.fixture(scope="module")
def programs(compare: Any) -> list[tuple[Any, Any]]:
    """Each program, with its answers in Kit.

    They run in a process of their own, for which time stands still.
    """
    expected = list(compare.base.read_lines(HERE / "middleware_cases.jsonl.gz"))
    tasks = compare.tasks(expected, compare.known_rules(None))
    ended = subprocess.run(
        [sys.executable, str(HERE / "middleware_kit_runner.py")],
        input="\n".join(map(json.dumps, tasks)),
        capture_output=True,
        text=True,
        check=True,
        timeout=150,
    )
    got = {answer["id"]: answer for answer in map(json.loads, ended.stdout.splitlines())}
    return [(program, got[number]) for number, program in enumerate(expected)]


def test_all_programs_are_there(programs: list[tuple[Any, Any]]) -> None:
    assert len(programs) == 900
    assert sum(len(program["requests"]) for program, _ in programs) == 7433


def test_nothing_is_skipped_that_kit_has(programs: list[tuple[Any, Any]]) -> None:
    assert {name for _, got in programs for name in got.get("skipped", ())} <= ABSENT


@pytest.mark.parametrize("module", MODULES)
def test_answers_agree(module: str, programs: list[tuple[Any, Any]], compare: Any) -> None:
    rules = compare.known_rules(None)
    ran = 0
    for program, got in programs:
        if module in program["uses"] and "skipped" not in got:
            ran += 1
            bad = compare.compare_program(program, got, rules)
            assert not bad, (json.dumps(program["app"]), bad)
    # The others use packages that Kit doesn't have yet.
    assert ran >= (20 if not ABSENT else 1)
