# SPDX-License-Identifier: MIT
"""The options of `cache`, checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from kit.authoring.options import OptionChecks
from kit.http.fields import is_token, list_members, quoted_string
from kit.interface import AnyContext, App

from ._control import parse_directives
from ._memory import MemoryStore
from ._store import Store

TextFunction: TypeAlias = Callable[[AnyContext], str | Awaitable[str]]
"""Returns a str for a request: `def name(c)`, plain or async."""

_METHODS_OF_STORES = ("get", "set", "delete", "clear")
# SPEC: RFC 9110 section 15: the first two apply to a single request, or to a partial response.
# RFC 6585 forbids storing the others.
_UNUSABLE_STATUSES = (206, 304, 428, 429, 431, 511)


class Options(NamedTuple):
    """The options of `cache`, where they are documented.

    Attributes:
        cache_name: A name, or a function that returns it.
        store: Where responses are kept.
        wait: Whether to store responses before sending them.
        cache_control: The directives to add, by name.
        vary: The names to add to Vary.
        key_generator: Returns the key of a request.
        statuses: The statuses to store.
        max_query_body_size: In bytes.
        max_body_size: In bytes.
        client_directives: Whether clients may request newer responses.
        status_name: The name in Cache-Status; None omits the header.
        app: The app, for requests in the background.
        clock: Returns the time.
    """

    cache_name: str | TextFunction
    store: Store
    wait: bool
    cache_control: Mapping[str, str | None]
    vary: tuple[str, ...]
    key_generator: TextFunction | None
    statuses: frozenset[int]
    max_query_body_size: int
    max_body_size: int
    client_directives: bool
    status_name: str | None
    app: App | None
    clock: Callable[[], float]


def check_options(
    *,
    cache_name: Any,
    store: Any,
    wait: Any,
    cache_control: Any,
    vary: Any,
    key_generator: Any,
    cacheable_status_codes: Any,
    max_query_body_size: Any,
    max_body_size: Any,
    client_directives: Any,
    cache_status: Any,
    app: Any,
    clock: Any,
) -> Options:
    """Checks the options.

    Raises:
        TypeError: If one has the wrong type.
        ValueError: If one is invalid.
    """
    check = OptionChecks("cache")
    if callable(cache_name):
        check.function("cache_name", cache_name, "(c)")
    else:
        check.text("cache_name", cache_name, ".+", "a name, such as 'pages'")
    if key_generator is not None:
        check.function("key_generator", key_generator, "(c)")
    return Options(
        cache_name,
        _store(check, store),
        check.flag("wait", wait),
        _directives(check, cache_control),
        _vary(check, vary),
        key_generator,
        _statuses(check, cacheable_status_codes),
        check.number("max_query_body_size", max_query_body_size, least=0, unit="bytes"),
        check.number("max_body_size", max_body_size, least=0, unit="bytes"),
        check.flag("client_directives", client_directives),
        _name(check, cache_status),
        _app(check, app),
        check.clock("clock", clock),
    )


def _store(check: OptionChecks, store: Any) -> Any:
    if store is None:
        return MemoryStore()
    if isinstance(store, type) or not all(hasattr(store, each) for each in _METHODS_OF_STORES):
        check.wrong_type("store", store, "a store such as MemoryStore()")
    return store


def _directives(check: OptionChecks, value: Any) -> Mapping[str, str | None]:
    if value is None:
        return {}
    found = parse_directives(check.header_value("cache_control", value))
    for name in found:
        if not is_token(name):
            check.unusable("cache_control", value, "directives such as 'max-age=60, public'")
    if {"no-store", "private", "no-cache"} & found.keys():
        check.unusable(
            "cache_control", value, "directives that let responses be stored, e.g. 'max-age=60'"
        )
    return found


def _vary(check: OptionChecks, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    names = tuple(name for each in check.texts("vary", value) for name in list_members(each))
    for name in names:
        if name == "*":
            check.unusable("vary", value, "names of headers: with '*' nothing would be stored")
        check.header_name("vary", name, "Accept-Language")
    return names


def _statuses(check: OptionChecks, value: Any) -> frozenset[int]:
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        check.wrong_type("cacheable_status_codes", value, "a list of statuses")
    statuses = frozenset(value)
    for each in statuses:
        if isinstance(each, bool) or not isinstance(each, int):
            check.wrong_type("cacheable_status_codes", each, "a list of statuses")
        if not 200 <= each <= 599 or each in _UNUSABLE_STATUSES:
            check.unusable(
                "cacheable_status_codes",
                value,
                "statuses from 200 to 599 but 206, 304, 428, 429, 431 and 511",
            )
    return statuses


def _name(check: OptionChecks, value: Any) -> str | None:
    """Returns the name of the cache as an item of Cache-Status (RFC 9211, section 2)."""
    if value is None:
        return None
    text = check.text("cache_status", value, "[ -~]+", "a name such as 'Kit', or None")
    if is_token(text) and (text[0].isalpha() or text[0] == "*"):
        return text
    return quoted_string(text)


def _app(check: OptionChecks, app: Any) -> App | None:
    if app is not None and not hasattr(app, "fetch"):
        check.wrong_type("app", app, "the app")
    found: App | None = app
    return found
