# SPDX-License-Identifier: MIT
"""Sessions in a store; the cookie has only an id."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from secrets import token_urlsafe

import msgspec

from ._cookie import SessionCookie
from ._errors import SessionConflictError, SessionStoreError
from ._saved import Flash, Lifetime, Saved
from ._secrets import Seal
from ._state import UNCHANGED, SessionState, unavailable
from ._turns import is_contended, pause, turn
from .stores import ImmediateSessionStore, SessionRecord, SessionStore

__all__ = ("StoredSessions",)

_logger = logging.getLogger("kit.session")

_ID_OCTETS = 32
_ID = re.compile(r"[A-Za-z0-9_-]{43}")
# How long requests in progress may still have the id from before a rotation.
_SUPERSEDED_S = 30.0
_MOST_ATTEMPTS = 40


class _Content(msgspec.Struct, omit_defaults=True):
    """The JSON object in a record."""

    data: msgspec.Raw = msgspec.Raw(b"{}")
    flashes: tuple[Flash, ...] = ()
    remember_s: float | None = None
    superseded: bool = False
    successor: str | None = None


_decode = msgspec.json.Decoder(_Content).decode
_encode = msgspec.json.Encoder().encode


class _Superseded(Exception):  # noqa: N818 - no fault
    """A session has just got another id.

    Args:
        successor: The key of the session with the new id; None if it started with a login, or no
            longer has a user, so the old id must not lead to it.
    """

    def __init__(self, successor: str | None) -> None:
        super().__init__()
        self.successor = successor


class _RevokedError(Exception):
    """The new record of a session was removed by another request."""


class StoredSessions:
    """Reads and saves sessions in a store.

    Args:
        cookie: The cookie.
        store: The store.
        seal: Signs the id; None if it isn't signed.
        lifetime: The lifetime of sessions.
        tolerates_failures: Whether requests continue without a session if the store can't be
            reached.
    """

    __slots__ = ("_cookie", "_read_now", "_seal", "_tolerates_failures", "lifetime", "store")

    def __init__(
        self,
        cookie: SessionCookie,
        store: SessionStore,
        seal: Seal | None,
        lifetime: Lifetime,
        *,
        tolerates_failures: bool,
    ) -> None:
        self._cookie = cookie
        self._seal = seal
        self._tolerates_failures = tolerates_failures
        self._read_now = store.read_now if isinstance(store, ImmediateSessionStore) else None
        self.lifetime = lifetime
        self.store = store

    def new_token(self) -> str:
        """Returns a new id: 256 random bits."""
        return token_urlsafe(_ID_OCTETS)

    def public_id(self, token: str, /) -> str:
        """Returns the key of a session in the store.

        It includes the name of the cookie, since several cookies may share a store: an id for one
        cookie is invalid for another one.
        """
        return sha256(f"{self.cookie_name}={token}".encode()).hexdigest()

    def _token(self, state: SessionState) -> str | None:
        text = self._cookie.read(state.c)
        if text is not None and self._seal is not None:
            opened = self._seal.open(text)
            text = None if opened is None else opened.decode("ascii")
        return text if text is not None and _ID.fullmatch(text) else None

    @property
    def cookie_name(self) -> str:
        """The full name of the cookie."""
        return self._cookie.name

    def load_now(self, state: SessionState, /) -> bool:
        """Reads the session into `state`; False if that has to be awaited."""
        token = self._token(state)
        if token is None:
            return True
        if self._read_now is None:
            return False
        try:
            self._take(state, token, self._read_now(self.public_id(token)))
        except BlockingIOError:
            return False
        except SessionStoreError as error:
            self._failed(state, error)
        return True

    async def load(self, state: SessionState, /) -> None:
        """Reads the session into `state`."""
        token = self._token(state)
        assert token is not None  # noqa: S101 - a request without one was loaded by load_now
        try:
            record = await self.store.read(self.public_id(token))
            if not state.is_loaded:  # by another task of the request, which may have changed it
                self._take(state, token, record)
        except SessionStoreError as error:
            self._failed(state, error)

    def _failed(self, state: SessionState, error: SessionStoreError) -> None:
        """Replaces the session by an empty one that isn't saved, or raises the error."""
        _logger.error("The store of the sessions failed: %s", error)
        if not self._tolerates_failures:
            raise error
        state.is_degraded = True

    def _take(self, state: SessionState, token: str, record: SessionRecord | None) -> None:
        try:
            state.saved = self._saved(token, record)
        except _Superseded as error:
            state.is_superseded = True
            state.successor = error.successor

    def _saved(self, token: str, record: SessionRecord | None) -> Saved | None:
        """Returns the session of a record; None if it has expired, or can't be read."""
        if record is None:
            return None
        try:
            content = _decode(record.data)
        except (ValueError, RecursionError) as error:
            _logger.error("The store has a record that isn't a session: %s", error)
            return None
        if content.superseded:
            if time.time() < record.created_at + _SUPERSEDED_S:
                raise _Superseded(content.successor)
            return None
        saved = Saved(
            token=token,
            created_at=record.created_at,
            expires_at=record.expires_at,
            data=bytes(content.data),
            user=record.user,
            flashes=content.flashes,
            remember_s=content.remember_s,
            login=record.login,
            version=record.version,
        )
        return None if self.lifetime.has_ended(saved, time.time()) else saved

    async def save(self, state: SessionState, /) -> None:
        """Saves what was changed, and adds the cookie to the response if it changes.

        Raises:
            HTTPException: 503 if the store can't be reached, unless that is tolerated.
        """
        if state.is_degraded:
            return
        try:
            await self._save(state)
        except SessionStoreError as error:
            _logger.error("A session could not be saved: %s", error)
            # APPSEC: a failed login or logout must not look successful.
            if state.rotates or state.ended is not None or not self._tolerates_failures:
                raise unavailable(error) from error

    async def _save(self, state: SessionState) -> None:
        if state.ended is not None:
            await self._end(state.ended)
        if not state.is_changed:
            if state.ended is not None:
                self._cookie.delete(state)
            elif state.saved is not None:
                await self._refresh(state.saved)
            return
        if state.saved is None:
            await self._insert(state)
        elif state.rotates:
            await self._rotate(state, state.saved)
        else:
            await self._replace(state, self.public_id(state.saved.token), state.saved)

    async def _refresh(self, saved: Saved) -> None:
        now = time.time()
        if self.lifetime.needs_refresh(saved, now):
            key = self.public_id(saved.token)
            end = self.lifetime.expires_at(saved.created_at, saved.remember_s, now)
            try:
                if end > saved.expires_at:
                    await self.store.touch(key, end)
                else:
                    # The timeout is shorter than it was. `touch` only extends; if another request
                    # has changed the session, this changes nothing.
                    earlier = msgspec.structs.replace(
                        saved, expires_at=end, version=saved.version + 1
                    )
                    await self.store.replace(key, _record(earlier))
            except SessionStoreError as error:
                # The handler has done its work, and the next request will move the end.
                _logger.warning("The end of a session could not be moved: %s", error)

    async def _insert(self, state: SessionState) -> None:
        if state.is_superseded and not state.is_login:
            # A new cookie would replace the one that the client is about to get.
            _logger.info("A request with a session id from before a rotation can't save anything")
            return
        saved = state.merged(None, time.time())
        self._set_cookie(state, await self._add(saved))

    async def _add(self, saved: Saved) -> Saved:
        if not await self.store.insert(self.public_id(saved.token), _record(saved)):
            raise SessionStoreError("The store has a record of a session id that is new")
        return saved

    async def _end(self, key: str) -> None:
        """Removes a session, and the one that has replaced it meanwhile.

        A plain `delete` could remove the record that leads to the new id, and leave the session
        alive.
        """

        async def attempt(newest: Saved, again: bool) -> bool:
            return await self.store.replace(key, _superseding(newest, None))

        try:
            if await self._try_until_first(key, None, attempt):
                await self.store.delete(key)
        except _Superseded as error:
            if error.successor is not None:
                await self._end(error.successor)

    async def _replace(self, state: SessionState, key: str, base: Saved | None) -> None:
        """Saves the changes in the session of a key.

        Args:
            state: The session of the request.
            key: The key.
            base: The session as it was read; None for its successor.
        """

        async def attempt(newest: Saved, again: bool) -> bool:
            saved = state.merged(newest, time.time(), again=again)
            if not await self.store.replace(key, _record(saved)):
                return False
            if base is not None and state.remember_s is not UNCHANGED:
                self._set_cookie(state, saved)
            return True

        try:
            if await self._try_until_first(key, base, attempt):
                return
        except _Superseded as error:
            # The client gets the new id with another response.
            if error.successor is not None:
                await self._replace(state, error.successor, None)
                return
        _logger.info("A session ended before a request could save its changes")

    async def _rotate(self, state: SessionState, base: Saved) -> None:
        """Saves the session under a new id, and then invalidates the old one.

        In this order, a concurrent revocation stays effective: if the old record is gone in the
        end, the new one is removed.
        """
        saved = await self._add(state.merged(base, time.time()))
        key = self.public_id(base.token)
        # APPSEC: an id from before a login leads nowhere.
        successor = self.public_id(saved.token) if state.user is UNCHANGED else None
        other: str | None = None

        async def attempt(newest: Saved, again: bool) -> bool:
            nonlocal saved
            if again:
                saved = await self._overwrite(saved, state.merged(newest, time.time(), again=True))
            return await self.store.replace(key, _superseding(newest, successor))

        try:
            is_done = await self._try_until_first(key, base, attempt)
            if not is_done and state.is_login:
                # Another request ended the session from before the login: its data is gone.
                own = state.merged(None, time.time(), again=True)
                saved = await self._overwrite(saved, own)
                is_done = True
        except _Superseded as error:
            # Another request of the client did the same. Both logins are valid.
            is_done, other = state.is_login, error.successor
        except _RevokedError:
            is_done = False
        if is_done:
            self._set_cookie(state, saved)
            return
        await self.store.delete(self.public_id(saved.token))
        if other is not None:
            await self._replace(state, other, None)
            return
        _logger.info("A session ended, or got another id, before a request could rotate it")

    async def _overwrite(self, old: Saved, new: Saved) -> Saved:
        new = msgspec.structs.replace(new, version=old.version + 1)
        if not await self.store.replace(self.public_id(new.token), _record(new)):
            raise _RevokedError
        return new

    async def _try_until_first(
        self, key: str, base: Saved | None, attempt: Callable[[Saved, bool], Awaitable[bool]]
    ) -> bool:
        """Tries to replace a session until no other request is faster.

        Args:
            key: Its key.
            base: The session as it was read; None if it has to be read first.
            attempt: Called with the newest session, and whether it differs from `base`; returns
                whether it was replaced.

        Returns:
            False if the session has ended.

        Raises:
            _Superseded: If it got another id.
            SessionConflictError: If other requests were faster too often.
        """
        if base is not None and not is_contended(key) and await attempt(base, False):
            return True
        token = "" if base is None else base.token
        async with turn(key):
            for number in range(_MOST_ATTEMPTS):
                newest = self._saved(token, await self.store.read(key))
                if newest is None:
                    return False
                if await attempt(newest, True):
                    return True
                await pause(number)
        raise SessionConflictError("Other requests changed the session again and again")

    def _set_cookie(self, state: SessionState, saved: Saved) -> None:
        text = saved.token if self._seal is None else self._seal.close(saved.token.encode())
        max_age_s = self.lifetime.cookie_max_age_s(saved, time.time())
        self._cookie.set(state, text, max_age_s)


def _record(saved: Saved) -> SessionRecord:
    content = _Content(msgspec.Raw(saved.data), saved.flashes, saved.remember_s)
    return SessionRecord(
        _encode(content),
        saved.version,
        saved.created_at,
        saved.expires_at,
        saved.user,
        saved.login,
    )


def _superseding(saved: Saved, successor: str | None) -> SessionRecord:
    """Returns the record that replaces a session with a new id."""
    now = time.time()
    data = _encode(_Content(superseded=True, successor=successor))
    return SessionRecord(data, saved.version + 1, now, now + _SUPERSEDED_S)
