# SPDX-License-Identifier: MIT
"""Writes TypeScript as Prettier does, with lines of at most 80 characters."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

WIDTH = 80
_INDENT = "  "
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True)
class Named:
    """A type that is written as one word or literal."""

    text: str


@dataclass(frozen=True)
class Union:
    """One of several types; an intersection with `&` as its sign."""

    parts: Sequence[Type]
    sign: str = "|"


@dataclass(frozen=True)
class ListOf:
    """An array."""

    item: Type


@dataclass(frozen=True)
class TupleOf:
    """A tuple."""

    items: Sequence[Type]


@dataclass(frozen=True)
class MapOf:
    """An object with any names."""

    value: Type


@dataclass(frozen=True)
class Generic:
    """A generic type with its arguments."""

    name: str
    arguments: Sequence[Type]


@dataclass(frozen=True)
class Field:
    """A property.

    Attributes:
        name: Its name.
        type: Its type.
        is_required: Whether it is required.
        text: Its description.
    """

    name: str
    type: Type
    is_required: bool
    text: str = ""


@dataclass(frozen=True)
class Record:
    """An object with certain properties."""

    fields: Sequence[Field]
    is_open: bool = False


Type: TypeAlias = Named | Union | ListOf | TupleOf | MapOf | Generic | Record

UNKNOWN = Named("unknown")
NULL = Named("null")


def write_type(head: str, kind: Type, tail: str, depth: int) -> list[str]:
    """Writes a type between two texts: on one line if it fits, otherwise on several.

    Args:
        head: The text before it, e.g. `name: `.
        kind: The type.
        tail: The text after it.
        depth: The indentation depth.
    """
    indent = _INDENT * depth
    flat = write_flat(kind)
    if flat is not None and len(indent + head + flat + tail.partition("\n")[0]) <= WIDTH:
        return [f"{indent}{head}{flat}{tail}"]
    match kind:
        case Union(parts, "|"):
            records = [each for each in parts if isinstance(each, Record)]
            if len(records) == 1 and all(each == NULL for each in parts if each != records[0]):
                return write_type(head, records[0], f" | null{tail}", depth)
            lines = [line for each in parts for line in _write_part("| ", each, depth + 1)]
            return [f"{indent}{head}".rstrip(), *_end(lines, tail)]
        case ListOf(Union() as union):
            lines = [line for each in union.parts for line in _write_part("| ", each, depth + 1)]
            return [f"{indent}{head}(", *lines, f"{indent})[]{tail}"]
        case ListOf(item):
            return write_type(head, item, f"[]{tail}", depth)
        case TupleOf(items):
            lines = [line for each in items for line in write_type("", each, ",", depth + 1)]
            return [f"{indent}{head}[", *lines, f"{indent}]{tail}"]
        case MapOf(value):
            inner = write_type("[name: string]: ", value, ";", depth + 1)
            return [f"{indent}{head}{{", *inner, f"{indent}}}{tail}"]
        case Generic(name, arguments):
            pieces = [write_type("", each, ",", depth + 1) for each in arguments]
            pieces[-1][-1] = pieces[-1][-1].removesuffix(",")
            lines = [line for piece in pieces for line in piece]
            return [f"{indent}{head}{name}<", *lines, f"{indent}>{tail}"]
        case Record():
            return [f"{indent}{head}{{", *write_fields(kind, depth + 1), f"{indent}}}{tail}"]
        case _:
            return [f"{indent}{head}{flat or write_inline(kind)}{tail}"]


def write_alias(name: str, kind: Type) -> list[str]:
    """Writes the alias of a type."""
    head = f"export type {name} ="
    flat = write_flat(kind)
    if isinstance(kind, Union) and flat is not None:
        is_long = len(f"{head} {flat};") > WIDTH
        if is_long and len(f"{_INDENT}{flat};") <= WIDTH:
            return [head, f"{_INDENT}{flat};"]
    return write_type(f"{head} ", kind, ";", 0)


def _write_part(head: str, kind: Type, depth: int) -> list[str]:
    # The content of a part is indented by its sign.
    first, *rest = write_type(head, kind, "", depth)
    return [first, *(f"  {line}" for line in rest)]


def _end(lines: list[str], tail: str) -> list[str]:
    return [*lines[:-1], lines[-1] + tail]


def write_flat(kind: Type) -> str | None:
    """Returns a type on one line; None if that isn't how Prettier writes it."""
    match kind:
        case Named(text):
            return text
        case Union(parts, sign):
            return _join([_write_member(each) for each in parts], f" {sign} ")
        case ListOf(item):
            inner = write_flat(item)
            if inner is None:
                return None
            return (
                f"({inner})[]" if isinstance(item, Union) and len(item.parts) > 1 else f"{inner}[]"
            )
        case TupleOf(items):
            inner = _join([write_flat(each) for each in items], ", ")
            return None if inner is None else f"[{inner}]"
        case MapOf(value):
            inner = write_flat(value)
            return None if inner is None else f"{{ [name: string]: {inner} }}"
        case Generic(name, arguments):
            inner = _join([write_flat(each) for each in arguments], ", ")
            return None if inner is None else f"{name}<{inner}>"
        case Record(fields, is_open):
            return "object" if not fields and not is_open else None


