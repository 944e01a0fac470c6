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
        ({"cache_name": ""}, ValueError, "expected a name, such as 'pages'"),
        ({"cache_name": lambda: ""}, TypeError, "takes a function (c): got the signature"),
        ({"key_generator": "url"}, TypeError, "takes a function (c), not 'url'"),
        ({"store": 7}, TypeError, "cache(store=...) takes a store such as MemoryStore(), not 7"),
        ({"store": MemoryStore}, TypeError, "takes a store such as MemoryStore(), not <class"),
        ({"wait": 1}, TypeError, "cache(wait=...) takes a bool, not 1"),
        ({"client_directives": 1}, TypeError, "cache(client_directives=...) takes a bool, not 1"),
        ({"cache_control": 60}, TypeError, "cache(cache_control=...) takes a str, not 60"),
        ({"cache_control": "max age"}, ValueError, "expected directives such as 'max-age=60"),
        ({"cache_control": "max-age=60, private"}, ValueError, "expected directives that let"),
        ({"vary": 7}, TypeError, "cache(vary=...) takes a str or a list of them, not 7"),
        ({"vary": ["Accept", "*"]}, ValueError, "expected names of headers: with '*' nothing"),
        ({"vary": "Accept Language"}, ValueError, "expected a header name such as"),
        ({"cacheable_status_codes": 200}, TypeError, "takes a list of statuses, not 200"),
        ({"cacheable_status_codes": ["200"]}, TypeError, "takes a list of statuses, not '200'"),
        ({"cacheable_status_codes": [200, 206]}, ValueError, "expected statuses from 200 to"),
        *(
            (
                {"cacheable_status_codes": [status]},
                ValueError,
                f"cache(cacheable_status_codes=[{status}]) can't be used: expected statuses from "
                "200 to 599 but 206, 304, 428, 429, 431 and 511",
            )
            for status in (428, 429, 431, 511)
        ),
        ({"max_query_body_size": -1}, ValueError, "expected at least 0 bytes"),
        ({"max_body_size": 1.5}, TypeError, "cache(max_body_size=...) takes an int, not 1.5"),
        ({"cache_status": ""}, ValueError, "expected a name such as 'Kit', or None"),
        ({"app": 7}, TypeError, "cache(app=...) takes the app, not 7"),
        ({"clock": 7}, TypeError, "cache(clock=...) takes a function (), not 7"),
    ],
)
def test_a_wrong_option_is_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        cache(**options)
    assert text in str(raised.value)
