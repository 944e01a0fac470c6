# SPDX-License-Identifier: MIT
"""The Postman collection of the RealWorld project, run without Postman.

The assertions are expressions of a few forms, which this module evaluates like the scripts do. An
expression of another form is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

FILE = Path(__file__).resolve().parents[1] / "examples/conduit" / "Conduit.postman_collection.json"
_ASSERTION = re.compile(r"""\s*tests\[(?P<quote>['"])(?P<label>.*)(?P=quote)\] = (?P<test>.*);""")
_SETTING = re.compile(r"\s*pm\.globals\.set\('(\w+)', (\w+)\.(\w+)\);")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_THINGS = ("user", "profile", "article", "comment")
_LITERALS = {"true": True, "false": False, "0": 0, "1": 1, "'dragons'": "dragons"} | {
    "'training'": "training"
}


class Assertion(NamedTuple):
    """An assertion of a script about a response."""

    label: str
    test: str


class Step(NamedTuple):
    """A request, and the assertions about its response."""

    name: str
    request: dict[str, Any]
    assertions: list[Assertion]
    settings: list[tuple[str, ...]]  # variable, thing, field


class Outcome(NamedTuple):
    """The result of an assertion."""

    step: str
    label: str
    passed: bool
    response: str


def steps() -> list[Step]:
    """Returns all steps in order."""
    return [*_steps(json.loads(FILE.read_text())["item"])]


def _steps(items: list[dict[str, Any]]) -> Iterator[Step]:
    for item in items:
        if "item" in item:
            yield from _steps(item["item"])
            continue
        lines = [line for event in item.get("event", []) for line in event["script"]["exec"]]
        matches = filter(None, map(_ASSERTION.fullmatch, lines))
        assertions = [Assertion(match["label"], match["test"]) for match in matches]
        settings = [setting.groups() for setting in filter(None, map(_SETTING.fullmatch, lines))]
        yield Step(item["name"], item["request"], assertions, settings)


def run(client: httpx.Client, variables: dict[str, str]) -> list[Outcome]:
    """Sends all requests.

    Args:
        client: The client that sends them.
        variables: The variables of the collection: `APIURL`, `USERNAME`, `EMAIL`, `PASSWORD`.

    Returns:
        The results of the assertions.
    """
    outcomes: list[Outcome] = []
    for step in steps():
        response = _send(client, step.request, variables)
        said = f"{response.status_code} {response.text}"
        body = response.json() if step.assertions else None
        things = _things(body)
        for name, thing, field in step.settings:
            variables[name] = str(things[thing][field])
        for label, test in step.assertions:
            passed = _evaluate(test, response.status_code, body, things, variables)
            if passed is not None:
                outcomes.append(Outcome(step.name, label, passed, said))
    return outcomes


def _send(
    client: httpx.Client, request: dict[str, Any], variables: dict[str, str]
) -> httpx.Response:
    def fill(text: str) -> str:
        return _VARIABLE.sub(lambda match: variables[match[1]], text)

    url = request["url"] if isinstance(request["url"], str) else request["url"]["raw"]
    headers = {each["key"]: fill(each["value"]) for each in request["header"]}
    body = fill(request.get("body", {}).get("raw", ""))
    return client.request(request["method"], fill(url), headers=headers, content=body)


def _things(body: Any) -> dict[str, Any]:
    """Returns the scripts' `article`, `comment` and so on; for a list, its first item."""
    if not isinstance(body, dict):
        return {}
    firsts = {name: body[f"{name}s"][0] for name in _THINGS if body.get(f"{name}s")}
    return firsts | {name: body[name] for name in _THINGS if name in body}


def _evaluate(
    test: str, status: int, body: Any, things: dict[str, Any], variables: dict[str, str]
) -> bool | None:
    """Returns whether a test is true; None if the script skips it."""
    if test == "is200Response":
        return status == 200
    if test == "pm.globals.get('token') === user.token":
        return bool(variables["token"] == things["user"]["token"])
    if test == "article !== undefined":
        return "article" in things
    match = re.search(r"\b(responseJSON|user|profile|article|comment)\.(\w+)", test)
    assert match is not None, test
    if test == "responseJSON.articlesCount === 0":
        return body["articlesCount"] == 0 if not body["articles"] else None
    if match[1] != "responseJSON" and match[1] not in things:
        return None
    value = body if match[1] == "responseJSON" else things[match[1]]
    return _compare(test, match[2], value)


def _compare(test: str, field: str, value: dict[str, Any]) -> bool:
    if match := re.fullmatch(r"\w+\.hasOwnProperty\('(\w+)'\)", test):
        return match[1] in value
    if match := re.fullmatch(r"/(.*)/\.test\([\w.]+\)", test):
        return re.search(match[1], value[field]) is not None
    if test.startswith("Array.isArray("):
        return isinstance(value[field], list)
    if test.startswith("Number.isInteger("):
        return type(value[field]) is int
    if test.endswith(" > 0"):
        return bool(value[field] > 0)
    match = re.fullmatch(r"\w+\.\w+(?:\[(\d)\])? === (.*)", test)
    assert match is not None, test
    compared = value[field][int(match[1])] if match[1] else value[field]
    expected = _LITERALS[match[2]]
    return type(compared) is type(expected) and bool(compared == expected)
