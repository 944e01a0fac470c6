# SPDX-License-Identifier: MIT
"""The options, and what happens without the libraries."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from kit import Kit
from kit.compress import compress

CHOICES = "expected 'zstd', 'br', 'gzip' or 'deflate'"
PATTERN_OR_FUNCTION = "takes a compiled pattern of str or a function (content_type)"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"encodings": ["gzip", "lzma"]}, ValueError, "compress(encodings='lzma') can't be"),
        ({"encodings": []}, ValueError, "expected at least one coding, e.g. 'gzip'"),
        ({"encodings": 7}, TypeError, "takes a str or a list of them, not 7"),
        ({"encoding": "identity"}, ValueError, "compress(encoding='identity') can't be used"),
        ({"encoding": "gzip", "encodings": ["gzip"]}, TypeError, "takes either encodings=..."),
        ({"threshold": "1k"}, TypeError, "compress(threshold=...) takes an int, not '1k'"),
        ({"threshold": -1}, ValueError, "expected at least 0 bytes"),
        ({"content_type_filter": "text/"}, TypeError, "compress(content_type_filter=...)"),
        (
            {"content_type_filter": re.compile(b"text/")},
            TypeError,
            f"compress(content_type_filter=...) {PATTERN_OR_FUNCTION}, not re.compile(b'text/')",
        ),
        ({"content_type_filter": lambda: True}, TypeError, "takes a function (content_type)"),
        ({"skip": True}, TypeError, "compress(skip=...) takes a function (c), not True"),
        ({"level": 10, "encodings": ["br", "gzip"]}, ValueError, "expected at most 9 for gzip"),
        ({"level": {"br": 5}, "encodings": ["gzip"]}, ValueError, "has the unknown key 'br'"),
        ({"level": 0, "encoding": "gzip"}, ValueError, "expected at least 1 for gzip"),
        ({"level": {"zstd": 20}}, ValueError, "expected at most 19 for zstd"),
        ({"level": "fast", "encoding": "br"}, TypeError, "takes an int, not 'fast'"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        compress(**options)
    assert text in str(raised.value)


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("brotli", "backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_libraries")
@pytest.mark.parametrize(("coding", "extra"), [("br", "brotli"), ("zstd", "zstd")])
def test_a_coding_that_is_named_needs_its_library(coding: str, extra: str) -> None:
    for options in ({"encoding": coding}, {"encodings": ["gzip", coding]}):
        with pytest.raises(ImportError) as raised:
            compress(**options)  # type: ignore[arg-type]
        text = str(raised.value)
        assert text.startswith("compress() needs ")
        assert text.endswith(f' for {coding!r}: pip install "kit-compress[{extra}]"')


@pytest.mark.usefixtures("without_libraries")
def test_the_default_is_what_is_installed(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(compress())
    app.get("/", lambda c: c.text("a" * 2000))
    response = run(app.request, "/", {"headers": {"Accept-Encoding": "zstd, br;q=0.9, gzip;q=0.1"}})
    assert response.headers.get("content-encoding") == "gzip"
