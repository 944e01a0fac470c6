# SPDX-License-Identifier: MIT
"""The cases of cache-tests about conditional requests, where they concern an origin server.

The ids and values are those of `tests/conditional-etag.mjs` and `tests/conditional-lm.mjs` in
http-tests/cache-tests at b55b8bd (BSD-3-Clause). What the suite requires, or calls optimal, is a
304; where it only asks, the answer is the one that RFC 9110 section 8.8.3 has: malformed tags match
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.etag import etag

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def date(offset_s: int, form: str | None = None) -> str:
    at = NOW + timedelta(seconds=offset_s)
    return at.strftime(form) if form else format_datetime(at, usegmt=True)


def case(id: str, stored: dict[str, str], sent: dict[str, str], status: int = 304) -> Any:
    return pytest.param(stored, sent, status, id=id)


def tags(id: str, stored: str, sent: str, status: int = 304) -> Any:
    return case(id, {"ETag": stored}, {"If-None-Match": sent}, status)


CASES = [
    tags("conditional-etag-strong-respond", '"abcdef"', '"abcdef"'),
    case(
        "conditional-etag-precedence",
        {"ETag": '"abcdef"', "Last-Modified": date(-5000)},
        {"If-None-Match": '"abcdef"', "If-Modified-Since": date(-10000)},
    ),
    tags("conditional-etag-strong-respond-obs-text", '"abcdefü"', '"abcdefü"'),
    tags("conditional-etag-quoted-respond-unquoted", '"abcdef"', "abcdef", 200),
    tags("conditional-etag-unquoted-respond-unquoted", "abcdef", "abcdef", 200),
    tags("conditional-etag-unquoted-respond-quoted", "abcdef", '"abcdef"', 200),
    tags("conditional-etag-weak-respond", 'W/"abcdef"', 'W/"abcdef"'),
    tags("conditional-etag-weak-respond-lowercase", 'w/"abcdef"', 'w/"abcdef"', 200),
    tags("conditional-etag-weak-respond-backslash", 'W\\"abcdef"', 'W\\"abcdef"', 200),
    tags("conditional-etag-weak-respond-omit-slash", 'W"abcdef"', 'W"abcdef"', 200),
    tags("conditional-etag-strong-respond-multiple-first", '"abcdef"', '"abcdef", "1234", "5678"'),
    tags("conditional-etag-strong-respond-multiple-second", '"abcdef"', '"1234", "abcdef", "5678"'),
    tags("conditional-etag-strong-respond-multiple-last", '"abcdef"', '"1234", "5678", "abcdef"'),
    case(
        "conditional-lm-fresh",
        {"Last-Modified": date(-3000)},
        {"If-Modified-Since": date(-3000)},
    ),
    case(
        "conditional-lm-fresh-earlier",
        {"Last-Modified": date(-3000)},
        {"If-Modified-Since": date(-2000)},
    ),
    case(
        "conditional-lm-fresh-rfc850",
        {"Last-Modified": date(-3000)},
        {"If-Modified-Since": date(-3000, "%A, %d-%b-%y %H:%M:%S GMT")},
    ),
    # The suite lets a cache go by when it got the response, which an origin can't.
    case("conditional-lm-fresh-no-lm", {}, {"If-Modified-Since": date(-3000)}, 200),
]


@pytest.mark.parametrize(("stored", "sent", "status"), CASES)
def test_case(
    run: Callable[..., Any], stored: dict[str, str], sent: dict[str, str], status: int
) -> None:
    def answer(c: Context) -> Response:
        return c.text("Momo", headers=stored)

    app = Kit()
    app.use(etag())
    app.get("/", answer)
    response = run(app.request, "/", {"headers": sent})
    assert response.status == status
    # conditional-304-etag
    if "ETag" in stored:
        assert response.headers.get("etag") == stored["ETag"]
