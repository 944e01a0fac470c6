# SPDX-License-Identifier: MIT
"""Sessions stored entirely in their cookie."""

from __future__ import annotations

import time
from secrets import token_urlsafe

import msgspec

from ._cookie import SessionCookie
from ._saved import Flash, Lifetime, Saved
from ._secrets import Seal
from ._state import SessionState

__all__ = ("CookieSessions",)

_ID_OCTETS = 12


class _Content(msgspec.Struct, omit_defaults=True):
    """The content of the cookie; the names are short to save space."""

    i: str
    c: float
    e: float
    d: msgspec.Raw = msgspec.Raw(b"{}")
    u: str | None = None
    f: tuple[Flash, ...] = ()
    r: float | None = None


_decode = msgspec.json.Decoder(_Content).decode
_encode = msgspec.json.Encoder().encode


class CookieSessions:
    """Reads and saves sessions in cookies.

    Args:
        cookie: The cookie.
        seal: Protects its value.
        lifetime: When sessions end.

    Attributes:
        store: None: there is no store.
    """

    __slots__ = ("_cookie", "_seal", "lifetime")

    store = None

    def __init__(self, cookie: SessionCookie, seal: Seal, lifetime: Lifetime) -> None:
        self._cookie = cookie
        self._seal = seal
        self.lifetime = lifetime

    @property
    def cookie_name(self) -> str:
        """The full name of the cookie."""
        return self._cookie.name

    def load_now(self, state: SessionState, /) -> bool:
        """Reads the session into `state`."""
        text = self._cookie.read(state.c)
        data = None if text is None else self._seal.open(text)
        if data is not None:
            saved = self._saved(data)
            if saved is not None and not self.lifetime.has_ended(saved, time.time()):
                state.saved = saved
        return True

    async def load(self, state: SessionState, /) -> None:
        """Does nothing: `load_now` never has to be awaited."""
        raise AssertionError("unreachable: a cookie is read without waiting")

    def _saved(self, data: bytes) -> Saved | None:
        try:
            content = _decode(data)
        except (ValueError, RecursionError):  # signed with the same secret by another program
            return None
        return Saved(
            token=content.i,
            created_at=content.c,
            expires_at=content.e,
            data=bytes(content.d),
            user=content.u,
            flashes=content.f,
            remember_s=content.r,
        )

    async def save(self, state: SessionState, /) -> None:
        """Adds the cookie to the response if the session was changed or used."""
        now = time.time()
        old = state.saved
        is_due = old is not None and self.lifetime.needs_refresh(old, now)
        if not state.is_changed and not is_due:
            if state.ended is not None:
                self._cookie.delete(state)
            return
        saved = state.merged(old, now)
        content = _Content(
            saved.token,
            round(saved.created_at, 3),
            round(saved.expires_at, 3),
            msgspec.Raw(saved.data),
            saved.user,
            saved.flashes,
            saved.remember_s,
        )
        max_age_s = self.lifetime.cookie_max_age_s(saved, now)
        self._cookie.set(state, self._seal.close(_encode(content)), max_age_s)

    def new_token(self) -> str:
        """Returns a new id, which isn't secret: it only distinguishes sessions."""
        return token_urlsafe(_ID_OCTETS)

    def public_id(self, token: str, /) -> str:
        """Returns the id itself."""
        return token
