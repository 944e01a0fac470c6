# SPDX-License-Identifier: MIT
"""Forms sent by real clients to a real server come back byte for byte."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serving import ServedApp

pytestmark = pytest.mark.once

PATIENCE_S = 60  # how long a client may take before the test gives up
MIB = 1024 * 1024
READERS = pytest.mark.parametrize("reader", ["form_data", "bytes_first", "raw"])

EVERY_BYTE = bytes(range(256))
# Line ends, what looks like a boundary, and more than is kept in memory.
TRICKY = b"\r\n--\r\n------WebKitFormBoundary\r\n\r\n--" + EVERY_BYTE
LARGE = bytes(number * 7 + (number >> 8) & 255 for number in range(65_537)) * 48

FILES = [
    ("every.bin", "application/x-any", EVERY_BYTE),
    ("empty.txt", "text/plain", b""),
    ("tricky é ☃.bin", "a/b", TRICKY),
    ("large.bin", "application/octet-stream", LARGE),
]


def as_answered(name: str, media_type: str, content: bytes) -> list[Any]:
    return [name, media_type, len(content), hashlib.sha256(content).hexdigest()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp("uvicorn") / "log"
    options = ("--factory", "--log-level=warning")
    with ServedApp("uvicorn", "form_app:make_app", log, *options) as running:
        yield running
        assert running.printed() == ""


def url(served: ServedApp, path: str) -> str:
    return f"http://127.0.0.1:{served.port}{path}"


def installed(*names: str) -> str:
    """The path of a program, by the first of its names that there is; skips without it."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed")
    return found


@READERS
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
def test_httpx(served: ServedApp, reader: str, chunked: bool) -> None:
    files = [("f", (name, content, media_type)) for name, media_type, content in FILES]
    data = {"a": ["1", "", "é\r\n"], 'q"%': "v"}
    request = httpx.Request("POST", url(served, f"/{reader}"), data=data, files=files)
    if chunked:
        body = request.read()
        headers = {"content-type": request.headers["content-type"]}
        request = httpx.Request(
            "POST",
            request.url,
            headers=headers,
            content=(body[at : at + 9999] for at in range(0, len(body), 9999)),
        )
    with httpx.Client(trust_env=False, timeout=PATIENCE_S, verify=False) as client:
        answer = client.send(request)
    assert answer.json() == [
        ["a", "1"],
        ["a", ""],
        ["a", "é\r\n"],
        ['q"%', "v"],
        *[["f", as_answered(*file)] for file in FILES],
    ]


@READERS
def test_httpx_urlencoded(served: ServedApp, reader: str) -> None:
    data = {"a": ["1", "", "é &=+%\r\n"], "": "nameless", "large": "ü" * 100_000}
    answer = httpx.post(
        url(served, f"/{reader}"), data=data, trust_env=False, timeout=PATIENCE_S, verify=False
    )
    assert answer.json() == [
        ["a", "1"],
        ["a", ""],
        ["a", "é &=+%\r\n"],
        ["", "nameless"],
        ["large", "ü" * 100_000],
    ]


def curl(served: ServedApp, path: str, *options: str, stdin: bytes = b"") -> Any:
    command = [installed("curl"), "--silent", "--show-error", "--noproxy", "*", *options]
    command.append(url(served, path))
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


@READERS
def test_curl(served: ServedApp, reader: str, tmp_path: Path) -> None:
    options = ["--form", "a=1", "--form-string", "b=@é\r\n", "--form", "c=;type=x/y"]
    for name, media_type, content in FILES:
        (tmp_path / name).write_bytes(content)
        options += ["--form", f"f=@{tmp_path / name};type={media_type}"]
    assert curl(served, f"/{reader}", *options) == [
        ["a", "1"],
        ["b", "@é\r\n"],
        ["c", ""],
        *[["f", as_answered(*file)] for file in FILES],
    ]


@pytest.mark.parametrize("escape", [[], ["--form-escape"]], ids=["percent", "backslash"])
def test_curl_names(served: ServedApp, escape: list[str], tmp_path: Path) -> None:
    name = 'q"uote.bin'
    (tmp_path / name).write_bytes(TRICKY)
    options = [*escape, "--form", f'f"g=@"{tmp_path / name}"'.replace('q"', r"q\"")]
    expected = as_answered(name, "application/octet-stream", TRICKY)
    assert curl(served, "/form_data", *options) == [['f"g', expected]]


