# SPDX-License-Identifier: MIT
"""Plugins that get in each other's way, are broken or missing: really built, really installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run
from environments import install, install_pinned, new_environment, with_needed

pytestmark = [pytest.mark.slow, pytest.mark.once]

WORKSPACE = """
[tool.uv.workspace]
members = ["*"]
"""
PROJECT = """
[project]
name = "{name}"
version = "{version}"
requires-python = ">=3.11"
{entry_points}
[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
only-include = {modules}
"""
# Name and version of a distribution, its entry points, and its modules.
PLUGINS: dict[tuple[str, str], tuple[str, dict[str, str]]] = {
    ("echo-one", "1.2.0"): (
        """
[project.entry-points."kit.middleware"]
echo = "echo_one:echo"

[project.entry-points."kit.routers"]
trie = "echo_one:FirstRouter"
""",
        {
            "echo_one.py": """
from kit.router import LinearRouter


class FirstRouter(LinearRouter):
    name = "FirstRouter"


def echo():
    return "one"
"""
        },
    ),
    ("Echo.Two", "0.3"): (
        """
[project.entry-points."kit.middleware"]
echo = "echo_two:echo"
""",
        {"echo_two.py": 'def echo():\n    return "two"\n'},
    ),
    ("broken-plugins", "0.1"): (
        """
[project.entry-points."kit.middleware"]
outdated = "outdated_plugin:make"
absent = "broken_plugins:absent"
needy = "needy_plugin:make"
exits = "exiting_plugin:make"

[project.entry-points."kit.routers"]
outdated = "outdated_plugin:make"
half = "broken_plugins:HalfRouter"

[project.entry-points."kit.servers"]
constant = "broken_plugins:CONSTANT"
""",
        {
            "broken_plugins.py": "CONSTANT = 7\n\n\nclass HalfRouter:\n    name = 'HalfRouter'\n",
            "outdated_plugin.py": "from kit.interface import NoSuchName as make\n",
            "needy_plugin.py": "import not_installed_at_all as make\n",
            "exiting_plugin.py": "raise SystemExit(3)\n",
        },
    ),
}
LOAD = """
import sys
from kit.interface import plugins

try:
    print(plugins.load(*sys.argv[1:])())
except plugins.PluginError as error:
    print(type(error).__name__, error, sep=": ")
    print(type(error.__cause__).__name__)
"""
ROUTE = """
import sys
from kit import Kit
from kit.interface.plugins import PluginError

try:
    print(Kit(router=sys.argv[1]).router.name)
except PluginError as error:
    print(type(error).__name__, error, sep=": ")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of `PLUGINS`."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "pyproject.toml").write_text(WORKSPACE)
    for (name, version), (entry_points, modules) in PLUGINS.items():
        project = folder / name
        project.mkdir()
        for module, source in modules.items():
            (project / module).write_text(source)
        settings = {"name": name, "version": version, "entry_points": entry_points}
        text = PROJECT.format(**settings, modules=[*modules])
        (project / "pyproject.toml").write_text(text)
    run("uv", "--directory", folder, "build", "--quiet", "--all-packages", "--wheel", "-o", "dist")
    found = sorted((folder / "dist").glob("*.whl"))
    assert len(found) == len(PLUGINS)
    return found


@pytest.fixture(scope="module")
def environment(
    wheels: dict[str, Path], built: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An interpreter with kit-core, the kit command, a middleware, and all of `PLUGINS`."""
    python = new_environment(tmp_path_factory.mktemp("environment") / "venv")
    install_pinned(python, *with_needed(wheels, "kit-core", "kit-dev", "kit-logger"), *built)
    return python


def load(environment: Path, group: str, name: str) -> list[str]:
    return run(environment, "-c", LOAD, group, name).splitlines()


def test_a_missing_one_is_answered_by_the_nearest(environment: Path) -> None:
    assert load(environment, "kit.middleware", "loger") == [
        "PluginNotFoundError: No plugin 'loger' in the group 'kit.middleware': installed are "
        "'absent', 'access-log', 'echo', 'exits', 'logger', 'needy', 'outdated'. "
        "Did you mean 'logger'?",
        "NoneType",
    ]
    assert run(environment, "-c", ROUTE, "tree") == (
        "PluginNotFoundError: No plugin 'tree' in the group 'kit.routers': installed are "
        "'half', 'linear', 'outdated', 'pattern', 'reg-exp', 'smart', 'trie'. "
        "Did you mean 'trie'?\n"
    )
    assert load(environment, "kit.commands", "deploy") == [
        "PluginNotFoundError: No plugin 'deploy' in the group 'kit.commands': none is installed",
        "NoneType",
    ]


def test_two_of_one_name_have_to_be_told_apart(environment: Path) -> None:
    assert load(environment, "kit.middleware", "echo") == [
        "PluginConflictError: The plugin 'echo' of the group 'kit.middleware' is registered by "
        "echo-one and Echo.Two: ask for 'echo-one:echo' or 'Echo.Two:echo'",
        "NoneType",
    ]
    assert load(environment, "kit.middleware", "Echo.Two:echo") == ["two"]
    assert load(environment, "kit.middleware", "echo-two:echo") == ["two"]
    assert load(environment, "kit.middleware", "echo-one:echo") == ["one"]


def test_one_that_takes_the_name_of_kit_s_own_changes_no_app_unseen(environment: Path) -> None:
    assert (
        run(environment, "-c", "from kit import Kit; print(Kit().router.name)") == "SmartRouter\n"
    )
    assert run(environment, "-c", ROUTE, "trie") == (
        "PluginConflictError: The plugin 'trie' of the group 'kit.routers' is registered by "
        "echo-one and kit-routers: ask for 'echo-one:trie' or 'kit-routers:trie'\n"
    )
    assert run(environment, "-c", ROUTE, "kit-routers:trie") == "TrieRouter\n"
    assert run(environment, "-c", ROUTE, "echo-one:trie") == "FirstRouter\n"


@pytest.mark.parametrize(
    ("name", "target", "reason", "cause"),
    [
        (
            "outdated",
            "outdated_plugin:make",
            "ImportError: cannot import name 'NoSuchName' from 'kit.interface'",
            "ImportError",
        ),
        (
            "absent",
            "broken_plugins:absent",
            "AttributeError: module 'broken_plugins' has no attribute 'absent'",
            "AttributeError",
        ),
        (
            "needy",
            "needy_plugin:make",
            "ModuleNotFoundError: No module named 'not_installed_at_all'",
            "ModuleNotFoundError",
        ),
        ("exits", "exiting_plugin:make", "SystemExit: 3", "SystemExit"),
    ],
)
def test_a_broken_one_is_named_with_its_distribution(
    name: str, target: str, reason: str, cause: str, environment: Path
) -> None:
    said, chained = load(environment, "kit.middleware", name)
    assert said.startswith(
        f"PluginLoadError: The plugin {name!r} of the group 'kit.middleware' can't be loaded: "
        f"{target!r} of the distribution 'broken-plugins' raised {reason}"
    )
    assert chained == cause


def test_an_app_that_asks_for_a_broken_router_says_so(environment: Path) -> None:
    said = run(environment, "-c", ROUTE, "outdated")
    assert said.startswith(
        "PluginLoadError: The plugin 'outdated' of the group 'kit.routers' can't be loaded: "
        "'outdated_plugin:make' of the distribution 'broken-plugins' raised ImportError"
    )


def test_kit_plugins_marks_what_can_t_be_used(environment: Path) -> None:
    listed = json.loads(run(environment.parent / "kit", "plugins", "--json"))
    problems = {
        (row["kind"], row["name"]): row["problem"].partition(" (")[0]
        for row in listed
        if row["problem"]
    }
    assert problems == {
        ("router", "half"): "what it gives has no 'add', expected a router",
        ("router", "outdated"): "outdated_plugin:make raised ImportError: cannot import name "
        "'NoSuchName' from 'kit.interface'",
        ("middleware", "absent"): "broken_plugins:absent raised AttributeError: module "
        "'broken_plugins' has no attribute 'absent'",
        ("middleware", "exits"): "exiting_plugin:make raised SystemExit: 3",
        ("middleware", "needy"): "needy_plugin:make raised ModuleNotFoundError: No module named "
        "'not_installed_at_all'",
        ("middleware", "outdated"): "outdated_plugin:make raised ImportError: cannot import name "
        "'NoSuchName' from 'kit.interface'",
        ("server", "constant"): "it is an object of type int, expected something to call",
    }
    ambiguous = [(row["distribution"], row["name"]) for row in listed if row["is_ambiguous"]]
    assert sorted(ambiguous) == [
        ("Echo.Two", "echo"),
        ("echo-one", "echo"),
        ("echo-one", "trie"),
        ("kit-routers", "trie"),
    ]


def test_one_that_is_uninstalled_is_gone(
    wheels: dict[str, Path], built: list[Path], tmp_path: Path
) -> None:
    python = new_environment(tmp_path / "venv")
    install(python, wheels["kit-interface"], *built)
    assert load(python, "kit.middleware", "echo")[0].startswith("PluginConflictError: ")
    run("uv", "pip", "uninstall", "--quiet", "--python", python, "echo-one")
    assert load(python, "kit.middleware", "echo") == ["two"]
