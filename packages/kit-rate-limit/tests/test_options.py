# SPDX-License-Identifier: MIT
"""Every option is checked when the factory is called."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from kit.rate_limit import Limit, MemoryStore, RedisStore, StorageStore, rate_limit

EXPECTED = (
    "can't be used: expected an amount and a time, such as '100/minute', '5 per 10 seconds' or "
    "'1000/day'; units are second, minute, hour, day and week"
)


@pytest.mark.parametrize(
    ("text", "amount", "seconds", "shown"),
    [
        ("100/minute", 100, 60, "100/minute"),
        ("100 / minutes", 100, 60, "100/minute"),
        ("1 per second", 1, 1, "1/second"),
        ("5 per 10 seconds", 5, 10, "5/10 seconds"),
        ("5/10SECONDS", 5, 10, "5/10 seconds"),
        (" 5 PER 90 Minutes ", 5, 5400, "5/90 minutes"),
        ("5/120 minutes", 5, 7200, "5/2 hours"),
        ("1000/day", 1000, 86400, "1000/day"),
        ("1000/2 weeks", 1000, 1209600, "1000/2 weeks"),
        ("999999999999999/hour", 10**15 - 1, 3600, "999999999999999/hour"),
    ],
)
def test_a_limit_is_read(text: str, amount: int, seconds: int, shown: str) -> None:
    found: list[Limit] = []

    class Store:
        def counter(self, name: str, limits: Any, strategy: str, /) -> Any:
            found.extend(limits)

    rate_limit(text, store=Store(), name="a")
    assert found == [Limit(amount, seconds)]
    assert str(found[0]) == shown


def test_limits_may_be_lists_and_objects() -> None:
    found: list[Limit] = []

    class Store:
        def counter(self, name: str, limits: Any, strategy: str, /) -> Any:
            found.extend(limits)

    rate_limit(["1/second", Limit(5, 60)], Limit(7, 3600), ("9/day",), store=Store(), name="a")
    assert found == [Limit(1, 1), Limit(5, 60), Limit(7, 3600), Limit(9, 86400)]


@pytest.mark.parametrize(
    "text",
    [
        *("", "100", "minute", "100/", "/minute", "100/fortnight", "100/month", "-1/minute"),
        *("1.5/minute", "0/minute", "1/0 minutes", "1000000000000000/second", "5per minute"),
        *(
            "5/1000000000000000 days",
            "5/10000000001 seconds",
            "1/minute/second",
            "one/minute",
            "5//minute",
            "٣/minute",
        ),
    ],
)
def test_a_text_that_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rate_limit") as raised:
        rate_limit(text)
    assert str(raised.value) == f"rate_limit({text!r}) {EXPECTED}"


@pytest.mark.parametrize(
    ("limits", "options", "error", "text"),
    [
        ((), {}, ValueError, "needs a limit: an amount and a time, such as '100/minute', '5"),
        (([],), {}, ValueError, "needs a limit: an amount and a time, such as '100/minute'"),
        ((100,), {}, TypeError, "rate_limit() takes limits such as '100/minute', not 100"),
        (("5/second;100/minute",), {}, ValueError, "rate_limit('5/second;100/minute') has"),
        (("100/minute", "5/60 seconds"), {}, ValueError, "rate_limit() has two limits for"),
        (("1/day",), {"key": "ip"}, TypeError, "takes a function (c), not 'ip'"),
        (("1/day",), {"strategy": "moving"}, ValueError, "expected 'fixed' or 'sliding'"),
        (("1/day",), {"cost": "1"}, TypeError, "rate_limit(cost=...) takes an int, not '1'"),
        (("9/day",), {"cost": 0}, ValueError, "expected at least 1"),
        (("9/day", "5/second"), {"cost": 6}, ValueError, "expected at most 5"),
        (("1/day",), {"cost": lambda: 1}, TypeError, "takes a function (c): got the signature"),
        (("1/day",), {"trusted_hops": -1}, ValueError, "expected at least 0"),
        (("1/day",), {"ipv6_prefix": 129}, ValueError, "expected at most 128 bits"),
        (("1/day",), {"headers": 1}, TypeError, "rate_limit(headers=...) takes a bool, not 1"),
        (("1/day",), {"on_limit": 429}, TypeError, "takes a function (c, state), not 429"),
        (("1/day",), {"on_store_error": "ignore"}, ValueError, "expected 'refuse', 'allow' or"),
        (("1/day",), {"exempt": "10.0.0.0/8"}, TypeError, "takes a list of networks, or a"),
        (("1/day",), {"exempt": ["10.0.0.1/8"]}, ValueError, "is not a network: expected one"),
        (("1/day",), {"exempt": ["0.0.0.0/0"]}, ValueError, "rate_limit(exempt=...) has"),
        (("1/day",), {"exempt": ["::ffff:0:0/96"]}, ValueError, "rate_limit(exempt=...) has"),
        (("1/day",), {"exempt": lambda: True}, TypeError, "takes a function (c): got the"),
        (("1/day",), {"store": "redis://localhost"}, TypeError, "takes a MemoryStore, a"),
        (("1/day",), {"store": MemoryStore}, TypeError, "rate_limit(store=...) takes a"),
        (("1/day",), {"name": 'a"b'}, ValueError, "expected a name such as 'login'"),
    ],
)
def test_a_wrong_option_is_an_error(
    limits: Any, options: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        rate_limit(*limits, **options)
    assert text in str(raised.value)


def test_exempt_takes_objects_of_ipaddress() -> None:
    rate_limit("1/day", exempt=[ip_address("192.0.2.1"), ip_network("2001:db8::/32")])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Limit(0, 1), ValueError, "Limit(amount=0) can't be used: expected at least 1"),
        (lambda: Limit(1, 0), ValueError, "expected at least 1 seconds"),
        (lambda: Limit(10**15, 1), ValueError, "expected at most 999999999999999"),
        (lambda: Limit(1, 10**10 + 1), ValueError, "expected at most 10000000000 seconds"),
        (lambda: Limit(1, 0.5), TypeError, "Limit(seconds=...) takes an int, not 0.5"),  # type: ignore[arg-type]
        (lambda: MemoryStore(max_keys=1), ValueError, "expected at least 2"),
        (
            lambda: MemoryStore(clock=0),  # type: ignore[arg-type]
            TypeError,
            "MemoryStore(clock=...) takes a function (), not 0",
        ),
        (
            lambda: RedisStore("http://user:s3cret@localhost"),
            ValueError,
            "expected one such as 'redis://127.0.0.1:6379', 'rediss://...' or",
        ),
        (
            lambda: RedisStore(7),  # type: ignore[arg-type]
            TypeError,
            "RedisStore(redis=...) takes a URL or a redis.asyncio.Redis, not a builtins.int",
        ),
        (
            lambda: RedisStore("redis://localhost", timeout=0),
            ValueError,
            "RedisStore(timeout=0) can't be used: expected at least 0.001 seconds",
        ),
        (
            lambda: RedisStore("redis://localhost", max_connections=0),
            ValueError,
            "RedisStore(max_connections=0) can't be used: expected at least 1",
        ),
        (
            lambda: StorageStore("async+memory://"),  # type: ignore[arg-type]
            TypeError,
            "StorageStore() takes a storage of limits.aio.storage, not a builtins.str",
        ),
    ],
)
def test_a_wrong_store_is_an_error(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        make()
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("module", "make", "text"),
    [
        ("redis.asyncio", lambda: RedisStore("redis://localhost"), "needs redis-py: pip"),
        (
            "limits.aio.storage",
            lambda: StorageStore(None),  # type: ignore[arg-type]
            'StorageStore needs limits: pip install "kit-rate-limit[limits]"',
        ),
    ],
)
def test_an_absent_library_is_named(
    module: str, make: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ImportError) as raised:
        make()
    assert text in str(raised.value)
