# SPDX-License-Identifier: MIT
"""A small part of `scripts/soak_millions.py`, and that it sees what is wrong."""

from __future__ import annotations

import millions_client
import pytest
import soak_millions

OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nx-id: 0a\r\n"
EXPECTED = millions_client.Expected("text", b"HTTP/1.1 200 ", (b"\r\nx-id: 0a\r\n",), b"text 0a 7")
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n5\r\ntext \r\n4\r\n0a 7\r\n0\r\n\r\n"
LENGTH = OK + b"content-length: 9\r\n\r\ntext 0a 7"


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("server", ["uvicorn"])
def test_every_answer_is_right(server: str) -> None:
    arguments = ["--requests", "50000", "--warm-up", "5000", "--seconds", "120"]
    found = soak_millions.soak(soak_millions.parse_arguments([*arguments, "--server", server]))
    assert found.trouble == [], found.report()
    assert found.answered == 50_000
    assert found.markdown().count("|") == 11


@pytest.mark.parametrize("answer", [CHUNKED, LENGTH])
def test_right_answer(answer: bytes) -> None:
    assert millions_client.parse(answer, EXPECTED) == (len(answer), None)
    assert millions_client.parse(answer + b"HTTP/1.1", EXPECTED) == (len(answer), None)
    for end in range(len(answer)):
        assert millions_client.parse(answer[:end], EXPECTED) is None


@pytest.mark.parametrize(
    "answer",
    [
        LENGTH.replace(b"x-id: 0a", b"x-id: 0b"),
        LENGTH.replace(b"text 0a", b"text 0b"),
        LENGTH.replace(b"200 OK", b"500 Internal Server Error"),
        CHUNKED.replace(b"0a 7", b"0a 8"),
        OK + b"\r\n",
    ],
)
def test_wrong_answer(answer: bytes) -> None:
    read = millions_client.parse(answer, EXPECTED)
    assert read is not None
    assert read[1]
