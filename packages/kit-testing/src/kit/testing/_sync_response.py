# SPDX-License-Identifier: MIT
"""A response whose body is read without `await`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeAlias

import msgspec

from kit.web import Blob, FormData, Headers, Response

Bytes: TypeAlias = bytes
"""The type bytes, where a method of the same name shadows it."""


class Reader(Protocol):
    """A task of the event loop in which a streamed body is read."""

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Runs an async function in that task."""


class Streams(Protocol):
    """The open streamed bodies, and the portal to the event loop."""

    origin: str

    def is_open(self, worker: Any) -> bool:
        """Returns whether a streamed body can still be read."""

    def close_stream(self, worker: Any, chunks: Any = None) -> None:
        """Closes a streamed body."""

    def running_portal(self) -> Any:
        """Returns the portal to the event loop."""


class SyncResponse:
    """A response whose body is read without `await`.

    A body that is not streamed, or was read as a whole, can be read any number of times, and also
    after the client's `with` block.
    """

    __slots__ = ("_caller", "_content", "_response", "_worker")

    def __init__(
        self,
        caller: Streams,
        response: Response,
        content: Bytes | None,
        worker: Reader | None,
    ) -> None:
        self._caller = caller
        self._response = response
        self._content = content
        self._worker = worker

    @property
    def status(self) -> int:
        """HTTP status code."""
        return self._response.status

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return self._response.ok

    @property
    def status_text(self) -> str:
        """The reason phrase given at construction."""
        return self._response.status_text

    @property
    def headers(self) -> Headers:
        """The header lines."""
        return self._response.headers

    @property
    def cookies(self) -> dict[str, str]:
        """Names and decoded values of the cookies that this response sets.

        Those that it deletes are not among them. The client's own are `client.cookies`.
        """
        from kit.testing._cookies import parse_values

        return parse_values(self._caller.origin + "/", self.headers.get_set_cookie())

    @property
    def body(self) -> Generator[Bytes, None, None]:
        """The body in chunks, each read when it is requested.

        A streamed body can be iterated once. Closing the generator, or the end of the client's
        `with` block, closes the rest of it.
        """
        return self._iterate()

    def _iterate(self) -> Generator[Bytes, None, None]:
        if self._content is not None:
            if self._content:
                yield self._content
            return
        worker = self._open_worker()
        if self._response.body_used:
            raise TypeError("The body was already read; it can be read once")
        chunks = self._response.body
        try:
            while self._caller.is_open(worker):
                yield worker.run(anext, chunks)
        except StopAsyncIteration:
            return
        finally:
            self._caller.close_stream(worker, chunks)

    def bytes(self) -> Bytes:
        """Reads the whole body.

        Raises:
            RuntimeError: If the body is streamed, and the client's `with` block has ended.
            TypeError: If the body was already iterated.
        """
        if self._content is None:
            worker = self._open_worker()
            try:
                self._content = worker.run(self._response.bytes)
            finally:
                self._caller.close_stream(worker)
        return self._content

    def text(self) -> str:
        """Reads the body as UTF-8, without a byte order mark; invalid bytes become U+FFFD."""
        return self._without_mark().decode("utf-8", "replace")

    def json(self) -> Any:
        """Reads the body as JSON.

        Raises:
            ValueError: If it is not valid JSON; the message includes the position.
        """
        return msgspec.json.decode(self._without_mark())

    def blob(self) -> Blob:
        """Reads the body as a Blob with the content type of the headers."""
        return Blob([self.bytes()], type=self.headers.get("content-type") or "")

    def form_data(self) -> FormData:
        """Reads the body as a form, within the default `Limits`.

        Raises:
            HTTPException: 400 if it is not a valid form, 413 if it exceeds a limit.
            RuntimeError: If the client's `with` block has ended.
        """
        copy = Response(self.bytes(), headers=self.headers)
        form: FormData = self._caller.running_portal().call(copy.form_data)
        return form

    def _without_mark(self) -> Bytes:
        return self.bytes().removeprefix(b"\xef\xbb\xbf")

    def _open_worker(self) -> Reader:
        worker = self._worker
        if worker is None or not self._caller.is_open(worker):
            raise RuntimeError(
                "The streamed body is closed: it can be read once, and within the `with` of the "
                "client"
            )
        return worker

    def __repr__(self) -> str:
        return f"<SyncResponse {self.status}>"
