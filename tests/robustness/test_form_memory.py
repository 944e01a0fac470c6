# SPDX-License-Identifier: MIT
"""What a form may take in memory, wherever it is read: `Limits.max_memory_size_bytes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

import pytest

from kit import Context, File, FormData, Kit, Limits, Response
from kit.authoring.bodies import memory_of_text
from kit.typed import File as FileOf
from kit.typed import Form, typed
from kit.validator import validator

MOST = 10_000
TEXTS = {
    "ascii": lambda size: "x" * size,
    "latin-1": lambda size: "é" + "x" * (size - memory_of_text("é") - 0),
    "astral": lambda size: "😀" + "x" * ((size - memory_of_text("😀")) // 4),
}


@dataclass
class Upload:
    a: str
    f: bytes = b""
    more: list[bytes] | None = None


@dataclass
class Texts:
    a: list[str]


def app(**limits: Any) -> Kit:
    app = Kit(limits=Limits(max_memory_size_bytes=MOST, spool_size_bytes=100, **limits))

    @app.post("/form_data")
    async def form_data(c: Context) -> Response:
        return c.text(str(len(await c.req.form_data())))

    @app.post("/parse_body")
    async def parse_body(c: Context) -> Response:
        return c.text(str(len(await c.req.parse_body(all=True))))

    @app.post("/last_values")
    async def last_values(c: Context) -> Response:
        return c.text(str(len(await c.req.parse_body())))

    @app.post("/typed")
    @typed
    async def of_typed(
        a: Annotated[str, Form()],
        f: Annotated[bytes, FileOf()] = b"",
        more: Annotated[list[bytes] | None, FileOf()] = None,
    ) -> str:
        return str(len(f))

    @app.post("/typed-model")
    @typed
    async def of_model(form: Annotated[Upload, Form()]) -> str:
        return str(len(form.f))

    @app.post("/typed-file")
    @typed
    async def of_file(a: Annotated[str, Form()], f: Annotated[File, FileOf()]) -> str:
        return str(f.size)

    @app.post("/validator", use=[validator("form", Upload)])
    def of_validator(c: Context) -> Response:
        return c.text(str(len(c.req.valid("form", Upload).f)))

    return app


PATHS = ["form_data", "parse_body", "last_values", "typed", "typed-model", "validator"]
READ_INTO_MEMORY = ["typed", "typed-model", "validator"]
BODY = f"The form takes more than {MOST} bytes of memory"


async def post(path: str, form: list[tuple[str, Any]], **limits: Any) -> tuple[int, str]:
    body = FormData(form)
    response = await app(**limits).request(f"/{path}", {"method": "POST", "body": body})
    return response.status, await response.text()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", TEXTS)
async def test_texts_of_a_multipart_form(path: str, kind: str) -> None:
    rest = MOST - memory_of_text("a") - memory_of_text("b") - 100
    first = TEXTS[kind](rest)
    left = rest - memory_of_text(first) + 100
    assert (await post(path, [("b", "x" * left), ("a", first)]))[0] == 200
    status, text = await post(path, [("b", "x" * (left + 1)), ("a", first)])
    assert (status, BODY in text) == (413, True)


@pytest.mark.parametrize("path", PATHS)
async def test_texts_of_an_urlencoded_form(path: str) -> None:
    for texts, status in [
        (["x" * (MOST - 2)], 413),  # with `a=`, the body is larger
        (["x" * (MOST - 10)], 200),
        (["😀" + "x" * 2000], 200),
        (["😀" + "x" * 2500], 413),
        (["😀" + "x" * 1000] * 2, 200),
        (["😀" + "x" * 1000] * 3, 413),
    ]:
        pairs = [("a", text) for text in texts] + [("b", "")]
        body = "&".join(f"{name}={quote(text, safe='')}" for name, text in pairs)
        response = await app().request(
            f"/{path}",
            {
                "method": "POST",
                "body": body,
                "headers": {"content-type": "application/x-www-form-urlencoded"},
            },
        )
        assert response.status == status, (len(texts), texts[0][:1])


@pytest.mark.parametrize("path", READ_INTO_MEMORY)
async def test_files_that_are_read_into_memory(path: str) -> None:
    def form(size: int, text: str) -> list[tuple[str, Any]]:
        return [("a", text), ("f", File([b"x" * size], "f"))]

    for text in ("", "x" * 500, "é" * 500):
        size = MOST - memory_of_text(text)
        assert await post(path, form(size, text)) in [(200, str(size)), (200, f'"{size}"')]
        status, found = await post(path, form(size + 1, text))
        assert (status, BODY in found) == (413, True)


@pytest.mark.parametrize("path", READ_INTO_MEMORY)
async def test_several_files_count_together(path: str) -> None:
    def form(size: int) -> list[tuple[str, Any]]:
        file = File([b"x" * size], "f")
        return [("a", ""), ("f", file), *[("more", file)] * 3]

    assert (await post(path, form(MOST // 4)))[0] == 200
    status, text = await post(path, form(MOST // 4 + 1))
    assert (status, BODY in text) == (413, True)


@pytest.mark.parametrize("path", ["form_data", "parse_body", "last_values", "typed-file"])
async def test_other_files_are_on_disk(path: str) -> None:
    form = [("a", ""), ("f", File([b"x" * MOST * 3], "f"))]
    assert (await post(path, form))[0] == 200


async def test_many_texts_at_the_default() -> None:
    """A gigabyte in a thousand fields was kept before."""
    kit = Kit()

    @kit.post("/")
    async def handler(c: Context) -> Response:
        return c.json(len(await c.req.parse_body(all=True)))

    text = "😀" + "x" * 1_000_000
    response = await kit.request("/", {"method": "POST", "body": FormData([("a", text)] * 17)})
    assert response.status == 413
    assert await response.text() == "The form takes more than 67108864 bytes of memory"
    response = await kit.request("/", {"method": "POST", "body": FormData([("a", text)] * 16)})
    assert response.status == 200
