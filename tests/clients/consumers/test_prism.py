# SPDX-License-Identifier: MIT
"""Prism, as a proxy that validates, lets every request and answer pass as the document says."""

from __future__ import annotations

from pathlib import Path

import consumers
import httpx
import pytest
from every_feature_requests import REQUESTS
from ports import free_port
from serving import ServerProcess

pytestmark = [pytest.mark.once, pytest.mark.slow]

# Prism follows redirects itself, so it compares the answer of the target with the document.
FOLLOWED = "/results/moved"


def start_prism(document: Path, url: str, folder: Path) -> ServerProcess:
    """Returns Prism in front of an app, which answers violations of the document itself."""
    port = free_port()
    program = consumers.programs() / "node_modules" / ".bin" / "prism"
    options = ["--errors", "--port", str(port), str(document), url]
    return ServerProcess([str(program), "proxy", *options], port, folder / "prism.log")


def test_every_request_and_answer_passes(
    documents: dict[str, Path], urls: dict[str, str], tmp_path: Path
) -> None:
    violations = []
    with (
        start_prism(documents["every_feature"], urls["every_feature"], tmp_path) as prism,
        httpx.Client(base_url=f"http://127.0.0.1:{prism.port}", timeout=30) as client,
    ):
        for asked in REQUESTS:
            if asked.path != FOLLOWED:
                response = client.request(asked.method, asked.path, **asked.options)
                if response.status_code != asked.status:
                    violations.append(f"{asked.method} {asked.path}: {response.text}")
        wrong = client.post("/bodies/point", json={"x": "one"})
    assert violations == []
    # It does validate: the app would have answered with 400.
    assert wrong.status_code == 422
    assert "stoplight.io" in wrong.json()["type"]
