# SPDX-License-Identifier: MIT
"""Everything that reads a cookie reads the same one, whatever a client sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from kit import Context, Kit, Response
from kit.cookie import get_cookie
from kit.language import language_detector
from kit.testing import sync_test_client
from kit.typed import Cookie, typed
from kit.validator import validator

READ = {
    "plain": "plain",
    '{"a":1,"b":[true]}': '{"a":1,"b":[true]}',
    "x\\y": "x\\y",
    "caf\xc3\xa9": "café",
    "caf\xe9": "café",
    "caf%C3%A9": "café",
    r'"{\"a\":1\054\"b\":\"\303\251\"}"': '{"a":1,"b":"é"}',
    '"in quotes"': "in quotes",
    '"': '"',
    "": "",
}


@dataclass
class Cookies:
    a: str


def app() -> Kit:
    app = Kit()

    @app.get("/typed")
    @typed
    def read_typed(a: Annotated[str, Cookie()]) -> dict[str, str]:
        return {"a": a}

    @app.get("/validator", use=[validator("cookie", Cookies)])
    def read_validated(c: Context) -> Response:
        return c.json({"a": c.req.valid("cookie", Cookies).a})

    @app.get("/plain")
    def read(c: Context) -> Response:
        return c.json({"a": get_cookie(c, "a")})

    return app


@pytest.mark.parametrize(("sent", "value"), READ.items())
@pytest.mark.parametrize("path", ["typed", "validator", "plain"])
def test_all_read_the_same(path: str, sent: str, value: str) -> None:
    with sync_test_client(app()) as client:
        for header in (f"a={sent}", f"x=1; a = {sent} ; y=2", f"b=1;a={sent};a=other"):
            response = client.get(f"/{path}", headers={"cookie": header})
            assert response.json() == {"a": value}, header


def test_in_the_language() -> None:
    app = Kit()
    app.use(language_detector(supported_languages=["en", "de"], fallback_language="en"))
    app.get("/", lambda c: c.text(c.get("language")))
    with sync_test_client(app) as client:
        found: list[Any] = [
            client.get("/", headers={"cookie": f"caf\xc3\xa9=1; language={each}"}).text()
            for each in ("de", '"de"', "d%65", r'"\144e"')
        ]
        assert found == ["de"] * 4
