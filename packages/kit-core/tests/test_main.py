# SPDX-License-Identifier: MIT
"""`python -m kit`, with and without the package of the command."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pytest

import kit


def test_command_without_kit_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    main = importlib.import_module("kit.__main__").main
    for name in [name for name in sys.modules if name.startswith("kit.dev")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(kit, "__path__", kit.__path__[:1])
    with pytest.raises(SystemExit) as caught:
        main()
    assert "pip install 'kit-dev[serve]'" in str(caught.value.code)


def test_command_whose_own_import_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    main = importlib.import_module("kit.__main__").main
    monkeypatch.setitem(sys.modules, "kit.dev.cli", None)
    with pytest.raises(ModuleNotFoundError):
        main()


def test_command_runs_that_of_kit_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    cli = SimpleNamespace(main=lambda: ran.append("ran"))
    monkeypatch.setitem(sys.modules, "kit.dev.cli", cli)  # type: ignore[arg-type]
    importlib.import_module("kit.__main__").main()
    assert ran == ["ran"]
