# SPDX-License-Identifier: MIT
"""Finds the file for a path: the file itself, an index, or a precompressed version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from kit.http.encodings import IDENTITY, choose_encoding

from ._file_results import IS_FOLDER, FileHeaders, FileRequest, FileResult, answer
from ._files import FOLDER, Folder, OpenFile
from ._media_types import OCTET_STREAM, find_content_type, is_compressible

EXTENSIONS = {"br": ".br", "zstd": ".zst", "gzip": ".gz"}
"""Content codings, the preferred one first, and the extensions of files that have them."""


class StaticRoot(NamedTuple):
    """A folder that is served.

    Attributes:
        folder: The folder.
        index_name: Name of the file to send for a folder, or None.
        mimes: Further content types, by extension.
        encodings: The content codings to look for, the preferred one first.
        hand_over: Whether the server may open files by their paths.
    """

    folder: Folder
    index_name: str | None
    mimes: Mapping[str, str]
    encodings: tuple[str, ...]
    hand_over: bool

    def answer(
        self, file_request: FileRequest, segments: Sequence[str], has_slash: bool, redirects: bool
    ) -> FileResult | Literal["is folder"] | None:
        """Responds with a file, or with the index of a folder. Blocks.

        Args:
            file_request: The request.
            segments: The names on its path.
            has_slash: Whether the path has a trailing slash, so that it must be a folder.
            redirects: Whether to return `IS_FOLDER` for a folder that has an index.

        Returns:
            The response; None if there is nothing to send.

        Raises:
            OSError: If the system fails.
        """
        file = self.folder.open(segments)
        if file == FOLDER:
            if self.index_name is None:
                return None
            segments = (*segments, self.index_name)
            file = self.folder.open(segments)
        elif has_slash:
            return None
        else:
            redirects = False
        if not isinstance(file, OpenFile):
            return None
        return IS_FOLDER if redirects else self._answer_with(file_request, file, segments)

    def _answer_with(
        self, file_request: FileRequest, file: OpenFile, segments: Sequence[str]
    ) -> FileResult:
        path = file.path
        content_type = find_content_type(segments[-1], self.mimes) or OCTET_STREAM
        encoding = None
        varies = bool(self.encodings) and is_compressible(content_type)
        if varies:
            encoding, file = self._encoded(file_request, file, segments)
        found = answer(
            file_request, file, FileHeaders(content_type, encoding, None, self.hand_over)
        )
        if varies:
            found.headers["Vary"] = "Accept-Encoding"
        return FileResult(found.status, found.headers, found.body, path, "/".join(segments))

    def _encoded(
        self, file_request: FileRequest, file: OpenFile, segments: Sequence[str]
    ) -> tuple[str | None, OpenFile]:
        """Chooses between the file and its precompressed versions."""
        available = self.encodings
        accepted = file_request.get("Accept-Encoding")
        # SPEC: RFC 9110, section 12.5: if nothing is acceptable, the file is sent unchanged.
        while (encoding := choose_encoding(accepted, available)) not in (None, IDENTITY):
            other = self.folder.open((*segments[:-1], segments[-1] + EXTENSIONS[str(encoding)]))
            if isinstance(other, OpenFile):
                file.close()
                return encoding, other
            available = tuple(each for each in available if each != encoding)
        return None, file
