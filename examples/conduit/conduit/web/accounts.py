# SPDX-License-Identifier: MIT
"""Registration, login, logout and account settings."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError

from conduit.database import Session, violated_constraint
from conduit.limits import Attempts
from conduit.passwords import authenticate, hash_password, is_right
from conduit.queries import users
from conduit.tables import MAX_EMAIL, MAX_PASSWORD, User
from conduit.web.forms import (
    Form,
    check_account,
    check_login,
    check_password,
    check_profile,
    local,
    read_form,
)
from conduit.web.rendering import render
from conduit.web.visitors import Me, for_users, log_in
from kit import Context, Kit, Response
from kit.rate_limit import RateLimitState
from kit.session import get_session
from kit.typed import typed

TAKEN = {
    "uq_users_email": ("email", "An account with this email already exists."),
    "uq_users_username_key": ("username", "This username is already taken."),
}


def make_accounts(attempts: Attempts) -> Kit:
    accounts = Kit()
    # The limits share their counts with those of the API, since an attacker could use both.
    login_limits = [
        attempts.limit("login", on_limit=too_many),
        attempts.limit("account", key=by_email, on_limit=too_many),
    ]
    sign_up_limit = attempts.limit("register", on_limit=too_many)
    # The current password can be guessed there.
    settings_limit = attempts.limit("settings", key=by_user)
    accounts.get("/login", show_login)
    accounts.post("/login", handle_login, use=login_limits)
    accounts.get("/register", show_register)
    accounts.post("/register", register, use=sign_up_limit)
    accounts.post("/logout", log_out)
    accounts.get("/settings", show_settings, use=for_users)
    accounts.post("/settings", change_settings, use=[for_users, settings_limit])
    return accounts


async def by_email(c: Context) -> str:
    return (await read_form(c))["email"].lower()[:MAX_EMAIL]


def by_user(c: Context) -> int:
    user: User = c.get("user")
    return user.id


async def too_many(c: Context, state: RateLimitState) -> Response:
    form = await read_form(c)
    form.refuse("password", f"Too many attempts. Try again in {state.retry_after:.0f} seconds.")
    return await render(c, f"{c.req.path.strip('/')}.html", form=form, status=429)


async def show_login(c: Context) -> Response:
    return await render(c, "login.html", form=Form({"next": c.req.query("next") or ""}))


@typed
async def handle_login(c: Context, db: Session) -> Response:
    form = await read_form(c)
    check_login(form)
    user = None
    if not form.errors:
        user = await authenticate(db, form["email"], form["password"])
    if user is None:
        # The message doesn't reveal whether the account exists.
        form.refuse("password", "Email or password is wrong.")
        return await render(c, "login.html", form=form, status=422)
    return await begin(c, user, form, f"Welcome back, {user.username}")


async def show_register(c: Context) -> Response:
    return await render(c, "register.html", form=Form({"next": c.req.query("next") or ""}))


@typed
async def register(c: Context, db: Session) -> Response:
    form = await read_form(c)
    check_account(form)
    check_password(form)
    if not form.errors:
        hashed = await hash_password(form["password"])
        try:
            async with db.begin_nested():
                user = await users.add_user(db, form["username"], form["email"], hashed)
        except IntegrityError as error:
            refuse_taken(form, error)
        else:
            return await begin(c, user, form, f"Welcome to Conduit, {user.username}")
    return await render(c, "register.html", form=form, status=422)


def refuse_taken(form: Form, error: IntegrityError) -> None:
    taken = TAKEN.get(violated_constraint(error))
    if taken is None:
        raise error
    form.refuse(*taken)


async def begin(c: Context, user: User, form: Form, message: str) -> Response:
    await log_in(c, user)
    (await get_session(c)).flash(message)
    return c.redirect(local(form["next"]), 303)


async def log_out(c: Context) -> Response:
    session = await get_session(c)
    session.destroy()
    session.flash("You are logged out")
    return c.redirect("/", 303)


@typed
async def show_settings(c: Context, me: Me) -> Response:
    known = {
        "username": me.username,
        "email": me.email,
        "bio": me.bio or "",
        "image": me.image or "",
    }
    return await render(c, "settings.html", form=Form(known))


@typed
async def change_settings(c: Context, db: Session, me: Me) -> Response:
    form = await read_form(c)
    check_account(form)
    check_profile(form)
    await db.commit()  # releases the connection, as in `authenticate`
    await check_current_password(form, me)
    if not form.errors:
        hashed = await hash_password(form["password"]) if form["password"] else me.password
        try:
            async with db.begin_nested():
                change(me, form, hashed)
        except IntegrityError as error:
            refuse_taken(form, error)
            await db.refresh(me)
        else:
            # Renews this session for the new password; those of other browsers end.
            await log_in(c, me)
            (await get_session(c)).flash("Your settings are saved")
            return c.redirect(f"/profiles/{me.username}", 303)
    return await render(c, "settings.html", form=form, status=422)


async def check_current_password(form: Form, me: User) -> None:
    """Requires the password for changes that could be used to take over the account."""
    if form["password"]:
        check_password(form)
    elif form["email"].lower() == me.email:
        return
    if not await is_right(form["current"][:MAX_PASSWORD], me.password):
        form.refuse("current", "That is not your current password.")


def change(user: User, form: Form, hashed: str) -> None:
    users.rename(user, form["username"])
    user.email = form["email"].lower()
    user.password = hashed
    user.bio = form["bio"] or None
    user.image = form["image"] or None
