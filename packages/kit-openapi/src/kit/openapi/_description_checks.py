# SPDX-License-Identifier: MIT
"""Checks what `describe` says of an operation: parameters, headers, bodies, extensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from kit.authoring.options import OptionChecks
from kit.http.fields import is_token
from kit.interface import Codecs

from ._describable import check_describable

PLACES = ("query", "header", "path", "cookie")
# SPEC: OpenAPI 3.1.1 section 4.8.12.2.1: definitions of these headers are ignored.
IGNORED_HEADERS = ("accept", "content-type", "authorization")
STATUS_RANGES = ("default", "1XX", "2XX", "3XX", "4XX", "5XX")
EXAMPLE_PARAMETER = {"name": "q", "in": "query", "description": "What to look for"}

_COMMON = ("description", "required", "deprecated", "style", "explode", "schema", "content")
_EXAMPLES = ("example", "examples")
# `hidden` isn't a member of OpenAPI: it leaves out a parameter that was found.
_PARAMETER = ("name", "in", *_COMMON, *_EXAMPLES, "allowEmptyValue", "allowReserved", "hidden")
_HEADER = (*_COMMON, *_EXAMPLES, "$ref")
# SPEC: OpenAPI 3.2.0 sections 4.13, 4.14, 4.17 and 4.23: each may also be a Reference Object.
_BODY = ("description", "content", "required", "$ref", "summary")
_RESPONSE = ("description", "summary", "headers", "content", "links", "$ref")
_MEDIA_TYPE = (
    *("schema", "itemSchema", "example", "examples"),
    *("encoding", "prefixEncoding", "itemEncoding"),
)
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
    for member, value in (("required", False), ("hidden", True)):
        if place == "path" and parameter.get(member) is value:
            check.unusable(shown, {member: value}, "other members: a path has all its parameters")
    _check_value(check, shown, parameter)


def check_headers(
    check: OptionChecks, headers: Any, *, of_one: bool = False
) -> dict[int | str, Any]:
    """Checks the headers of responses: by name, or by status and then by name.

    Args:
        check: The checks of the called function.
        headers: The headers.
        of_one: Whether they are those of one response, without statuses.

    Raises:
        TypeError: If a header is neither a type, a description nor a Header Object.
        ValueError: If it has no valid name, or an unknown member.
    """
    expected = "a mapping such as {'ETag': str}, or {200: {'ETag': str}}"
    if not isinstance(headers, Mapping):
        check.wrong_type("headers", headers, expected)
    for key, value in headers.items():
        if is_status(key) and not of_one:
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


def check_body(check: OptionChecks, body: Any) -> None:
    """Checks the type of a body, or a Request Body Object (OpenAPI 3.1.1, section 4.8.13).

    Raises:
        TypeError: If it is or contains a type that can't be described.
        ValueError: If it has an unknown member.
    """
    if isinstance(body, Mapping):
        check_members(check, "request_body", body, _BODY)
        _check_content(check, "request_body", body)
    check_described(f"{check.factory}(request_body=...)", body)


def check_response(check: OptionChecks, status: int | str, response: Any) -> None:
    """Checks a response: a type, a description, None, or a Response Object (section 4.8.17).

    Raises:
        TypeError: If it is or contains a type that can't be described.
        ValueError: If it has an unknown member, or a header can't be used.
    """
    if isinstance(response, Mapping):
        shown = f"responses[{status!r}]"
        check_members(check, shown, response, _RESPONSE)
        _check_content(check, shown, response)
        if "headers" in response:
            check_headers(check, response["headers"], of_one=True)
    check_described(f"{check.factory}(responses=...)", response)


def _check_content(check: OptionChecks, option: str, value: Mapping[str, Any]) -> None:
    content = value.get("content", {})
    if not isinstance(content, Mapping):
        check.wrong_type(option, {"content": content}, "a mapping from media types as 'content'")
    for media_type, each in content.items():
        if isinstance(each, Mapping):
            check_members(check, f"{option}['content'][{media_type!r:.100}]", each, _MEDIA_TYPE)


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
