# SPDX-License-Identifier: MIT
"""The choice of a content coding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.interface.encodings import IDENTITY, choose_encoding

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
        # The higher of two.
        ("gzip;q=0, gzip;q=1", "gzip"),
    ],
)
def test_choice(accept_encoding: str | None, chosen: str | None) -> None:
    assert choose_encoding(accept_encoding, AVAILABLE) == chosen


def test_long_values_are_read_too() -> None:
    assert choose_encoding("x, " * 1000 + "br", AVAILABLE) == "br"


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
