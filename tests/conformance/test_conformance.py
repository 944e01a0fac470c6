# SPDX-License-Identifier: MIT
"""Kit against the recorded answers of Hono 4.13 beside this file; the README says what they are.

The differences that are meant are the rules of `compare.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


compare = load("compare")
RULES = set(json.loads((HERE / "known.json").read_text())["rules"])


@pytest.fixture(scope="module")
def runner() -> Iterator[ModuleType]:
    """The runner of the programs."""
    logging.disable(logging.CRITICAL)
    yield load("kit_app_runner")
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def router_runner() -> ModuleType:
    return load("kit_router_runner")


def applications() -> list[Any]:
    return list(compare.read_lines(HERE / "app_cases.jsonl.gz"))


async def test_applications(runner: ModuleType) -> None:
    def again(programs: list[Any]) -> list[Any]:
        """As `compare.run_kit`, which starts a process for each of them."""
        with ThreadPoolExecutor(1) as pool:
            answers = [pool.submit(asyncio.run, runner.run(each)).result() for each in programs]
        return json.loads(json.dumps(answers))  # type: ignore[no-any-return]

    programs = applications()
    assert len(programs) == 600
    for program in programs:
        got = await runner.run({"app": program["app"], "requests": program["requests"]})
        bad = compare.compare_program(program, got, RULES, again)
        assert not bad, (json.dumps(program["app"]), bad)
    assert sum(len(program["requests"]) for program in programs) == 3633


def test_hono_router_tests(router_runner: ModuleType) -> None:
    cases = json.loads((HERE / "router_cases.json").read_text())["cases"]
    assert len(cases) == 610
    for case in cases:
        full = case.get("otherwise", case["steps"])
        steps = [{k: step[k] for k in ("add", "match") if k in step} for step in full]
        with contextlib.suppress(UserWarning):
            got = {"steps": router_runner.replay({"router": case["router"], "steps": steps})}
        assert not compare.compare_case(case, got, RULES), case["name"]


def test_random_route_tables(router_runner: ModuleType) -> None:
    tables = list(compare.read_lines(HERE / "router_random.jsonl.gz"))
    assert len(tables) == 1500
    for table in tables:
        task = {"routes": table["routes"], "probes": table["probes"]}
        results = {
            name: router_runner.answer(make, task) for name, make in router_runner.ROUTERS.items()
        }
        bad = compare.compare_table(table, {"results": results}, RULES)
        assert not bad, (table["id"], table["routes"], bad)


def test_data_is_that_of_the_runners() -> None:
    assert {path.name for path in HERE.iterdir() if path.suffix in (".gz", ".json")} == {
        "app_cases.jsonl.gz",
        "known.json",
        "middleware_cases.jsonl.gz",
        "middleware_known.json",
        "router_cases.json",
        "router_random.jsonl.gz",
    }


async def test_hung_program_is_seen(runner: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself can fail: a wrong answer and a hang are both mismatches."""
    program = applications()[1]
    got = await runner.run({"app": program["app"], "requests": program["requests"]})
    got["observed"][0]["status"] = 599
    assert compare.compare_program(program, got, RULES)
    monkeypatch.setattr(runner, "TIMEOUT", 0.01)

    async def hang(*_: Any) -> None:
        await asyncio.sleep(10)

    class Hanging:
        request = hang

    observed = await runner.observe(Hanging(), program["requests"][0])
    assert observed == {"error": "timeout"}
