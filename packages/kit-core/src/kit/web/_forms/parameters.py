# SPDX-License-Identifier: MIT
"""Parses parameters of Content-Type and Content-Disposition, as browsers read and write them."""

from __future__ import annotations

import re

from kit.interface import HTTPException

_MAX_BOUNDARY = 70
_AS_CLIENTS_WRITE = re.compile(
    rf"multipart/form-data; boundary=([0-9A-Za-z'()+_,\-./:=?]{{1,{_MAX_BOUNDARY}}})"
)
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]")

# A name, then a quoted value, a value that extends to the next semicolon, or no value.
_TYPE_PARAMETER = re.compile(r';[\t\r\n ]*([^;=]*)(?:="((?:\\.|[^"\\])*)"?[^;]*|=([^;]*))?')

_AS_BROWSERS_WRITE = re.compile(r'form-data; name="([^"]*)"(?:; filename="([^"]*)")?')
_DISPOSITION_PARAMETER = re.compile(
    r"""; [ \t]* (?:
        ([^\s;="]+) [ \t]* = [ \t]*
        (?: "((?:\\.|[^"\\])*)" [ \t]* (?=;|$) | "([^"]*)" [ \t]* (?=;|$) | ([^;"]*) )
    )?""",
    re.VERBOSE,
)
_EXTENDED = re.compile(r"(utf-8|iso-8859-1)'[^']*'((?:[^%]|%[0-9a-f]{2})*)", re.IGNORECASE)
_ESCAPES = {"%0A": "\n", "%0D": "\r", "%22": '"'}
_ESCAPE = re.compile("|".join(_ESCAPES))


def malformed(problem: str) -> HTTPException:
    """Returns the error for a body that can't be parsed."""
    return HTTPException(400, f"Malformed multipart body: {problem}")


def parse_boundary(content_type: str) -> str:
    """Returns the boundary of a Content-Type.

    SPEC: WHATWG MIME Sniffing section 4.4 for the syntax, RFC 2046 section 5.1.1 for boundaries.

    Raises:
        HTTPException: 400 if there is none, an invalid one, or several, since other parsers may
            choose a different one.
    """
    match = _AS_CLIENTS_WRITE.fullmatch(content_type)
    if match is not None:
        return match[1]
    found = [
        # Only quoted values have escapes, and no boundary needs one.
        (quoted or plain.rstrip("\t\r\n "))
        for name, quoted, plain in _TYPE_PARAMETER.findall(content_type)
        if name.lower() == "boundary"
    ]
    if not any(found):
        raise malformed("the Content-Type has no boundary")
    if len(found) > 1:
        raise malformed("the Content-Type has more than one boundary")
    boundary: str = found[0]
    if len(boundary) > _MAX_BOUNDARY:
        raise malformed(f"the boundary is longer than {_MAX_BOUNDARY} characters")
    if not _BOUNDARY.fullmatch(boundary):
        raise malformed(
            f"the boundary {boundary!r} is invalid: expected letters, digits, '()+_,-./:=? and "
            "blanks, with no blank at the end"
        )
    return boundary


def parse_disposition(value: str) -> tuple[str | None, str | None]:
    """Returns the field's name and the file name in a part's Content-Disposition (latin-1 text).

    SPEC: HTML section 4.10.21.8: `%0A`, `%0D` and `%22` are the only escapes. Older clients escape
    quotes with a backslash. RFC 7578 section 4.2 forbids `filename*`, so it is ignored beside a
    `filename`; alone, as older versions of urllib3 send it, it makes the part a file.

    Raises:
        HTTPException: 400 if it can't be parsed, or a parameter is repeated.
    """
    match = _AS_BROWSERS_WRITE.fullmatch(value)
    if match is not None:
        name, filename = match.groups()
        if "%" not in value and value.isascii():
            return name, filename
        return _unescaped(name), None if filename is None else _unescaped(filename)
    if value.partition(";")[0].strip().lower() != "form-data":
        raise malformed("Invalid Content-Disposition segment header: Wrong type")
    parameters: dict[str, str] = {}
    place = value.find(";") % (len(value) + 1)
    while place < len(value):
        match = _DISPOSITION_PARAMETER.match(value, place)
        if match is None or value[match.end() : match.end() + 1] not in ("", ";"):
            raise malformed(
                "the Content-Disposition of a part can't be read: "
                'expected form-data; name="..."; filename="..."'
            )
        place = match.end()
        key, quoted, raw, plain = match.groups()
        if key is None:
            continue
        key = key.lower()
        if key in parameters:
            raise malformed(f"the Content-Disposition of a part has {key!r:.100} twice")
        if quoted is not None and '\\"' in quoted:
            parameters[key] = _text(re.sub(r'\\(["\\])', r"\1", quoted))
        else:
            given = next(each for each in (quoted, raw, plain) if each is not None)
            parameters[key] = _unescaped(given if plain is None else given.rstrip())
    filename = parameters.get("filename")
    if filename is None:
        filename = _extended_filename(parameters)
    return parameters.get("name"), filename


def _extended_filename(parameters: dict[str, str]) -> str | None:
    """Returns the file name in `filename*` (RFC 8187 section 3.2); None if there is none."""
    key = next((key for key in parameters if key.startswith("filename*")), None)
    if key is None:
        return None
    value = parameters[key]
    match = _EXTENDED.fullmatch(value) if key == "filename*" else None
    if match is not None:
        from urllib.parse import unquote

        try:
            return unquote(match[2], match[1], "strict")
        except UnicodeDecodeError:
            pass
    raise malformed(
        f'the file name {key}={value!r:.100} of a part can\'t be read: expected filename="...", '
        "or filename*=UTF-8''... with percent escapes"
    )


def _unescaped(value: str) -> str:
    if "%" in value:
        value = _ESCAPE.sub(lambda match: _ESCAPES[match[0]], value)
    return _text(value)


def _text(value: str) -> str:
    """SPEC: WHATWG Fetch section 5.3: names are always UTF-8."""
    return value if value.isascii() else value.encode("latin-1").decode("utf-8", "replace")
