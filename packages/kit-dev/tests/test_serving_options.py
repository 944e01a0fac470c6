# SPDX-License-Identifier: MIT
"""`--root-path`, `--env-file`, `--tls-cert` and `--tls-key` of `kit dev` and `kit serve`."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
from os import environ
from kit import Kit

app = Kit()
app.get("/", lambda c: c.text(f"{c.req.url} {c.req.path} {environ['WORD']} {environ['HOME']}"))
"""
MAKE = """
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem
-days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an app, a certificate and its key."""
    folder = tmp_path_factory.mktemp("tls")
    (folder / "app.py").write_text(APP)
    (folder / "variables").write_text("export WORD='two words' # a comment\nHOME=changed\n")
    try:
        subprocess.run(MAKE.split(), cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl")
    return folder


@pytest.mark.parametrize(
    "arguments", [("dev",), ("serve",), ("serve", "--workers", "2")], ids=" ".join
)
def test_https_below_a_path_with_variables_of_a_file(
    arguments: tuple[str, ...],
    files: Path,
    kit: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "kept")
    monkeypatch.setenv("KIT_APP", str(files / "app.py"))
    options = {
        "--root-path": "/shop/",
        "--env-file": files / "variables",
        "--tls-cert": files / "cert.pem",
        "--tls-key": files / "key.pem",
        "--port": 0,
    }
    process = kit(*arguments, *(str(part) for option in options.items() for part in option))
    url = process.wait_for(r"^Serving .* at (https://127\.0\.0\.1:\d+) ")[1]
    context = ssl.create_default_context(cafile=str(files / "cert.pem"))
    with urlopen(url, context=context) as response:
        assert response.read().decode() == f"{url}/shop/ / two words kept"
    process.interrupt()
    assert process.end() == 0


def test_a_change_of_the_variables_counts(kit: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "variables").write_text("WORD=one")
    process = kit("dev", "--env-file", "variables", "--port", "0")
    assert " one " in process.get()
    (tmp_path / "variables").write_text("WORD=two")
    process.wait_for("^Reloaded")
    assert " two " in process.get()


@pytest.mark.parametrize("name", ["dev", "serve"])
def test_files_that_can_not_be_used(name: str, files: Path, folder: Path) -> None:
    cert, key = str(files / "cert.pem"), str(files / "key.pem")
    other, locked = folder / "other.pem", folder / "locked.pem"
    for command in (
        f"openssl ecparam -genkey -name prime256v1 -noout -out {other}",
        f"openssl pkey -in {key} -aes256 -passout pass:x -out {locked}",
    ):
        subprocess.run(command.split(), check=True, capture_output=True)
    (folder / "latin").write_bytes(b"A=\xff\n")
    for options, text in (
        (["--tls-cert", cert], "--tls-cert needs --tls-key too: give both"),
        (["--tls-key", key], "--tls-key needs --tls-cert too: give both"),
        (
            ["--tls-cert", "no.pem", "--tls-key", key],
            "Invalid value for '--tls-cert': can't read no.pem: No such file or directory",
        ),
        (
            ["--tls-cert", key, "--tls-key", key],
            f"'--tls-cert': {key} has no certificate in PEM: expected -----BEGIN CERTIFICATE-----",
        ),
        (
            ["--tls-cert", cert, "--tls-key", cert],
            f"'--tls-key': {cert} has no private key in PEM: expected -----BEGIN PRIVATE KEY-----",
        ),
        (
            ["--tls-cert", cert, "--tls-key", str(other)],
            f"'--tls-key': {other} isn't the key of the certificate in {cert}",
        ),
        (
            ["--tls-cert", cert, "--tls-key", str(locked)],
            f"'--tls-key': {locked} is encrypted, and nobody would type its passphrase when a "
            f"process starts: decrypt it by openssl pkey -in {locked} -out plain.pem",
        ),
        (["--root-path", "shop"], "'--root-path': expected e.g. '/shop', not 'shop'"),
        (["--env-file", "none"], "'--env-file': File 'none' does not exist."),
        (
            ["--env-file", "latin"],
            "Can't read the environment variables in latin: it is not text in UTF-8",
        ),
    ):
        result = CliRunner().invoke(main, [name, str(files / "app.py"), *options])
        assert result.exit_code in (1, 2)
        assert result.output.endswith(f"{text}\n")


def test_a_certificate_that_is_broken(files: Path) -> None:
    broken = files / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    options = ["--tls-cert", str(broken), "--tls-key", str(files / "key.pem")]
    result = CliRunner().invoke(main, ["serve", str(files / "app.py"), *options])
    assert f"'--tls-cert': {broken} and {files / 'key.pem'} can't be used: " in result.output


def test_servers_that_lack_an_option(
    distribution: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = distribution(
        "acme-plain",
        {"kit.servers": {"plain": "acme_plain:serve"}},
        acme_plain="def serve(target, *, host, port, uds, workers):\n    return 5\n",
    )
    monkeypatch.syspath_prepend(str(site))
    arguments = ["serve", "app.py", "--server", "plain"]
    assert CliRunner().invoke(main, arguments).exit_code == 5
    result = CliRunner().invoke(main, [*arguments, "--root-path", "/shop"])
    assert result.exit_code == 2
    assert result.output.endswith("Error: --server plain has no --root-path\n")
