# SPDX-License-Identifier: MIT
"""The two strategies beside models of them, and what memory they take."""

from __future__ import annotations

import gc
import tracemalloc
from threading import Barrier, Thread
from time import sleep
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.rate_limit import Limit, MemoryStore, RateLimitState

# Milliseconds that pass before a request, and what it costs.
STEPS = st.lists(
    st.tuples(st.integers(0, 400) | st.sampled_from([999, 1000, 1001, 3000]), st.integers(0, 4)),
    max_size=60,
)
LIMITS = st.lists(
    st.builds(Limit, st.integers(1, 6), st.integers(1, 4)),
    min_size=1,
    max_size=3,
    unique_by=lambda limit: limit.seconds,
)


class Counting:
    """A counter and its clock, in whole milliseconds."""

    def __init__(self, limits: list[Limit], strategy: Any, **options: Any) -> None:
        self.now_ms = 5_000_321
        self.store = MemoryStore(clock=lambda: self.now_ms / 1000, **options)
        self.count = self.store.counter("", tuple(limits), strategy)


class FixedModel:
    """What fixed windows are by their definition, from the list of all requests."""

    def __init__(self, limits: list[Limit]) -> None:
        self.windows = [{"limit": limit, "end": 0, "used": 0} for limit in limits]

    def take(self, now: int, cost: int) -> list[int]:
        for window in self.windows:
            if now >= window["end"]:
                window["used"] = 0
        left = [window["limit"].amount - window["used"] for window in self.windows]
        if cost and min(left) >= cost:
            for window in self.windows:
                if now >= window["end"]:
                    window["end"] = now + window["limit"].seconds * 1000
                window["used"] += cost
        return left


@given(limits=LIMITS, steps=STEPS)
def test_fixed_windows_are_those_of_the_model(limits: Any, steps: Any) -> None:
    counting = Counting(limits, "fixed")
    model = FixedModel(limits)
    for passed, cost in steps:
        counting.now_ms += passed
        left = model.take(counting.now_ms, cost)
        state = counting.count("a", cost)
        assert state.allowed == (min(left) >= cost)
        assert [each.exceeded for each in state.windows] == [each < cost for each in left]
        used = cost if state.allowed else 0
        assert [each.remaining for each in state.windows] == [each - used for each in left]


@given(limits=LIMITS, steps=STEPS)
def test_a_sliding_window_never_holds_more_than_the_limit(limits: Any, steps: Any) -> None:
    counting = Counting(limits, "sliding")
    taken: list[tuple[int, int]] = []
    for passed, cost in steps:
        counting.now_ms += passed
        now = counting.now_ms
        # What counts at least, and at most: a slice is a tenth of the window.
        least = [used_since(taken, now - limit.seconds * 1000) for limit in limits]
        most = [used_since(taken, now - limit.seconds * 1100) for limit in limits]
        state = counting.count("a", cost)
        if state.allowed:
            taken.append((now, cost))
            assert all(
                used + cost <= limit.amount for used, limit in zip(least, limits, strict=True)
            )
        else:
            assert any(used + cost > limit.amount for used, limit in zip(most, limits, strict=True))


def used_since(taken: list[tuple[int, int]], since: int) -> int:
    return sum(cost for at, cost in taken if at > since)


@given(limits=LIMITS, steps=STEPS, strategy=st.sampled_from(["fixed", "sliding"]))
def test_retry_after_is_when_the_request_is_allowed(limits: Any, steps: Any, strategy: Any) -> None:
    counting = Counting(limits, strategy)
    for passed, cost in steps:
        counting.now_ms += passed
        state = counting.count("a", cost)
        assert state.allowed == (state.retry_after == 0)
        if state.allowed or cost > min(limit.amount for limit in limits):
            continue
        wait_ms = round(state.retry_after * 1000)
        counting.now_ms += wait_ms - 1
        assert not counting.count("a", cost).allowed
        counting.now_ms += 1
        assert counting.count("a", cost).allowed


@given(limits=LIMITS, steps=STEPS, strategy=st.sampled_from(["fixed", "sliding"]))
def test_at_the_reset_there_is_more(limits: Any, steps: Any, strategy: Any) -> None:
    counting = Counting(limits, strategy)
    for passed, cost in steps:
        counting.now_ms += passed
        counting.count("a", cost)
    for index, window in enumerate(counting.count("a", 0).windows):
        assert (window.reset == 0) == (window.remaining == window.limit.amount)
        if window.reset:
            kept = counting.now_ms
            counting.now_ms += round(window.reset * 1000) - 1
            assert counting.count("a", 0).windows[index].remaining == window.remaining
            counting.now_ms += 1
            assert counting.count("a", 0).windows[index].remaining > window.remaining
            counting.now_ms = kept
            return  # a clock that goes back would be another test


