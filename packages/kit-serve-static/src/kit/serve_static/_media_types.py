# SPDX-License-Identifier: MIT
"""Content types by file extension, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

__all__ = ("OCTET_STREAM", "find_content_type", "find_extension", "is_compressible", "is_known")

OCTET_STREAM = "application/octet-stream"

# From the IANA registry and MDN's list for the Web. The module mimetypes uses system settings: an
# entry in the Windows registry can turn scripts into text/plain, which browsers reject.
_TYPES = {
    "7z": "application/x-7z-compressed",
    "aac": "audio/aac",
    "apng": "image/apng",
    "atom": "application/atom+xml",
    "avi": "video/x-msvideo",
    "avif": "image/avif",
    "bin": OCTET_STREAM,
    "bmp": "image/bmp",
    "bz2": "application/x-bzip2",
    "cjs": "text/javascript",
    "css": "text/css",
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eot": "application/vnd.ms-fontobject",
    "epub": "application/epub+zip",
    "flac": "audio/flac",
    "geojson": "application/geo+json",
    "gif": "image/gif",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "gz": "application/gzip",
    "heic": "image/heic",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/x-icon",
    "ics": "text/calendar",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "jsonld": "application/ld+json",
    "jxl": "image/jxl",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4a": "audio/mp4",
    "m4v": "video/mp4",
    "map": "application/json",
    "md": "text/markdown",
    "mid": "audio/x-midi",
    "midi": "audio/x-midi",
    "mjs": "text/javascript",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "mpd": "application/dash+xml",
    "mpeg": "video/mpeg",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "opus": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rss": "application/rss+xml",
    "rtf": "application/rtf",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "toml": "application/toml",
    "ts": "video/mp2t",
    "ttf": "font/ttf",
    "txt": "text/plain",
    "vtt": "text/vtt",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "weba": "audio/webm",
    "webm": "video/webm",
    "webmanifest": "application/manifest+json",
    "webp": "image/webp",
    "whl": "application/zip",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xhtml": "application/xhtml+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
    "zst": "application/zstd",
}
_COMPRESSIBLE = frozenset(
    f"application/{each}"
    for each in (
        "json",
        "octet-stream",
        "rtf",
        "toml",
        "vnd.apple.mpegurl",
        "vnd.ms-fontobject",
        "wasm",
        "x-tar",
        "xml",
        "yaml",
    )
) | {"font/otf", "font/ttf", "image/bmp", "image/x-icon", "model/gltf-binary"}


def find_extension(name: str) -> str:
    """Returns the extension of a file name, in lower case; `""` if it has none.

    Args:
        name: The name, or a path that ends with it.
    """
    return name.rpartition("/")[2].rpartition(".")[2].lower() if "." in name else ""


def is_known(name: str) -> bool:
    """Returns whether the table has a type for the extension of a name."""
    return find_extension(name) in _TYPES


def find_content_type(name: str, mimes: Mapping[str, str]) -> str | None:
    """Returns the content type for a file name, with the charset if it is text.

    Args:
        name: The name of the file, or a path that ends with it.
        mimes: Further types by extension, which take precedence.

    Returns:
        E.g. `text/css; charset=utf-8`; None if the extension isn't known.
    """
    extension = find_extension(name)
    return mimes.get(extension) or _with_charset(_TYPES.get(extension))


@lru_cache(maxsize=256)
def _with_charset(kind: str | None) -> str | None:
    return f"{kind}; charset=utf-8" if kind and kind.startswith("text/") else kind


@lru_cache(maxsize=256)
def is_compressible(content_type: str) -> bool:
    """Returns whether compression makes a file of this type smaller.

    Args:
        content_type: The content type; parameters don't matter.
    """
    kind = content_type.partition(";")[0].strip().lower()
    return (
        kind.startswith("text/")
        or kind in _COMPRESSIBLE
        or kind.endswith(("+json", "+xml", "+text"))
    )
