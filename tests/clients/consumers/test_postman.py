# SPDX-License-Identifier: MIT
"""The collections that openapi-to-postman makes have valid requests for all operations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import consumers
import httpx
import pytest
from postman_requests import read_requests

pytestmark = [pytest.mark.once, pytest.mark.slow]

# The values of requests are random; this makes them the same in every run.
SEED = "let state = 1; Math.random = () => (state = (state * 48271) % 2147483647) / 2147483647;"
# It ignores cookies, prefixItems, const, the formats duration and base64, and recursive schemas.
# And no schema could tell what a cursor is, or that a list is sorted once by each field.
NOT_VALID = {
    "GET /parameters/cookies",
    "POST /bodies/thing",
    "POST /bodies/person",
    "POST /bodies/owner",
    "POST /bodies/pair",
    "GET /results/numbered",
    "GET /results/pages",
}
# What an app answers to a request that isn't valid, or that breaks it.
REFUSED = (400, 405, 413, 415, 422, 500, 502, 503)


def convert(document: Path, folder: Path) -> dict[str, Any]:
    """Converts a document to a collection with examples as values."""
    (folder / "seed.cjs").write_text(SEED)
    output = folder / f"{document.stem}.postman.json"
    options = ("-s", document, "-o", output, "-O", "parametersResolution=Example")
    variables = {"NODE_OPTIONS": f"--require={folder / 'seed.cjs'}"}
    printed = consumers.run_program("openapi2postmanv2", *options, folder=folder, **variables)
    assert "Conversion successful" in printed
    collection: dict[str, Any] = json.loads(output.read_text())
    return collection


@pytest.mark.parametrize("name", consumers.APPS)
def test_collection(
    name: str, documents: dict[str, Path], urls: dict[str, str], tmp_path: Path
) -> None:
    requests = [*read_requests(convert(documents[name], tmp_path)["item"])]
    paths = json.loads(documents[name].read_text())["paths"]
    documented = [method for methods in paths.values() for method in methods]
    assert len(requests) == len([each for each in documented if not each.startswith("x-")])
    refused = {}
    with httpx.Client(base_url=urls[name], timeout=30) as client:
        for each in requests:
            response = client.request(**each.request)
            if response.status_code in REFUSED:
                refused[each.name] = response.text
    assert refused.keys() - NOT_VALID == set(), refused
