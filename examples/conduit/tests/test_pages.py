# SPDX-License-Identifier: MIT
"""The pages, as used by a browser without JavaScript and by htmx."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from conduit import passwords
from conduit.application import create_app
from conduit.database import Database
from conduit.settings import Settings
from conduit.tables import Table, User
from conduit.web.rendering import initials, make_templates, paragraphs
from sqlalchemy import delete, make_url, select

from kit.testing import SyncResponse, sync_test_client

PASSWORD = "correct horse"
ORIGIN = {"Origin": "http://localhost"}
HTMX = {"HX-Request": "true"}
ARTICLE = {
    "title": "On looms",
    "description": "What they taught us",
    "body": "They weave <b>patterns</b>.\r\n\r\nOf cards,\r\nthat is.",
    "tags": "weaving, history,, weaving",
}


class Visitor:
    """A browser that keeps its cookie and sends the origin of its forms."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.cookies: dict[str, str] = {}

    def get(self, path: str, header: dict[str, str] | None = None, **options: Any) -> SyncResponse:
        return self._send("get", path, header=header or {}, **options)

    def post(
        self,
        path: str,
        form: dict[str, str] | None = None,
        header: dict[str, str] | None = None,
        **param: object,
    ) -> SyncResponse:
        return self._send(
            "post", path, header=ORIGIN | (header or {}), form=form or {}, param=param
        )

    def _send(self, method: str, path: str, **options: Any) -> SyncResponse:
        target = self._client
        for name in path.strip("/").split("/"):
            target = target[name] if name else target.index
        response: SyncResponse = getattr(target, method)(cookie=self.cookies, **options)
        for line in response.headers.get_set_cookie():
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response

    def register(self, name: str) -> None:
        form = {"username": name, "email": f"{name}@example.com", "password": PASSWORD}
        assert self.post("/register", form).status == 303

    def publish(self, **changes: str) -> str:
        """Publishes an article, and returns its slug."""
        response = self.post("/editor", ARTICLE | changes)
        assert response.status == 303
        return str(response.headers["location"]).removeprefix("/articles/")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    file: Path = tmp_path_factory.mktemp("pages") / "conduit.db"
    # As in production, so that the app starts without example data.
    return Settings(
        database_url=make_url(f"sqlite+aiosqlite:///{file}"),
        secret="s" * 32,
        is_production=True,
        login_limit="1000/minute",
    )


async def run_on_database(settings: Settings, run: Callable[[Any], Any]) -> None:
    database = Database(settings)
    async with database.engine.begin() as connection:
        await run(connection)
    await database.close()


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[Any]:
    """The app, which the tests share; each test creates its own users and articles."""
    asyncio.run(run_on_database(settings, lambda c: c.run_sync(Table.metadata.create_all)))
    with pytest.MonkeyPatch.context() as patch:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(passwords, "hasher", cheap)
        # Each visitor has cookies of its own.
        with sync_test_client(create_app(settings), keep_cookies=False) as client:
            yield client


@pytest.fixture
def visitor(client: Any) -> Visitor:
    return Visitor(client)


