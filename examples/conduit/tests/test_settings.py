# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from pathlib import Path

import pytest
from conduit.settings import FOLDER, Settings, SettingsError

SECRET = "0123456789abcdef0123456789abcdef"


def test_the_defaults_are_those_of_development() -> None:
    settings = Settings.from_environ({"CONDUIT_SECRET": SECRET})
    assert settings.database_url.render_as_string() == f"sqlite+aiosqlite:///{FOLDER}/conduit.db"
    assert not settings.is_production
    assert settings.has_examples
    assert settings.origins == ("*",)


def test_every_variable_is_read() -> None:
    settings = Settings.from_environ(
        {
            "CONDUIT_ENV": "production",
            "CONDUIT_DATABASE_URL": "postgresql://kit@/conduit?host=/run/postgresql",
            "CONDUIT_SECRET": SECRET,
            "CONDUIT_SEED": "0",
            "CONDUIT_TOKEN_LIFETIME": "60",
            "CONDUIT_LOGIN_LIMIT": "5/minute",
            "CONDUIT_POOL_SIZE": "3",
            "CONDUIT_ORIGINS": "https://a.example https://b.example",
            "CONDUIT_TRUSTED_HOPS": "1",
        }
    )
    assert settings.database_url.drivername == "postgresql+asyncpg"
    assert settings.database_url.query == {"host": "/run/postgresql"}
    assert settings.is_production
    assert not settings.has_examples
    assert settings.token_lifetime_s == 60
    assert settings.login_limit == "5/minute"
    assert settings.pool_size == 3
    assert settings.origins == ("https://a.example", "https://b.example")
    assert settings.trusted_hops == 1


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ENV", "test", "CONDUIT_ENV: expected development or production, not 'test'"),
        (
            "DATABASE_URL",
            "user:password",
            "CONDUIT_DATABASE_URL: expected a URL such as postgresql://user@host/database",
        ),
        (
            "DATABASE_URL",
            "mysql://x",
            "CONDUIT_DATABASE_URL: expected sqlite or postgresql, not 'mysql'",
        ),
        (
            "DATABASE_URL",
            "sqlite://",
            "CONDUIT_DATABASE_URL: expected a file: each connection to :memory: opens another "
            "database",
        ),
        (
            "SECRET",
            "short",
            "CONDUIT_SECRET: expected 32 bytes or more, e.g. from `openssl rand -hex 32`",
        ),
        ("SEED", "yes", "CONDUIT_SEED: expected 1 or 0, not 'yes'"),
        ("POOL_SIZE", "0", "CONDUIT_POOL_SIZE: expected a whole number of 1 or more, not '0'"),
        (
            "TRUSTED_HOPS",
            "-1",
            "CONDUIT_TRUSTED_HOPS: expected a whole number of 0 or more, not '-1'",
        ),
    ],
)
def test_errors_name_the_variable(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        Settings.from_environ({"CONDUIT_SECRET": SECRET, f"CONDUIT_{name}": value})


def test_all_errors_are_reported_at_once() -> None:
    environ = {"CONDUIT_ENV": "production", "CONDUIT_LOGIN_LIMIT": "often", "CONDUIT_SEED": "x"}
    with pytest.raises(SettingsError) as caught:
        Settings.from_environ(environ)
    lines = str(caught.value).splitlines()
    assert lines[0] == "CONDUIT_SECRET: required if CONDUIT_ENV is production"
    assert [line.split(":")[0] for line in lines[1:]] == ["CONDUIT_SEED", "CONDUIT_LOGIN_LIMIT"]


def test_the_secret_of_development_is_kept(tmp_path: Path) -> None:
    environ = {"CONDUIT_DATABASE_URL": f"sqlite:///{tmp_path}/x.db"}
    first, second = Settings.from_environ(environ), Settings.from_environ(environ)
    assert first.secret == second.secret
    assert len(first.secret) == 64
    file = tmp_path / "x.secret"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [file]


def test_nothing_shows_the_secret() -> None:
    settings = Settings.from_environ(
        {"CONDUIT_SECRET": SECRET, "CONDUIT_DATABASE_URL": "postgresql://kit:hidden@localhost/x"}
    )
    assert SECRET not in repr(settings)
    assert "hidden" not in repr(settings)
