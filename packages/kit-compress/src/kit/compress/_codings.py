# SPDX-License-Identifier: MIT
"""The content codings: compressors for whole bodies and for streams."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ("CODINGS", "DEFAULT", "Coding", "Encoder", "Kind", "is_installed")

# SPEC: RFC 1952 and RFC 1950 as the windowBits of zlib; `deflate` is the zlib format (RFC 9110,
# section 8.4.1.2).
_GZIP_BITS, _ZLIB_BITS = 31, 15
_HALF_WINDOW_BYTES = 16 * 1024
# A stream may last for hours, so its window is limited to 512 KiB.
_STREAM_WINDOW_BITS = 19


class Encoder(NamedTuple):
    """Compresses one stream.

    Attributes:
        compress: Takes data, and returns the output so far, which may be empty.
        flush: Returns all pending output, so that a client can decode everything up to here.
        finish: Returns the end of the stream.
    """

    compress: Callable[[Any], bytes]
    flush: Callable[[], bytes]
    finish: Callable[[], bytes]


class Coding(NamedTuple):
    """A content coding at a level.

    Attributes:
        whole: Compresses a body.
        encoder: Returns an encoder for one stream.
    """

    whole: Callable[[bytes], bytes]
    encoder: Callable[[], Encoder]


class Kind(NamedTuple):
    """A content coding that `compress` supports.

    Attributes:
        make: Returns the coding for a level; raises ImportError if its library is missing.
        levels: The lowest and the highest level.
        level: The default.
        extra: The extra of this distribution that installs the library; None if Python includes it.
        module: The library.
    """

    make: Callable[[int], Coding]
    levels: tuple[int, int]
    level: int
    extra: str | None
    module: str


def _zlib_maker(window_bits: int) -> Callable[[int], Coding]:
    def make(level: int) -> Coding:
        def whole(body: bytes) -> bytes:
            # PERF: half the window takes a third less time, if the body fits in it.
            bits = window_bits - 1 if len(body) <= _HALF_WINDOW_BYTES else window_bits
            return zlib.compress(body, level, bits)

        def encoder() -> Encoder:
            stream = zlib.compressobj(level, zlib.DEFLATED, window_bits)
            return Encoder(stream.compress, lambda: stream.flush(zlib.Z_SYNC_FLUSH), stream.flush)

        return Coding(whole, encoder)

    return make


def _brotli(level: int) -> Coding:
    brotli: Any = import_module(CODINGS["br"].module)

    def whole(body: bytes) -> bytes:
        return brotli.compress(body, quality=level)  # type: ignore[no-any-return]

    def encoder() -> Encoder:
        stream = brotli.Compressor(quality=level, lgwin=_STREAM_WINDOW_BITS)
        return Encoder(stream.process, stream.flush, stream.finish)

    return Coding(whole, encoder)


def _zstd(level: int) -> Coding:
    zstd: Any = import_module(CODINGS["zstd"].module)
    parameter = zstd.CompressionParameter
    options = {parameter.compression_level: level, parameter.window_log: _STREAM_WINDOW_BITS}

    def whole(body: bytes) -> bytes:
        return zstd.compress(body, level)  # type: ignore[no-any-return]

    def encoder() -> Encoder:
        stream = zstd.ZstdCompressor(options=options)
        return Encoder(
            stream.compress, lambda: stream.flush(stream.FLUSH_BLOCK), lambda: stream.flush()
        )

    return Coding(whole, encoder)


CODINGS = {
    # SPEC: RFC 9659: no window beyond 8 MiB, which the levels from 20 on exceed.
    "zstd": Kind(
        _zstd,
        (1, 19),
        3,
        "zstd",
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",
    ),
    "br": Kind(_brotli, (0, 11), 4, "brotli", "brotli"),
    "gzip": Kind(_zlib_maker(_GZIP_BITS), (1, 9), 6, None, "zlib"),
    "deflate": Kind(_zlib_maker(_ZLIB_BITS), (1, 9), 6, None, "zlib"),
}
"""The codings by their names in Content-Encoding."""

DEFAULT = ("zstd", "br", "gzip")
"""The default codings, used if they are installed."""


def is_installed(name: str) -> bool:
    """Returns whether the library of a coding can be imported.

    Args:
        name: The coding.
    """
    try:
        import_module(CODINGS[name].module)
    except ImportError:
        return False
    return True
