# SPDX-License-Identifier: MIT
"""Mistakes in the options."""

from __future__ import annotations

from typing import Any

import pytest

from kit.cache import MemoryStore, cache


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"cache_name": 7}, TypeError, "cache(cache_name=...) takes a str, not 7"),
        (
            {"cache_name": ""},
            ValueError,
            "cache(cache_name='') can't be used: expected a name, such as 'pages'",
        ),
        (
            {"cache_name": lambda: ""},
            TypeError,
            "cache(cache_name=...) takes a function (c): got the signature <lambda>()",
        ),
        (
            {"key_generator": "url"},
            TypeError,
            "cache(key_generator=...) takes a function (c), not 'url'",
        ),
        ({"store": 7}, TypeError, "cache(store=...) takes a store such as MemoryStore(), not 7"),
        (
            {"store": MemoryStore},
            TypeError,
            "cache(store=...) takes a store such as MemoryStore(), not "
            "<class 'kit.cache._memory.MemoryStore'>",
        ),
        ({"wait": 1}, TypeError, "cache(wait=...) takes a bool, not 1"),
        ({"client_directives": 1}, TypeError, "cache(client_directives=...) takes a bool, not 1"),
        ({"cache_control": 60}, TypeError, "cache(cache_control=...) takes a str, not 60"),
        (
            {"cache_control": "max age"},
            ValueError,
            "cache(cache_control='max age') can't be used: expected directives such as "
            "'max-age=60, public'",
        ),
        (
            {"cache_control": "max-age=60, private"},
            ValueError,
            "cache(cache_control='max-age=60, private') can't be used: expected directives that "
            "let responses be stored, e.g. 'max-age=60'",
        ),
        ({"vary": 7}, TypeError, "cache(vary=...) takes a str or a list of them, not 7"),
        (
            {"vary": ["Accept", "*"]},
            ValueError,
            "cache(vary=['Accept', '*']) can't be used: expected names of headers: with '*' "
            "nothing would be stored",
        ),
        (
            {"vary": "Accept Language"},
            ValueError,
            "cache(vary='Accept Language') can't be used: expected a header name such as "
            "'Accept-Language'",
        ),
        (
            {"cacheable_status_codes": 200},
            TypeError,
            "cache(cacheable_status_codes=...) takes a list of statuses, not 200",
        ),
        (
            {"cacheable_status_codes": ["200"]},
            TypeError,
            "cache(cacheable_status_codes=...) takes a list of statuses, not '200'",
        ),
        (
            {"cacheable_status_codes": [200, 206]},
            ValueError,
            "cache(cacheable_status_codes=[200, 206]) can't be used: expected statuses from 200 to "
            "599 but 206, 304, 428, 429, 431 and 511",
        ),
        *(
            (
                {"cacheable_status_codes": [status]},
                ValueError,
                f"cache(cacheable_status_codes=[{status}]) can't be used: expected statuses from "
                "200 to 599 but 206, 304, 428, 429, 431 and 511",
            )
            for status in (428, 429, 431, 511)
        ),
        (
            {"max_query_body_size": -1},
            ValueError,
            "cache(max_query_body_size=-1) can't be used: expected at least 0 bytes",
        ),
        ({"max_body_size": 1.5}, TypeError, "cache(max_body_size=...) takes an int, not 1.5"),
        (
            {"cache_status": ""},
            ValueError,
            "cache(cache_status='') can't be used: expected a name such as 'Kit', or None",
        ),
        ({"app": 7}, TypeError, "cache(app=...) takes the app, not 7"),
        ({"clock": 7}, TypeError, "cache(clock=...) takes a function (), not 7"),
    ],
)
def test_a_wrong_option_is_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        cache(**options)
    assert str(raised.value) == text
