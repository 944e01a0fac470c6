# SPDX-License-Identifier: MIT
"""`kit plugins`: all that is installed, and what of it is broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

MODULE = """
import click

class Router:
    name = "Fine"
    def add(self, method, path, handler): ...
    def match(self, method, path): return ([],)

def needs_something(option): ...
def gives_nothing(): ...
def middleware(): ...
number = 5
command = click.Command("tidy")
"""


def lines(*arguments: str, **environment: str) -> list[str]:
    result = CliRunner().invoke(main, ["plugins", *arguments], env=environment)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


@pytest.mark.once
def test_all_that_kit_brings() -> None:
    said = lines()
    assert said[0].split() == ["KIND", "NAME", "DISTRIBUTION", "VERSION"]
    for words in (
        ["router", "reg-exp", "kit-routers", version("kit-routers")],
        ["router", "trie", "kit-routers", version("kit-routers")],
        ["middleware", "bearer-auth", "kit-bearer-auth", version("kit-bearer-auth")],
        ["middleware", "logger", "kit-logger", version("kit-logger")],
        ["server", "granian", "kit-dev", version("kit-dev")],
        ["server", "uvicorn", "kit-dev", version("kit-dev")],
    ):
        assert words in [line.split() for line in said]
    starts = {line.index(word) for line, word in zip(said, ["NAME"], strict=False)}
    assert all(line[min(starts) - 1] == " " for line in said)  # the columns are aligned


@pytest.mark.once
def test_broken_ones_are_marked_with_the_reason(
    distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = distribution(
        "acme",
        {
            "kit.routers": {
                "fine": "acme_parts:Router",
                "needy": "acme_parts:needs_something",
                "empty": "acme_parts:gives_nothing",
                "number": "acme_parts:number",
            },
            "kit.middleware": {
                "gone": "acme_gone:middleware",
                "lost": "acme_parts:lost",
                "logger": "acme_parts:middleware",
            },
            "kit.commands": {
                "tidy": "acme_parts:command",
                "untidy": "acme_parts:number",
                "routes": "acme_parts:command",
            },
            "kit.servers": {"exits": "acme_exits:serve"},
        },
        acme_parts=MODULE,
        acme_exits="raise SystemExit(3)\n",
    )
    monkeypatch.syspath_prepend(str(site))
    said = {tuple(line.split()[:4]): " ".join(line.split()[4:]) for line in lines()}
    assert said["router", "fine", "acme", "1.2"] == ""
    assert said["router", "needy", "acme", "1.2"] == (
        "broken: called without arguments it raised TypeError: needs_something() missing 1 "
        "required positional argument: 'option'"
    )
    assert said["router", "empty", "acme", "1.2"] == (
        "broken: what it gives has no 'name', expected a router"
    )
    assert said["router", "number", "acme", "1.2"] == (
        "broken: it is an object of type int, expected something to call"
    )
    assert said["middleware", "gone", "acme", "1.2"] == (
        "broken: acme_gone:middleware raised ModuleNotFoundError: No module named 'acme_gone'"
    )
    assert said["middleware", "lost", "acme", "1.2"].startswith(
        "broken: acme_parts:lost raised AttributeError: "
    )
    assert said["middleware", "logger", "acme", "1.2"] == "ask for acme:logger"
    assert (
        said["middleware", "logger", "kit-logger", version("kit-logger")]
        == "ask for kit-logger:logger"
    )
    assert said["command", "tidy", "acme", "1.2"] == ""
    assert said["command", "untidy", "acme", "1.2"] == (
        "broken: 'untidy' is an object of type int, expected a function or a click command"
    )
    assert said["command", "routes", "acme", "1.2"] == ("hidden by Kit's own: acme:routes runs it")
    assert said["server", "exits", "acme", "1.2"] == "broken: acme_exits:serve raised SystemExit: 3"
    found = {
        (each["kind"], each["name"], each["distribution"]): each
        for each in json.loads("\n".join(lines("--json")))
    }
    assert found["router", "fine", "acme"] == {
        "kind": "router",
        "name": "fine",
        "distribution": "acme",
        "version": "1.2",
        "target": "acme_parts:Router",
        "problem": None,
        "needs": None,
        "is_ambiguous": False,
    }
    assert found["command", "untidy", "acme"]["problem"]
    colored = lines(FORCE_COLOR="1", NO_COLOR="")
    assert [line.startswith("\x1b[33m") for line in colored if "untidy" in line] == [True]
    assert [line.startswith("command") for line in colored if " tidy " in line] == [True]


@pytest.mark.once
def test_server_that_lacks_something_tells_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "granian", None)
    said = {tuple(line.split()[:2]): line for line in lines()}
    assert said["server", "uvicorn"].endswith(
        "  needs uvicorn, which is not installed: pip install 'kit-dev[serve]'"
    )
    assert said["server", "granian"].endswith(
        "  needs granian, which is not installed: pip install granian"
    )


@pytest.mark.once
def test_what_plugins_print_is_no_part_of_the_list(
    distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = distribution(
        "acme-loud",
        {"kit.middleware": {"loud": "acme_loud:print"}},
        acme_loud="print('here')\nprint = print\n",
    )
    monkeypatch.syspath_prepend(str(site))
    assert "loud" in [each["name"] for each in json.loads("\n".join(lines("--json")))]
