# SPDX-License-Identifier: MIT
"""Checks what `describe` adds to an operation: parameters, headers, callbacks and extensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, get_origin

from kit.authoring.options import OptionChecks
from kit.authoring.route_hooks import is_bindable
from kit.authoring.signatures import describe
from kit.http.fields import is_token
from kit.interface import Codecs
from kit.interface.metadata import Facts, get_facts

from ._describable import check_describable
from ._methods import FIXED_METHODS

PLACES = ("query", "header", "path", "cookie")
# SPEC: OpenAPI 3.1.1 section 4.8.12.2.1: definitions of these headers are ignored.
IGNORED_HEADERS = ("accept", "content-type", "authorization")
STATUS_RANGES = ("default", "1XX", "2XX", "3XX", "4XX", "5XX")
EXAMPLE_PARAMETER = {"name": "q", "in": "query", "description": "What to look for"}

METHODS = tuple(sorted(map(str.lower, FIXED_METHODS)))

_PATH_ITEM = (*METHODS, "summary", "description", "servers", "parameters")
_EXPECTED = (
    "the type of a body, `describe(...)`, a function with one of its decorators, or a Path Item "
    "Object such as {'post': ...}"
)
_COMMON = ("description", "required", "deprecated", "style", "explode", "schema", "content")
_EXAMPLES = ("example", "examples")
# `hidden` isn't a member of OpenAPI: it leaves out a parameter that was found.
_PARAMETER = ("name", "in", *_COMMON, *_EXAMPLES, "allowEmptyValue", "allowReserved", "hidden")
_HEADER = (*_COMMON, *_EXAMPLES)
_TAG = ("name", "description", "summary", "externalDocs", "parent", "kind")
_FLAGS = ("required", "deprecated", "explode", "allowEmptyValue", "allowReserved", "hidden")


def check_tags(check: OptionChecks, tags: Any) -> list[str | Mapping[str, Any]]:
    """Checks tags, which are names or Tag Objects, and returns them as a list.

    Raises:
        TypeError: If one is neither.
        ValueError: If a name is there twice, or an object has an unknown member.
    """
    expected = "a str or a list of them, or of Tag Objects such as {'name': 'books'}"
    if isinstance(tags, str):
        return [tags]
    if not isinstance(tags, Sequence) or isinstance(tags, bytes):
        check.wrong_type("tags", tags, expected)
    seen: set[str] = set()
    for tag in tags:
        if isinstance(tag, Mapping):
            check_tag(check, tag)
        elif not isinstance(tag, str):
            check.wrong_type("tags", tags, expected)
        name = find_tag_name(tag)
        if name in seen:
            raise ValueError(f"{check.factory}(tags=...) has the tag {name!r:.100} twice")
        seen.add(name)
    return list(tags)


def find_tag_name(tag: str | Mapping[str, Any]) -> str:
    """Returns the name of a tag."""
    return tag if isinstance(tag, str) else str(tag["name"])


def check_tag(check: OptionChecks, tag: Mapping[str, Any]) -> None:
    """Checks a Tag Object (OpenAPI 3.1.1, section 4.8.22).

    Raises:
        TypeError: If its name isn't a str.
        ValueError: If it has an unknown member.
    """
    check_members(check, "tags", tag, _TAG)
    if not isinstance(tag.get("name"), str):
        check.wrong_type("tags", tag, "Tag Objects with a name")
    if "externalDocs" in tag:
        check_external_docs(check, "tags", tag["externalDocs"])


def check_parameters(check: OptionChecks, parameters: Any) -> list[Mapping[str, Any]]:
    """Checks Parameter Objects (OpenAPI 3.1.1, section 4.8.12), and returns them as a list.

    Raises:
        TypeError: If one has the wrong type.
        ValueError: If one has no place, an unknown member, or members that exclude each other, or
            if one is there twice.
    """
    if not isinstance(parameters, Sequence) or isinstance(parameters, (str, bytes)):
        check.wrong_type("parameters", parameters, f"a list such as [{EXAMPLE_PARAMETER}]")
    seen: set[tuple[str, str]] = set()
    for each in parameters:
        if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
            check.wrong_type("parameters", each, f"Parameter Objects such as {EXAMPLE_PARAMETER}")
        _check_parameter(check, each)
        key = find_key(each)
        if key in seen:
            raise ValueError(
                f"{check.factory}(parameters=...) has the {key[0]} parameter {key[1]!r:.100} twice"
            )
        seen.add(key)
    return list(parameters)


def find_key(parameter: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the identity of a parameter: its place, and its name, in lower case for a header."""
    name = parameter["name"]
    return parameter["in"], name.lower() if parameter["in"] == "header" else name


