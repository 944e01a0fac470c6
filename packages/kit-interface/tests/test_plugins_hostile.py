# SPDX-License-Identifier: MIT
"""Plugin lookup among half-removed distributions, odd names, and plugins that misbehave."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.interface import plugins
from kit.interface.plugins import (
    InstalledPlugin,
    PluginConflictError,
    PluginError,
    PluginLoadError,
    PluginNotFoundError,
)

GROUP = "kit.test_hostile"


class Distribution:
    def __init__(self, name: str, version: str) -> None:
        self.metadata = {"Name": name, "Version": version}


class Entry:
    """As much of an entry point as plugins uses."""

    def __init__(self, name: str, value: str, distribution: str | None, loads: Any = None) -> None:
        self.name = name
        self.value = value
        self.dist = Distribution(distribution, "1.0") if distribution else None
        self.loads = loads

    def load(self) -> Any:
        if isinstance(self.loads, BaseException):
            raise self.loads
        return self.loads


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    found: list[Entry] = []
    asked: list[str] = []

    def entry_points(*, group: str) -> list[Entry]:
        asked.append(group)
        return found if group == GROUP else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return found


def test_public_names() -> None:
    assert plugins.__all__ == (
        "InstalledPlugin",
        "PluginConflictError",
        "PluginError",
        "PluginLoadError",
        "PluginNotFoundError",
        "installed",
        "load",
    )
    for name in plugins.__all__:
        value = getattr(plugins, name)
        assert (value.__module__, bool(value.__doc__)) == ("kit.interface.plugins", True)


def test_one_distribution_seen_twice_is_one(entries: list[Entry]) -> None:
    """An editable install beside the folder it points to."""
    entries += [Entry("one", "m:a", "My.Dist", 1), Entry("one", "m:a", "my_dist", 2)]
    assert plugins.installed(GROUP) == [InstalledPlugin(GROUP, "one", "My.Dist", "1.0", "m:a")]
    assert plugins.load(GROUP, "one") == 1


@pytest.mark.parametrize("spelled", ["my-dist", "my_dist", "My.Dist", "MY-_.DIST", "my--dist"])
def test_distribution_is_compared_as_pip_does(entries: list[Entry], spelled: str) -> None:
    entries += [Entry("one", "m:a", "my.dist", 1), Entry("one", "m:a", "other", 2)]
    assert plugins.load(GROUP, f"{spelled}:one") == 1


def test_sorted_by_name_then_distribution(entries: list[Entry]) -> None:
    entries += [Entry("b", "m:1", "y"), Entry("a", "m:2", "z"), Entry("b", "m:3", "x")]
    assert [(p.name, p.distribution) for p in plugins.installed(GROUP)] == [
        ("a", "z"),
        ("b", "x"),
        ("b", "y"),
    ]
    with pytest.raises(PluginConflictError) as caught:
        plugins.load(GROUP, "b")
    assert str(caught.value) == (
        f"The plugin 'b' of the group {GROUP!r} is registered by x and y: ask for 'x:b' or 'y:b'"
    )


def test_three_distributions_with_one_name(entries: list[Entry]) -> None:
    entries += [Entry("a", "m:1", name) for name in ("z", "x", "y")]
    with pytest.raises(PluginConflictError) as caught:
        plugins.load(GROUP, "a")
    assert caught.value.distributions == ("x", "y", "z")
    assert str(caught.value).endswith("ask for 'x:a' or 'y:a' or 'z:a'")


def test_the_choice_that_the_text_offers_can_be_taken(entries: list[Entry]) -> None:
    entries += [Entry("a", "m:1", "x", "X"), Entry("a", "m:1", "y", "Y")]
    for choice, expected in (("x:a", "X"), ("y:a", "Y")):
        assert plugins.load(GROUP, choice) == expected


def test_name_with_a_colon(entries: list[Entry]) -> None:
    entries.append(Entry("a:b", "m:1", "x", "X"))
    assert plugins.load(GROUP, "a:b") == "X"


def test_another_distribution_has_it(entries: list[Entry]) -> None:
    entries.append(Entry("trie", "m:1", "x"))
    with pytest.raises(PluginNotFoundError, match=r"'x:trie'"):
        plugins.load(GROUP, "y:trie")


@pytest.mark.parametrize("name", ["", ":", "x:", ":one", " one", "ONE", "y:one"])
def test_names_that_are_none(entries: list[Entry], name: str) -> None:
    entries.append(Entry("one", "m:1", "x"))
    with pytest.raises(PluginNotFoundError) as caught:
        plugins.load(GROUP, name)
    assert (caught.value.group, caught.value.name, caught.value.available) == (
        GROUP,
        name,
        ("x:one",) if name in ("x:", "y:one") else ("one",),
    )
    assert isinstance(caught.value, LookupError)
    assert isinstance(caught.value, PluginError)


def test_available_names_come_once(entries: list[Entry]) -> None:
    entries += [Entry("a", "m:1", "x"), Entry("a", "m:1", "y"), Entry("b", "m:1", "y")]
    with pytest.raises(PluginNotFoundError) as caught:
        plugins.load(GROUP, "zzzz")
    assert str(caught.value) == (f"No plugin 'zzzz' in the group {GROUP!r}: installed are 'a', 'b'")


def test_entry_without_a_distribution(entries: list[Entry]) -> None:
    entries.append(Entry("a", "m:1", None, "X"))
    assert plugins.installed(GROUP) == [InstalledPlugin(GROUP, "a", "?", "?", "m:1")]
    assert plugins.load(GROUP, "a") == "X"


@pytest.mark.parametrize(
    "error",
    [ImportError("no"), SyntaxError("bad"), RecursionError("deep"), KeyError("x"), TypeError()],
    ids=repr,
)
def test_whatever_a_plugin_raises(entries: list[Entry], error: Exception) -> None:
    entries.append(Entry("a", "m:1", "x", error))
    with pytest.raises(PluginLoadError) as caught:
        plugins.load(GROUP, "a")
    assert caught.value.__cause__ is error
    assert caught.value.reason == f"{type(error).__name__}: {error}"
    assert (caught.value.group, caught.value.name, caught.value.distribution) == (GROUP, "a", "x")
    assert caught.value.target == "m:1"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit()], ids=repr)
def test_what_is_no_fault_passes(entries: list[Entry], error: BaseException) -> None:
    entries.append(Entry("a", "m:1", "x", error))
    with pytest.raises(type(error)):
        plugins.load(GROUP, "a")


def test_plugin_that_exits(entries: list[Entry]) -> None:
    entries.append(Entry("a", "m:1", "x", SystemExit(3)))
    with pytest.raises(PluginLoadError, match="SystemExit: 3"):
        plugins.load(GROUP, "a")


def test_half_removed_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(f"[{GROUP}]\none = json:loads\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    [plugin] = plugins.installed(GROUP)
    assert (plugin.name, plugin.target) == ("one", "json:loads")
    assert callable(plugins.load(GROUP, "one"))


def test_target_that_is_no_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\none = not a reference!\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PluginLoadError, match="'not a reference!' of the distribution 'odd'"):
        plugins.load(GROUP, "one")


def test_nothing_is_scanned_by_the_import_of_kit() -> None:
    code = (
        "import sys\n"
        "from kit import Kit\n"
        "Kit().get('/', lambda c: c.text('x'))\n"
        "print('importlib.metadata' in sys.modules)\n"
    )
    output = subprocess.check_output(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"]
    )
    assert output.strip() == b"False"
