"""What the comparison looks up in a program, a request and an answer (see middleware_dsl.md)."""

from __future__ import annotations

import re
from typing import Any, Iterator
from urllib.parse import urlsplit

Json = dict[str, Any]
ANSWERS = ("text_headers", "response", "raw", "json", "sized", "stream")  # handlers that are given headers


# ---- programs -----------------------------------------------------------------------------------


def handlers(ops: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """All lists of words that are handlers, of sub-apps too, each with the path they stand at."""
    for op in ops:
        if op[0] == "route":
            yield from app_handlers(op[2])
        elif op[0] == "base_path":
            yield from handlers(op[2])
        elif op[0] not in ("mount", "on_error", "not_found"):
            yield op[-2] if isinstance(op[-2], str) else "*", op[-1]


def app_handlers(app: Json) -> Iterator[tuple[str, list[Any]]]:
    yield from handlers(app.get("factory", {}).get("init", []))
    yield from handlers(app.get("ops", []))


def change_options(words: list[Any], start: int, changes: dict[str, Any]) -> None:
    """Lets functions change the options of words, in place: `changes[word](options)`."""
    for i in range(start, len(words)):
        word = words[i] if isinstance(words[i], list) else [words[i]]
        if word and isinstance(word[0], str) and word[0] in changes:
            words[i] = [word[0], changes[word[0]](word[1] if len(word) > 1 else {})]
        elif word[:1] in (["some"], ["every"], ["except"], ["create_middleware"]):
            change_options(word, 1, changes)
        elif word[:1] == ["create_handlers"]:
            change_options(word[1], 0, changes)


def calls_of(word: str, app: Any) -> Iterator[list[Any]]:
    """The arguments of a word at all places of an app."""
    if isinstance(app, dict):
        for value in app.values():
            yield from calls_of(word, value)
    elif isinstance(app, list) and app and app[0] == word:
        yield app[1:]
    elif isinstance(app, list):
        for value in app:
            yield from calls_of(word, value)


def options_of(word: str, app: Json) -> list[Any]:
    """The options of a middleware at all places of an app; {} where it has none."""
    found: list[Any] = []
    for _, words in app_handlers(app):
        found += [{} for each in words if each == word]
        found += [arguments[0] if arguments else {} for arguments in calls_of(word, words)]
    return found


def words_at(app: Json, request: Json) -> Iterator[list[Any]]:
    """The handlers that are registered at the path of a request."""
    path = urlsplit(request["url"]).path
    return (words for end, words in app_handlers(app) if path.endswith(end))


def fields_of_handlers(app: Json, request: Json) -> Iterator[Json]:
    """The headers that the handlers at the path of a request are given for their answers."""
    for words in words_at(app, request):
        for word in ANSWERS:
            for arguments in calls_of(word, words):
                if isinstance(arguments[-1], dict):
                    yield arguments[-1]


# ---- requests and answers -----------------------------------------------------------------------


def field(request: Json, name: str) -> str:
    """The value of a header of a request; of all its lines, joined by commas."""
    return ", ".join(v for key, v in request.get("headers") or [] if key.lower() == name.lower())


def members(headers: Json, name: str) -> set[str]:
    """The members of a header of an answer, in lower case."""
    return {member.strip().lower() for member in headers.get(name, "").split(",")} - {""}


def without(o: Json, *names: str) -> Json:
    """An answer without some of its headers."""
    return {**o, "headers": {k: v for k, v in o["headers"].items() if k not in names}}


def with_headers(want: Json, have: Json, *names: str) -> Json:
    """Hono's answer with some of its headers as in Kit's."""
    theirs = {name: have["headers"][name] for name in names if name in have["headers"]}
    return {**want, "headers": {**without(want, *names)["headers"], **theirs}}


def same_form_of_etag(want: Json, have: Json) -> bool:
    """Whether two answers have an ETag that is a digest, be it of different bytes."""
    tags = [re.sub("[0-9a-f]{32,}", "<encoded>", o["headers"].get("etag", "")) for o in (want, have)]
    return tags[0] == tags[1] and "<encoded>" in tags[0]


def handler_won(app: Json, request: Json, want: Json, have: Json) -> Json:
    """Hono's answer with the headers of the handler, where those of middleware have won."""
    theirs, got = want["headers"], have["headers"]
    set_before = {a[1].lower() for a in calls_of("mw_before_header", app) if a[0].lower() == "vary"}
    names = []
    # Middleware adds to Vary after the handler, so only what was there before it is lost.
    lost = members(theirs, "vary") - members(got, "vary")
    if "*" in members(got, "vary"):  # to which nothing is added
        lost -= {"accept-encoding"}
        theirs = {**theirs, "vary": ", ".join(members(theirs, "vary") - {"accept-encoding"})}
    if lost <= set_before and any(any(calls_of("response", words)) for words in words_at(app, request)):
        if members(theirs, "vary") - lost == members(got, "vary"):
            names.append("vary")
    for own in fields_of_handlers(app, request):
        names += [k for k, v in own.items() if k in theirs and str(got.get(k)).lower() == v.lower()]
        if "vary" in own and lost <= set_before:
            if members(theirs, "vary") - lost | members(own, "vary") == members(got, "vary"):
                names.append("vary")
    return with_headers(want, have, *names)
