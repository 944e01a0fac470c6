# SPDX-License-Identifier: MIT
"""Joins, logs in, logs out."""

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
# Checked for a name that is unknown, so that the answer takes as long as for a known one.
NOBODY = hasher.hash("nobody")


# It takes 64 MiB and a long time, on purpose. So it isn't done on the event loop, where all other
# requests would wait for it, nor for more than two at once.
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
    """Sends a visitor to the login, and from there back to the book."""
    book = re.match(r"/books/([0-9]{1,9})(?:/|$)", c.req.path)
    path = f"/login?book={book[1]}" if book else "/login"
    if is_part(c):
        # A redirect would be followed by htmx, and the page be put into a part of this one.
        return c.body(None, 204, {"HX-Redirect": path})
    return c.redirect(path, 303)


def back(c: Context, form: Form) -> Response:
    """Goes to where the login was asked for. The address is made here, so it is always our own."""
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


# One limit stops a machine that tries many names, the other one many machines that try one name.
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
            # Doesn't tell which of the two was wrong.
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
    # A new id, so that one that somebody planted in this browser is worth nothing.
    session.rotate(user=str(member.id))
    session.flash(message)


@accounts.post("/logout")
async def log_out(c: Context) -> Response:
    session = await get_session(c)
    session.destroy()
    session.flash("You are logged out")
    return c.redirect("/", 303)
