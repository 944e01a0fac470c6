# SPDX-License-Identifier: MIT
"""An app that does less work than its peers must not get past the check of its answers."""

from __future__ import annotations

import json

import pytest

from benchmarks import rows
from benchmarks.peers import KIT, NEEDED, RAW, WITHOUT, make, write_parameters
from benchmarks.rows import SCOPE, Answer, Request, WrongAnswerError, check
from benchmarks.worker import Exchange


def messages(status=200, headers=((b"content-type", b"text/plain"),), body=b"ok", more=False):
    return [
        {"type": "http.response.start", "status": status, "headers": list(headers)},
        {"type": "http.response.body", "body": body, "more_body": more},
    ]


ASKED = Request(b"/", Answer(text=b"ok", headers={b"x-id": b"7"}))
RIGHT = ((b"content-type", b"text/plain; charset=utf-8"), (b"X-Id", b"7"))


def test_a_right_answer_passes():
    check(ASKED, messages(headers=RIGHT))


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        pytest.param([], "no response", id="nothing"),
        pytest.param(messages(headers=RIGHT, more=True), "has no end", id="unfinished"),
        pytest.param(messages(500, RIGHT), "status 500", id="status"),
        pytest.param(messages(headers=RIGHT, body=b"no"), "b'no', expected b'ok'", id="body"),
        pytest.param(messages(headers=RIGHT[:1]), "b'x-id' is None", id="header"),
        pytest.param(
            messages(headers=[(b"content-type", b"text/html"), RIGHT[1]]),
            "content type b'text/html'",
            id="content type",
        ),
        pytest.param(
            messages(headers=[*RIGHT, (b"content-length", b"9")]), "content-length", id="length"
        ),
    ],
)
def test_a_wrong_answer_is_refused(sent, said):
    with pytest.raises(WrongAnswerError, match=said):
        check(ASKED, sent)


COOKIE = Request(b"/", Answer(cookie=b"a=1"))


@pytest.mark.parametrize("line", [b"a=1; Path=/; HttpOnly", b"a=1; HTTPOnly; Max-Age=60; path=/"])
def test_a_cookie_is_compared_with_its_attributes(line):
    check(COOKIE, messages(headers=[(b"set-cookie", line)]))


@pytest.mark.parametrize("line", [b"a=1; Path=/", b"a=1; HttpOnly", b"a=12; Path=/; HttpOnly", b""])
def test_another_cookie_is_refused(line):
    with pytest.raises(WrongAnswerError, match=r"cookie .*, expected b'a=1'"):
        check(COOKIE, messages(headers=[(b"set-cookie", line)]))


def test_an_allow_without_the_method_is_refused():
    asked = Request(b"/", Answer(405, allow=b"GET"))
    check(asked, messages(405))
    check(asked, messages(405, [(b"allow", b"GET, HEAD")]))
    with pytest.raises(WrongAnswerError, match="b'POST' is allowed, but not b'GET'"):
        check(asked, messages(405, [(b"allow", b"POST")]))


def test_json_is_compared_by_value():
    asked = Request(b"/", Answer(json={"a": 1, "b": [2]}))
    headers = [(b"content-type", b"application/json")]
    check(asked, messages(headers=headers, body=b'{ "b": [2], "a": 1 }'))
    with pytest.raises(WrongAnswerError, match="expected"):
        check(asked, messages(headers=headers, body=b'{"a": 1}'))


@pytest.mark.parametrize("row", rows.ROWS.values(), ids=rows.ROWS)
@pytest.mark.parametrize("name", [RAW, KIT])
async def test_an_app_answers_each_row(name, row):
    app = make(name, row.app)
    for value in (42, 10_000_000):
        asked = row.make(value)
        exchange = Exchange(asked.events)
        sent = []

        async def send(message, sent=sent, exchange=exchange):
            sent.append(message)
            await exchange.send(message)

        await app(SCOPE | asked.scope(), exchange.receive, send)
        check(asked, sent)


def test_new_values_never_come_twice():
    for row in rows.ROWS.values():
        requests = row.requests()
        few = [next(requests) for _ in range(5)]
        seen = {(each.path, each.query, tuple(each.lines), each.events[0]["body"]) for each in few}
        assert len(seen) == (5 if row.has_new_values else 1)


def test_bodies_come_in_events_of_64_kib():
    events = rows.upload(0).events
    assert len(events) == 17  # 1 MiB, and what is around the file
    assert {len(event["body"]) for event in events[:-1]} == {64 * 1024}
    assert [event["more_body"] for event in events] == [True] * 16 + [False]


def test_the_last_of_the_table_has_a_parameter():
    assert len(set(rows.table_paths(180))) == 180
    assert rows.table_paths(180)[-1] == "/things59/:id/parts"
    assert rows.last_of_table(7).answer.text == b"7"


def test_a_request_on_the_wire():
    lines = [(b"host", b"x"), (b"content-length", b"2")]
    events = ({"body": b"a", "more_body": True}, {"body": b"b", "more_body": False})
    asked = Request(b"/a%20b", Answer(), "POST", b"q=1", lines, events)
    head = b"POST /a%20b?q=1 HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n"
    assert asked.on_the_wire == head + b"ab"


def test_what_peers_do_not_have_is_named_by_row_and_peer():
    assert WITHOUT.keys() <= rows.ROWS.keys()
    for without in WITHOUT.values():
        assert without.keys() <= NEEDED.keys() - {KIT, RAW}


def test_a_large_document_has_about_100_kb():
    assert 90_000 < len(rows.large_echo(10_000_000).body) < 110_000


def test_an_echo_is_no_constant():
    first, second = (json.loads(rows.echo(n).events[0]["body"]) for n in (1, 2))
    assert first != second


def test_parameters_are_written_as_a_framework_does():
    assert write_parameters("/a/:id/b", "<", ":str>") == "/a/<id:str>/b"