def _check_parameter(check: OptionChecks, parameter: Mapping[str, Any]) -> None:
    name, place = parameter["name"], parameter.get("in")
    shown = f"parameters[{name!r:.100}]"
    if place not in PLACES:
        raise ValueError(
            f"{check.factory}(parameters=...) has {name!r:.100} in {place!r:.100}: expected one of "
            f"{', '.join(map(repr, PLACES))} as its 'in'"
        )
    check_members(check, shown, parameter, _PARAMETER)
    if place == "header" and name.lower() in IGNORED_HEADERS:
        check.unusable(
            "parameters",
            name,
            "another header: OpenAPI describes Accept and Content-Type by the media types of "
            "responses and bodies, and Authorization by security schemes",
        )
    if place == "path" and parameter.get("required") is False:
        check.unusable(shown, {"required": False}, "no 'required': a path has all its parameters")
    _check_value(check, shown, parameter)


def check_headers(check: OptionChecks, headers: Any) -> dict[int | str, Any]:
    """Checks the headers of responses: by name, or by status and then by name.

    Raises:
        TypeError: If a header is neither a type, a description nor a Header Object.
        ValueError: If it has no valid name, or an unknown member.
    """
    expected = "a mapping such as {'ETag': str}, or {200: {'ETag': str}}"
    if not isinstance(headers, Mapping):
        check.wrong_type("headers", headers, expected)
    for key, value in headers.items():
        if is_status(key):
            if not isinstance(value, Mapping):
                check.wrong_type(f"headers[{key!r}]", value, "a mapping such as {'ETag': str}")
            for name, header in value.items():
                _check_header(check, name, header)
        elif isinstance(key, str):
            _check_header(check, key, value)
        else:
            check.wrong_type("headers", headers, expected)
    return dict(headers)


def is_status(key: Any) -> bool:
    """Returns whether a key is a status of a response: an int, a range, or `default`."""
    if isinstance(key, str):
        return key in STATUS_RANGES
    return isinstance(key, int) and not isinstance(key, bool) and 100 <= key <= 599


def _check_header(check: OptionChecks, name: Any, header: Any) -> None:
    if not isinstance(name, str) or not is_token(name):
        check.unusable("headers", name, "a header name such as 'ETag', or a status")
    if name.lower() == "content-type":
        check.unusable(
            "headers", name, "another header: the media types of `responses` are the Content-Type"
        )
    shown = f"headers[{name!r}]"
    if isinstance(header, Mapping):
        check_members(check, shown, header, _HEADER)
        _check_value(check, shown, header)
    elif not isinstance(header, str):
        check_described(f"{check.factory}({shown}=...)", header)


def _check_value(check: OptionChecks, shown: str, value: Mapping[str, Any]) -> None:
    """Checks the members that parameters and headers have in common."""
    for name in _FLAGS:
        if not isinstance(value.get(name, False), bool):
            check.wrong_type(shown, {name: value[name]}, f"a bool as {name!r}")
    for name in ("description", "style"):
        if not isinstance(value.get(name, ""), str):
            check.wrong_type(shown, {name: value[name]}, f"a str as {name!r}")
    for one, other in (("schema", "content"), ("example", "examples")):
        if one in value and other in value:
            raise ValueError(
                f"{check.factory}({shown}=...) has both {one!r} and {other!r}, "
                "which exclude each other"
            )
    if not isinstance(value.get("examples", {}), Mapping):
        check.wrong_type(shown, {"examples": value["examples"]}, "Example Objects by name")
    if "content" in value and not isinstance(value["content"], Mapping):
        check.wrong_type(shown, {"content": value["content"]}, "a mapping from media types")
    check_described(f"{check.factory}({shown}=...)", value)
    if "schema" in value and not isinstance(value["schema"], Mapping):
        check_described(f"{check.factory}({shown}=...)", value["schema"])


def check_path_item(check: OptionChecks, option: str, value: Any) -> None:
    """Checks the operations of another server.

    Args:
        check: The checks of the called function.
        option: The option, with the name of the webhook or callback.
        value: Its value.

    Raises:
        TypeError: If it can't be read, or a function says nothing of its request.
        ValueError: If a Path Item Object has an unknown member, or no operation.
    """
    if isinstance(value, Mapping):
        check_members(check, option, value, _PATH_ITEM)
        methods = [name for name in METHODS if name in value]
        if not methods:
            check.unusable(option, dict(value), "an operation, such as {'post': ...}")
        for name in methods:
            if not isinstance(value[name], Mapping):
                _check_operation(check, f"{option}[{name!r}]", value[name])
        return
    _check_operation(check, option, value)


