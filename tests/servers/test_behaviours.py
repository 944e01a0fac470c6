# SPDX-License-Identifier: MIT
"""One app behaves the same under every server, or differs as `docs/server-behaviours.md` says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import behaviours_asked  # noqa: F401 - adds behaviours
import behaviours_seen
import behaviours_table
import pytest
from behaviours import BEHAVIOURS, ENDINGS, Behaviour
from behaviours_differences import difference, unknown
from behaviours_modes import MODES, Mode

AT_ONCE = 8


def _look(behaviour: Behaviour, mode: Mode) -> str | None:
    """What is seen; None if the mode can't have it."""
    if behaviour.needs in mode.lacks:
        return None
    try:
        return str(behaviour.see(mode))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _misfit(behaviour: Behaviour, mode: Mode, seen: str | None) -> str | None:
    """Says what is not as it is declared."""
    differs = difference(behaviour, mode.name)
    expected = differs.seen if differs else behaviour.expected
    if seen is None:
        return f"{behaviour.name}: differs, and can't be there" if differs else None
    if seen == expected:
        return None
    was = " (declared to differ)" if differs else ""
    return f"{behaviour.group}: {behaviour.name}: {seen!r}, expected {expected!r}{was}"


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind,
            id=kind.name,
            marks=[pytest.mark.once] * kind.is_once + [pytest.mark.slow] * kind.is_slow,
        )
        for kind in MODES
    ],
)
def test_behaviours(kind: type[Mode], tmp_path: Path) -> None:
    with kind(tmp_path) as mode:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            seen = list(pool.map(lambda each: _look(each, mode), BEHAVIOURS))
        misfits = [_misfit(each, mode, what) for each, what in zip(BEHAVIOURS, seen, strict=True)]
        if "signals" not in mode.lacks:
            end: Any = behaviours_seen.at_the_end(mode)  # type: ignore[arg-type]
            misfits += [_misfit(each, mode, end[each.name]) for each in ENDINGS]
    assert [each for each in misfits if each] == []


def test_there_are_enough_behaviours_with_names_of_their_own() -> None:
    names = [(each.group, each.name) for each in (*BEHAVIOURS, *ENDINGS)]
    assert len(set(names)) == len(names) >= 80
    assert unknown() == []


@pytest.mark.once
def test_table_in_the_docs_is_up_to_date() -> None:
    """If not: python tests/support/behaviours_table.py --write"""
    assert behaviours_table.PAGE.read_text() == behaviours_table.page()
