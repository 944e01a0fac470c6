# SPDX-License-Identifier: MIT
"""The settings, read once from the environment and validated."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from kit.rate_limit import rate_limit

FOLDER = Path(__file__).resolve().parents[1]
SECRET_BYTES = 32
DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}

T = TypeVar("T")


class SettingsError(Exception):
    """Invalid environment variables; the message has a line for each."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What differs between a laptop and a server.

    Attributes:
        database_url: CONDUIT_DATABASE_URL, `sqlite:///<path>` or `postgresql://...`.
        secret: CONDUIT_SECRET, the key of tokens. Required in production.
        is_production: Whether CONDUIT_ENV is `production`, not `development`. In development the
            app migrates its database at startup.
        has_examples: CONDUIT_SEED, 1 or 0: whether to fill an empty database with example data at
            startup, in development.
        token_lifetime_s: CONDUIT_TOKEN_LIFETIME, the lifetime of logins in seconds.
        login_limit: CONDUIT_LOGIN_LIMIT, the limit of logins and of sign-ups per client, and of
            logins per account.
        pool_size: CONDUIT_POOL_SIZE, the maximum number of database connections per process.
        origins: CONDUIT_ORIGINS, the origins whose scripts may call the API; `*` for all.
        trusted_hops: CONDUIT_TRUSTED_HOPS, the number of proxies in front of the app.
    """

    database_url: URL
    secret: str = field(repr=False)
    is_production: bool = False
    has_examples: bool = True
    token_lifetime_s: int = 7 * 24 * 60 * 60
    login_limit: str = "30/minute"
    pool_size: int = 10
    origins: tuple[str, ...] = ("*",)
    trusted_hops: int = 0

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Reads the settings; an empty variable counts as missing.

        Raises:
            SettingsError: If variables are missing or invalid.
        """
        read = _Reader(environ)
        env = read("ENV", "development", _environment)
        url = read("DATABASE_URL", f"sqlite:///{FOLDER / 'conduit.db'}", _database_url)
        secret = read("SECRET", "", _secret)
        if env == "production" and not environ.get("CONDUIT_SECRET"):
            read.wrong.append("CONDUIT_SECRET: required if CONDUIT_ENV is production")
        settings = cls(
            database_url=url,
            secret=secret,
            is_production=env == "production",
            has_examples=read("SEED", "1", _flag),
            token_lifetime_s=read("TOKEN_LIFETIME", "604800", _number),
            login_limit=read("LOGIN_LIMIT", "30/minute", _limit),
            pool_size=read("POOL_SIZE", "10", _number),
            origins=read("ORIGINS", "*", lambda text: tuple(text.split())),
            trusted_hops=read("TRUSTED_HOPS", "0", lambda text: _number(text, least=0)),
        )
        if read.wrong:
            raise SettingsError("\n".join(read.wrong))
        return settings if secret else replace(settings, secret=_kept_secret(url))


class _Reader:
    """Reads variables, and collects their errors."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.wrong: list[str] = []

    def __call__(self, name: str, default: str, convert: Callable[[str], T]) -> T:
        variable = f"CONDUIT_{name}"
        try:
            return convert(self._environ.get(variable) or default)
        except ValueError as error:
            self.wrong.append(f"{variable}: {error}")
            return convert(default)


def _environment(text: str) -> str:
    if text not in ("development", "production"):
        raise ValueError(f"expected development or production, not {text!r}")
    return text


def _number(text: str, least: int = 1) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) < least:
        raise ValueError(f"expected a whole number of {least} or more, not {text!r}")
    return int(text)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(f"expected 1 or 0, not {text!r}")
    return text == "1"


def _limit(text: str) -> str:
    rate_limit(text)  # checks it
    return text


def _secret(text: str) -> str:
    # RFC 7518, section 3.2: the key of HS256 must be at least as long as the hash.
    if text and len(text.encode()) < SECRET_BYTES:
        raise ValueError(f"expected {SECRET_BYTES} bytes or more, e.g. from `openssl rand -hex 32`")
    return text


def _database_url(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        # The text may contain a password.
        raise ValueError("expected a URL such as postgresql://user@host/database") from None
    driver = DRIVERS.get(url.get_backend_name())
    if driver is None:
        raise ValueError(f"expected sqlite or postgresql, not {url.get_backend_name()!r}")
    if driver.startswith("sqlite") and url.database in (None, "", ":memory:"):
        raise ValueError("expected a file: each connection to :memory: opens another database")
    return url.set(drivername=driver)


def _kept_secret(url: URL) -> str:
    """Returns a secret that is generated at the first start, so that logins outlast restarts."""
    beside = url.database if url.get_backend_name() == "sqlite" else None
    file = Path(beside).with_suffix(".secret") if beside else FOLDER / "conduit.secret"
    # Several workers may start at once: all of them have to use the secret of the first.
    own = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(FileExistsError):
        if not file.exists():
            own.touch(mode=0o600)
            own.write_text(secrets.token_hex(SECRET_BYTES))
            os.link(own, file)
    own.unlink(missing_ok=True)
    return file.read_text()
