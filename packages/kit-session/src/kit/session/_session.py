# SPDX-License-Identifier: MIT
"""The session object for handlers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, overload

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks
from kit.interface import Context
from kit.interface.generics import TypeVar

from ._saved import Flash
from ._state import SessionState
from ._views import DICT, Kind, View, find_decoder

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ("MOST_AGE_S", "VARIABLE", "Session", "get_session", "get_state")

T = TypeVar("T")
# The type of sessions without a type.
DataT = TypeVar("DataT", default=dict[str, Any])

VARIABLE = "session"
"""The variable of the context that holds the session."""

MOST_AGE_S = 400 * 24 * 60 * 60
"""The longest lifetime of a cookie (RFC 6265bis section 5.5), in seconds."""

_KEEP: Any = object()
_SESSION = OptionChecks("Session.remember")


class Session(MutableMapping[str, Any], Generic[DataT]):
    """The session of a request; `get_session` returns it.

    It is read on first use, and saved after the handler, before the headers of the response are
    sent. Without a type, it is a mapping of keys to JSON values. With one, its value is `data`.

    Attributes:
        data: The data: a dict, or an object of the type. Changes within it are saved too.
    """

    __slots__ = ("_kind", "_on_invalid", "_state")

    def __init__(
        self,
        state: SessionState,
        kind: Kind[DataT] = DICT,
        on_invalid: Callable[[dict[str, Any]], DataT] | None = None,
    ) -> None:
        self._state = state
        self._kind = kind
        self._on_invalid = on_invalid

    def __await__(self) -> Generator[Any, Any, Session[DataT]]:
        """Reads the session from its store."""
        state = self._state
        # PERF: without a coroutine if nothing has to wait.
        if not state.is_loaded and not state.try_load():
            yield from state.load().__await__()
        return self

    def __repr__(self) -> str:
        # Shows no data: it may end up in a log.
        return f"<Session of {self._kind.name}>"

    @property
    def data(self) -> DataT:
        """The data: a dict, or an object of the type."""
        return self._view().value

    @data.setter
    def data(self, value: DataT) -> None:
        self._state.change()
        self._view().value = value

    @property
    def is_new(self) -> bool:
        """Whether the request came without a valid session."""
        self._state.load_now()
        return self._state.saved is None

    @property
    def is_degraded(self) -> bool:
        """Whether the store can't be reached: the session is empty, and nothing is saved."""
        self._state.load_now()
        return self._state.is_degraded

    @property
    def id(self) -> str:
        """An id for logs, which can't be used as a cookie. It changes with `rotate`."""
        self._state.load_now()
        return self._state.backend.public_id(self._state.token)

    @property
    def cookie_name(self) -> str:
        """The full name of the cookie, with its prefix."""
        return self._state.backend.cookie_name

    @property
    def user(self) -> str | None:
        """The user who is logged in, or None. To set it, call `rotate(user=...)`."""
        self._state.load_now()
        return self._state.current_user

    @user.setter
    def user(self, value: str | None) -> None:
        self.rotate(user=value)

    def rotate(self, *, user: str | None = _KEEP, login: str | None = None) -> None:
        """Replaces the id of the session, so that the old one is invalid; the data is kept.

        Call it at each login, with the user, so that an id from before the login is worthless
        (session fixation). A login also starts a new lifetime; any other rotation keeps it.

        If the session belonged to another user, all data and messages are removed, including those
        that this request has already set: nobody sees the data of another user.

        Args:
            user: The user of the session from now on, or None. Default: unchanged.
            login: The login at an identity provider that starts the session, for `revoke_login`;
                only with a user, and for sessions in a store.

        Raises:
            TypeError: If an argument is neither a str nor None, or there is a login without a user.
            ValueError: If the user is empty, or there is a login and the session is in a cookie.
        """
        if user is not _KEEP and user is not None and not isinstance(user, str):
            raise TypeError(
                f"Session.rotate(user=...) takes a str, not {user!r:.100}: "
                "write str(...) around a number"
            )
        if user == "":
            raise ValueError(
                "Session.rotate(user='') isn't a valid user: write user=None for no user"
            )
        if login is not None:
            self._check_login(user, login)
        state = self._state
        state.change()
        state.check_available()
        state.rotates = True
        if user is not _KEEP:
            if state.current_user not in (None, user):
                state.clear()
            state.user, state.login = user, login

    def _check_login(self, user: Any, login: Any) -> None:
        if not isinstance(login, str):
            raise TypeError(f"Session.rotate(login=...) takes a str, not {login!r:.100}")
        if not isinstance(user, str):
            raise TypeError("Session.rotate(login=...) needs user=..., whom the login is of")
        if self._state.backend.store is None:
            raise ValueError(
                "Session.rotate(login=...) needs sessions in a store, since those in cookies can't "
                "be revoked: give session(store=...) a store"
            )

    def remember(self, max_age: float) -> None:
        """Makes the session outlive the browser, with its own lifetime.

        The idle timeout doesn't apply to it. A later login resets it.

        Args:
            max_age: Lifetime of the session in seconds, at most 400 days.

        Raises:
            TypeError: If `max_age` isn't a number.
            ValueError: If it is less than 1 or more than 400 days.
        """
        seconds = _SESSION.number(
            "max_age", max_age, least=1, most=MOST_AGE_S, unit="seconds", whole=False
        )
        self._state.change()
        self._state.remember_s = float(seconds)

    def destroy(self) -> None:
        """Ends the session: its id is invalid, and the client deletes the cookie.

        Values set afterwards belong to a new session, e.g. a message for the next page.
        """
        self._state.change()
        self._state.check_available()
        self._state.destroy()

    def flash(self, text: str, category: str = "message") -> None:
        """Adds a message for the next page that shows messages.

        Args:
            text: The message.
            category: The kind of message, e.g. `error`.

        Raises:
            TypeError: If an argument is not a str.
        """
        if not isinstance(text, str) or not isinstance(category, str):
            raise TypeError(f"Session.flash takes texts, not {text!r:.100} and {category!r:.100}")
        self._state.change()
        self._state.add_flash(Flash(text, category))

    def flashes(self, category: str | None = None) -> list[Flash]:
        """Returns the messages and removes them, so that each is shown once.

        Args:
            category: Only messages of this category.

        Returns:
            The messages in the order in which they were added.
        """
        self._state.change()
        return self._state.take_flashes(category)

    @overload
    def update(self, function: Callable[[DataT], object], /) -> None: ...
    @overload
    def update(self, other: Any = (), /, **values: Any) -> None: ...
    def update(self, other: Any = (), /, **values: Any) -> None:
        """Changes the data with a repeatable function, or assigns keys like `dict.update`.

        If another request has changed the session meanwhile, the function is called again with the
        newest data, so a change that depends on the previous value, such as a counter or a growing
        list, loses nothing.

        Args:
            other: A plain function that changes its argument, the data, in place; its return value
                is ignored. Or a mapping, or pairs.
            **values: More keys.

        Raises:
            TypeError: If the function is async.
        """
        if not callable(other) or isinstance(other, Mapping):
            super().update(other, **values)
            return

        def function(data: DataT) -> None:
            plain_result(other(data), other, "Session.update")

        self._state.change()
        self._state.update(self._view(), function)

    def clear(self) -> None:
        """Removes all data and messages, and unbinds the user; `destroy` ends the session.

        Messages that concurrent requests add before this is saved are removed as well.
        """
        self._state.change()
        self._state.check_available()
        self._state.clear()

    def __getitem__(self, key: str) -> Any:
        return self._dict()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"A key of a session is a str, not {key!r:.100}")
        data = self._dict()
        self._state.change()
        data[key] = value

    def __delitem__(self, key: str) -> None:
        data = self._dict()
        self._state.change()
        del data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict())

    def __len__(self) -> int:
        return len(self._dict())

    def __bool__(self) -> bool:
        return self._kind is not DICT or bool(self._dict())

    def _view(self) -> View[DataT]:
        self._state.load_now()
        return self._state.view(self._kind, self._on_invalid)

    def _dict(self) -> dict[str, Any]:
        if self._kind is not DICT:
            raise TypeError(
                f"This session is not a mapping, as its type is {self._kind.name}: use session.data"
            )
        value: Any = self._view().value
        return value  # type: ignore[no-any-return]


