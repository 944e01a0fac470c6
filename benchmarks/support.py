# SPDX-License-Identifier: MIT
"""Modules of `tests/support` that the suite needs as well."""

from __future__ import annotations

import importlib.util
from functools import cache
from types import ModuleType

from .crew import ROOT


@cache
def load(name: str) -> ModuleType:
    """Imports a module of the tests by its path, since the tests aren't a package.

    Args:
        name: Its name, e.g. `ports`.

    Returns:
        The module, the same for every caller.
    """
    path = ROOT / "tests" / "support" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
