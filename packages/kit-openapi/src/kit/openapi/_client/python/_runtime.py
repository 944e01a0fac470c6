# SPDX-License-Identifier: MIT
"""The parts of a client that are the same for every document."""

START = """\
from __future__ import annotations

MODULES
from collections.abc import ABSTRACT
from typing import TYPING
from urllib.parse import quote

import httpx
import msgspec

# What a cookie has as it is (RFC 6265 section 4.1.1); Kit decodes the rest.
_IN_COOKIES = "!#$&'()*+-./:<=>?@[]^_`{|}~"
"""

ERRORS = '''
class ClientError(Exception):
    """An error response, or a response with an undocumented status.

    A subclass is raised if the operation documents the status, and the body is as documented.

    Attributes:
        status: The HTTP status code.
        problem: The body: of the documented type, otherwise as JSON or text.
        response: The response.
    """

    def __init__(self, response: httpx.Response, problem: Any) -> None:
        super().__init__(f"{response.status_code} {response.reason_phrase}: {problem}")
        self.status = response.status_code
        self.problem = problem
        self.response = response
'''

SENDING = """

def _segment(value: Any) -> str:
    text = _text(value)
    if text in ("", ".", ".."):  # would be another path
        raise ValueError(f"{value!r} can't be a part of a path")
    return quote(text, safe="")


def _text(value: Any) -> str:
    plain = msgspec.to_builtins(value)
    if plain is None:
        return "null"
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return plain if isinstance(plain, str) else str(plain)


def _or_null(value: Any) -> Any:
    return "null" if value is None else value


def _is_nullable(kind: Any) -> bool:
    kinds = {get_origin(each) or each for each in (kind, *get_args(kind))}
    # The text `null` could be one of these.
    return not kinds & {Any, str, bytes, list, tuple, dict}


def _is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


# Whatever is iterated like a list.
def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, (list, tuple, set, frozenset))


def _is_object(value: Any) -> bool:
    return isinstance(value, (Mapping, msgspec.Struct))


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if _is_object(value):
            inner = _fields(value).items()
            yield from _flat({f"{name}[{key}]": each for key, each in inner})
        elif _is_list(value):
            for index, each in enumerate(value):
                if _is_object(each):
                    yield from _flat({f"{name}[{index}]": each})
                else:
                    yield name, each
        elif value is not None:
            yield name, value


def _pairs(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in _flat(values)]


def _merged(
    defaults: Mapping[str, Any], values: Mapping[str, Any] | None
) -> list[tuple[str, str]]:
    own = _pairs(values or {})
    names = {name for name, _ in own}
    return [*(pair for pair in _pairs(defaults) if pair[0] not in names), *own]


def _fields(form: Any) -> dict[str, Any]:
    if _is_mapping(form):
        return {str(name): value for name, value in form.items()}
    values: dict[str, Any] = {}
    config = form.__struct_config__
    if config.tag_field is not None:
        values[config.tag_field] = config.tag
    for each in msgspec.structs.fields(form):
        value = getattr(form, each.name)
        if each.required and _is_nullable(each.type):
            value = _or_null(value)
        if value is not msgspec.UNSET:
            values[each.encode_name] = value
    return values


def _parts(form: Any) -> list[tuple[str, Any]]:
    parts: list[tuple[str, Any]] = []
    for name, each in _flat(_fields(form)):
        if isinstance(each, bytes):
            parts.append((name, (name, each)))
        else:
            parts.append((name, (None, _text(each))))
    return parts


def _set(headers: list[tuple[str, str]], name: str, value: str) -> None:
    headers[:] = [pair for pair in headers if pair[0].lower() != name.lower()]
    headers.append((name, value))


def _arguments(
    defaults: tuple[dict[str, Any], dict[str, str], dict[str, str]],
    *,
    query: Mapping[str, Any] | None = None,
    headers: Mapping[str, Any] | None = None,
    cookies: Mapping[str, Any] | None = None,
    json: Any = msgspec.UNSET,
    form: Any = None,
    files: Any = None,
    content: bytes | None = None,
    content_type: str | None = None,
) -> dict[str, Any]:
    own_headers = _merged(defaults[1], headers)
    own_cookies = _merged(defaults[2], cookies)
    if own_cookies:
        text = "; ".join(
            f"{name}={quote(value, safe=_IN_COOKIES)}" for name, value in own_cookies
        )
        _set(own_headers, "Cookie", text)
    arguments: dict[str, Any] = {
        "params": _merged(defaults[0], query),
        "headers": own_headers,
    }
    if json is not msgspec.UNSET:
        _set(own_headers, "Content-Type", "application/json")
        arguments["content"] = msgspec.json.encode(json)
    elif form is not None:
        data: dict[str, list[str]] = {}
        for name, text in _pairs(_fields(form)):
            data.setdefault(name, []).append(text)
        arguments["data"] = data
    elif files is not None:
        arguments["files"] = _parts(files)
    elif content is not None:
        arguments["content"] = content
        if content_type is not None:
            _set(own_headers, "Content-Type", content_type)
    return arguments


def _result(
    response: httpx.Response, results: Mapping[int, Any], errors: Mapping[int, Any]
) -> Any:
    status = response.status_code
    known = status if status in results else status // 100
    if known not in results:
        raise _error(response, errors)
    kind = results[known]
    if kind is None or kind is httpx.Response:
        return response if kind else None
    if "json" in response.headers.get("Content-Type", ""):
        return msgspec.json.decode(response.content, type=kind)
    return response.text if kind is str else response.content


def _error(response: httpx.Response, errors: Mapping[int, Any]) -> ClientError:
    status = response.status_code
    kind = errors.get(status, errors.get(status // 100, ()))
    kinds = kind if _is_list(kind) else [kind]
    named = _ERRORS[status] if status in errors else ClientError
    if "json" in response.headers.get("Content-Type", ""):
        for each in kinds:
            try:
                return named(response, msgspec.json.decode(response.content, type=each))
            except msgspec.DecodeError:
                continue
        try:
            return ClientError(response, msgspec.json.decode(response.content))
        except msgspec.DecodeError:
            return ClientError(response, response.text)
    is_as_documented = str in kinds or Any in kinds
    return (named if is_as_documented else ClientError)(response, response.text)
"""

STREAMING = """

def _reading(client: httpx.Client | httpx.AsyncClient) -> httpx.Timeout:
    # A stream may wait for its next item as long as it likes.
    return httpx.Timeout(**{**client.timeout.as_dict(), "read": None})


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\\n")
        yield from filter(None, lines)
    if rest:
        yield rest


async def _async_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\\n")
        for line in filter(None, lines):
            yield line
    if rest:
        yield rest
"""

BASIC = """

def _basic(user: tuple[str, str]) -> str:
    return "Basic " + base64.b64encode(":".join(user).encode()).decode()
"""