def text(response: SyncResponse) -> str:
    """Returns the visible text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text())).split())


def is_whole(response: SyncResponse) -> bool:
    return response.text().startswith("<!doctype html>")


def test_home_page_without_a_login(visitor: Visitor) -> None:
    page = visitor.get("/")
    assert page.status == 200
    assert "Share what you know." in text(page)
    assert "set-cookie" not in page.headers
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page.text())
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_page_that_is_known_is_not_sent_again(visitor: Visitor) -> None:
    etag = visitor.get("/login").headers["etag"]
    assert visitor.get("/login", {"If-None-Match": etag}).status == 304


def test_templates_compile() -> None:
    assert "home.html" in make_templates().check()


def test_sign_up_log_out_and_in(visitor: Visitor) -> None:
    form = {"username": "ann", "email": "Ann@example.com", "password": PASSWORD}
    assert visitor.post("/register", form | {"next": "/editor"}).headers["location"] == "/editor"
    page = visitor.get("/")
    assert "Welcome to Conduit, ann" in text(page)
    assert "Welcome" not in text(visitor.get("/"))
    stolen = dict(visitor.cookies)
    assert visitor.post("/logout").headers["location"] == "/"
    assert "You are logged out" in text(visitor.get("/"))
    wrong = visitor.post("/login", {"email": "ann@example.com", "password": "wrong horse"})
    assert wrong.status == 422
    assert "Email or password is wrong." in text(wrong)
    assert 'value="ann@example.com"' in wrong.text()
    assert "wrong horse" not in wrong.text()
    response = visitor.post("/login", {"email": "ANN@example.com", "password": PASSWORD})
    assert response.status == 303
    assert visitor.cookies != stolen
    assert "Welcome back, ann" in text(visitor.get("/"))


def test_form_shows_what_is_wrong_beside_what_was_written(visitor: Visitor) -> None:
    form = {"username": "a b", "email": "nobody", "password": "short", "next": "/editor"}
    page = visitor.post("/register", form)
    assert page.status == 422
    for each in ("letters from A to Z", "such as ann@example.com", "8 characters or more"):
        assert each in text(page)
    assert (
        'value="a b" aria-describedby="username-hint" aria-invalid="true" autofocus' in page.text()
    )
    assert 'name="next" value="/editor"' in page.text()
    assert "short" not in page.text()
    assert visitor.get("/editor").status == 303


def test_name_and_address_belong_to_one_user(visitor: Visitor) -> None:
    visitor.register("bob")
    form = {"username": "BOB", "email": "other@example.com", "password": PASSWORD}
    name = visitor.post("/register", form)
    assert name.status == 422
    assert "This username is already taken." in text(name)
    email = visitor.post("/register", form | {"username": "bob2", "email": "bob@example.com"})
    assert "An account with this email already exists." in text(email)


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", ""]
)
def test_login_leads_to_no_other_site(visitor: Visitor, path: str) -> None:
    name = f"guest{abs(hash(path))}"
    form = {"username": name, "email": f"{name}@example.com", "password": PASSWORD, "next": path}
    assert visitor.post("/register", form).headers["location"] == "/"


@pytest.fixture
def limited(client: Any, settings: Settings) -> Iterator[Any]:
    """The app with a limit that tests reach."""
    app = create_app(replace(settings, login_limit="2/minute"))
    with sync_test_client(app, keep_cookies=False) as client:
        yield client


def test_logins_are_limited(limited: Any) -> None:
    visitor = Visitor(limited)
    form = {"email": "nobody@example.com", "password": "guess"}
    pages = [visitor.post("/login", form) for _ in range(3)]
    assert [page.status for page in pages] == [422, 422, 429]
    assert "Too many attempts. Try again in" in text(pages[-1])
    assert "nobody@example.com" in pages[-1].text()


def test_api_and_pages_count_attempts_together(limited: Any) -> None:
    visitor = Visitor(limited)
    login = {"email": "nobody@example.com", "password": "guess"}
    for _ in range(2):
        assert limited.api.users.login.post(json={"user": login}).status == 401
    assert visitor.post("/login", login).status == 429
    new = {"username": "olga", "email": "olga@example.com", "password": PASSWORD}
    for name in ("olga", "petra"):
        form = new | {"username": name, "email": f"{name}@example.com"}
        assert visitor.post("/register", form).status == 303
    assert limited.api.users.post(json={"user": new}).status == 429


def test_guesses_of_the_current_password_are_limited(limited: Any) -> None:
    visitor = Visitor(limited)
    visitor.register("quentin")
    form = {"username": "quentin", "email": "new@example.com", "current": "a guess"}
    statuses = [visitor.post("/settings", form).status for _ in range(3)]
    assert statuses == [422, 422, 429]


def test_new_password_ends_the_other_sessions(client: Any, visitor: Visitor) -> None:
    visitor.register("cleo")
    other = Visitor(client)
    other.cookies = dict(visitor.cookies)
    assert other.get("/settings").status == 200
    form = {"username": "cleo", "email": "cleo@example.com", "password": "battery staple"}
    refused = visitor.post("/settings", form | {"current": "a guess"})
    assert refused.status == 422
    assert "That is not your current password." in text(refused)
    assert visitor.post("/settings", form | {"current": PASSWORD}).status == 303
    assert "Your settings are saved" in text(visitor.get("/"))
    assert other.get("/settings").headers["location"] == "/login?next=%2Fsettings"


def test_current_password_is_checked_without_a_lock(
    visitor: Visitor, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor.register("xenia")
    is_right = passwords.is_right

    async def check_slowly(password: str, hashed: str | None) -> bool:
        database = Database(settings)
        async with database.transaction() as session:
            await session.execute(select(User.id))  # begins, and so waits for its turn to write
        await database.close()
        return await is_right(password, hashed)

    monkeypatch.setattr("conduit.web.accounts.is_right", check_slowly)
    form = {"username": "xenia", "email": "xenia@example.org", "current": PASSWORD}
    assert visitor.post("/settings", form).status == 303


def test_settings_of_a_profile(visitor: Visitor) -> None:
    visitor.register("dora")
    form = {"username": "dora", "email": "dora@example.com", "bio": "I weave.\r\nA lot."}
    picture = {"image": "https://pictures.example/dora.png"}
    bad = visitor.post("/settings", form | {"image": "http://pictures.example/dora.png"})
    assert bad.status == 422
    assert "Enter a URL that starts with https://." in text(bad)
    assert "I weave.\nA lot.</textarea>" in bad.text()
    saved = visitor.post("/settings", form | picture | {"username": "Dora"})
    assert saved.headers["location"] == "/profiles/Dora"
    page = visitor.get("/profiles/:username", param={"username": "dora"})
    assert "Dora I weave. A lot. Edit profile" in text(page)
    assert '<img src="https://pictures.example/dora.png" alt=""' in page.text()


def test_name_of_another_user_is_refused_in_settings(client: Any, visitor: Visitor) -> None:
    Visitor(client).register("emil")
    visitor.register("emma")
    page = visitor.post("/settings", {"username": "Emil", "email": "emma@example.com"})
    assert page.status == 422
    assert "This username is already taken." in text(page)
    assert "Your account, emma" in page.text()


def test_session_of_a_deleted_user_ends(visitor: Visitor, settings: Settings) -> None:
    visitor.register("fred")
    statement = delete(User).where(User.username == "fred")
    asyncio.run(run_on_database(settings, lambda c: c.execute(statement)))
    assert "Sign up" in text(visitor.get("/"))
    assert visitor.get("/editor").status == 303


def test_forms_of_other_sites_are_refused(visitor: Visitor) -> None:
    visitor.register("gina")
    response = visitor.post("/editor", ARTICLE, {"Origin": "https://evil.example"})
    assert response.status == 403
    assert is_whole(response)


def test_article_is_written_edited_and_deleted(visitor: Visitor) -> None:
    visitor.register("hugo")
    slug = visitor.publish()
    page = visitor.get("/articles/:slug", param={"slug": slug})
    assert "Your article is published" in text(page)
    assert "<p>They weave &lt;b&gt;patterns&lt;/b&gt;.</p>" in page.text()
    assert "<p>Of cards,\nthat is.</p>" in page.text()
    assert page.text().count('href="/?tag=weaving"') == 1
    assert "On looms" in text(visitor.get("/", query={"tag": "weaving"}))
    editor = visitor.get("/editor/:slug", param={"slug": slug})
    assert 'value="On looms"' in editor.text()
    assert 'value="history, weaving"' in editor.text()
    empty = visitor.post("/editor/:slug", ARTICLE | {"body": " "}, slug=slug)
    assert empty.status == 422
    assert "This field is required." in text(empty)
    changed = ARTICLE | {"title": "On cards", "tags": "cards"}
    saved = visitor.post("/editor/:slug", changed, slug=slug)
    assert saved.headers["location"] == "/articles/on-cards"
    assert "On cards" in text(visitor.get("/", query={"tag": "cards"}))
    assert "On cards" not in text(visitor.get("/", query={"tag": "weaving"}))
    assert visitor.get("/articles/:slug", param={"slug": slug}).status == 404
    assert visitor.post("/articles/:slug/delete", slug="on-cards").headers["location"] == "/"
    assert "Your article is deleted" in text(visitor.get("/"))
    assert visitor.get("/articles/:slug", param={"slug": "on-cards"}).status == 404


def test_article_has_a_title_and_few_tags(visitor: Visitor) -> None:
    visitor.register("ines")
    many = ",".join(f"tag{number}" for number in range(21))
    page = visitor.post("/editor", {"title": "", "tags": many, "body": "\x00Kept"})
    assert page.status == 422
    assert "Use at most 20 tags, not 21." in text(page)
    assert text(page).count("This field is required.") == 2
    assert "\nKept</textarea>" in page.text()
    long = visitor.post("/editor", ARTICLE | {"title": "x" * 256, "tags": "y" * 51})
    assert "Use at most 255 characters, not 256." in text(long)
    assert "Use at most 50 characters for each tag." in text(long)


def test_others_cannot_change_an_article(client: Any, visitor: Visitor) -> None:
    owner = Visitor(client)
    owner.register("jana")
    slug = owner.publish(title="Mine")
    visitor.register("karl")
    assert visitor.get("/editor/:slug", param={"slug": slug}).status == 403
    assert visitor.post("/editor/:slug", ARTICLE, slug=slug).status == 403
    refused = visitor.post("/articles/:slug/delete", slug=slug)
    assert refused.status == 403
    assert "You can only change your own articles and comments" in text(refused)
    page = visitor.get("/articles/:slug", param={"slug": slug})
    assert "Delete this article?" not in page.text()


def test_comments(client: Any, visitor: Visitor) -> None:
    visitor.register("lara")
    slug = visitor.publish(title="Said about it")
    path = "/articles/:slug/comments"
    posted = visitor.post(path, {"body": "First & <i>best</i>"}, slug=slug)
    assert posted.headers["location"] == f"/articles/{slug}#comments"
    part = visitor.post(path, {"body": "Second"}, HTMX, slug=slug)
    assert part.status == 200
    assert not is_whole(part)
    assert "2 comments" in text(part)
    assert "First & <i>best</i>" in text(part)
    assert 'hx-swap-oob="innerHTML:#messages">' in part.text()
    assert text(part).endswith("Your comment is posted")
    empty = visitor.post(path, {"body": ""}, HTMX, slug=slug)
    assert (empty.status, is_whole(empty)) == (422, False)
    assert is_whole(visitor.post(path, {"body": ""}, slug=slug))
    number = re.findall(r"comments/(\d+)/delete", part.text())[0]
    stranger = Visitor(client)
    stranger.register("mona")
    assert stranger.post(f"{path}/:id/delete", slug=slug, id=number).status == 403
    gone = visitor.post(f"{path}/:id/delete", None, HTMX, slug=slug, id=number)
    assert "1 comment " in text(gone)
    assert "First" not in text(gone)
    again = visitor.post(f"{path}/:id/delete", None, HTMX, slug=slug, id=number)
    assert again.status == 404
    assert again.text().strip().startswith('<p class="message wrong">')


def test_favorites(client: Any, visitor: Visitor) -> None:
    owner = Visitor(client)
    owner.register("nina")
    slug = owner.publish(title="Liked")
    visitor.register("otto")
    path = "/articles/:slug/favorite"
    yes = {"favorite": "yes", "next": "/?page=1"}
    assert visitor.post(path, yes, slug=slug).headers["location"] == "/?page=1"
    part = visitor.post(path, yes, HTMX, slug=slug)
    assert part.text().startswith("<form")
    assert 'value="no" aria-pressed="true"' in part.text()
    assert '<span class="number">1</span>' in part.text()
    favorites = visitor.get("/profiles/:username/favorites", param={"username": "otto"})
    assert "Liked" in text(favorites)
    part = visitor.post(path, yes | {"favorite": "no"}, HTMX, slug=slug)
    assert '<span class="number">0</span>' in part.text()
    profile = visitor.get("/profiles/:username", param={"username": "otto"})
    assert "No articles yet." in text(profile)


def test_feed_has_the_articles_of_those_whom_one_follows(client: Any, visitor: Visitor) -> None:
    owner = Visitor(client)
    owner.register("paul")
    owner.publish(title="By Paul")
    visitor.register("rosa")
    feed = {"feed": "following"}
    assert "No articles from people you follow yet." in text(visitor.get("/", query=feed))
    path = "/profiles/:username/follow"
    followed = visitor.post(path, {"follow": "yes"}, HTMX, username="paul")
    assert "Following" in text(followed)
    assert "By Paul" in text(visitor.get("/", query=feed))
    gone = visitor.post(path, {"follow": "no", "next": "/profiles/paul"}, username="paul")
    assert gone.headers["location"] == "/profiles/paul"
    assert "By Paul" not in text(visitor.get("/", query=feed))


def test_list_has_pages(visitor: Visitor) -> None:
    visitor.register("sara")
    for number in range(11):
        visitor.publish(title=f"Number {number}", tags="counted & sorted")
    tag = {"tag": "counted & sorted"}
    first = visitor.get("/", query=tag)
    assert "Page 1 of 2" in text(first)
    assert 'rel="next" href="/?tag=counted+%26+sorted&amp;page=2"' in first.text()
    last = visitor.get("/", query=tag | {"page": 2})
    assert "Number 0" in text(last)
    assert "Number 1" not in text(last)
    assert visitor.get("/", query=tag | {"page": 3}).status == 404


def test_login_leads_back_to_the_page(visitor: Visitor) -> None:
    assert visitor.get("/editor").headers["location"] == "/login?next=%2Feditor"
    form = {"favorite": "yes", "next": "/?tag=x"}
    path = "/articles/:slug/favorite"
    assert visitor.post(path, form, slug="x").headers["location"] == "/login?next=%2F%3Ftag%3Dx"
    part = visitor.post(path, form, HTMX, slug="x")
    assert (part.status, part.headers["hx-redirect"]) == (204, "/login?next=%2F%3Ftag%3Dx")
    assert 'name="next" value="/?tag=x"' in visitor.get("/login", query={"next": "/?tag=x"}).text()


@pytest.mark.parametrize(
    ("path", "options"),
    [
        ("/articles/:slug", {"param": {"slug": "none"}}),
        ("/articles/:slug", {"param": {"slug": "a\x00b"}}),
        ("/profiles/:username", {"param": {"username": "nobody"}}),
        ("/", {"query": {"page": "0"}}),
        ("/", {"query": {"page": "9" * 30}}),
        ("/", {"query": {"tag": "\x00"}}),
    ],
)
def test_pages_that_do_not_exist(visitor: Visitor, path: str, options: dict[str, Any]) -> None:
    page = visitor.get(path, **options)
    assert page.status == 404
    assert "404 Not Found This page doesn't exist." in text(page)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (RuntimeError("a fault"), 500, "Something went wrong on our side."),
        (OSError("no database"), 503, "The site is busy. Try again in a moment."),
    ],
)
def test_faults_have_pages(
    visitor: Visitor,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
    message: str,
) -> None:
    async def fail(*args: object) -> None:
        raise error

    visitor.register(f"tess{status}")
    monkeypatch.setattr("conduit.queries.articles.popular_tags", fail)
    page = visitor.get("/")
    assert page.status == status
    assert message in text(page)
    assert str(error) not in page.text()
    assert page.headers["content-security-policy"]
    assert f"[{page.headers['x-request-id']}] GET /" in caplog.text


async def test_what_no_page_has(settings: Settings) -> None:
    app = create_app(settings)
    async with app.running():
        wrong = await app.request("/login", method="DELETE", headers=ORIGIN)
        missing = await app.request("/nowhere")
        api = await app.request("/api/nowhere", method="POST")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")
    assert missing.status == 404
    for response in (wrong, missing):
        assert (await response.text()).startswith("<!doctype html>")
    assert (api.status, api.headers["content-type"]) == (404, "application/json")


def test_initials() -> None:
    names = ["ann", "Ada.Lovelace", "grace_brewster_hopper", "..."]
    assert [initials(name) for name in names] == ["A", "AL", "GH", "?"]


def test_paragraphs() -> None:
    assert paragraphs("\n\none\ntwo\n \n\n  three\n") == ["one\ntwo", "  three"]
