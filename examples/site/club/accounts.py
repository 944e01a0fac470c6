# SPDX-License-Identifier: MIT
"""Sign-up, login and logout."""

from __future__ import annotations

import re

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from club.forms import MAX_PASSWORD, Form, check_login, check_new_member, read_form
from club.rendering import is_part, render
from club.store import Member, NameTakenError, Store
from kit import Context, Kit, Response, in_thread
from kit.rate_limit import RateLimitState, rate_limit
from kit.session import get_session

hasher = PasswordHasher()
# Checked for unknown names, so that the response takes as long as for known ones.
NOBODY = hasher.hash("nobody")


# Argon2 takes 64 MiB and a long time by design. So it doesn't run on the event loop, where it would
# block all other requests, and only twice at the same time.
@in_thread(limiter=2)
def hash_password(password: str) -> str:
    return hasher.hash(password)


@in_thread(limiter=2)
def is_right(password: str, hashed: str) -> bool:
    try:
        return hasher.verify(hashed or NOBODY, password) and hashed != ""
    except (VerificationError, InvalidHashError):
        return False


def to_login(c: Context) -> Response:
    """Redirects a visitor to the login, which leads back to the book."""
    book = re.match(r"/books/([0-9]{1,9})(?:/|$)", c.req.path)
    path = f"/login?book={book[1]}" if book else "/login"
    if is_part(c):
        # htmx would follow a redirect, and put the other page into a part of this one.
        return c.body(None, 204, {"HX-Redirect": path})
    return c.redirect(path, 303)


def back(c: Context, form: Form) -> Response:
    """Returns to the page that required the login. The URL is built here, so it is always local."""
    book = form["book"]
    return c.redirect(f"/books/{book}" if re.fullmatch("[0-9]{1,9}", book) else "/", 303)


async def by_name(c: Context) -> str:
    return (await read_form(c))["name"].casefold()


async def too_many(c: Context, state: RateLimitState) -> Response:
    form = await read_form(c)
    form.refuse("password", f"Too many attempts. Try again in {state.retry_after:.0f} seconds.")
    page = "join.html" if c.req.path == "/join" else "login.html"
    return await render(c, page, form=form, status=429)


accounts = Kit()


@accounts.get("/login")
async def show_login(c: Context) -> Response:
    return await render(c, "login.html", form=Form({"book": c.req.query("book") or ""}))


# The first limit stops a machine that tries many names, the second many machines that try one.
@accounts.post(
    "/login",
    use=[
        rate_limit("30/minute", name="login", on_limit=too_many),
        rate_limit("5/minute", name="login-name", key=by_name, on_limit=too_many),
    ],
)
async def log_in(c: Context) -> Response:
    form = await read_form(c)
    check_login(form)
    store: Store = c.env["store"]
    member = None if form.errors else await store.member_named(form["name"])
    if not form.errors:
        password = form["password"][:MAX_PASSWORD]
        if not await is_right(password, member.password if member else ""):
            # Doesn't reveal which of the two was wrong.
            form.refuse("password", "Name or password is wrong.")
    if form.errors or member is None:
        return await render(c, "login.html", form=form, status=422)
    if hasher.check_needs_rehash(member.password):
        await store.set_password(member, await hash_password(form["password"]))
    await begin(c, member, f"Welcome back, {member.name}")
    return back(c, form)


@accounts.get("/join")
async def show_join(c: Context) -> Response:
    return await render(c, "join.html", form=Form({"book": c.req.query("book") or ""}))


@accounts.post("/join", use=rate_limit("20/hour", name="join", on_limit=too_many))
async def join(c: Context) -> Response:
    form = await read_form(c)
    check_new_member(form)
    store: Store = c.env["store"]
    if not form.errors:
        try:
            member = await store.add_member(form["name"], await hash_password(form["password"]))
        except NameTakenError:
            form.refuse("name", "Another member has this name already.")
        else:
            await begin(c, member, f"Welcome to the club, {member.name}")
            return back(c, form)
    return await render(c, "join.html", form=form, status=422)


async def begin(c: Context, member: Member, message: str) -> None:
    session = await get_session(c)
    # A new session id prevents session fixation.
    session.rotate(user=str(member.id))
    session.flash(message)


@accounts.post("/logout")
async def log_out(c: Context) -> Response:
    session = await get_session(c)
    session.destroy()
    session.flash("You are logged out")
    return c.redirect("/", 303)
