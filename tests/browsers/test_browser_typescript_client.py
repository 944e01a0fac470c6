# SPDX-License-Identifier: MIT
"""A TypeScript client in a browser, on a page of the API that it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import client_app
import pytest
from browser import Browser
from npm import run_npm
from workspace import ROOT

from kit.openapi import build_document
from kit.openapi._client.typescript import generate

pytestmark = [pytest.mark.slow, pytest.mark.once]

# Calls what differs between browsers and Node: URLs without a host, files, streams, aborts.
CALLS = """
const module = new Blob([args[0]], { type: "text/javascript" });
const { Client, isErrorOf } = await import(URL.createObjectURL(module));
const api = new Client({ baseUrl: "/" });
const controller = new AbortController();
const counted = [];
for await (const number of api.clock({ signal: controller.signal })) {
  counted.push(number);
  if (number === 2) controller.abort();
}
const shapes = [];
for await (const shape of api.shapes(2, { accept: "text/event-stream" })) shapes.push(shape);
const error = await api.fail(409).catch((error) => error);
return {
  text: await api.text(),
  query: await api.findThings({ low: 1 }),
  upload: await api.upload({ cover: new File(["front"], "a.png"), note: "n" }),
  range: (await api.search({ query: { range: { low: 1 } } })).range,
  counted,
  shapes,
  conflict: isErrorOf("fail", error) && error.body.place,
};
"""


def test_client_in_a_browser(
    npm: Callable[[Mapping[str, str]], Path],
    serve: Callable[..., Any],
    browser: Browser,
    tmp_path: Path,
) -> None:
    (tmp_path / "api.ts").write_text(generate(build_document(client_app.app)))
    options = ("--strict", "--target", "es2022", "--module", "es2022")
    run_npm(npm({"typescript": "5.9.3"}), "tsc", *options, "api.ts", cwd=tmp_path)
    served = serve(ROOT / "tests" / "support", "client_app:app")
    browser.open(f"{served.url}/text")
    assert browser.run(CALLS, (tmp_path / "api.js").read_text()) == {
        "text": "häh",
        "query": {"low": 1, "high": None},
        "upload": ["a.png", "front", "n"],
        "range": {"low": 1, "high": None},
        "counted": [0, 1, 2],
        "shapes": [{"type": "circle", "radius": 0}, {"type": "square", "side": 1}],
        "conflict": "elsewhere",
    }
