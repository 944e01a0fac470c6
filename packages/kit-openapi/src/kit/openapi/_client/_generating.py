# SPDX-License-Identifier: MIT
"""Generates the module of a client."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ._runtime import BASIC, ERRORS, SENDING, START
from ._types import ANY, Types
from ._writing import Group, Names, call, docstring, quoted, snake

_METHODS = ("get", "put", "post", "delete", "patch", "trace")
_JSON = re.compile(r"application/(?:[^;+]+\+)?json")
_TEXT = re.compile(r"text/|application/(?:[^;+]+\+)?xml")
_MULTIPART = "multipart/form-data"
_OF_CLIENT = ("close", "self", "response", "result")
_RESPONSE = "httpx.Response"


class _Argument(NamedTuple):
    """A parameter of a method.

    Attributes:
        name: Its name in Python.
        key: Its name in the request.
        place: `path`, `query`, `header` or `cookie`.
        kind: Its type.
        is_required: Whether it is required.
    """

    name: str
    key: str
    place: str
    kind: str
    is_required: bool


class _Credential(NamedTuple):
    """An argument of the constructors.

    Attributes:
        name: Its name in Python.
        kind: Its type.
        line: The statement that sets it if it is given.
        text: Its description.
    """

    name: str
    kind: str
    line: str
    text: str


def generate(document: Mapping[str, Any]) -> str:
    """Generates a Python client.

    Args:
        document: An OpenAPI 3.1 document of `kit.openapi`.

    Returns: The source of a module that needs httpx and msgspec.
    """
    components = document.get("components", {})
    types = Types(components.get("schemas", {}))
    types.find_tags(document["paths"])
    credentials = [*_credentials(components.get("securitySchemes", {}))]
    names = Names(_OF_CLIENT)
    operations = [
        (names.free(snake(operation["operationId"])), method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in _METHODS
    ]
    body: list[str] = []
    for is_async in (False, True):
        body += ["", "", *_class(document, credentials, is_async=is_async)]
        for name, method, path, operation in operations:
            body += ["", *_method(name, method, path, operation, types, is_async=is_async)]
    structs, aliases = types.write()
    helpers = SENDING + (BASIC if any("_basic(" in each.line for each in credentials) else "")
    text = "\n".join([*ERRORS.splitlines(), *structs, *aliases, *helpers.splitlines(), *body])
    info = document["info"]
    about = f"Client of {info['title']} {info['version']}."
    start = docstring(
        f"{about}\n\nWritten by `kit client`, which writes it again: change nothing here.", 0
    )
    return "\n".join([*start, "", *_imports(text), "", text]) + "\n"


def _imports(text: str) -> list[str]:
    modules = [name for name in ("base64", "datetime", "decimal", "uuid") if f"{name}." in text]
    typing = ["Any", "Self"]
    typing += [name for name in ("Literal", "TypeAlias") if re.search(rf"\b{name}\b", text)]
    return [
        each.replace("TYPING", ", ".join(sorted(typing)))
        for line in START.splitlines()
        for each in (map("import {}".format, modules) if line == "MODULES" else [line])
    ]


# --- Classes ----------------------------------------------------------------------------------


def _credentials(schemes: Mapping[str, Any]) -> Iterator[_Credential]:
    names = Names(("self", "base_url", "client", "headers", "cookies", "query"))
    for key, scheme in schemes.items():
        kind = scheme.get("type")
        if kind == "http" and scheme.get("scheme") == "basic":
            name = names.free("basic_auth")
            line = f'headers["Authorization"] = _basic({name})'
            yield _Credential(name, "tuple[str, str]", line, "User name and password.")
        elif kind == "apiKey":
            name = names.free(snake(key))
            target = {"header": "headers", "cookie": "cookies"}.get(scheme["in"], "query")
            line = f"{target}[{quoted(scheme['name'])}] = {name}"
            yield _Credential(name, "str", line, f"The {scheme['in']} {scheme['name']}.")
        elif kind in ("http", "oauth2", "openIdConnect"):
            word = str(scheme.get("scheme", "bearer"))
            name = names.free("token")
            line = f'headers["Authorization"] = f"{word.capitalize()} {{{name}}}"'
            yield _Credential(name, "str", line, f"The {word} token.")


def _class(
    document: Mapping[str, Any], credentials: list[_Credential], *, is_async: bool
) -> list[str]:
    name, other = ("AsyncClient", "httpx.AsyncClient") if is_async else ("Client", "httpx.Client")
    title = document["info"]["title"]
    with_ = "async with" if is_async else "with"
    about = [
        f"{title}, {'asynchronously' if is_async else 'synchronously'}. "
        f"Use it with `{with_}`, or call `close()`.",
        "",
        "Args:",
        "    base_url: Where the API is, e.g. `https://api.example.com`.",
        *(f"    {each.name}: {each.text}" for each in credentials),
        "    client: A client of httpx to send requests with, for time limits and the like.",
    ]
    arguments = ["self", "base_url: str", "*"]
    arguments += [f"{each.name}: {each.kind} | None = None" for each in credentials]
    arguments.append(f"client: {other} | None = None")
    lines = [f"class {name}:", *docstring("\n".join(about), 1), ""]
    lines += call("def __init__(", arguments, ") -> None:", 1)
    lines += [
        '        self._base_url = base_url.rstrip("/")',
        f"        self._client = client or {other}()",
        "        headers: dict[str, str] = {}",
        "        cookies: dict[str, str] = {}",
        "        query: dict[str, Any] = {}",
    ]
    for each in credentials:
        lines += [f"        if {each.name} is not None:", f"            {each.line}"]
    lines += ["        self._defaults = (query, headers, cookies)"]
    a, wait, enter, leave, close = (
        ("async ", "await ", "__aenter__", "__aexit__", "aclose")
        if is_async
        else ("", "", "__enter__", "__exit__", "close")
    )
    lines += [
        "",
        f"    {a}def {enter}(self) -> Self:",
        "        return self",
        "",
        f"    {a}def {leave}(self, *args: object) -> None:",
        f"        {wait}self.close()",
        "",
        f"    {a}def close(self) -> None:",
        '        """Closes the connections."""',
        f"        {wait}self._client.{close}()",
        "",
        f"    {a}def _send(self, method: str, path: str, **parts: Any) -> httpx.Response:",
        "        url = self._base_url + path",
        "        arguments = _arguments(self._defaults, **parts)",
        f"        return {wait}self._client.request(method, url, **arguments)",
    ]
    return lines


# --- Methods ----------------------------------------------------------------------------------


def _method(
    name: str, method: str, path: str, operation: Mapping[str, Any], types: Types, *, is_async: bool
) -> list[str]:
    names = Names((*_OF_CLIENT, "body", "form"))
    arguments = [*_arguments(operation, types, names)]
    body = _body(operation.get("requestBody"), types)
    results, errors = _results(operation["responses"], types)
    kinds = list(dict.fromkeys(results.values()))
    returned = kinds[0] if len(kinds) == 1 else ANY if not kinds or ANY in kinds else None
    returned = returned or " | ".join(kinds)
    a, wait = ("async ", "await ") if is_async else ("", "")
    lines = call(f"{a}def {name}(", ["self", *_signature(arguments, body)], f") -> {returned}:", 1)
    said = [str(operation.get("summary", "")).rstrip(".") + "."]
    if operation.get("description"):
        said += ["", operation["description"]]
    if operation.get("deprecated"):
        said += ["", "Deprecated."]
    lines += docstring("\n".join(said), 2)
    parts: list[str | Group] = [quoted(method.upper()), _path(path, arguments)]
    for place, option in (("query", "query"), ("header", "headers"), ("cookie", "cookies")):
        pairs = [f"{quoted(each.key)}: {each.name}" for each in arguments if each.place == place]
        if pairs:
            parts.append(Group(f"{option}={{", pairs, "}"))
    if body is not None:
        is_left_out = body.key == "json" and not body.is_required
        value = f"msgspec.UNSET if {body.name} is None else {body.name}"
        parts.append(f"{body.key}={value if is_left_out else body.name}")
    lines += call(f"response = {wait}self._send(", parts, ")", 2)
    mappings = [
        Group("{", [f"{status}: {kind}" for status, kind in each.items()], "}")
        for each in (results, errors)
    ]
    if returned == "None":
        return [*lines, *call("_result(", ["response", *mappings], ")", 2)]
    lines += call(f"result: {returned} = _result(", ["response", *mappings], ")", 2)
    return [*lines, "        return result"]


def _arguments(operation: Mapping[str, Any], types: Types, names: Names) -> Iterator[_Argument]:
    for each in operation.get("parameters", ()):
        yield _Argument(
            names.free(snake(each["name"])),
            each["name"],
            each["in"],
            types.of(each.get("schema")),
            bool(each.get("required")),
        )


def _body(described: Mapping[str, Any] | None, types: Types) -> _Argument | None:
    if described is None:
        return None
    required = bool(described.get("required"))
    content = described["content"]
    for media_type, each in content.items():
        if _JSON.match(media_type):
            return _Argument("body", "json", media_type, types.of(each.get("schema")), required)
    for media_type, each in content.items():
        kind = types.of(each.get("schema"))
        if "form" in media_type:
            key = "files" if _MULTIPART in content and len(content) == 1 else "form"
            return _Argument("form", key, media_type, kind, required)
    return _Argument("body", "content", next(iter(content), ""), "bytes", required)


def _signature(arguments: list[_Argument], body: _Argument | None) -> list[str]:
    first = [f"{each.name}: {each.kind}" for each in arguments if each.place == "path"]
    if body is not None and body.is_required:
        first.append(f"{body.name}: {body.kind}")
    rest = [each for each in arguments if each.place != "path"]
    named = [f"{each.name}: {each.kind}" for each in rest if each.is_required]
    named += [_optional(each) for each in rest if not each.is_required]
    if body is not None and not body.is_required:
        named.append(_optional(body))
    return [*first, *(["*", *named] if named else [])]


def _optional(argument: _Argument) -> str:
    kind = argument.kind
    has_none = kind == ANY or kind.endswith("None")
    return f"{argument.name}: {kind}{'' if has_none else ' | None'} = None"


def _path(path: str, arguments: list[_Argument]) -> str:
    written = path
    for each in arguments:
        if each.place == "path":
            written = written.replace(f"{{{each.key}}}", f"{{_segment({each.name})}}")
    return ("f" if written != path else "") + quoted(written)


def _results(responses: Mapping[str, Any], types: Types) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the types of results and errors by status, or by the first digit for a range."""
    results: dict[str, str] = {}
    errors: dict[str, str] = {}
    for status, response in responses.items():
        content = response.get("content")
        kind = _kind(status, content, types)
        for key in _statuses(status, responses):
            if key[0] in "23":
                results[key] = kind
            elif kind not in (_RESPONSE, "str", "bytes"):
                problem = _choices(content, types) if kind == ANY else kind
                if problem is not None:
                    errors.setdefault(key, problem)
    return results or {"200": _RESPONSE}, errors


def _statuses(status: str, responses: Mapping[str, Any]) -> Iterator[str]:
    """Yields the status, the first digit for a range, or all statuses that aren't described."""
    if status == "default":
        if not any(each[0] in "23" for each in responses):
            yield from "23"
        yield from "45"
    elif status[0] in "2345":
        yield status if status.isdigit() else status[0]


def _choices(content: Mapping[str, Any] | None, types: Types) -> str | None:
    """Returns the types of an error, separately if msgspec doesn't support their union."""
    for media_type, each in (content or {}).items():
        if _JSON.match(media_type):
            choices = (each.get("schema") or {}).get("anyOf", ())
            kinds = [kind for kind in map(types.of, choices) if kind != ANY]
            return f"({', '.join(kinds)})" if len(kinds) > 1 else None
    return None


def _kind(status: str, content: Mapping[str, Any] | None, types: Types) -> str:
    if content is None:
        return "None" if status in ("204", "205", "304") else _RESPONSE
    for media_type, each in content.items():
        if _JSON.match(media_type):
            return types.of(each.get("schema"))
    return "str" if all(_TEXT.match(each) for each in content) else "bytes"
