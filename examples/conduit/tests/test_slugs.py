# SPDX-License-Identifier: MIT
from __future__ import annotations

from itertools import islice

import pytest
from conduit.slugs import slug_of, slugs_of
from conduit.tables import MAX_SLUG, MAX_TITLE
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("How to train your dragon", "how-to-train-your-dragon"),
        ("  C++ & C#: what's new?  ", "c-c-what-s-new"),
        ("Straße", "strasse"),
        ("日本語 の 題", "日本語-の-題"),
        ("under_score", "under-score"),
        ("हिन्दी में", "हिन्दी-में"),
        ("ภาษาไทย ที่นี่", "ภาษาไทย-ที่นี่"),
        ("!!!", ""),
        ("\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}", ""),
    ],
)
def test_slugs(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@given(st.text(max_size=MAX_TITLE))
def test_every_title_has_slugs_that_differ_and_fit(title: str) -> None:
    found = [*islice(slugs_of(title), 3)]
    assert len({*found}) == 3
    for slug in found:
        assert 0 < len(slug) <= MAX_SLUG
        assert slug != "feed"
        assert "/" not in slug
        assert not slug.startswith("-")


@pytest.mark.parametrize("title", ["Feed", "!!!"])
def test_some_slugs_are_no_addresses_of_articles(title: str) -> None:
    first = next(slugs_of(title))
    assert first not in ("", "feed")
    assert first.startswith(slug_of(title))
