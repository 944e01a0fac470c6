# SPDX-License-Identifier: MIT
"""The group of commands: what is lazy, what others add, and what is broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from kit.dev.cli import main

COMMAND = """
import click

@click.command()
@click.argument("name")
def greet(name):
    "Greets somebody."
    click.echo(f"Hello, {name}!")

not_a_command = {}
"""


@pytest.fixture
def greeting(distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Distributions with a command, and with broken ones."""
    good = distribution(
        "acme-greet", {"kit.commands": {"greet": "acme_greet:greet"}}, acme_greet=COMMAND
    )
    broken = distribution(
        "acme-broken",
        {
            "kit.commands": {
                "report": "acme_broken:report",
                "table": "acme_broken_too:not_a_command",
                "routes": "acme_broken_too:greet",
            }
        },
        acme_broken="import no_such_module\n",
        acme_broken_too=COMMAND,
    )
    monkeypatch.syspath_prepend(str(broken))
    monkeypatch.syspath_prepend(str(good))
    return good


def kit(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments, prog_name="kit")
    return result.exit_code, result.output


def test_help_lists_all_commands_and_imports_none() -> None:
    code, said = kit("--help")
    assert code == 0
    for line in (
        "dev      Serves an app, and again whenever its code changes.",
        "new      Makes a small project to start from.",
        "request  Sends an app a request, without a server.",
        "routes   Lists the routes of an app, or explains what answers a URL.",
        "serve    Serves an app.",
    ):
        assert f"  {line}\n" in said
    seen = (
        "import sys; from click.testing import CliRunner; from kit.dev.cli import main; "
        "CliRunner().invoke(main, ['--help']); "
        "print([n for n in sys.modules if n.startswith(('kit.dev._commands', 'uvicorn'))])"
    )
    assert subprocess.check_output([sys.executable, "-c", seen], text=True) == "[]\n"


def test_module_is_the_same_command() -> None:
    said = subprocess.check_output([sys.executable, "-m", "kit", "--version"], text=True)
    assert said == f"kit, version {version('kit-dev')}\n"
    said = subprocess.check_output([sys.executable, "-m", "kit", "--help"], text=True)
    assert said == kit("--help")[1].replace("Usage: kit", "Usage: python -m kit")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rotes", "Error: No such command 'rotes'. Did you mean 'routes'?\n"),
        ("xyzzy", "Error: No such command 'xyzzy'.\n"),
    ],
)
def test_unknown_command(name: str, text: str) -> None:
    code, said = kit(name)
    assert code == 2
    assert said.endswith(text)


def test_command_of_another_distribution(greeting: Path) -> None:
    assert kit("greet", "Ada") == (0, "Hello, Ada!\n")
    assert kit("acme-greet:greet", "Ada") == (0, "Hello, Ada!\n")
    assert "Greets somebody." in kit("greet", "--help")[1]


def test_broken_commands_are_shown_and_break_no_others(greeting: Path) -> None:
    code, said = kit("--help")
    assert code == 0
    own, _, others = said.partition("Commands of other distributions:\n")
    assert "routes   Lists the routes" in own
    words = " ".join(others.split())
    assert "greet Greets somebody. " in words
    assert (
        "report (broken) The plugin 'report' of the group 'kit.commands' can't be loaded: "
        "'acme_broken:report' of the distribution 'acme-broken' raised ModuleNotFoundError: "
        "No module named 'no_such_module' "
        "table (broken) 'table' is an object of type dict, expected a function or a click command"
    ) in words


def test_broken_command_that_is_run_tells_the_reason(greeting: Path) -> None:
    assert kit("report", "--all", "x") == (
        1,
        "Error: The plugin 'report' of the group 'kit.commands' can't be loaded: "
        "'acme_broken:report' of the distribution 'acme-broken' raised ModuleNotFoundError: "
        "No module named 'no_such_module'\n",
    )
    code, said = kit("table")
    assert code == 1
    assert (
        said == "Error: 'table' is an object of type dict, expected a function or a click command\n"
    )


def test_what_has_the_name_of_our_own_can_be_run_by_its_distribution(greeting: Path) -> None:
    assert kit("acme-broken:routes", "Ada") == (0, "Hello, Ada!\n")
    assert "Lists the routes" in kit("routes", "--help")[1]


def test_two_of_one_name(
    greeting: Path, distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    second = distribution(
        "zeta-greet", {"kit.commands": {"greet": "zeta_greet:greet"}}, zeta_greet=COMMAND
    )
    monkeypatch.syspath_prepend(str(second))
    code, said = kit("greet", "Ada")
    assert code == 1
    assert said == (
        "Error: The plugin 'greet' of the group 'kit.commands' is registered by acme-greet and "
        "zeta-greet: ask for 'acme-greet:greet' or 'zeta-greet:greet'\n"
    )
    assert kit("zeta-greet:greet", "Ada") == (0, "Hello, Ada!\n")
    assert kit("--help")[1].count("\n  greet") == 1


def test_commands_of_others_may_load_apps(
    distribution: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "import click\nfrom kit.dev import inspect_routes, load_app\n"
        "@click.command()\n@click.argument('target')\n"
        "def count(target):\n    click.echo(len(inspect_routes(load_app(target))))\n"
    )
    site = distribution(
        "acme-count", {"kit.commands": {"count": "acme_count:count"}}, acme_count=source
    )
    monkeypatch.syspath_prepend(str(site))
    (folder / "shop.py").write_text(
        "from kit import Kit\napp = Kit().get('/', lambda c: c.text(''))\n"
    )
    assert kit("count", "shop") == (0, "1\n")
    code, said = kit("count", "shoop")
    assert code == 1
    assert said.startswith("Error: There is no app at 'shoop'")


def complete(*words: str) -> list[tuple[str, str]]:
    """What the last word may become, and of which kind it is: the shell itself completes files."""
    completion = BashComplete(main, {}, "kit", "_KIT_COMPLETE")
    found = completion.get_completions([*words[:-1]], words[-1])
    return [(item.type, item.value) for item in found]


def test_shell_completion(greeting: Path) -> None:
    assert complete("r") == [("plain", "request"), ("plain", "routes"), ("plain", "report")]
    assert ("plain", "--explain") in complete("routes", "--e")
    assert complete("serve", ".", "--server", "u") == [("plain", "uvicorn")]
    for command in ("dev", "serve", "routes", "request"):
        assert complete(command, "ap") == [("file", "ap")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_of_a_shell(shell: str) -> None:
    result = CliRunner().invoke(main, prog_name="kit", env={"_KIT_COMPLETE": f"{shell}_source"})
    assert f"_KIT_COMPLETE={shell}_complete" in result.output
