# SPDX-License-Identifier: MIT
"""The command `kit request`."""

from __future__ import annotations

import contextlib
import json
import mimetypes
import re
import sys
from pathlib import Path

import click

from .._calling import Header, build_scope, call
from .._errors import AppError
from .._loading import default_app, load_served
from .._options import complete_files
from .._printing import Printer
from .._tracebacks import cut_in_log, from_their_code

_FAILED = 22  # the exit code of curl --fail
_FORM = "application/x-www-form-urlencoded"
# SPEC: RFC 9110 section 5.6.2, token.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FROM_FAULT = 400
_WELL = (1000, 1001)  # RFC 6455, section 7.4.1


@click.command("request", short_help="Sends an app a request, without a server.")
@click.argument("target", metavar="[APP]", shell_complete=complete_files)
@click.argument("url", metavar="PATH", required=False)
@click.option("--method", "-X", help="Method.  [default: GET, or POST with --data]")
@click.option(
    "--header", "-H", "headers", multiple=True, metavar="NAME: VALUE", help="A header; repeatable."
)
@click.option(
    "--data", "-d", help="Body; @FILE is the content of a file, @- that of standard input."
)
@click.option("--body-only", is_flag=True, help="Print the body without status and headers.")
@click.option(
    "--ws",
    is_flag=True,
    help="Open a WebSocket: send the lines of standard input, print what comes.",
)
@click.option("--fail", is_flag=True, help="Exit with 22 if the status is 400 or more.")
def command(
    target: str,
    url: str | None,
    method: str | None,
    headers: tuple[str, ...],
    data: str | None,
    body_only: bool,
    ws: bool,
    fail: bool,
) -> None:
    """Sends an app a request, without a server, and prints the response.

    APP is module:attr, path/to/app.py, or a folder with an app.py; the default is KIT_APP, or the
    app that pyproject.toml names, or that of the current folder. PATH may have a query, and may be
    a URL. The app is started before, and shut down after it, as a server would.

    With --ws the exit code is 1 if the app closes the connection with another code than 1000 or
    1001, and 22 if it answers the handshake with another response.
    """
    if ws and (data is not None or method is not None):
        raise click.UsageError("--ws opens a connection by GET: leave --data and --method out")
    target, url = _app_and_path(target, url)
    fields = [_header(text) for text in headers]
    body = None if data is None else _body(data)
    if body is not None and not any(name.lower() == "content-type" for name, _ in fields):
        fields.append(("content-type", _content_type(str(data), body)))
    method = method or ("GET" if body is None else "POST")
    if not _TOKEN.fullmatch(method):
        raise click.BadParameter("expected e.g. PUT", param_hint="'--method'")
    try:
        scope = build_scope(method.upper(), url, fields, None if body is None else len(body))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'PATH'") from error
    printer = Printer(scope["http_version"], body_only=body_only)
    closed: tuple[int, str] | None = None
    try:
        # What the app prints, a log of requests say, is no part of the response.
        with contextlib.redirect_stdout(sys.stderr), cut_in_log():
            app = load_served(target)
            if ws:
                from .._conversing import converse

                take = printer.message, printer.head, printer.chunk
                closed = converse(app, scope, sys.stdin, *take)
            else:
                call(app, scope, body or b"", printer.head, printer.chunk)
    except AppError:
        raise
    except (Exception, SystemExit) as error:
        printer.end()
        click.echo(from_their_code(error), err=True)
        sys.exit(1)
    printer.end()
    if closed is not None:
        _report_close(*closed)
    if (ws and closed is None) or (fail and printer.status >= _FROM_FAULT):
        sys.exit(_FAILED)


def _app_and_path(first: str, second: str | None) -> tuple[str, str]:
    """Returns the import string and the path; a single argument is the path."""
    if second is not None:
        return first, second
    if not first.startswith(("/", "http://", "https://")):
        raise click.UsageError("Missing argument 'PATH'")
    return default_app(), first


def _report_close(code: int, reason: str) -> None:
    """Says with which code the connection was closed, unless all is well."""
    if code not in _WELL:
        click.echo(f"closed with {code} {reason}".rstrip(), err=True)
        sys.exit(1)


def _header(text: str) -> Header:
    name, colon, value = text.partition(":")
    value = value.strip()
    wrong = ""
    if not colon or not _TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
        wrong = f"expected 'name: value', e.g. 'accept: text/html', not {text!r}"
    elif any(c > "\xff" for c in value):
        wrong = f"{value!r} has characters that no header can have, expected latin-1"
    if wrong:
        raise click.BadParameter(wrong, param_hint="'--header'")
    return name, value


def _body(data: str) -> bytes:
    if not data.startswith("@"):
        return data.encode("utf-8", "surrogateescape")
    if data == "@-":
        return sys.stdin.buffer.read()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        raise click.BadParameter(
            f"can't read {data[1:]!r}: {error.strerror}", param_hint="'--data'"
        ) from error


def _content_type(data: str, body: bytes) -> str:
    """What a body is, by the name of its file, or by its text."""
    if data.startswith("@") and data != "@-":
        guessed, encoding = mimetypes.guess_type(data[1:])
        return guessed if guessed and not encoding else "application/octet-stream"
    if body.lstrip().startswith((b"{", b"[")):
        try:
            json.loads(body)
        except ValueError:
            pass
        else:
            return "application/json"
    return _FORM
