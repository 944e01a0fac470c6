# SPDX-License-Identifier: MIT
"""What kit-channels asks of a Redis server, for machines without one: `python FILE PORT`.

SPEC: the Redis serialization protocol, versions 2 and 3; Pub/Sub.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict

Writers = defaultdict[bytes, dict[asyncio.StreamWriter, bytes]]


def bulk(data: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(data), data)


class StandIn:
    """The state of the server: for each channel its subscribers, with the mark of a message."""

    def __init__(self) -> None:
        self.subscribers: Writers = defaultdict(dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mark = b"*"
        try:
            while True:
                size = int((await reader.readuntil(b"\n"))[1:])
                parts = []
                for _ in range(size):
                    length = int((await reader.readuntil(b"\n"))[1:])
                    parts.append((await reader.readexactly(length + 2))[:-2])
                if parts[0].upper() == b"HELLO" and parts[1] == b"3":
                    mark = b">"
                self.answer(parts[0].upper(), parts[1:], writer, mark)
                await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            for channel in self.subscribers.values():
                channel.pop(writer, None)
            writer.close()

    def answer(
        self, name: bytes, arguments: list[bytes], writer: asyncio.StreamWriter, mark: bytes
    ) -> None:
        if name == b"PUBLISH":
            channel, message = arguments
            found = self.subscribers[channel]
            for each, its_mark in found.items():
                each.write(its_mark + b"3\r\n" + bulk(b"message") + bulk(channel) + bulk(message))
            writer.write(b":%d\r\n" % len(found))
        elif name in (b"SUBSCRIBE", b"UNSUBSCRIBE"):
            for channel in arguments:
                if name == b"SUBSCRIBE":
                    self.subscribers[channel][writer] = mark
                else:
                    self.subscribers[channel].pop(writer, None)
                writer.write(mark + b"3\r\n" + bulk(name.lower()) + bulk(channel) + b":1\r\n")
        elif name == b"HELLO":
            writer.write(b"%1\r\n" + bulk(b"proto") + b":3\r\n")
        else:
            writer.write(b"+PONG\r\n" if name == b"PING" else b"+OK\r\n")


async def main() -> None:
    server = await asyncio.start_server(StandIn().serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
