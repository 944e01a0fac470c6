# SPDX-License-Identifier: MIT
"""kit.http stands alone: importing it is cheap, and needs nothing but the standard library."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import kit.http

FOLDER = Path(kit.http.__path__[0])
MODULES = sorted(f"kit.http.{path.stem}" for path in FOLDER.glob("[!_]*.py"))


def test_modules() -> None:
    assert [name.rpartition(".")[2] for name in MODULES] == [
        "addresses",
        "conditional",
        "credentials",
        "dates",
        "encodings",
        "entity_tags",
        "fields",
        "forwarded",
        "media_types",
        "methods",
        "origins",
        "paths",
        "secure_uris",
        "server_sent_events",
        "vary",
    ]


@pytest.mark.parametrize("module", MODULES)
def test_import_is_cheap_and_needs_no_other_package(module: str) -> None:
    code = f"""
import sys, types
kit = types.ModuleType("kit")
kit.__path__ = [{str(FOLDER.parent)!r}]
sys.modules["kit"] = kit
before = set(sys.modules)
import {module}
new = set(sys.modules) - before
print(sorted({{name.partition(".")[0] for name in new}} - sys.stdlib_module_names - {{"kit"}}))
print(sorted(name for name in new if name.startswith("kit.") and name[:8] != "kit.http"))
print(sorted(new & {{"asyncio", "dataclasses", "inspect", "json", "logging"}}))
"""
    output = subprocess.check_output([sys.executable, "-S", "-c", code], text=True)
    assert output.splitlines() == ["[]", "[]", "[]"]


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_docstrings(module: str) -> None:
    found = importlib.import_module(module)
    for public in found.__all__:
        value = getattr(found, public)
        if isinstance(value, (type, FunctionType)):
            assert value.__doc__, public
