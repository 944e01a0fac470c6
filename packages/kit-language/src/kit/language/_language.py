# SPDX-License-Identifier: MIT
"""The middleware that detects the language of a request."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.authoring.vary import depend_on
from kit.cookie import CookieOptions, set_cookie
from kit.http.fields import is_token
from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.metadata import attach

from ._detectors import Read, cookie_reader, header_reader, path_reader, query_reader
from ._lookup import Lookup, accepted_tags

__all__ = ("language_detector",)

_Detector: TypeAlias = Literal["querystring", "cookie", "header", "path"]
_Convert: TypeAlias = Callable[[str], str | Awaitable[str]]

_COOKIE_OPTIONS: CookieOptions = {
    "same_site": "Strict",
    "secure": True,
    "max_age": 365 * 24 * 60 * 60,
    "http_only": True,
}
# SPEC: RFC 9110 section 8.5.1, the syntax of RFC 5646 section 2.1 without its semantics.
_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
# SPEC: RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: these have no content with a language.
_WITHOUT_CONTENT = frozenset((204, 205, 304))
_logger = logging.getLogger("kit.language")


def language_detector(
    *,
    order: Sequence[_Detector] = ("querystring", "cookie", "header"),
    lookup_query_string: str = "lang",
    lookup_cookie: str = "language",
    lookup_from_header_key: str = "accept-language",
    lookup_from_path_index: int = 0,
    caches: Sequence[Literal["cookie"]] | Literal[False] = ("cookie",),
    ignore_case: bool = True,
    fallback_language: str = "en",
    supported_languages: Sequence[str] = ("en",),
    cookie_options: CookieOptions | None = None,
    convert_detected_language: _Convert | None = None,
    debug: bool = False,
) -> AsyncMiddleware:
    """Returns middleware that sets the variable `language` to the language of the client.

    It tries the sources in `order` one after the other until one has a supported language. It uses
    lookup: `de-CH` matches `de` (RFC 4647, section 3.4). In Accept-Language, a quality of 0
    excludes a language.

    Vary in the response lists the headers that were read. Content-Language is set if the response
    has content and no Content-Language yet.

    Args:
        order: The sources to try: `querystring`, `cookie`, `header`, `path`.
        lookup_query_string: The query parameter.
        lookup_cookie: The cookie.
        lookup_from_header_key: The header.
        lookup_from_path_index: The segment of the URL's path, from 0; empty ones don't count.
        caches: `["cookie"]` stores the detected language in the cookie, False or `[]` doesn't.
        ignore_case: Whether to compare tags case-insensitively.
        fallback_language: The language to use if none is detected; must be a supported one.
        supported_languages: The languages of the app, as it spells them.
        cookie_options: Options of the cookie that differ from `same_site="Strict"`, `secure=True`,
            `http_only=True` and a `max_age` of 365 days, see `kit.cookie.CookieOptions`.
        convert_detected_language: Function, plain or async, that is called with each tag before it
            is looked up, and returns the tag to use instead, e.g. `en-US` for `en_US`. If it
            raises, the tag isn't supported.
        debug: Whether to log detections and failed conversions, at level DEBUG to the logger
            `kit.language`.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is invalid, or the cookie can't be set.

    Example:
        app.use(language_detector(supported_languages=["en", "de"]))
    """
    check = OptionChecks("language_detector")
    languages = _checked_languages(check, supported_languages, fallback_language)
    check.flag("ignore_case", ignore_case)
    check.flag("debug", debug)
    if convert_detected_language is not None:
        check.function("convert_detected_language", convert_detected_language, "(language)")
    options = _COOKIE_OPTIONS
    if cookie_options is not None:
        check.keys("cookie_options", cookie_options, CookieOptions.__annotations__)
        options = {**options, **cookie_options}
    cookies = _cookies(check, caches, languages, lookup_cookie, options)
    readers = {
        "querystring": query_reader(check.text("lookup_query_string", lookup_query_string)),
        "cookie": cookie_reader(lookup_cookie, options.get("prefix")),
        "header": header_reader(
            check.header_name("lookup_from_header_key", lookup_from_header_key, "Accept-Language")
        ),
        "path": path_reader(
            check.number("lookup_from_path_index", lookup_from_path_index, least=0)
        ),
    }
    names = check.texts("order", order)
    for name in names:
        if name not in readers:
            check.unusable("order", order, f"only {', '.join(map(repr, readers))}")
    detection = _Detection(
        [(name, readers[name]) for name in names],
        lookup_from_header_key,
        Lookup(languages, ignore_case),
        debug,
    )
    tags = {language: _content_language(language) for language in languages}

    async def language_detector(c: Context[Any, Any], next: Next) -> None:
        if convert_detected_language is None:
            language, vary = detection.detect(c)
        else:
            language, vary = await detection.detect_converted(c, convert_detected_language)
        if language is None:
            language = fallback_language
        elif cookies:
            c.header("set-cookie", cookies[language], append=True)
        c.set("language", language)
        if vary:
            depend_on(c, vary)
        await next()
        _describe(c, vary, tags[language])

    return attach(language_detector, provides={"language": str})


class _Detection:
    """Tries the sources of a request, one after the other.

    Args:
        readers: The detectors in order, with the functions that read their sources.
        header_name: The header of the detector `header`.
        lookup: The supported languages.
        debug: Whether to log.
    """

    __slots__ = ("_all_vary", "_debug", "_lookup", "_places")

    def __init__(
        self, readers: Sequence[tuple[str, Read]], header_name: str, lookup: Lookup, debug: bool
    ) -> None:
        self._debug = debug
        self._lookup = lookup
        self._places: list[_Place] = []
        looked_at: dict[str, None] = {}
        for name, read in readers:
            if name == "cookie":
                looked_at["Cookie"] = None
            elif name == "header":
                looked_at["-".join(map(str.capitalize, header_name.split("-")))] = None
            find = lookup.find_accepted if name == "header" else lookup.find
            self._places.append(_Place(name, read, find, ", ".join(looked_at)))
        self._all_vary = ", ".join(looked_at)

    def detect(self, c: Context[Any, Any]) -> tuple[str | None, str]:
        """Returns the language, or None, and the headers that were read."""
        for name, read, find, vary in self._places:
            value = read(c)
            if value:
                found = find(value)
                if found is not None:
                    if self._debug:
                        _logger.debug("%s: %s", name, found)
                    return found, vary
        return None, self._all_vary

    async def detect_converted(
        self, c: Context[Any, Any], convert: Callable[[str], Any]
    ) -> tuple[str | None, str]:
        """Does the same, but converts each tag before it is looked up."""
        for name, read, _, vary in self._places:
            value = read(c)
            if not value:
                continue
            for tag in accepted_tags(value) if name == "header" else (value,):
                found = await self._find_converted(tag, convert)
                if found is not None:
                    if self._debug:
                        _logger.debug("%s: %s", name, found)
                    return found, vary
        return None, self._all_vary

    async def _find_converted(self, tag: str, convert: Callable[[str], Any]) -> str | None:
        try:
            converted = await call(convert, tag.strip())
            if not isinstance(converted, str):
                raise TypeError(
                    f"convert_detected_language returned {converted!r:.100}: expected a str"
                )
        except Exception:
            # The client may send any tag, and the function need not handle them all.
            if self._debug:
                _logger.debug("%.100r can't be converted", tag, exc_info=True)
            return None
        return self._lookup.find(converted)


class _Place(NamedTuple):
    """A source in the request: its detector, and the headers read so far."""

    name: str
    read: Read
    find: Callable[[str], str | None]
    vary: str


class _Line:
    """Stands in for a context to capture the header set by `set_cookie`."""

    def header(self, name: str, value: str, *, append: bool) -> None:
        self.value = value


def _checked_languages(check: OptionChecks, supported: Any, fallback: Any) -> tuple[str, ...]:
    languages = check.texts("supported_languages", supported)
    if not languages or not all(map(str.strip, languages)):
        check.unusable("supported_languages", supported, "one language or more, such as 'en'")
    check.text("fallback_language", fallback)
    if fallback not in languages:
        check.unusable("fallback_language", fallback, f"one of supported_languages {languages!r}")
    return languages


def _cookies(
    check: OptionChecks, caches: Any, languages: Sequence[str], name: Any, options: CookieOptions
) -> dict[str, str]:
    """Returns the Set-Cookie line for each language; empty if the cookie isn't used."""
    if not is_token(check.text("lookup_cookie", name)):
        check.unusable("lookup_cookie", name, "a name such as 'language'")
    if caches is False:
        return {}
    if any(each != "cookie" for each in check.texts("caches", caches)):
        check.unusable("caches", caches, "['cookie'], [] or False")
    line: Any = _Line()
    lines = {}
    for language in languages if caches else ():
        try:
            set_cookie(line, name, language, **options)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"language_detector() can't set its cookie: {error}") from None
        lines[language] = line.value
    return lines


def _content_language(language: str) -> str | None:
    """Returns the language as a value of Content-Language, or None if it isn't a valid one."""
    tag = language.replace("_", "-")
    return tag if _TAG.fullmatch(tag) else None


def _describe(c: Context[Any, Any], vary: str, tag: str | None) -> None:
    if vary:
        # PERF: appended without checking for duplicates, which would cost more than a second line.
        c.header("Vary", vary, append=True)
    response = c.res
    if tag is None or response.status in _WITHOUT_CONTENT:
        return
    headers = response.headers
    if headers.has("content-language"):
        return
    # The handler may return the same response for other languages, so its headers must not change.
    # c.header has created a copy for this request.
    if vary:
        headers.append("content-language", tag)
    else:
        c.header("Content-Language", tag)