@overload
def get_session(c: Context[Any, Any]) -> Session[dict[str, Any]]: ...
@overload
def get_session(
    c: Context[Any, Any],
    type: TypeForm[T],
    *,
    on_invalid: Callable[[dict[str, Any]], T] | None = None,
) -> Session[T]: ...
def get_session(
    c: Context[Any, Any],
    type: Any = None,
    *,
    on_invalid: Callable[[dict[str, Any]], Any] | None = None,
) -> Session[Any]:
    """Returns the session of a request.

    `session = await get_session(c)` reads it first. Without `await`, it is read on first use, which
    works for sessions in cookies, and for stores that can read without waiting: in memory and
    SQLite. For any other store, and for independence from the store, await it.

    Args:
        c: The context.
        type: The type of the data: a Struct, dataclass or TypedDict with defaults for all fields,
            or a pydantic model. Default: a dict. Data under unknown keys is kept.
        on_invalid: A plain function that gets saved data that no longer fits the type, as a dict,
            and returns the object to use. Default: a new object, and a warning in the log; the old
            data is replaced when that object is changed.

    Returns:
        The session, which can be awaited.

    Raises:
        TypeError: If the type can't be used for a session.
        RuntimeError: If the middleware `session()` doesn't cover the route.

    Example:
        session = await get_session(c, Cart)
        session.data.items.append(item)
    """
    session = c.get(VARIABLE)
    if not isinstance(session, Session):
        raise RuntimeError(
            "There is no session here: register app.use(session(...)) before the route"
        )
    if type is None:
        return session
    if on_invalid is not None:
        OptionChecks("get_session").function("on_invalid", on_invalid, "(data)", plain=True)
    return Session(session._state, find_decoder(type), on_invalid)


def get_state(session: Session[Any]) -> SessionState:
    """Returns the state of a session."""
    return session._state
