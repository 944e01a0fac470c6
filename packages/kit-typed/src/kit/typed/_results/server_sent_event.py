# SPDX-License-Identifier: MIT
"""An item of a stream with the fields of a server-sent event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from msgspec import UNSET, UnsetType

from kit.http.server_sent_events import check_event_field, check_retry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerSentEvent(Generic[T]):
    """An item of a stream together with the other fields of its event (WHATWG HTML, section 9.2).

    As JSON Lines, only the data is sent.

        async def events() -> AsyncIterator[ServerSentEvent[Event]]:
            yield ServerSentEvent(Event(...), event="created", id="7")

    Args:
        data: The item. Without it, clients dispatch no event.
        event: The type of the event. Default: `message`.
        id: The id, which a reconnecting client sends as Last-Event-ID.
        retry: Milliseconds after which a client reconnects.
        comment: Text that clients ignore.

    Raises:
        TypeError: If a field has the wrong type.
        ValueError: If `event` or `id` contains CR or LF, `id` NUL, or `retry` is negative.
    """

    data: T | UnsetType = UNSET
    event: str | None = None
    id: str | None = None
    retry: int | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        taker = "ServerSentEvent()"
        if self.event is not None:
            check_event_field(taker, "event", self.event)
        if self.id is not None:
            check_event_field(taker, "id", self.id)
        if self.retry is not None:
            check_retry(taker, self.retry)
        if self.comment is not None and not isinstance(self.comment, str):
            raise TypeError(f"{taker} takes comment as a str, not {type(self.comment).__name__}")
