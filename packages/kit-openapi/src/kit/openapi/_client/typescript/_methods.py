# SPDX-License-Identifier: MIT
"""Writes the methods of a client, with the types of their options, results and errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kit.http.media_types import EVENT_STREAM

from .._names import UniqueNames, camel, pascal
from .._operations import Answer, Body, Operation
from .._schemas import Text, read_schema
from ._types import Types, describe
from ._writing import (
    UNKNOWN,
    WIDTH,
    Field,
    Generic,
    Named,
    Record,
    Type,
    Union,
    escape,
    quoted,
    write_alias,
    write_comment,
    write_flat,
    write_interface,
    write_key,
    write_list,
    write_type,
)

# Names that an argument can't have: words of the language, and names that methods use.
_NOT_ARGUMENTS = frozenset(
    [
        "arguments",
        "await",
        "body",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "form",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "options",
        "package",
        "path",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ]
)
_PLACES = {"query": "query", "header": "headers", "cookie": "cookies"}
_RAW = Named('NonNullable<RequestInit["body"]>')
_KINDS: dict[str, Type] = {
    "text": Named("string"),
    "binary": Named("Blob"),
    "empty": Named("undefined"),
}
_RESPONSE = Named("Response")


class Method:
    """The method for an operation.

    Args:
        name: Its name.
        operation: The operation.
        types: The types of the document.
    """

    def __init__(self, name: str, operation: Operation, types: Types) -> None:
        self.name = name
        self._operation = operation
        self._types = types
        self._paths = self._name_path()
        self._options = self._find_options()
        self._results = [*self._find_results()]
        self._errors = [*self._find_errors()]
        title = pascal(name)
        declared = types.names.free
        self._options_name = declared(f"{title}Options") if self._options else ""
        self._result_name = declared(f"{title}Result") if len(self._results) > 1 else ""
        self._error_name = declared(f"{title}Error") if self._errors else "never"

    @property
    def error(self) -> str:
        """The name of the type of its errors."""
        return self._error_name

    @property
    def regions(self) -> Iterator[str]:
        """The regions of `runtime.ts` that it needs."""
        operation = self._operation
        if self._paths:
            yield "path"
        if operation.body is not None and operation.body.kind == "multipart":
            yield "multipart"
        if operation.stream is None:
            yield "send"
            yield "answer" if self._result_name else "call"
        else:
            yield "streams"
            if len(operation.stream.media_types) > 1:
                yield "accept"

    # --- Types --------------------------------------------------------------------------------

    def _name_path(self) -> dict[str, str]:
        """Returns the arguments for the parameters of the path, by their keys."""
        names = UniqueNames((), _NOT_ARGUMENTS)
        return {
            each.key: names.free(camel(each.key))
            for each in self._operation.find_parameters("path")
        }

    def _find_options(self) -> list[Field]:
        """Returns the options for parameters in the query, headers and cookies."""
        fields: list[Field] = []
        for place, option in _PLACES.items():
            inner = [
                Field(
                    each.key,
                    self._types.of_parameter(each.schema),
                    each.is_required,
                    _join_text(each.description, describe(each.schema)),
                )
                for each in self._operation.find_parameters(place)
            ]
            if inner:
                is_required = any(each.is_required for each in inner)
                fields.append(Field(option, Record(inner), is_required))
        return fields

    def _find_results(self) -> Iterator[tuple[Type, Type]]:
        """Yields the statuses and types of successful responses."""
        found = False
        for answer in self._find_successes():
            found = True
            yield _status(answer.status), self._of(answer, _RESPONSE)
        if not found:
            yield Named("number"), _RESPONSE

    def _find_successes(self) -> Iterator[Answer]:
        answers = self._operation.answers
        explicit = [each for each in answers if each.status[0] == "2" or each.status == "304"]
        yield from explicit
        if not any(each.status[0] == "2" for each in explicit):
            yield from (each for each in answers if each.status == "default")
        if self._follows_redirects():
            yield Answer("200", "unknown", None)

    def _follows_redirects(self) -> bool:
        """Returns whether `fetch` follows a documented redirect to an undocumented response."""
        statuses = {each.status for each in self._operation.answers}
        has_redirects = any(each[0] == "3" and each != "304" for each in statuses)
        return has_redirects and not statuses & {"200", "2XX"}

    def _find_errors(self) -> Iterator[tuple[Type, Type]]:
        """Yields the statuses and types of errors; statuses with the same type together."""
        exact: list[tuple[Type, list[Type]]] = []
        ranges: list[Type] = []
        for answer in self._operation.answers:
            kind = self._of(answer, UNKNOWN)
            if answer.status[0] in "45" and answer.status.isdigit():
                known = next((found for each, found in exact if each == kind), None)
                if known is None:
                    exact.append((kind, known := []))
                known.append(Named(answer.status))
            elif (answer.status[0] in "45" or answer.status == "default") and kind not in ranges:
                ranges.append(kind)
        for kind, found in exact:
            yield found[0] if len(found) == 1 else Union(found), kind
        yield from ((Named("number"), kind) for kind in ranges)

    def _of(self, answer: Answer, unknown: Type) -> Type:
        if answer.kind == "json":
            return self._types.of(answer.schema)
        return _KINDS.get(answer.kind, unknown)

    def write_types(self) -> Iterator[str]:
        """Yields the lines of the types that it needs beside the components."""
        if self._options:
            base = "StreamOptions" if self._has_choice() else "RequestOptions"
            yield from ("", f"/** Options of `{self.name}`. */")
            yield from write_interface(
                f"{self._options_name} extends {base}", Record(self._options)
            )
        if self._result_name:
            answers = [
                Record([Field("status", status, True), Field("body", kind, True)])
                for status, kind in self._results
            ]
            yield from ("", f"/** What `{self.name}` returns. */")
            yield from write_alias(self._result_name, Union(answers))
        if self._errors:
            errors = [Generic("ApiError", each) for each in self._errors]
            yield from ("", f"/** The documented errors of `{self.name}`. */")
            yield from write_alias(
                self._error_name, errors[0] if len(errors) == 1 else Union(errors)
            )

    # --- The method ---------------------------------------------------------------------------

    def write(self) -> Iterator[str]:
        """Yields the lines of the method."""
        operation = self._operation
        deprecated = "\n\n@deprecated" if operation.is_deprecated else ""
        yield ""
        yield from write_comment(operation.text + deprecated, 1)
        item = None if operation.stream is None else self._types.of(operation.stream.schema)
        result = item or self._returned()
        wrapped = Generic("AsyncGenerator", [result, Named("void"), Named("undefined")])
        returned = Generic("Promise", [result]) if item is None else wrapped
        start = f"async {'' if item is None else '*'}{self.name}("
        yield from _write_signature(start, self._write_arguments(), returned)
        called = f"#{'items' if item is not None else 'answer' if self._result_name else 'call'}"
        keyword = "return" if item is None else "yield*"
        yield from write_type(f"{keyword} this.{called}", Generic("", [result]), "({", 2)
        yield from self._write_request()
        yield from ("    });", "  }")

    def _returned(self) -> Type:
        return Named(self._result_name) if self._result_name else self._results[0][1]

    def _has_choice(self) -> bool:
        stream = self._operation.stream
        return stream is not None and len(stream.media_types) > 1

    def _write_arguments(self) -> Iterator[tuple[str, Type, str]]:
        """Yields names, types and defaults of the arguments."""
        for each in self._operation.find_parameters("path"):
            yield f"{self._paths[each.key]}: ", self._types.of_parameter(each.schema), ""
        needs_options = any(each.is_required for each in self._options)
        body = self._operation.body
        if body is not None:
            kind = self._of_body(body)
            if not body.is_required and needs_options:
                yield "body: ", Union([kind, Named("undefined")]), ""
            else:
                yield f"body{'' if body.is_required else '?'}: ", kind, ""
        base = "StreamOptions" if self._has_choice() else "RequestOptions"
        options = Named(self._options_name or base)
        yield "options: ", options, "" if needs_options else " = {}"

    def _of_body(self, body: Body) -> Type:
        if body.kind == "raw":
            return _RAW
        if body.kind == "json":
            return self._types.of(body.schema)
        return self._types.of_form(body.schema, has_files=body.kind == "multipart")

    def _write_request(self) -> Iterator[str]:
        operation = self._operation
        yield f"      operation: {quoted(self.name)},"
        yield f"      method: {quoted(operation.method)},"
        yield f"      path: {_write_path(operation.path, self._paths)},"
        for field in self._options:
            yield f"      {field.name}: options.{field.name},"
        nullable = [*self._find_nullable()]
        if nullable:
            yield from write_list("nullable: [", [quoted(each) for each in nullable], "],", 3)
        yield from self._write_body()
        stream = operation.stream
        if stream is not None:
            first = quoted(stream.media_types[0])
            yield f"      accept: {f'options.accept ?? {first}' if self._has_choice() else first},"
            if EVENT_STREAM in stream.media_types and _is_text(stream.schema):
                yield "      isText: true,"
        yield from write_list("responses: {", [*self._write_responses()], "},", 3)
        yield "      options,"

    def _write_body(self) -> Iterator[str]:
        body = self._operation.body
        if body is None:
            return
        name = "content" if body.kind == "raw" else body.kind
        yield f"      {name}: body,"
        if body.kind == "json" or (body.kind == "raw" and "*" not in body.media_type):
            yield f"      contentType: {quoted(body.media_type)},"

    def _find_nullable(self) -> Iterator[str]:
        for each in self._operation.parameters:
            if each.place != "path":
                yield from self._types.find_nullable(each.key, each.schema)
        body = self._operation.body
        if body is not None and body.kind in ("form", "multipart"):
            yield from self._types.find_nullable("", body.schema)

    def _write_responses(self) -> Iterator[str]:
        """Yields how the bodies of responses are read, by status."""
        kinds = {each.status: each.kind for each in self._operation.answers}
        if self._follows_redirects():
            kinds["200"] = "unknown"
        if not [*self._find_successes()]:
            kinds["2XX"] = "unknown"
        for status, kind in kinds.items():
            yield f"{status if status.isdigit() else write_key(status)}: {quoted(kind)}"


def _status(status: str) -> Type:
    """Returns the type of a status: a number, or any of a range."""
    return Named(status if status.isdigit() else "number")


def _is_text(schema: object) -> bool:
    shape = read_schema(schema if isinstance(schema, dict) else None)
    return isinstance(shape, Text) and not shape.format and not shape.is_base64


def _join_text(*texts: str) -> str:
    lines: list[str] = []
    for line in (line for text in texts for line in text.splitlines()):
        if line not in lines:
            lines.append(line)
    return "\n".join(lines)


def _write_signature(
    start: str, arguments: Iterable[tuple[str, Type, str]], returned: Type
) -> Iterator[str]:
    written = [*arguments]
    pieces = [(head, write_flat(kind), tail) for head, kind, tail in written]
    result = write_flat(returned)
    if result is not None and all(kind is not None for _, kind, _ in pieces):
        inner = ", ".join(f"{head}{kind}{tail}" for head, kind, tail in pieces)
        line = f"  {start}{inner}): {result} {{"
        if len(line) <= WIDTH:
            yield line
            return
    yield f"  {start}"
    for head, kind, tail in written:
        yield from write_type(head, kind, f"{tail},", 2)
    yield from write_type("): ", returned, " {", 1)


def _write_path(path: str, names: dict[str, str]) -> str:
    """Writes a path: a literal, or a template with the arguments of the method."""
    if not names:
        return quoted(path)
    arguments = {f"{{{key}}}": f"${{{name}}}" for key, name in names.items()}
    pieces = re.split(f"({'|'.join(map(re.escape, arguments))})", path)
    return f"path`{''.join(arguments.get(each) or escape(each) for each in pieces)}`"


def write_errors(methods: list[Method]) -> list[str]:
    """Writes the table of errors by the names of methods."""
    fields = [Field(each.name, Named(each.error), True) for each in methods]
    comment = "/** The documented errors of each method. */"
    return [comment, *write_interface("Errors", Record(fields))]
