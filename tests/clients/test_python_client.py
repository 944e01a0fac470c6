# SPDX-License-Identifier: MIT
"""The Python clients that `kit client` writes, by the word of pyright, and their errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import client_app
import openapi_app
import pytest
from commands import run
from documents import ROOT
from npm import run_npm

from kit.openapi import build_document
from kit.openapi._client.python import generate

pytestmark = [pytest.mark.slow, pytest.mark.once]

KIT = Path(sys.executable).with_name("kit")
USE = """
from typing import assert_type

import client
import bookshelf


def read(api: bookshelf.Client) -> bookshelf.Book | None:
    try:
        return api.read_book(1)
    except bookshelf.NotFoundError as error:
        assert_type(error.problem, bookshelf.Error)
    except bookshelf.ClientError as error:
        print(error.problem)
    return None


async def fail(api: client.AsyncClient) -> None:
    try:
        await api.fail(1)
    except client.ConflictError as error:
        assert_type(error.problem, client.Gone | client.Problem)
    except client.GoneError as error:
        assert_type(error.problem, str)
    async for shape in api.shapes(1):
        assert_type(shape, client.Circle | client.Square)
"""


def test_pyright_accepts_clients(npm: Callable[[Mapping[str, str]], Path], tmp_path: Path) -> None:
    for example in ("bookshelf", "conduit"):
        run(KIT, "client", ROOT / "examples" / example, "-o", tmp_path / f"{example}.py")
    (tmp_path / "client.py").write_text(generate(build_document(client_app.app)))
    (tmp_path / "everything.py").write_text(generate(build_document(openapi_app.app)))
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    options = ("--pythonpath", sys.executable, ".")
    run_npm(npm({"pyright": "1.1.414"}), "pyright", *options, cwd=tmp_path)
