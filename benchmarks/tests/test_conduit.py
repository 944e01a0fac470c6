# SPDX-License-Identifier: MIT
"""The section `conduit`: both apps give correct and equal answers."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from benchmarks.abreast import Answered
from benchmarks.asking import ask
from benchmarks.conduit import section
from benchmarks.rows import SCOPE, Answer, Request, WrongAnswerError, posted
from benchmarks.worker import Lifespan

for needed in ("aiosqlite", "argon2", "fastapi", "jwt", "sqlalchemy"):
    pytest.importorskip(needed)

ARTICLE = {"title": "New", "description": "What is new", "body": "All of it", "tagList": ["new"]}
# Method, path and body of each request, in order; the last one has no token.
STEPS = [
    ("POST", "/users", {"user": {"username": "ann", "email": "ann@x.org", "password": "12345678"}}),
    ("POST", "/users", {"user": {"username": "ANN", "email": "b@x.org", "password": "12345678"}}),
    ("POST", "/users", {"user": {"username": "bob", "email": "b@x.org", "password": "short"}}),
    ("POST", "/users/login", {"user": {"email": "user1@example.com", "password": "wrong"}}),
    ("GET", "/user", None),
    ("PUT", "/user", {"user": {"bio": "Reads."}}),
    ("GET", "/profiles/user2", None),
    ("DELETE", "/profiles/user2/follow", None),
    ("POST", "/profiles/user2/follow", None),
    ("GET", "/profiles/nobody", None),
    ("POST", "/articles", {"article": ARTICLE}),
    ("POST", "/articles", {"article": {**ARTICLE, "title": " "}}),
    ("GET", "/articles/new", None),
    ("PUT", "/articles/new", {"article": {"body": "Some of it"}}),
    ("PUT", "/articles/article-1", {"article": {"body": "Not mine"}}),
    ("POST", "/articles/new/favorite", None),
    ("GET", "/articles?tag=new", None),
    ("GET", "/articles?author=user3&limit=2&offset=1", None),
    ("GET", "/articles?favorited=user1&limit=3", None),
    ("GET", "/articles?limit=none", None),
    ("GET", "/articles/feed?limit=2", None),
    ("DELETE", "/articles/new/favorite", None),
    ("POST", "/articles/new/comments", {"comment": {"body": "Good"}}),
    ("GET", "/articles/new/comments", None),
    ("DELETE", "/articles/new/comments/1", None),
    ("GET", "/tags", None),
    ("DELETE", "/articles/new", None),
    ("GET", "/articles/new", None),
    ("GET", "/user", None),
]


def request(method, path, sent, *own):
    path, _, query = path.partition("?")
    given = {} if sent is None else posted(b"application/json", json.dumps(sent).encode())
    given["method"] = method
    given["lines"] = [*given.get("lines", ()), *own]
    return Request(f"/api{path}".encode(), Answer(), query=query.encode(), **given)


def without_chance(value, name=""):
    """Returns the answer without times, tokens and error messages."""
    if isinstance(value, dict):
        return {key: without_chance(each, key) for key, each in value.items()}
    if name in ("createdAt", "updatedAt", "token", "errors"):
        return "some"
    return [without_chance(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(autouse=True)
def hasher(monkeypatch):
    """Restores argon2's parameters, which the section makes cheap for the whole process."""
    from conduit import passwords

    monkeypatch.setattr(passwords, "hasher", passwords.hasher)


@pytest.mark.once
async def test_both_apps_answer_alike(tmp_path):
    answers = []
    for name, module in section.NAMES.items():
        settings = section.settings_of(f"sqlite:///{tmp_path / name}.db")
        await section.fill(settings)
        app = import_module(f"benchmarks.conduit.{module}").make(settings)
        lifespan = Lifespan(app)
        await lifespan.start()
        own, answered = (b"authorization", b"Token " + section.token()), []
        for index, (method, path, sent) in enumerate(STEPS):
            asked = request(method, path, sent, *([own] if index < len(STEPS) - 1 else []))
            status, body = await ask(
                app, SCOPE | asked.scope(), b"".join(event["body"] for event in asked.events)
            )
            value = without_chance(json.loads(body)) if body and status < 400 else None
            answered.append((method, path, status, value))
        answers.append(answered)
        await lifespan.stop()
    for of_kit, of_fastapi in zip(*answers, strict=True):
        assert of_kit == of_fastapi
    assert [status for _, _, status, _ in answers[0]][-3:] == [204, 404, 401]


@pytest.mark.once
def test_every_row_is_answered_right():
    figures = section.measure(0, 0, [section.SQLITE])
    assert figures.left_out == []
    assert {row: list(by_name) for row, by_name in figures.seconds.items()} == {
        f"SQLite: {case.row.name}": ["kit", "fastapi"] for case in section.cases()
    }


def answering(status, value):
    async def ask():
        headers = {b"content-type": b"application/json"}
        return Answered(Request(b"/", Answer()), status, headers, json.dumps(value).encode())

    return ask


SHOWN = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}
WRONG = {
    "list of 20 articles": (200, {"articles": [], "articlesCount": section.ARTICLES}),
    "one article": (200, {"article": {**SHOWN, "body": section.BODY, "slug": "another"}}),
    "login": (200, {"user": {"token": section.token().decode(), "email": "b@example.com"}}),
    "new article": (201, {"article": {"slug": "new", "title": "New", "tagList": []}}),
    "401": (401, {"errors": {"body": [1]}}),
}


@pytest.mark.parametrize("case", section.cases(), ids=lambda case: case.row.name)
async def test_a_wrong_answer_is_refused(case):
    for status, value in (WRONG[case.row.name], (500, {})):
        with pytest.raises(WrongAnswerError):
            await case.verify(answering(status, value))
