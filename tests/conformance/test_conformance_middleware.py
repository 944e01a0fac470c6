# SPDX-License-Identifier: MIT
"""Kit's middleware against the recorded answers of Hono 4.13 beside this file.

The differences that are meant are the rules of `compare.py` and `middleware_compare.py`.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import servers
from workspace import ROOT

# The tests of the packages run on every interpreter.
pytestmark = pytest.mark.once

SUPPORT = ROOT / "tests" / "support"
HERE = Path(__file__).parent
# The modules of the programs.
MODULES: tuple[str, ...] = (
    "accepts",
    "basic_auth",
    "body_limit",
    "combine",
    "compress",
    "context_storage",
    "cors",
    "csrf",
    "etag",
    "factory",
    "ip_restriction",
    "jwk",
    "jwt",
    "language",
    "method_not_allowed",
    "method_override",
    "powered_by",
    "pretty_json",
    "request_id",
    "secure_headers",
    "serve_static",
    "timeout",
    "timing",
)


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


def answers(script: Path, tasks: list[Any], *arguments: str) -> list[Any]:
    """Runs programs in a process of their own, for which time stands still."""
    ended = subprocess.run(
        [sys.executable, str(script), *arguments],
        input="\n".join(map(json.dumps, tasks)),
        capture_output=True,
        text=True,
        check=True,
        timeout=150,
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


def settled(
    programs: list[Any],
    tasks: list[Any],
    run: Callable[[list[Any]], list[Any]],
    mismatches: Callable[[Any, Any], list[Any]],
) -> list[Any]:
    """Runs programs; those with a timeout, which a busy machine may miss, up to three times."""
    got = run(tasks)
    for _ in range(2):
        again = [
            number
            for number, program in enumerate(programs)
            if "timeout" in program["uses"] and mismatches(program, got[number])
        ]
        for number, answer in zip(again, run([tasks[n] for n in again]), strict=True):
            got[number] = answer
    return got


@pytest.fixture(scope="module")
def programs(compare: Any) -> list[tuple[Any, Any]]:
    """Each program, with its answers in Kit."""
    rules = compare.known_rules(None)
    expected = list(compare.base.read_lines(HERE / "middleware_cases.jsonl.gz"))
    got = settled(
        expected,
        compare.tasks(expected, rules),
        lambda tasks: answers(HERE / "middleware_kit_runner.py", tasks),
        lambda program, answer: (
            [] if "skipped" in answer else compare.compare_program(program, answer, rules)
        ),
    )
    return [*zip(expected, got, strict=True)]


def test_all_programs_are_there(programs: list[tuple[Any, Any]]) -> None:
    assert len(programs) == 900
    assert sum(len(program["requests"]) for program, _ in programs) == 7433


def test_nothing_is_skipped(programs: list[tuple[Any, Any]]) -> None:
    assert not [(program["id"], got) for program, got in programs if "skipped" in got]


def test_rules_are_explained_and_in_force(compare: Any) -> None:
    texts = (compare.__doc__, compare.content.__doc__, compare.jwt.__doc__)
    explained = re.findall(r"^([a-z]+(?:_[a-z0-9]+)+) ", "\n".join(texts), re.MULTILINE)
    known = json.loads((HERE / "middleware_known.json").read_text(encoding="utf-8"))["rules"]
    assert sorted(explained) == sorted(compare.RULES) == sorted(known)


@pytest.mark.parametrize("module", MODULES)
def test_answers_agree(module: str, programs: list[tuple[Any, Any]], compare: Any) -> None:
    rules = compare.known_rules(None)
    ran = 0
    for program, got in programs:
        if module in program["uses"]:
            ran += 1
            bad = compare.compare_program(program, got, rules)
            assert not bad, (json.dumps(program["app"]), bad)
    assert ran >= 8


def can_be_sent(request: Any) -> bool:
    """Whether a client can send the request as it is, to a server without TLS.

    Not with a Transfer-Encoding of its own, nor with a Content-Length that isn't that of the body:
    the server refuses it, or waits for more.
    """
    url = request["url"]
    lengths = [value for name, value in request["headers"] if name.lower() == "content-length"]
    return not (
        url.startswith("https:")
        or "#" in url
        or any(character <= " " or character > "~" for character in url)
        or any(not value.isascii() for _, value in request["headers"])
        or any(value != str(len((request.get("body") or "").encode())) for value in lengths)
        or (lengths and "chunks" in request)
        or any(name.lower() == "transfer-encoding" for name, _ in request["headers"])
    )


@pytest.mark.slow
@pytest.mark.once
def test_answers_over_sockets_agree(
    programs: list[tuple[Any, Any]], compare: Any, serve_command: Callable[..., Any]
) -> None:
    served = serve_command(
        lambda port: servers.command("uvicorn", "served_middleware:application", port),
        PYTHONPATH=str(SUPPORT),
    )
    tasks, expected = [], []
    for number, (program, got) in enumerate(programs):
        if "observed" not in got or "observed" not in program:
            continue
        chosen = [n for n, request in enumerate(program["requests"]) if can_be_sent(request)]
        requests = [program["requests"][n] for n in chosen]
        tasks.append({"id": number, "name": program["id"], "requests": requests})
        observed = [program["observed"][n] for n in chosen]
        expected.append({**program, "requests": requests, "observed": observed})
    rules = compare.known_rules(None)

    def mismatches(program: Any, got: Any) -> list[Any]:
        for want, have in zip(program["observed"], got["observed"], strict=True):
            # What is noted in process while a request runs is not sent with the response.
            want.pop("trace", None)
            want.pop("log", None)
            # A server sends the length of every body, and none that is no number.
            if not want.get("headers", {}).get("content-length", "").isdigit():
                want.get("headers", {}).pop("content-length", None)
                have.get("headers", {}).pop("content-length", None)
        return [*compare.compare_program(program, got, rules)]

    client = SUPPORT / "middleware_over_sockets.py"
    observed = settled(
        expected, tasks, lambda tasks: answers(client, tasks, str(served.port)), mismatches
    )
    wrong = [
        (program["id"], bad)
        for program, got in zip(expected, observed, strict=True)
        for bad in mismatches(program, got)
    ]
    assert not wrong, json.dumps(wrong[:3], ensure_ascii=False)[:3000]
    count = sum(len(program["requests"]) for program, got in programs if "observed" in got)
    assert sum(len(program["requests"]) for program in expected) >= 0.75 * count