def _write_member(kind: Type) -> str | None:
    flat = write_flat(kind)
    return f"({flat})" if flat is not None and isinstance(kind, Union) else flat


def _join(texts: Iterable[str | None], separator: str) -> str | None:
    found = [*texts]
    written = [each for each in found if each is not None]
    return separator.join(written) if len(written) == len(found) else None


def write_inline(kind: Type) -> str:
    """Returns a type on one line, however long."""
    lines = write_type("", kind, "", 0)
    return " ".join(line.strip() for line in lines)


def write_interface(name: str, record: Record) -> list[str]:
    """Writes an interface."""
    fields = write_fields(record, 1)
    return (
        [f"export interface {name} {{", *fields, "}"]
        if fields
        else [f"export interface {name} {{}}"]
    )


def write_fields(record: Record, depth: int) -> list[str]:
    """Writes the properties of an object type, each with its description."""
    lines: list[str] = []
    for field in record.fields:
        mark = "" if field.is_required else "?"
        lines += write_comment(field.text, depth)
        lines += write_type(f"{write_key(field.name)}{mark}: ", field.type, ";", depth)
    if record.is_open:
        lines.append(f"{_INDENT * depth}[name: string]: unknown;")
    return lines


def write_key(name: str) -> str:
    """Returns the name of a property, in quotes if necessary."""
    return name if _IDENTIFIER.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Returns a string literal, with the quotes that need fewer escapes."""
    written = json.dumps(text, ensure_ascii=False)
    # Lone surrogates and control characters, which a file in UTF-8 can't have or show.
    written = "".join(each if each.isprintable() else _escape(each) for each in written)
    if text.count('"') > text.count("'"):
        inner = written[1:-1].replace('\\"', '"').replace("'", "\\'")
        return f"'{inner}'"
    return written


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = [units[index : index + 2].hex() for index in range(0, len(units), 2)]
    return "".join(f"\\u{each}" for each in pairs)


def escape(text: str) -> str:
    """Escapes a text for a template literal."""
    written = json.dumps(text)[1:-1].replace('\\"', '"')
    return written.replace("`", "\\`").replace("${", "\\${")


def literal(value: object) -> str:
    """Returns a literal of a JSON scalar."""
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def write_comment(text: str, depth: int) -> list[str]:
    """Writes a comment for documentation; none for an empty text."""
    cleaned = text.strip().replace("*/", "*\\/")
    cleaned = "".join(each if each.isprintable() or each == "\n" else " " for each in cleaned)
    if not cleaned:
        return []
    indent = _INDENT * depth
    lines = [line.rstrip() for line in cleaned.split("\n")]
    if len(lines) == 1 and len(f"{indent}/** {cleaned} */") <= WIDTH:
        return [f"{indent}/** {cleaned} */"]
    if "```" not in cleaned:
        lines = [part for line in lines for part in _wrap(line, WIDTH - len(f"{indent} * "))]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def _wrap(line: str, width: int) -> list[str]:
    """Wraps a line of Markdown, unless it is part of a table, a list or code."""
    if len(line) <= width or not line[0].isalpha():
        return [line]
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)


def write_list(head: str, items: Sequence[str], tail: str, depth: int) -> list[str]:
    """Writes the items between two brackets: on one line if they fit, otherwise one a line."""
    indent = _INDENT * depth
    opening, closing = ("{ ", " }") if head.endswith("{") and items else (head[-1:], tail[:1])
    flat = f"{indent}{head[:-1]}{opening}{', '.join(items)}{closing}{tail[1:]}"
    if len(flat) <= WIDTH or not items:
        return [flat]
    inner = [f"{indent}{_INDENT}{each}," for each in items]
    return [f"{indent}{head}", *inner, f"{indent}{tail}"]