def test_curl_from_standard_input(served: ServedApp) -> None:
    """A file whose size is not known, so that it comes in chunks."""

    options = ("--form", "f=@-;filename=piped;type=a/b", "--form", "a=1")
    assert curl(served, "/parse_body", *options, stdin=LARGE) == {
        "f": as_answered("piped", "a/b", LARGE),
        "a": "1",
    }


def test_curl_urlencoded(served: ServedApp) -> None:
    options = ("--data", "a=1+2", "--data-urlencode", "b=é &=+%\r\n", "--data", ";=%zz")
    expected = [["a", "1 2"], ["b", "é &=+%\r\n"], [";", "%zz"]]
    assert curl(served, "/form_data", *options) == expected


def chromium(served: ServedApp, page: str, profile: Path) -> Any:
    """Opens a page; gives the JSON that it shows when it has come to rest."""
    command = [
        installed("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={profile}",
        "--virtual-time-budget=30000",
        "--dump-dom",
        url(served, "/page?html=" + quote("<!doctype html><meta charset=utf-8>" + page)),
    ]
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S)
    shown = re.search(r"<pre[^>]*>(.*)</pre>", done.stdout.decode(), re.DOTALL)
    assert shown is not None, (done.returncode, done.stdout[-1000:], done.stderr[-1000:])
    return json.loads(html.unescape(shown[1]))


# What a page can't have in its source: file inputs are filled by a script.
FILL = """
const everyByte = Uint8Array.from({length: 256}, (_, number) => number);
const tricky = new TextEncoder().encode("\\r\\n--\\r\\n------WebKitFormBoundary\\r\\n\\r\\n--");
const block = Uint8Array.from({length: 65537}, (_, number) => number * 7 + (number >> 8));
const files = [
    new File([everyByte], 'every "quoted".bin', {type: "application/x-any"}),
    new File([], "empty.txt", {type: "text/plain"}),
    new File([tricky, everyByte], "C:\\\\tricky\\\\é ☃.bin", {type: "a/b"}),
    new File(Array(48).fill(block), "large.bin"),
];
const form = document.forms[0];
const transfer = new DataTransfer();
for (const file of files) transfer.items.add(file);
form.elements.f.files = transfer.files;
form.elements.text.value = "one\\ntwo\\r\\né";
form.elements[0].name = 'line\\n"quoted" %22 é';
"""
FIELDS = """
<input value="1"> <input name="a" value=""> <input name="_charset_" type="hidden">
<textarea name="text"></textarea> <input name="f" type="file" multiple>
<input name="none" type="file"> <input name="" value="nameless">
</form><script>
"""
MULTIPART_FORM = f'<form method="post" enctype="multipart/form-data" action="/form_data">{FIELDS}'
# The name of the first field has a `%22` of its own, which looks like the escape of a quote.
FROM_CHROMIUM = [
    ['line\r\n"quoted" " é', "1"],
    ["a", ""],
    ["_charset_", "UTF-8"],
    ["text", "one\r\ntwo\r\né"],
    ["f", as_answered('every "quoted".bin', "application/x-any", EVERY_BYTE)],
    ["f", as_answered("empty.txt", "text/plain", b"")],
    ["f", as_answered("C:\\tricky\\é ☃.bin", "a/b", TRICKY)],
    ["f", as_answered("large.bin", "application/octet-stream", LARGE)],
    ["none", as_answered("", "application/octet-stream", b"")],
]


def test_form_of_chromium(served: ServedApp, tmp_path: Path) -> None:
    page = MULTIPART_FORM + FILL + "form.submit();</script>"
    assert chromium(served, page, tmp_path) == FROM_CHROMIUM


def test_fetch_of_chromium(served: ServedApp, tmp_path: Path) -> None:
    page = f"""{MULTIPART_FORM}{FILL}
        fetch("/bytes_first", {{method: "POST", body: new FormData(form)}})
            .then(answer => answer.text())
            .then(text => document.body.append(
                Object.assign(document.createElement("pre"), {{textContent: text}})
            ));
        </script>"""
    assert chromium(served, page, tmp_path) == FROM_CHROMIUM


def test_urlencoded_form_of_chromium(served: ServedApp, tmp_path: Path) -> None:
    page = """<form method="post" action="/form_data">
        <input name="é &=+;" value="é &=+%"> <textarea name="a"></textarea>
        <input name="f" type="file"> </form><script>
        document.forms[0].elements.a.value = "one\\ntwo";
        document.forms[0].submit();</script>"""
    assert chromium(served, page, tmp_path) == [
        ["é &=+;", "é &=+%"],
        ["a", "one\r\ntwo"],
        ["f", ""],
    ]
