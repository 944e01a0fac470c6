# SPDX-License-Identifier: MIT
"""A router from a distribution outside of the workspace, as its author and its users have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run
from environments import install, install_pinned, new_environment, with_needed
from plugin_examples import PluginExample, listed_by_kit

pytestmark = [pytest.mark.slow, pytest.mark.once]

USE = """
import asyncio
from kit import Kit

app = Kit(router="segment-hash")
app.use("*", lambda c, next: next())
app.get("/hello", lambda c: c.text("literal"))
app.get("/hello/:name", lambda c: c.json({"hello": c.req.param("name")}))
for path in ("/hello", "/hello/w%C3%B6rld", "/hello/"):
    response = asyncio.run(app.request(path))
    print(response.status, asyncio.run(response.text()))
print(app.router.name)
"""
REFUSE = """
from kit import Kit
from kit.interface import UnsupportedPathError

try:
    Kit(router="segment-hash").get("/users/:id{[0-9]+}", lambda c: c.text("x"))
except UnsupportedPathError as error:
    print(error)
"""
LIST = """
from kit.interface import plugins

for plugin in plugins.installed("kit.routers"):
    print(*plugin[1:])
"""
STAND_ALONE = """
import sys
from segment_hash_router import SegmentHashRouter

router = SegmentHashRouter()
router.add("GET", "/users/:id", "handler")
print(router.match("GET", "/users/7"))
print(sorted({name.partition(".")[2].partition(".")[0] for name in sys.modules
    if name.startswith("kit.")}))
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> PluginExample:
    return PluginExample("plugin-router", tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def environment(
    wheels: dict[str, Path], plugin: PluginExample, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """An interpreter with the kit command, the plugin, and what the plugin's tests need."""
    python = new_environment(tmp_path_factory.mktemp("environment") / "venv")
    # First with the interface as its only neighbour: that is all it may need.
    install(python, wheels["kit-interface"], plugin.wheel)
    assert run(python, "-c", STAND_ALONE).splitlines() == [
        "([('handler', {'id': 1})], ['users', '7'])",
        "['interface']",
    ]
    with_tests = f"segment-hash-router[test] @ {plugin.wheel.as_uri()}"
    install_pinned(python, *with_needed(wheels, "kit-core", "kit-dev"), with_tests)
    return python


def test_an_app_asks_for_it_by_name(environment: Path) -> None:
    assert run(environment, "-c", USE).splitlines() == [
        "200 literal",
        '200 {"hello":"wörld"}',
        "404 404 Not Found",
        "SegmentHashRouter",
    ]


def test_what_it_refuses_reaches_the_developer(environment: Path) -> None:
    assert run(environment, "-c", REFUSE) == (
        "Unsupported route GET '/users/:id{[0-9]+}' at position 10: "
        "SegmentHashRouter doesn't support expressions in braces\n"
    )


def test_it_is_listed_with_distribution_and_version(environment: Path) -> None:
    target = "segment_hash_router:SegmentHashRouter"
    listed = run(environment, "-c", LIST).splitlines()
    assert f"segment-hash segment-hash-router 0.1.0 {target}" in listed
    assert [line for line in listed if line.startswith("trie kit-routers ")]


def test_kit_plugins_lists_it(environment: Path) -> None:
    row = listed_by_kit(environment, "segment-hash")
    assert (row["kind"], row["distribution"]) == ("router", "segment-hash-router")
    assert (row["version"], row["problem"]) == ("0.1.0", None)


def test_its_own_tests_pass_from_its_source_distribution(
    plugin: PluginExample, environment: Path, tmp_path: Path
) -> None:
    assert plugin.run_own_tests(environment, tmp_path) > 80


def test_its_readme_makes_a_router(
    plugin: PluginExample, environment: Path, tmp_path: Path
) -> None:
    assert plugin.build_from_readme(environment, tmp_path) > 50
    use = "from kit import Kit; print(Kit(router='my').router.name)"
    assert run(environment, "-c", use) == "MyRouter\n"


def test_its_readme_says_how_it_is_used(plugin: PluginExample, environment: Path) -> None:
    ask = "\nimport asyncio; print(asyncio.run(app.request('/users/7')).status, app.router.name)"
    said = [run(environment, "-c", app + ask).rstrip() for app in plugin.shown_apps()]
    assert said == ["200 SegmentHashRouter", "200 SmartRouter"]


def test_links_of_its_readme_lead_somewhere(plugin: PluginExample) -> None:
    assert plugin.dead_links() == []
