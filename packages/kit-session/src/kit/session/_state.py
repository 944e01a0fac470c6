# SPDX-License-Identifier: MIT
"""The state of a request's session: what was read, and what was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from kit.authoring.vary import depend_on
from kit.interface import Context, HTTPException

from ._data import EMPTY
from ._errors import SessionError, SessionStoreError
from ._saved import Flash, Lifetime, Saved
from ._views import DICT, Kind, View
from .stores import SessionStore

__all__ = ("UNCHANGED", "Backend", "SessionState", "unavailable")

UNCHANGED: Any = object()
"""Marks a value that the request didn't set."""

_Step: TypeAlias = Callable[[bytes], bytes]

_RETRY_AFTER_S = 5
_SWITCHING_PROTOCOLS = 101


def unavailable(error: SessionStoreError) -> HTTPException:
    """Returns the error for a session that can't be read or saved."""
    exception = HTTPException(
        503,
        "The session is not available; try again later",
        headers={"Retry-After": str(_RETRY_AFTER_S)},
    )
    exception.__cause__ = error
    return exception


class Backend(Protocol):
    """Reads and saves sessions.

    Attributes:
        lifetime: The lifetime of sessions.
    """

    lifetime: Lifetime

    @property
    def cookie_name(self) -> str:
        """The full name of the cookie."""
        ...

    @property
    def store(self) -> SessionStore | None:
        """The store; None for sessions in cookies."""
        ...

    def load_now(self, state: SessionState, /) -> bool:
        """Reads the session into `state`; False if that has to be awaited."""
        ...

    async def load(self, state: SessionState, /) -> None:
        """Reads the session into `state`."""
        ...

    async def save(self, state: SessionState, /) -> None:
        """Saves the changes, and adds the cookie to the response if it changes."""
        ...

    def new_token(self) -> str:
        """Returns a new id."""
        ...

    def public_id(self, token: str, /) -> str:
        """Returns the id of a session for logs."""
        ...