def _check_operation(check: OptionChecks, option: str, value: Any) -> None:
    if value is None or isinstance(value, (str, bytes)):
        check.wrong_type(option, value, _EXPECTED)
    if is_type(value):
        check_described(f"{check.factory}({option}=...)", value)
    elif not is_bindable(value) and get_facts(value) == Facts():
        raise TypeError(
            f"{check.factory}({option}=...) takes {_EXPECTED}: {describe(value)} says nothing of "
            "its request; put @typed or @describe(request_body=...) above it"
        )


def is_type(value: Any) -> bool:
    """Returns whether an operation is given by the type of its body."""
    return isinstance(value, type) or get_origin(value) is not None or not callable(value)


def check_callbacks(check: OptionChecks, callbacks: Any) -> dict[str, Any]:
    """Checks callbacks (OpenAPI 3.1.1, section 4.8.18): by name, then by the URL to call.

    Raises:
        TypeError: If they aren't mappings, or an operation can't be read.
        ValueError: If a Path Item Object can't be used.
    """
    expected = "a mapping such as {'paid': {'{$request.body#/callback_url}': Payment}}"
    if not isinstance(callbacks, Mapping):
        check.wrong_type("callbacks", callbacks, expected)
    for name, urls in callbacks.items():
        if not isinstance(name, str) or not isinstance(urls, Mapping) or not urls:
            check.wrong_type("callbacks", callbacks, expected)
        for url, operations in urls.items():
            check_path_item(check, f"callbacks[{name!r:.100}][{url!r:.100}]", operations)
    return dict(callbacks)


def check_extensions(check: OptionChecks, extensions: Any) -> dict[str, Any]:
    """Checks extensions (OpenAPI 3.1.1, section 4.9).

    Raises:
        TypeError: If they aren't a mapping.
        ValueError: If a name doesn't begin with `x-`.
    """
    if not isinstance(extensions, Mapping):
        check.wrong_type("extensions", extensions, "a mapping such as {'x-internal': True}")
    for name in extensions:
        if not isinstance(name, str) or not name.startswith("x-"):
            check.unusable("extensions", name, "names that begin with 'x-'")
    return dict(extensions)


def check_external_docs(check: OptionChecks, option: str, given: Any) -> dict[str, Any]:
    """Checks external documentation, and returns its object (OpenAPI 3.1.1, section 4.8.11).

    Args:
        check: The checks of the called function.
        option: The option.
        given: A URL, or an External Documentation Object.

    Raises:
        TypeError: If it is neither.
        ValueError: If the object has an unknown member.
    """
    if isinstance(given, str):
        return {"url": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("url"), str):
        check.wrong_type(option, given, "a URL, or a mapping such as {'url': 'https://...'}")
    check_members(check, option, given, ("url", "description"))
    return dict(given)


def check_members(
    check: OptionChecks, option: str, value: Mapping[Any, Any], known: Sequence[str]
) -> None:
    """Checks that an object of OpenAPI has known members and extensions only.

    Raises:
        ValueError: If not.
    """
    for name in value:
        if name not in known and not (isinstance(name, str) and name.startswith("x-")):
            raise ValueError(
                f"{check.factory}({option}=...) has the unknown member {name!r:.100}: expected "
                f"{', '.join(map(repr, known))} or a name that begins with 'x-'"
            )


def check_described(option: str, value: Any, codecs: Codecs | None = None) -> None:
    """Rejects types that can't be described, or would crash the process.

    Args:
        option: The function and its option.
        value: A type, or an object of OpenAPI with types in its `content`; anything else passes.
        codecs: As for `check_describable`.

    Raises:
        TypeError: If it is or contains such a type.
    """
    if isinstance(value, Mapping):
        content = value.get("content")
        for each in content.values() if isinstance(content, Mapping) else ():
            schema = each.get("schema") if isinstance(each, Mapping) else each
            if not isinstance(schema, Mapping):
                check_described(option, schema, codecs)
    elif value is not None and not isinstance(value, str):
        try:
            check_describable(value, codecs)
        except TypeError as error:
            raise TypeError(f"{option} has {value!r:.100}: {error}") from None


def refuse(where: str, error: Exception) -> NoReturn:
    """Raises an error of these checks again, with the place to which it belongs."""
    raise type(error)(f"{where}: {error}") from None
