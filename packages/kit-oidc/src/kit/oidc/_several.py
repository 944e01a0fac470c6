# SPDX-License-Identifier: MIT
"""Several logins of an app, among which users choose."""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.metadata import attach

from ._login import Login, get_kind, get_settings
from ._navigation import is_navigation
from ._refusals import challenge, respond
from ._return_path import is_return_path, own_path
from ._routing_app import RoutingApp

__all__ = ("Logins", "logins")

UserT = TypeVar("UserT")

_VARIABLE = "user"


class Logins(Generic[UserT]):
    """Several logins of an app; `logins` returns it.

    Attributes:
        required: Middleware that lets requests of users of any of the logins through. A page that a
            browser opens is redirected to the page with the choice; any other request gets a 401.
        optional: Middleware that also lets others through; `c.get("user")` is then None.
        user: Async function `(c)` that returns the user, for handlers and for `Depends`.
    """

    def __init__(self, members: tuple[Login[UserT], ...], page: str) -> None:
        self._members = members
        self._page = page
        schemes = [get_settings(each).provider.security for each in members]
        kinds = [get_kind(each) for each in members]
        kind: Any = kinds[0] if all(each == kinds[0] for each in kinds) else Any
        refused = {401: "Nobody is logged in"}

        async def required(c: Context[Any, Any], next: Next) -> Response | None:
            user = await self.find(c)
            if user is None:
                return await self._ask(c)
            c.set(_VARIABLE, user)
            await next()
            return None

        async def optional(c: Context[Any, Any], next: Next) -> None:
            c.set(_VARIABLE, await self.find(c))
            await next()

        async def user(c: Context[Any, Any]) -> Any:
            found = await self.find(c)
            if found is None:
                raise respond(await self._ask(c))
            return found

        self.required: AsyncMiddleware = attach(
            required, provides={_VARIABLE: kind}, security=schemes, responses=refused
        )
        self.optional: AsyncMiddleware = attach(
            optional,
            provides={_VARIABLE: kind if kind is Any else kind | None},
            security=[*schemes, ()],
        )
        self.user = attach(user, security=schemes, responses=refused)

    def register(self, app: RoutingApp, path: str = "/auth") -> None:
        """Adds the routes of all logins to an app, each below `{path}/{name}`.

        Args:
            app: The app.
            path: The path.

        Raises:
            TypeError: If `path` isn't a str.
            ValueError: If it isn't a path in lower case without parameters.
            RuntimeError: If a login is registered already.
        """
        for each in self._members:
            each.register(app, f"{path}/{each.name}")

    async def find(self, c: Context[Any, Any]) -> UserT | None:
        """Returns the user; None if nobody is logged in.

        Args:
            c: The context.

        Raises:
            HTTPException: As for `Login.find`.
            RuntimeError: If the middleware `session()` doesn't cover the route.
        """
        for each in self._members:
            found = await each.find(c)
            if found is not None:
                return found
        return None

    async def _ask(self, c: Context[Any, Any]) -> Response:
        if not is_navigation(c):
            raise HTTPException(401, "Unauthorized", headers=await challenge(c))
        path = own_path(c)
        query = "" if path is None else f"?{urlencode({'return_to': path})}"
        response = c.redirect(self._page + query, 302)
        response.headers.set("Cache-Control", "no-store")
        return response


def logins(*members: Login[UserT], page: str = "/login") -> Logins[UserT]:
    """Returns one login that consists of several, among which users choose.

    Args:
        *members: The logins, with different names.
        page: The path of the page on which users choose, with a link to each
            `/auth/{name}/login?return_to=...`; it gets `return_to` in its query.

    Raises:
        TypeError: If a member isn't a login.
        ValueError: If there is none, two have the same name, or `page` isn't a path of this site.

    Example:
        login = logins(google(...), github(...))
        login.register(app)
    """
    check = OptionChecks("logins")
    for each in members:
        if not isinstance(each, Login):
            check.wrong_type("members", each, "logins such as oidc(...)")
    names = [each.name for each in members]
    if not members or len({*names}) < len(names):
        check.unusable("members", names, "at least one login, each with another name")
    if not is_return_path(page) or "?" in page:
        check.unusable("page", page, "a path of this site such as '/login'")
    return Logins(members, page)