@settings(max_examples=50)
@given(
    steps=st.lists(st.tuples(st.integers(0, 700), st.sampled_from("abcdefgh")), max_size=200),
    strategy=st.sampled_from(["fixed", "sliding"]),
)
def test_keys_are_counted_apart_and_forgotten_once_expired(steps: Any, strategy: Any) -> None:
    limits = [Limit(2, 1), Limit(3, 3)]
    together = Counting(limits, strategy)
    alone = {key: Counting(limits, strategy) for key in "abcdefgh"}
    for passed, key in steps:
        together.now_ms += passed
        alone[key].now_ms = together.now_ms
        assert together.count(key, 1) == alone[key].count(key, 1)
    # Every key has at most one counter for each limit.
    assert len(together.store) <= 16


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
def test_expired_counters_are_removed(strategy: Any) -> None:
    counting = Counting([Limit(5, 60), Limit(5, 3600)], strategy)
    for number in range(1000):
        counting.count(f"{number}", 1)
    assert len(counting.store) == 2000
    for number in range(3):
        counting.now_ms += 70_000
        counting.count(f"new {number}", 1)
    assert len(counting.store) == 2 + 1003
    for number in range(2):
        counting.now_ms += 4_000_000
        counting.count(f"newer {number}", 1)
    assert len(counting.store) <= 5


def test_a_full_store_forgets_what_was_not_used_for_the_longest_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counting = Counting([Limit(1, 60)], "fixed", max_keys=100)
    for number in range(1000):
        assert counting.count(f"{number}", 1).allowed
        assert len(counting.store) <= 100
        # One that is used is kept.
        assert counting.count("steady", 1).allowed == (number == 0)
    assert counting.count("0", 1).allowed
    assert [record.getMessage() for record in caplog.records] == [
        "Rate limit: MemoryStore(max_keys=100) is too small: it may forget clients before "
        "their windows end"
    ]


def test_a_store_that_is_large_enough_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    counting = Counting([Limit(1, 60)], "fixed", max_keys=100)
    for minute in range(5):
        for number in range(50):
            assert counting.count(f"{minute} {number}", 1).allowed
        counting.now_ms += 60_000
    assert not caplog.records


def test_a_counter_that_is_used_when_the_store_is_full_is_kept() -> None:
    counting = Counting([Limit(1, 60)], "fixed", max_keys=2)
    assert [counting.count(key, 1).allowed for key in "abab"] == [True, True, False, False]


def test_a_state_of_a_fresh_client() -> None:
    state = Counting([Limit(5, 60)], "sliding").count("a", 0)
    assert state == RateLimitState(True, ((Limit(5, 60), 5, 0.0, False),), 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
def test_new_keys_take_no_more_memory_than_the_store_may_keep(strategy: Any) -> None:
    counting = Counting([Limit(5, 60)], strategy, max_keys=1000)
    gc.collect()
    tracemalloc.start()
    for number in range(10_000):
        counting.count(f"2001:db8:{number:x}::/64", 1)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 1000 * 500


@pytest.mark.slow
@pytest.mark.once
def test_a_million_keys_are_not_all_kept() -> None:
    counting = Counting([Limit(5, 60)], "fixed")
    for number in range(1_000_000):
        counting.count(f"2001:db8:{number:x}::/64", 1)
    assert 100_000 <= len(counting.store) <= 200_000
    # The windows pass, and a few clients more take their places.
    for number in range(2):
        counting.now_ms += 61_000
        counting.count(f"{number}", 1)
    assert len(counting.store) == 2


class Yielding(str):
    """A key that lets other threads run whenever a dict looks for it."""

    def __hash__(self) -> int:
        sleep(0)
        return super().__hash__()


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
def test_threads_are_allowed_exactly_the_limit(strategy: Any) -> None:
    count = MemoryStore().counter("", (Limit(1, 3600),), strategy)
    keys = [Yielding(number) for number in range(200)]
    begin = Barrier(4)
    allowed: list[str] = []

    def ask() -> None:
        begin.wait()
        allowed.extend(key for key in keys if count(key, 1).allowed)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(allowed, key=int) == keys
