# SPDX-License-Identifier: MIT
"""The commands that a project names in its pyproject.toml, and functions as commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

COMMANDS = '''
from pathlib import Path

import click


async def seed(count: int, *, source: Path = Path("books.json"), dry_run: bool = False) -> None:
    """Adds books.

    Args:
        count: How many.
    """
    print(count, source.name, dry_run)


def price(amount: float, currency="EUR", tax: float | None = None):
    """Prints a price."""
    print(f"{amount:.2f} {currency} {tax}")


def login(user, /, *, pin: str):
    print(user, pin)


def fail():
    """Fails."""
    raise LookupError("no such book")


def leave():
    raise click.ClickException("not today")


@click.command()
@click.argument("names", nargs=-1)
def greet(names):
    """Greets."""
    click.echo(f"Hello, {', '.join(names)}!")


def many(*names: str): ...
def mapping(table: dict): ...
def either(value: int | str): ...
def lost(value: "NotThere"): ...


class Tools:
    @staticmethod
    def clean():
        print("clean")


number = 7
'''


def kit(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments, prog_name="kit")
    return result.exit_code, result.output


@pytest.fixture
def project(folder: Path) -> Callable[..., Path]:
    """Makes a project with commands: `project(seed="shop.commands:seed")`."""

    def make(**commands: object) -> Path:
        lines = "".join(f"{name} = {value!r}\n" for name, value in commands.items())
        (folder / "pyproject.toml").write_text(f"[tool.kit.commands]\n{lines}")
        (folder / "shop").mkdir(exist_ok=True)
        (folder / "shop" / "__init__.py").touch()
        (folder / "shop" / "commands.py").write_text(COMMANDS)
        return folder / "pyproject.toml"

    return make


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("seed 3", "3 books.json False\n"),
        ("seed 3 --source /x/y.json --dry-run", "3 y.json True\n"),
        ("seed 3 --no-dry-run", "3 books.json False\n"),
        ("price 9.5", "9.50 EUR None\n"),
        ("price 9.5 --currency USD --tax 0.2", "9.50 USD 0.2\n"),
        ("login ada --pin 007", "ada 007\n"),
        ("greet Ada Bob", "Hello, Ada, Bob!\n"),
        ("clean", "clean\n"),
    ],
)
def test_functions_and_click_commands_run(
    line: str, output: str, project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = line.split()[0]
    project(**{name: f"shop.commands:{'Tools.clean' if name == 'clean' else name}"})
    (Path.cwd() / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(Path.cwd() / "deep" / "er")
    assert kit(*line.split()) == (0, output)


def test_wrong_arguments_are_errors_of_usage(project: Callable[..., Path]) -> None:
    project(seed="shop.commands:seed", login="shop.commands:login")
    code, said = kit("seed", "many")
    assert (code, said.splitlines()[-1]) == (
        2,
        "Error: Invalid value for 'COUNT': 'many' is not a valid integer.",
    )
    code, said = kit("login", "ada")
    assert (code, said.splitlines()[-1]) == (2, "Error: Missing option '--pin'.")


def test_help(project: Callable[..., Path]) -> None:
    project(
        seed="shop.commands:seed", login="shop.commands:login", gone="nowhere:x", dev="shop:dev"
    )
    said = kit("--help")[1]
    section = said.partition("\nCommands of this project:\n")[2]
    assert [line.split()[:2] for line in section.splitlines()[:2]] == [["seed", "Adds"], ["login"]]
    words = " ".join(section.split())
    assert "gone (broken) tool.kit.commands.gone in " in words
    assert "dev (broken) tool.kit.commands.dev in " in words
    assert "'dev' is a command of Kit: choose another name" in words
    said = kit("seed", "--help")[1]
    assert "Usage: kit seed [OPTIONS] COUNT\n\n  Adds books.\n\nOptions:\n" in said
    assert "--dry-run / --no-dry-run" in said
    assert "[default: books.json]" in said


def test_commands_of_kit_cannot_be_replaced(project: Callable[..., Path]) -> None:
    project(routes="shop.commands:fail")
    assert "Lists the routes" in kit("routes", "--help")[1]


def test_exception_is_shown_from_their_code_on(project: Callable[..., Path]) -> None:
    project(fail="shop.commands:fail", leave="shop.commands:leave")
    code, said = kit("fail")
    lines = said.splitlines()
    assert (code, lines[0], lines[-1]) == (
        1,
        "Traceback (most recent call last):",
        "LookupError: no such book",
    )
    assert 'shop/commands.py", line' in lines[1]
    assert kit("leave") == (1, "Error: not today\n")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (7, "expected e.g. 'shop.commands:seed', not 7"),
        ("shop", "expected e.g. 'shop.commands:seed', not 'shop'"),
        ("shop:seed()", "expected e.g. 'shop.commands:seed', not 'shop:seed()'"),
        ("shp:seed", "there is no module 'shp' in HERE, and none is installed"),
        ("shop.commands:sed", "'shop.commands' has no attribute 'sed'"),
        (
            "shop.commands:number",
            "'x' is an object of type int, expected a function or a click command",
        ),
        (
            "shop.commands:many",
            "the parameter '*names: str' of 'x' can't be read from a command line: expected str, "
            "int, float, bool or Path; write a click command for others",
        ),
        (
            "shop.commands:mapping",
            "the parameter 'table: dict' of 'x' can't be read from a command line: expected str, "
            "int, float, bool or Path; write a click command for others",
        ),
        (
            "shop.commands:either",
            "the parameter 'value: int | str' of 'x' can't be read from a command line: expected "
            "str, int, float, bool or Path; write a click command for others",
        ),
        (
            "shop.commands:lost",
            "the parameters of 'x' can't be read: NameError: name 'NotThere' is not defined",
        ),
    ],
)
def test_wrong_settings_name_file_and_key(
    target: object, reason: str, project: Callable[..., Path]
) -> None:
    file = project(x=target)
    text = f"tool.kit.commands.x in {file}: {reason.replace('HERE', str(file.parent))}"
    assert kit("x") == (1, f"Error: {text}\n")


def test_module_that_fails(project: Callable[..., Path], folder: Path) -> None:
    project(x="broken:x")
    (folder / "broken.py").write_text("1 / 0\n")
    code, said = kit("x")
    assert code == 1
    assert said.startswith("Error: broken can't be loaded:\n")
    assert said.endswith("\nZeroDivisionError: division by zero\n")
    said = kit("--help")[1]
    assert "(broken) broken can't be loaded: ZeroDivisionError: division by zero" in " ".join(
        said.split()
    )


def test_broken_settings_break_no_other_command(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("a = [")
    problem = f"{folder / 'pyproject.toml'}: Invalid value (at end of document)"
    code, said = kit("--help")
    assert code == 0
    section = said.partition("\nCommands of this project:\n")[2]
    assert "".join(section.split()).startswith("".join(problem.split()))
    assert kit("routes", "--help")[0] == 0
    assert kit("seed") == (1, f"Error: {problem}\n")


def test_functions_of_other_distributions(
    distribution: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, project: Callable[..., Path]
) -> None:
    site = distribution(
        "acme-tools",
        {"kit.commands": {"seed": "acme_tools:seed", "count": "acme_tools:seed"}},
        acme_tools="def seed(n: int = 1):\n    'Counts.'\n    print('acme', n)\n",
    )
    monkeypatch.syspath_prepend(str(site))
    project(seed="shop.commands:seed")
    assert kit("count", "--n", "2") == (0, "acme 2\n")
    assert kit("seed", "3") == (0, "3 books.json False\n")
    assert kit("acme-tools:seed") == (0, "acme 1\n")
    said = kit("--help")[1]
    assert said.count("\n  seed") == 1
    assert "  count     Counts.\n" in said.partition("\nCommands of other distributions:\n")[2]
