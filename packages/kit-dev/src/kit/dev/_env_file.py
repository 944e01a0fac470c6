# SPDX-License-Identifier: MIT
"""Sets the environment variables of a file."""

from __future__ import annotations

from pathlib import Path

from ._errors import EnvFileError


def load_env_file(file: Path | None, *, sets: bool = True) -> None:
    """Sets the variables of a file such as `.env`; those that are set already keep their values.

    Args:
        file: The file; None for none.
        sets: Whether to set the variables. If not, the file is only checked.

    Raises:
        EnvFileError: If the file can't be read.
    """
    if file is None:
        return
    # The parser of uvicorn's and Flask's --env-file: quotes, comments, `export` and ${NAME} mean
    # the same as there.
    from dotenv import load_dotenv

    try:
        # Read here, as load_dotenv takes a file that is missing for an empty one.
        with file.open(encoding="utf-8-sig") as text:
            if sets:
                load_dotenv(stream=text)
            else:
                text.read()
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise EnvFileError(str(file), str(reason)) from error
