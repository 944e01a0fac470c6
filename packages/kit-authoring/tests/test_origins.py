# SPDX-License-Identifier: MIT
"""The check of options that list origins, and what people write in place of one."""

from __future__ import annotations

import pytest

from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins

ORIGINS = ("https://example.com", "http://localhost:3000", "http://[::1]:8000")
# What was written, and the origin that is meant.
MEANT = {
    "https://example.com/": "https://example.com",
    "https://example.com/path?query#fragment": "https://example.com",
    "https://example.com?query": "https://example.com",
    "https://example.com#fragment": "https://example.com",
    "HTTPS://Example.COM": "https://example.com",
    "https://example.com:443": "https://example.com",
    "http://example.com:80/": "http://example.com",
    "http://example.com:08080": "http://example.com:8080",
    " https://example.com ": "https://example.com",
    "example.com": "https://example.com",
    "example.com:8443/path": "https://example.com:8443",
    "//example.com": "https://example.com",
    "localhost:3000": "http://localhost:3000",
    "app.localhost": "http://app.localhost",
    "127.0.0.1:5000": "http://127.0.0.1:5000",
    "[::1]:3000": "http://[::1]:3000",
}
NO_ORIGINS = (
    "",
    "/",
    "https://",
    "https:example.com",
    "https://ex ample.com",
    "https://example.com:99999",
    "https://user:password@example.com",
    "mailto:ada@example.com",
    "data:text/html,x",
    "https://example.com, https://example.org",
    "https://" + "a" * 300,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (text, f"only scheme, host and port, in lower case: write {meant!r}")
            for text, meant in MEANT.items()
        ),
        *((text, "an origin such as 'https://example.com'") for text in NO_ORIGINS[:-1]),
        (
            "https://bücher.example",
            "an origin in ASCII, such as 'https://xn--bcher-kva.example', as browsers send it",
        ),
        (
            "null",
            "an origin such as 'https://example.com'; 'null' is what every sandboxed page sends, "
            "so use a function to let it in",
        ),
        ("*", "an origin such as 'https://example.com'; '*' is not an origin"),
        (
            "*.example.com",
            "an origin such as 'https://example.com', since there are no wildcards; use a function "
            "for many origins",
        ),
    ],
)
def test_the_error_has_the_origin_that_is_meant(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match="expected") as raised:
        check_origins(OptionChecks("csrf"), "origin", ["https://a.example", text])
    assert str(raised.value) == f"csrf(origin={text!r}) can't be used: expected {expected}"


def test_several_origins() -> None:
    assert check_origins(OptionChecks("cors"), "origin", iter(ORIGINS)) == {*ORIGINS}
    assert check_origins(OptionChecks("cors"), "origin", ()) == frozenset()
    with pytest.raises(TypeError) as raised:
        check_origins(OptionChecks("cors"), "origin", 7)
    assert str(raised.value) == "cors(origin=...) takes a str or a list of them, not 7"
