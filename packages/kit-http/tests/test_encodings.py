# SPDX-License-Identifier: MIT
"""The choice of a content coding."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.http.encodings import IDENTITY, choose_encoding

AVAILABLE = ("zstd", "br", "gzip")


@pytest.mark.parametrize(
    ("accept_encoding", "chosen"),
    [
        (None, "identity"),
        # RFC 9110, section 12.5.3.
        ("compress, gzip", "gzip"),
        ("", "identity"),
        ("*", "zstd"),
        ("compress;q=0.5, gzip;q=1.0", "gzip"),
        ("gzip;q=1.0, identity; q=0.5, *;q=0", "gzip"),
        # As browsers send it.
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("br;q=0.9, gzip", "gzip"),
        ("GZip", "gzip"),
        ("x-gzip", "gzip"),
        ("compress", "identity"),
        # Refusals.
        ("gzip;q=0", "identity"),
        ("gzip;q=0.000, br;q=0, *", "zstd"),
        ("zstd;q=0, *;q=0.1", "br"),
        ("*;q=0", None),
        ("*;q=0, identity;q=0.1", "identity"),
        ("identity;q=0", None),
        ("identity;q=0, compress", None),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        # Identity is preferred where the client says so.
        ("identity, gzip;q=0.5", "identity"),
        ("identity;q=0.5, gzip;q=0.5", "gzip"),
        ("gzip;q=0.5, *;q=0.8", "zstd"),
        ("zstd;q=0.5, br;q=0.5, gzip;q=0.5, *;q=0.8", "identity"),
        # Of two, a refusal counts, then the higher one.
        ("gzip;q=0, gzip;q=1", "identity"),
        ("gzip;q=1, gzip;q=0", "identity"),
        ("gzip;q=0, x-gzip", "identity"),
        ("x-gzip;q=0, gzip", "identity"),
        ("GZIP;q=0, gzip", "identity"),
        ("*;q=0, *;q=1", None),
        ("*, *;q=0", None),
        ("identity, identity;q=0", None),
        ("gzip;q=0.1, gzip;q=0.9, br;q=0.5", "gzip"),
        # A malformed quality counts as 1.
        *((f"br;q=0.9, gzip;{q}", "gzip") for q in ("q=", "q", "q=abc", "Q=1", "q=0.9.1")),
        ("gzip;Q=0", "identity"),
    ],
)
def test_choice(accept_encoding: str | None, chosen: str | None) -> None:
    assert choose_encoding(accept_encoding, AVAILABLE) == chosen


@pytest.mark.parametrize(
    ("accept_encoding", "available", "chosen"),
    [
        ("gzip", ["gzip"], "gzip"),
        ("gzip", iter(["br", "gzip"]), "gzip"),
        # The name is returned as the caller writes it.
        ("gzip", ("GZIP",), "GZIP"),
        ("gzip", ("x-gzip",), "x-gzip"),
        ("x-gzip", ("gzip",), "gzip"),
        ("X-Compress", ("compress",), "compress"),
        ("compress;q=0, *", ("x-compress",), "identity"),
    ],
)
def test_what_is_available(accept_encoding: str, available: Any, chosen: str) -> None:
    assert choose_encoding(accept_encoding, available) == chosen


@pytest.mark.parametrize("accept_encoding", ["gzip", None])
@pytest.mark.parametrize("available", ["gzip", b"gzip"])
def test_a_single_text_is_an_error(accept_encoding: str | None, available: Any) -> None:
    with pytest.raises(TypeError) as raised:
        choose_encoding(accept_encoding, available)
    assert str(raised.value).startswith("choose_encoding(available=...) takes a list or tuple")


def test_long_values_are_read_too() -> None:
    assert choose_encoding("x, " * 1000 + "br", AVAILABLE) == "br"


@pytest.mark.parametrize("junk", ['"', '",', 'x;q="', ',"\\', ";q=", '"\\"'])
def test_long_values_with_quotes_take_time_in_proportion(junk: str) -> None:
    # A hundred kilobytes: a parser that looks back would not end within the test's time.
    assert choose_encoding("br;q=0.5, gzip;q=0.4, " + junk * 2**15, AVAILABLE) == "br"


def test_nothing_available() -> None:
    assert choose_encoding("gzip", ()) == IDENTITY
    assert choose_encoding("identity;q=0", ()) is None


@given(
    st.lists(
        st.tuples(st.sampled_from([*AVAILABLE, "identity", "*", "compress"]), st.integers(0, 1000)),
        unique_by=lambda member: member[0],
    )
)
def test_nothing_refused_is_chosen_and_nothing_better_left(members: list[tuple[str, int]]) -> None:
    value = ", ".join(f"{name};q={q / 1000:.3f}" for name, q in members)
    qualities = dict(members)
    others = qualities.get("*")

    def quality(name: str) -> float:
        q = qualities.get(name, others)
        if q is None:
            return 0.5 if name == IDENTITY and not any(map(quality, AVAILABLE)) else 0
        return q

    chosen = choose_encoding(value, AVAILABLE)
    best = max(map(quality, (*AVAILABLE, IDENTITY)))
    assert (quality(chosen) if chosen else 0) == best
    assert (chosen is None) == (best == 0)


@given(st.text(alphabet="gzip*;q=0.1, \"'"))
def test_anything_is_read(value: str) -> None:
    assert choose_encoding(value, AVAILABLE) in (*AVAILABLE, IDENTITY, None)
