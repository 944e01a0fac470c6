# SPDX-License-Identifier: MIT
"""Forms that no honest client sends, and how each is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MULTIPART = "multipart/form-data; boundary=XX"
URLENCODED = "application/x-www-form-urlencoded"
KIB, MIB = 1024, 1024 * 1024
END = b"--XX--\r\n"


def part(disposition: bytes, body: bytes = b"v", more: bytes = b"") -> bytes:
    """A part of a multipart body; `more` stands behind its first header."""
    return b"--XX\r\nContent-Disposition: " + disposition + more + b"\r\n\r\n" + body + b"\r\n"


FIELD = part(b'form-data; name="a"')
FILE = part(b'form-data; name="f"; filename="f"')


@dataclass(frozen=True)
class Hostile:
    """A form.

    Attributes:
        name: What is wrong with it.
        status: The status of the answer.
        message: What the answer says; the beginning, if it ends with three dots.
        content_type: Its Content-Type.
        body: Its chunks; those that are not asked for are never made.
    """

    name: str
    status: int
    message: str
    content_type: str
    body: Iterable[bytes]

    def chunks(self) -> Iterator[bytes]:
        return iter(self.body)


class Repeated(Iterable[bytes]):
    """A head, then the same chunk many times."""

    def __init__(self, head: bytes, chunk: bytes, count: int) -> None:
        self._head = head
        self._chunk = chunk
        self._count = count

    def __iter__(self) -> Iterator[bytes]:
        return itertools.chain([self._head], itertools.repeat(self._chunk, self._count))


def malformed(name: str, message: str, *body: bytes, content_type: str = MULTIPART) -> Hostile:
    return Hostile(name, 400, f"Malformed multipart body: {message}", content_type, body)


def too_large(
    name: str, message: str, head: bytes, chunk: bytes, count: int, kind: str = MULTIPART
) -> Hostile:
    return Hostile(name, 413, message, kind, Repeated(head, chunk, count))


NO_END = "Unexpected end: the final boundary --XX-- is missing"
NO_NAME = 'a part has no name: expected Content-Disposition: form-data; name="..."'
UNREADABLE = (
    "the Content-Disposition of a part can't be read: "
    'expected form-data; name="..."; filename="..."'
)
HEADERS = "a part may have 8 headers of at most 4096 bytes"
LONG_HEADER = f"Maximum segment header length exceeded: {HEADERS}"
ODD = "is invalid: expected letters, digits, '()+_,-./:=? and blanks, with no blank at the end"


def of_boundary(parameters: str) -> str:
    return "multipart/form-data" + parameters


BOUNDARIES = (
    malformed("no boundary", "the Content-Type has no boundary", content_type=of_boundary("")),
    malformed(
        "empty boundary",
        "the Content-Type has no boundary",
        END,
        content_type=of_boundary('; boundary=""'),
    ),
    malformed(
        "boundary of 71 characters",
        "the boundary is longer than 70 characters",
        b"--" + b"X" * 71 + b"--\r\n",
        content_type=of_boundary("; boundary=" + "X" * 71),
    ),
    malformed(
        "boundary of 20,000 characters",
        "the boundary is longer than 70 characters",
        content_type=of_boundary("; boundary=" + "X" * 20_000),
    ),
    malformed(
        "boundary with @",
        f"the boundary 'X@X' {ODD}",
        b"--X@X--\r\n",
        content_type=of_boundary("; boundary=X@X"),
    ),
    malformed(
        "boundary with a quote",
        f"""the boundary 'X\\\\"X' {ODD}""",
        b'--X"X--\r\n',
        content_type=of_boundary(r'; boundary="X\"X"'),
    ),
    malformed(
        "boundary beyond ASCII",
        f"the boundary 'é' {ODD}",
        b"--\xe9--\r\n",
        content_type=of_boundary("; boundary=é"),
    ),
    malformed(
        "boundary with a blank at its end",
        f"the boundary 'XX ' {ODD}",
        END,
        content_type=of_boundary('; boundary="XX "'),
    ),
    malformed(
        "two boundaries",
        "the Content-Type has more than one boundary",
        FIELD + END,
        content_type=of_boundary("; boundary=YY; Boundary=XX"),
    ),
)

ENDS = (
    malformed("empty body", NO_END),
    malformed("no final boundary", NO_END, FIELD),
    malformed("half a final boundary", NO_END, FIELD, b"--XX-"),
    malformed("another boundary", NO_END, FIELD.replace(b"XX", b"YY")),
    malformed("no part, in a line", NO_END, b"x" + FIELD + END.replace(b"--XX", b"x--XX")),
    Hostile(
        "20 MiB of anything",
        400,
        f"Malformed multipart body: {NO_END}",
        MULTIPART,
        Repeated(b"", b"anything, \r\n-" * 1000, 20 * MIB // 13_000),
    ),
    malformed(
        "LF as line end",
        "Invalid line break after first boundary",
        (FIELD + END).replace(b"\r\n", b"\n"),
    ),
    malformed(
        "LF between headers",
        "the header Content-Disposition of a part holds a line break",
        part(b'form-data; name="a"\nContent-Type: text/plain') + END,
    ),
    malformed(
        "text after the first boundary", "Unexpected byte after first boundary", b"--XXX\r\n"
    ),
    malformed("text after a boundary", "Unexpected bytes after boundary", FIELD, b"--XX X\r\n"),
    malformed("dashes after blanks", "Unexpected bytes after boundary", FIELD, b"--XX --\r\n"),
    malformed("LF after blanks", "Unexpected bytes after boundary", FIELD, b"--XX \t\n" + FIELD),
    malformed("CR after blanks", "Unexpected bytes after boundary", FIELD, b"--XX \r", END),
    malformed(
        "text after the first boundary and blanks",
        "Unexpected byte after first boundary",
        b"--XX  X\r\n",
    ),
)

NAMES = (
    malformed("no name", NO_NAME, part(b"form-data"), END),
    malformed("no name, but a file name", NO_NAME, part(b'form-data; filename="f"'), END),
    malformed("name*", NO_NAME, part(b"form-data; name*=UTF-8''a"), END),
    malformed("name without a value", UNREADABLE, part(b"form-data; name"), END),
    malformed("name without an end", UNREADABLE, part(b'form-data; name="a'), END),
    malformed("text behind the name", UNREADABLE, part(b'form-data; name="a" b'), END),
    malformed(
        "two names",
        "the Content-Disposition of a part has 'name' twice",
        part(b'form-data; name="a"; NAME="b"'),
        END,
    ),
    *(
        malformed(
            f"unreadable {key} {value}",
            f'the file name {key}={value!r} of a part can\'t be read: expected filename="...", '
            "or filename*=UTF-8''... with percent escapes",
            part(f'form-data; name="f"; {key}="{value}"'.encode(), b"\xff"),
            END,
        )
        for key, value in [
            ("filename*", "n.txt"),
            ("filename*", "UTF-16''a"),
            ("filename*", "UTF-8''%ff"),
            ("filename*", "UTF-8''%4"),
            ("filename*", ""),
            ("filename*0", "a"),
            ("filename*0*", "UTF-8''a"),
        ]
    ),
    malformed(
        "two file names",
        "the Content-Disposition of a part has 'filename' twice",
        part(b'form-data; name="a"; filename="b"; filename=c'),
        END,
    ),
    *(
        malformed(
            f"{what} in the {where}",
            f"the header {header} of a part holds {what}",
            part(b'form-data; name="' + name + b'"', more=more),
            END,
        )
        for text, what in ((b"\0", "a NUL character"), (b"\n", "a line break"))
        for where, header, name, more in (
            ("name", "Content-Disposition", b"a" + text + b"b", b""),
            ("file name", "Content-Disposition", b'a"; filename="b' + text, b""),
            ("media type", "Content-Type", b"a", b"\r\nContent-Type: text/plain" + text),
            ("other header", "X-Other", b"a", b"\r\nX-Other: a" + text + b"b"),
        )
    ),
    malformed(
        "CR in the name",
        "the header Content-Disposition of a part holds a line break",
        part(b'form-data; name="a\rb"') + END,
    ),
)

HEADS = (
    malformed(
        "header of 100 kB",
        LONG_HEADER,
        part(b'form-data; name="a"; x="' + b"y" * 100_000 + b'"') + END,
    ),
    malformed(
        "name of 100 kB", LONG_HEADER, part(b'form-data; name="' + b"y" * 100_000 + b'"') + END
    ),
    malformed(
        "header of 100 kB in many lines",
        LONG_HEADER,
        part(b'form-data; name="a"', more=(b"\r\n " + b"y" * 1000) * 100) + END,
    ),
    Hostile(
        "header without end",
        400,
        f"Malformed multipart body: {LONG_HEADER}",
        MULTIPART,
        Repeated(b"--XX\r\nX-Y: ", b"z" * 16 * KIB, 6000),
    ),
    malformed(
        "nine headers",
        f"Maximum segment header count exceeded: {HEADERS}",
        part(b'form-data; name="a"', more=b"\r\nX-Y: z" * 8) + END,
    ),
    malformed(
        "10,000 headers",
        f"Maximum segment header count exceeded: {HEADERS}",
        part(b'form-data; name="a"', more=b"\r\nX-Y: z" * 10_000) + END,
    ),
    malformed(
        "no header", "Missing Content-Disposition segment header", b"--XX\r\n\r\nv\r\n" + END
    ),
    malformed(
        "no Content-Disposition",
        "Missing Content-Disposition segment header",
        b"--XX\r\nContent-Type: text/plain\r\n\r\nv\r\n" + END,
    ),
    malformed(
        "attachment",
        "Invalid Content-Disposition segment header: Wrong type",
        part(b'attachment; name="a"') + END,
    ),
    malformed(
        "two Content-Dispositions",
        "a part has the header Content-Disposition twice",
        part(b'form-data; name="a"', more=b'\r\ncontent-disposition: form-data; name="b"') + END,
    ),
    malformed(
        "two Content-Types",
        "a part has the header Content-Type twice",
        part(b'form-data; name="a"', more=b"\r\nContent-Type: a/b\r\nContent-Type: c/d") + END,
    ),
    malformed(
        "Content-Length that does not fit",
        "Segment Content-Length exceeded",
        part(b'form-data; name="a"', b"long", b"\r\nContent-Length: 1") + END,
    ),
    malformed("header without a colon", "Malformed segment header", b"--XX\r\nX\r\n\r\n" + END),
    malformed(
        "header name with a blank", "Invalid segment header name", b"--XX\r\nX Y: z\r\n\r\n" + END
    ),
    malformed(
        "second line first",
        "Unexpected segment header continuation",
        b"--XX\r\n x: y\r\n\r\n" + END,
    ),
)

FIELDS = "The form has more than 1000 fields"
FILES = "The form has more than 1000 files"
LONG_FIELD = "The form field 'a' is longer than 1048576 bytes"
LONG_NAME = "The name of a form field is longer than 1048576 bytes"
BEGIN = b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n'

LARGE = (
    too_large("10,000 parts", FIELDS, b"", FIELD, 10_000),
    too_large("10,000 parts in one chunk", FIELDS, FIELD * 10_000, b"", 0),
    too_large("10,000 files", FILES, b"", FILE, 10_000),
    too_large("100 MiB in a field", LONG_FIELD, BEGIN, b"x" * 16 * KIB, 6400),
    too_large("10,000 fields", FIELDS, b"", b"a=1&b=2&c=3&d=4&", 2_500, URLENCODED),
    too_large("10,000 names", FIELDS, b"", b"a&" * 10, 1_000, URLENCODED),
    too_large("10,000 fields in one chunk", FIELDS, b"a=1&" * 10_000, b"", 0, URLENCODED),
    too_large("100 MiB in a value", LONG_FIELD, b"a=", b"x" * 16 * KIB, 6400, URLENCODED),
    too_large("100 MiB of escapes", LONG_FIELD, b"a=", b"%41" * 8_000, 4400, URLENCODED),
    too_large("100 MiB of %", LONG_FIELD, b"a=", b"%" * 16 * KIB, 6400, URLENCODED),
    too_large("100 MiB in a name", LONG_NAME, b"", b"x" * 16 * KIB, 6400, URLENCODED),
    too_large("value of 1 MiB and a byte", LONG_FIELD, b"b=1&a=", b"x" * (MIB + 1), 1, URLENCODED),
    too_large("the same, escaped", LONG_FIELD, b"b=1&a=", b"%4A" * (MIB + 1), 1, URLENCODED),
    too_large("name of 1 MiB and a byte", LONG_NAME, b"b=1&", b"x" * (MIB + 1), 1, URLENCODED),
)

CASES = (*BOUNDARIES, *ENDS, *NAMES, *HEADS, *LARGE)
