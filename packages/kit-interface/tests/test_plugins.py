# SPDX-License-Identifier: MIT
"""Plugin lookup, on distributions made for the test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.interface import plugins
from kit.interface.plugins import (
    InstalledPlugin,
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
)

GROUP = "kit.test_plugins"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes a distribution: `install("name", "1.0", {"plugin": "module:attr"}, "source")`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def make(name: str, version: str, entries: dict[str, str], source: str = "") -> None:
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = "".join(f"{key} = {value}\n" for key, value in entries.items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
        module = next(iter(entries.values())).partition(":")[0]
        (tmp_path / f"{module}.py").write_text(source)

    yield make
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_installed_lists_without_importing(install: Callable[..., None]) -> None:
    assert plugins.installed(GROUP) == []
    install("dist-b", "2.0", {"zed": "plug_b:make"}, "raise RuntimeError('imported')")
    install("dist-a", "1.0", {"one": "plug_a:make", "zed": "plug_a:zed"})
    assert plugins.installed(GROUP) == [
        InstalledPlugin(GROUP, "one", "dist-a", "1.0", "plug_a:make"),
        InstalledPlugin(GROUP, "zed", "dist-a", "1.0", "plug_a:zed"),
        InstalledPlugin(GROUP, "zed", "dist-b", "2.0", "plug_b:make"),
    ]


def test_load(install: Callable[..., None]) -> None:
    install("dist-a", "1.0", {"one": "plug_a:make"}, "def make(): return 'made'")
    assert plugins.load(GROUP, "one")() == "made"
    assert plugins.load(GROUP, "dist-a:one")() == "made"
    assert plugins.load(GROUP, "Dist_A:one")() == "made"  # names compare as pip compares them


def test_unknown_name(install: Callable[..., None]) -> None:
    with pytest.raises(PluginNotFoundError, match="none is installed"):
        plugins.load(GROUP, "one")
    install("dist-a", "1.0", {"one": "plug_a:make", "two": "plug_a:make"})
    with pytest.raises(PluginNotFoundError) as caught:
        plugins.load(GROUP, "onne")
    assert caught.value.available == ("one", "two")
    assert str(caught.value).endswith("Did you mean 'one'?")
    with pytest.raises(PluginNotFoundError):
        plugins.load(GROUP, "other-dist:one")


def test_two_distributions_with_one_name(install: Callable[..., None]) -> None:
    install("dist-a", "1.0", {"one": "plug_a:make"}, "make = 'a'")
    install("dist-b", "1.0", {"one": "plug_b:make"}, "make = 'b'")
    with pytest.raises(PluginConflictError) as caught:
        plugins.load(GROUP, "one")
    assert caught.value.distributions == ("dist-a", "dist-b")
    assert (plugins.load(GROUP, "dist-a:one"), plugins.load(GROUP, "dist-b:one")) == ("a", "b")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param(
            "import not_there", "ModuleNotFoundError: No module named 'not_there'", id="import"
        ),
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="raises"),
        pytest.param(
            "", "AttributeError: module 'plug_a' has no attribute 'make'", id="no attribute"
        ),
    ],
)
def test_plugin_that_is_broken(source: str, reason: str, install: Callable[..., None]) -> None:
    install("dist-a", "1.0", {"one": "plug_a:make"}, source)
    with pytest.raises(PluginLoadError) as caught:
        plugins.load(GROUP, "one")
    assert str(caught.value).startswith(f"The plugin 'one' of the group {GROUP!r} can't be")
    assert type(caught.value.__cause__).__name__ == reason.partition(":")[0]