class SessionState:
    """The session of one request.

    Args:
        backend: Reads and saves it.
        c: The context of the request; `release` drops it.

    Attributes:
        is_loaded: Whether the session was read, or is known to be new.
        is_closed: Whether it was saved, so that it can't be changed any more.
        is_degraded: Whether the store can't be reached, so that the session isn't saved.
        is_superseded: Whether the id of the request was just replaced, so the client has a newer
            one, or is about to get it.
        successor: The key of the session with the newer id, if the client had that session before.
        saved: The session as it was read; None for a new one.
        ended: The public id of the session that `destroy` ended.
        sets_cookie: Whether the response has the cookie of the session.
        rotates: Whether the session gets a new id.
        user: The user, if it was set.
        login: The login at an identity provider; set together with the user.
        remember_s: The lifetime of a remembered session, if it was set.
    """

    __slots__ = (
        "_changes",
        "_clears_flashes",
        "_flashes_added",
        "_flashes_taken",
        "_is_readable",
        "_steps",
        "_token",
        "_views",
        "backend",
        "c",
        "ended",
        "is_closed",
        "is_degraded",
        "is_loaded",
        "is_superseded",
        "login",
        "remember_s",
        "rotates",
        "saved",
        "sets_cookie",
        "successor",
        "user",
    )

    def __init__(self, backend: Backend, c: Context[Any, Any]) -> None:
        self.backend = backend
        self.c = c
        self.is_loaded = self.is_degraded = self.is_superseded = False
        self.is_closed = self._is_readable = self.sets_cookie = False
        self.saved: Saved | None = None
        self.ended: str | None = None
        self.successor: str | None = None
        self._reset()

    def _reset(self) -> None:
        self._views: dict[Kind[Any], View[Any]] = {}
        self._steps: tuple[_Step, ...] = ()
        self._changes: Sequence[_Step] = ()
        self._flashes_added: tuple[Flash, ...] = ()
        self._flashes_taken: tuple[Flash, ...] = ()
        self._clears_flashes = False
        self._token: str | None = None
        self.rotates = False
        self.user: Any = UNCHANGED
        self.login: str | None = None
        self.remember_s: Any = UNCHANGED

    def load_now(self) -> None:
        """Reads the session unless it was read, or has to be awaited.

        Raises:
            SessionError: If it has to be awaited, or the response has been sent.
            HTTPException: 503 if the store can't be reached.
        """
        if not self.is_loaded and not self.try_load():
            raise SessionError(
                "The session has to be read from its store before it is used: "
                "write `session = await get_session(c)`"
            )

    def try_load(self) -> bool:
        """Reads the session; returns False if that has to be awaited.

        Raises:
            SessionError: If the response was sent.
            HTTPException: 503 if the store can't be reached.
        """
        self._check_readable()
        # The response of a handler that uses the session is only for its client.
        depend_on(self.c, "*")
        try:
            self.is_loaded = self.backend.load_now(self)
        except SessionStoreError as error:
            raise unavailable(error) from error
        return self.is_loaded

    async def load(self) -> None:
        """Reads the session after `try_load` has returned False.

        Raises:
            HTTPException: 503 if the store can't be reached.
        """
        try:
            await self.backend.load(self)
        except SessionStoreError as error:
            raise unavailable(error) from error
        self.is_loaded = True

    def close(self) -> None:
        """Rejects later changes, since the headers of the response are about to be sent."""
        self.is_closed = True
        # SPEC: RFC 9110 section 15.2.2: after it, the connection isn't HTTP, so nothing is cached.
        self._is_readable = self.c.res.status == _SWITCHING_PROTOCOLS

    def release(self) -> None:
        """Drops the context, which is no longer needed unless the session can still be read.

        PERF: the context refers to the session, and such a cycle waits for the garbage collector.
        """
        if not self._is_readable:
            del self.c

    def _check_readable(self) -> None:
        if self.is_closed and not self._is_readable:
            raise SessionError(
                "The headers of the response were sent without Vary: Cookie, so the session can't "
                "be read any more: read it before the handler returns"
            )

    def _check_open(self) -> None:
        if self.is_closed:
            raise SessionError(
                "The session was saved before the headers of the response were sent, and can't be "
                "changed any more: change it before the handler returns"
            )

    def change(self) -> None:
        """Prepares for a change; reads the session.

        Raises:
            SessionError: If it can't be changed any more, or has to be awaited.
            HTTPException: 503 if the store can't be reached.
        """
        self._check_open()
        self.load_now()

    def check_available(self) -> None:
        """Raises an error for changes that must not be made without the store.

        Raises:
            HTTPException: 503 if the store can't be reached, even if failures are tolerated.
        """
        if self.is_degraded:
            raise unavailable(SessionStoreError("The store of the sessions can't be reached"))

    @property
    def token(self) -> str:
        """The secret id under which the session will be saved."""
        if self.saved is not None and not self.rotates:
            return self.saved.token
        if self._token is None:
            self._token = self.backend.new_token()
        return self._token

    @property
    def current_user(self) -> str | None:
        """The user with which the session will be saved."""
        if self.user is not UNCHANGED:
            return self.user  # type: ignore[no-any-return]
        return None if self.saved is None else self.saved.user

    def view(self, kind: Kind[Any], on_invalid: Any = None) -> View[Any]:
        """Returns the data as a type; always the same view for the same type."""
        view = self._views.get(kind)
        if view is None:
            data = EMPTY if self.saved is None else self.saved.data
            if self._views:  # PERF: there is hardly ever a second type
                for step in self._direct():
                    data = step(data)
            view = self._views[kind] = View(kind, data, on_invalid)
        return view

    def update(self, view: View[Any], function: Callable[[Any], Any]) -> None:
        """Changes the data in a way that can be repeated on newer data."""
        self._flush()
        function(view.value)
        view.step()
        self._steps = (*self._steps, view.replay(function))

    def _flush(self) -> None:
        for view in self._views.values():
            changes = view.step()
            if changes is not None:
                self._steps = (*self._steps, changes.apply)

    def add_flash(self, flash: Flash) -> None:
        """Adds a message."""
        self._flashes_added = (*self._flashes_added, flash)

    def take_flashes(self, category: str | None) -> list[Flash]:
        """Returns and removes the messages of a category, or all."""
        flashes = self._flashes(self.saved)
        taken = [flash for flash in flashes if category is None or flash.category == category]
        added = list(self._flashes_added)
        for flash in taken:
            if flash in added:
                added.remove(flash)
            else:
                self._flashes_taken = (*self._flashes_taken, flash)
        self._flashes_added = tuple(added)
        return taken

    def _flashes(self, base: Saved | None) -> tuple[Flash, ...]:
        # Those that another request has added since then are removed too: the next user must not
        # see them.
        saved = () if base is None or self._clears_flashes else base.flashes
        if self._flashes_taken:
            left = list(saved)
            for taken in self._flashes_taken:
                if taken in left:
                    left.remove(taken)
            saved = tuple(left)
        return saved + self._flashes_added

    def clear(self) -> None:
        """Removes all data, messages and the user."""
        self.view(DICT)  # which also has the keys that aren't in any type
        self._flush()
        for view in self._views.values():
            view.clear()
        self._steps = (*self._steps, lambda data: EMPTY)
        self._flashes_added = self._flashes_taken = ()
        self._clears_flashes = True
        if self.current_user is not None:
            self.user, self.login, self.rotates = None, None, True

    def destroy(self) -> None:
        """Ends the session; values set afterwards belong to a new one."""
        if self.saved is not None:
            self.ended = self.backend.public_id(self.saved.token)
        elif self.successor is not None:
            self.ended, self.is_superseded = self.successor, False
        views = self._views
        self.saved = None
        self._reset()
        for view in views.values():
            view.reset(EMPTY)
        self._views = views

    @property
    def is_login(self) -> bool:
        """Whether this request logs a user in."""
        return self.user is not UNCHANGED and self.user is not None

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to save; if so, `merged` returns it."""
        saved = self.saved
        self._changes = self._direct()
        if self.rotates and (saved is not None or self.current_user is not None):
            return True
        if self.remember_s is not UNCHANGED and saved is not None:
            return True
        if self._flashes_added or self._flashes_taken:
            return True
        if self._clears_flashes and saved is not None and saved.flashes:
            return True
        return bool(self._changes)

    def merged(self, base: Saved | None, now: float, *, again: bool = False) -> Saved:
        """Returns the session to save.

        Args:
            base: The session in the store; None for a new one.
            now: The time, in seconds since the epoch.
            again: Whether `base` is newer than `saved`, so the changes have to be repeated.
        """
        data = EMPTY if base is None else base.data
        for step in self._repeatable() if again else self._changes:
            data = step(data)
        user, remember_s = self.user, self.remember_s
        # A login starts a session, with a new lifetime and without the old `remember`.
        begins = base is None or self.is_login
        created_at = now if base is None or begins else base.created_at
        login = self.login
        if user is UNCHANGED:
            user, login = (None, None) if base is None else (base.user, base.login)
        if remember_s is UNCHANGED:
            remember_s = None if base is None or begins else base.remember_s
        return Saved(
            token=self.token,
            created_at=created_at,
            expires_at=self.backend.lifetime.expires_at(created_at, remember_s, now),
            data=data,
            user=user,
            flashes=self._flashes(base),
            remember_s=remember_s,
            login=login,
            version=1 if base is None else base.version + 1,
        )

    def _direct(self) -> list[_Step]:
        views: Iterable[View[Any]] = self._views.values()
        if len(self._views) > 1:
            # The dict comes first: a type may have set cleared values again.
            views = sorted(views, key=lambda view: view.kind is not DICT)
        return [changes.apply for view in views if (changes := view.changes()) is not None]

    def _repeatable(self) -> Sequence[_Step]:
        self._flush()
        return self._steps
