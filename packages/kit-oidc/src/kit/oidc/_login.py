# SPDX-License-Identifier: MIT
"""The login of an app: its routes, its guards, and the user."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from kit.authoring.maybe_await import call, check_answer
from kit.authoring.options import OptionChecks
from kit.csrf import csrf
from kit.http.origins import parse_origin
from kit.interface import AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.metadata import attach, get_return_type
from kit.session import get_session

from ._attempts import add_attempt, new_attempt
from ._callback import complete_login, show_error
from ._errors import LoginError, ProviderError
from ._logout import complete_logout, end_by_provider, log_out
from ._navigation import is_navigation
from ._refresh import refresh_login
from ._refusals import challenge, respond
from ._return_path import is_return_path, own_path
from ._routing_app import RoutingApp
from ._session_logins import find_login, raise_unavailable, require_store, save_login
from ._settings import Prompt, Settings, check_parameters
from ._user import LoginRecord, User

__all__ = ("Login", "get_kind", "get_settings")

UserT = TypeVar("UserT")

_PATH = r"(?:/[a-z0-9._-]+)+"
_KEEP: Any = object()
_VARIABLE = "user"
# An access token is refreshed this many seconds before it expires, since requests take time.
_EARLY_S = 10.0


class Login(Generic[UserT]):
    """Login at one provider; `oidc` and `oauth2` return it.

        login = oidc(issuer="https://id.example", client_id="books", client_secret=SECRET)
        app.use(session(store=SQLiteStore("sessions.db")))
        login.register(app)
        app.get("/me", login.required, lambda c: c.json(c.get("user")))

    Attributes:
        required: Middleware that lets requests of logged-in users through, with the user in
            `c.get("user")`. A page that a browser opens is redirected to the login, and comes back
            afterwards; any other request gets a 401.
        optional: Middleware that also lets others through; `c.get("user")` is then None.
        user: Async function `(c)` that returns the user, for handlers and for `Depends`. Without
            one, it refuses the request as `required` does.
    """

    required: AsyncMiddleware
    optional: AsyncMiddleware
    user: Callable[[Any], Awaitable[UserT]]

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_registered = False
        self._kind: Any = User if settings.load is None else get_return_type(settings.load) or Any
        self._facts: dict[str, Any] = {
            "security": settings.provider.security,
            "responses": {401: "Nobody is logged in"}
            | ({} if settings.load is None else {403: "The app does not know the user"}),
        }
        self.required = attach(
            self._make_guard(None, ()), provides={_VARIABLE: self._kind}, **self._facts
        )
        self.optional = self._make_optional()
        self.user = self._make_user()
        self._make_handlers()

    @property
    def issuer(self) -> str:
        """The provider."""
        return self._settings.provider.issuer

    @property
    def name(self) -> str:
        """The option `name`."""
        return self._settings.name

    def register(self, app: RoutingApp, path: str = "/auth") -> None:
        """Adds the routes of the login to an app.

        They are `GET {path}/login?return_to=/page`, `GET {path}/callback` (the redirect URI),
        `POST {path}/logout`, `GET {path}/logged-out` (the post-logout redirect URI), and
        `POST {path}/backchannel-logout`. Register `session` before, and `csrf` for the whole app
        after this: the provider's request to end a session has no Origin.

        Args:
            app: The app.
            path: The path that they are below.

        Raises:
            TypeError: If `path` isn't a str.
            ValueError: If it isn't a path in lower case without parameters.
            RuntimeError: If they are registered already: the provider knows one redirect URI.
        """
        check = OptionChecks("register")
        check.text("path", path, _PATH, "a path in lower case without parameters such as '/auth'")
        if self._is_registered:
            raise RuntimeError(
                f"The routes of the login {self.name!r} are registered already: call register once"
            )
        self._is_registered = True
        app.get(f"{path}/login", self._handle_login)
        app.get(f"{path}/callback", self._handle_callback)
        app.post(f"{path}/logout", csrf(), self._handle_logout)
        app.get(f"{path}/logged-out", self._handle_logged_out)
        app.post(f"{path}/backchannel-logout", self._handle_backchannel)

    async def start(
        self,
        c: Context[Any, Any],
        *,
        return_to: str | None = None,
        prompt: Prompt | None = _KEEP,
        max_age: float | None = _KEEP,
        acr_values: str | Iterable[str] = _KEEP,
        **parameters: str,
    ) -> Response:
        """Starts a login; returns the redirect to the provider.

        Args:
            c: The context.
            return_to: The path to return to: within this site, with or without a query. Default:
                `after_login`.
            prompt: What the provider asks the user. With `"none"`, it asks nothing; if it would
                have to, the browser returns without a login.
            max_age: How long ago the user may have been authenticated, in seconds.
            acr_values: How the user has to be authenticated; the ID token must have one of them.
            **parameters: Further parameters of the request, such as `login_hint`.

        Returns:
            The redirect, or the response to an error of the provider.

        Raises:
            ValueError: If `return_to` leads to another site.
            RuntimeError: If the routes aren't registered, or sessions are in cookies.
            HTTPException: 503 if the store can't be reached.
        """
        settings = self._settings
        target = settings.after_login if return_to is None else return_to
        if not is_return_path(target):
            raise ValueError(
                f"start(return_to={target!r:.100}) leads to another site: expected a path of this "
                "site such as '/books?page=2'"
            )
        prompt = settings.prompt if prompt is _KEEP else prompt
        max_age = settings.max_age if max_age is _KEEP else max_age
        acr = (
            settings.acr_values
            if acr_values is _KEEP
            else OptionChecks("start").texts("acr_values", acr_values)
        )
        redirect_uri = self._absolute(c, self._handle_callback)
        require_store(c)
        session = await get_session(c)
        if session.is_degraded:
            raise HTTPException(503, "The session is not available; try again later")
        try:
            metadata = await settings.provider.metadata()
        except ProviderError as error:
            return await show_error(settings, error, c)
        attempt = new_attempt(settings.key, redirect_uri, target, max_age, acr, prompt == "none")
        asked = {
            **settings.parameters,
            **check_parameters(OptionChecks("start"), parameters),
            "response_type": "code",
            "client_id": settings.client.id,
            "redirect_uri": redirect_uri,
            "scope": settings.scope,
            "state": add_attempt(session, attempt),
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        optional = {
            "nonce": attempt.nonce if settings.provider.has_nonce else None,
            "prompt": prompt,
            "max_age": None if max_age is None else str(int(max_age)),
            "acr_values": " ".join(acr) or None,
        }
        asked |= {name: value for name, value in optional.items() if value is not None}
        endpoint = metadata.authorization_endpoint
        mark = "&" if "?" in endpoint else "?"
        response = c.redirect(f"{endpoint}{mark}{urlencode(asked)}", 302)
        response.headers.set("Cache-Control", "no-store")
        return response

    async def find(self, c: Context[Any, Any]) -> UserT | None:
        """Returns the user; None if nobody is logged in.

        Args:
            c: The context.

        Raises:
            HTTPException: 403 if `load` doesn't know the user; 503 if the store can't be reached.
            RuntimeError: If the middleware `session()` doesn't cover the route.
        """
        record = await find_login(c, self._settings.key)
        return None if record is None else await self._load(record, c)

    async def get_access_token(self, c: Context[Any, Any]) -> str:
        """Returns the access token for calls of the provider's APIs; refreshes it when it expires.

        However many requests need it, it is refreshed once. If the provider refuses to, the session
        ends, and the request is refused as by `required`.

        Args:
            c: The context.

        Raises:
            HTTPException: If nobody is logged in, or the login is over; 502 or 503 if the provider
                can't refresh it now.
        """
        settings = self._settings
        record = await find_login(c, settings.key)
        if record is None:
            raise await self._refusal(c)
        tokens = record.tokens
        if tokens.expires_at is None or time.time() < tokens.expires_at - _EARLY_S:
            return tokens.access_token
        session = await get_session(c)
        if tokens.refresh_token is not None:
            try:
                with raise_unavailable():
                    record = await refresh_login(settings, require_store(c), record)
            except ProviderError as error:
                raise HTTPException(
                    error.status, error.message, headers={"Retry-After": "5"}
                ) from error
            except LoginError:
                pass
            else:
                save_login(session, record)
                return record.tokens.access_token
        session.destroy()
        raise await self._refusal(c)

    def log_out(self, c: Context[Any, Any]) -> Awaitable[Response]:
        """Ends the session; returns the redirect to the logout of the provider.

        The route `POST {path}/logout` does this. In a handler of your own, protect it from requests
        of other sites with kit-csrf.

        Args:
            c: The context.
        """
        return log_out(self._settings, c, self._absolute(c, self._handle_logged_out))

    def require(
        self, *, max_age: float | None = None, acr_values: str | Iterable[str] = ()
    ) -> AsyncMiddleware:
        """Returns a stricter `required`, e.g. to ask for the password again before a payment.

        Args:
            max_age: How long ago the user may have been authenticated, in seconds.
            acr_values: How the user has to be authenticated: one of these.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If there is none, or one is invalid.
        """
        check = OptionChecks("require")
        if max_age is not None:
            check.number("max_age", max_age, least=0, unit="seconds", whole=False)
        acr = check.texts("acr_values", acr_values)
        if max_age is None and not acr:
            raise ValueError("require() needs max_age=... or acr_values=...: else use .required")
        if not self._settings.provider.has_nonce:
            raise ValueError("require() needs a provider of OpenID Connect, with ID tokens")
        guard = self._make_guard(max_age, acr)
        return attach(guard, provides={_VARIABLE: self._kind}, **self._facts)

    async def _load(self, record: LoginRecord, c: Context[Any, Any]) -> Any:
        load = self._settings.load
        if load is None:
            return record.user
        user = await call(load, record.user, c)
        if user is None or user is False:
            raise HTTPException(403, "Forbidden")
        check_answer("load", user, "a user or None")
        return user

    async def _ask(
        self, c: Context[Any, Any], max_age: float | None, acr: tuple[str, ...]
    ) -> Response:
        """Redirects a page to the login; raises the 401 for any other request."""
        if not is_navigation(c):
            raise HTTPException(401, "Unauthorized", headers=await challenge(c))
        options: dict[str, Any] = {"return_to": own_path(c)}
        if self._settings.prompt == "none":
            # Without a login, the browser returns here, and would be sent away again and again.
            options["prompt"] = None
        if max_age is not None:
            options["max_age"] = max_age
        if acr:
            options["acr_values"] = acr
        return await self.start(c, **options)

    async def _refusal(self, c: Context[Any, Any]) -> HTTPException:
        return respond(await self._ask(c, None, ()))

    def _absolute(self, c: Context[Any, Any], handler: Any) -> str:
        if not self._is_registered:
            raise RuntimeError(
                f"The login {self.name!r} has no routes: call login.register(app) first"
            )
        return (self._settings.origin or parse_origin(c.req.url)) + c.path_to(handler)

    def _make_guard(self, max_age: float | None, acr: tuple[str, ...]) -> AsyncMiddleware:
        key, leeway_s = self._settings.key, self._settings.leeway_s

        async def required(c: Context[Any, Any], next: Next) -> Response | None:
            record = await find_login(c, key)
            if (
                record is None
                or (acr and record.acr not in acr)
                or (
                    max_age is not None
                    and time.time() - (record.auth_time or 0) > max_age + leeway_s
                )
            ):
                return await self._ask(c, max_age, acr)
            c.set(_VARIABLE, await self._load(record, c))
            await next()
            return None

        return required

    def _make_optional(self) -> AsyncMiddleware:
        async def optional(c: Context[Any, Any], next: Next) -> None:
            c.set(_VARIABLE, await self.find(c))
            await next()

        nullable = self._kind if self._kind is Any else self._kind | None
        return attach(
            optional, provides={_VARIABLE: nullable}, security=[self._facts["security"], ()]
        )

    def _make_user(self) -> Callable[[Any], Awaitable[UserT]]:
        async def user(c: Context[Any, Any]) -> Any:
            found = await self.find(c)
            if found is None:
                raise await self._refusal(c)
            return found

        return attach(user, **self._facts)

    def _make_handlers(self) -> None:
        settings = self._settings

        async def login(c: Context[Any, Any]) -> Response:
            sent = c.req.queries("return_to")
            if sent is not None and (len(sent) > 1 or not is_return_path(sent[0])):
                raise HTTPException(400, "return_to must be a path of this site")
            return await self.start(c, return_to=sent[0] if sent else None)

        async def callback(c: Context[Any, Any]) -> Response:
            return await complete_login(settings, c)

        async def logout(c: Context[Any, Any]) -> Response:
            return await self.log_out(c)

        async def logged_out(c: Context[Any, Any]) -> Response:
            return await complete_logout(settings, c)

        async def backchannel_logout(c: Context[Any, Any]) -> Response:
            return await end_by_provider(settings, c)

        # They are pages for browsers, and one for the provider: no part of an API.
        hidden = {"hidden": True}
        self._handle_login = attach(login, describes=hidden)
        self._handle_callback = attach(callback, describes=hidden)
        self._handle_logout = attach(logout, describes=hidden)
        self._handle_logged_out = attach(logged_out, describes=hidden)
        self._handle_backchannel = attach(backchannel_logout, describes=hidden)


def get_kind(login: Login[Any]) -> Any:
    """Returns the type of the user of a login."""
    return login._kind


def get_settings(login: Login[Any]) -> Settings:
    """Returns the settings of a login."""
    return login._settings
