# SPDX-License-Identifier: MIT
"""How an app is served: what servers need to know besides the app and the address."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click

_CERT = "--tls-cert"
_KEY = "--tls-key"
_OTHER_KEY = ("KEY_VALUES_MISMATCH", "NO_CERTIFICATE_ASSIGNED", "KEY_TYPE_MISMATCH")


@dataclass(frozen=True)
class Serving:
    """How an app is served.

    Attributes:
        root_path: The path that a proxy removed from the paths of requests.
        tls_cert: The file of the certificate, in PEM; None to serve without TLS.
        tls_key: The file of its private key, in PEM.
    """

    root_path: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def scheme(self) -> str:
        """The scheme of the server's URLs."""
        return "http" if self.tls_cert is None else "https"


PLAIN = Serving()


def checked(root_path: str, cert: Path | None, key: Path | None) -> Serving:
    """Checks the options of a command.

    Args:
        root_path: The value of `--root-path`.
        cert: The value of `--tls-cert`.
        key: The value of `--tls-key`.

    Raises:
        UsageError: If only one of the files is given.
        BadParameter: If a value can't be used; the text says why.
    """
    root_path = root_path.rstrip("/")
    if root_path and not root_path.startswith("/"):
        raise click.BadParameter(
            f"expected e.g. '/shop', not {root_path!r}", param_hint="'--root-path'"
        )
    if (cert is None) != (key is None):
        given, lacking = (_CERT, _KEY) if key is None else (_KEY, _CERT)
        raise click.UsageError(f"{given} needs {lacking} too: give both")
    if cert is not None and key is not None:
        _check_files(cert, key)
    return Serving(root_path, cert, key)


def _check_files(cert: Path, key: Path) -> None:
    if "-----BEGIN CERTIFICATE-----" not in _read(cert, _CERT):
        _refuse(_CERT, f"{cert} has no certificate in PEM: expected -----BEGIN CERTIFICATE-----")
    text = _read(key, _KEY)
    if "PRIVATE KEY-----" not in text:
        _refuse(_KEY, f"{key} has no private key in PEM: expected -----BEGIN PRIVATE KEY-----")
    if "ENCRYPTED" in text:
        _refuse(
            _KEY,
            f"{key} is encrypted, and nobody would type its passphrase when a process starts: "
            f"decrypt it by openssl pkey -in {key} -out plain.pem",
        )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
    except ssl.SSLError as error:
        if error.reason in _OTHER_KEY:
            _refuse(_KEY, f"{key} isn't the key of the certificate in {cert}")
        _refuse(_CERT, f"{cert} and {key} can't be used: {error.reason or error}")


def _read(file: Path, option: str) -> str:
    try:
        return file.read_text(encoding="latin-1")
    except OSError as error:
        _refuse(option, f"can't read {file}: {error.strerror}", error)


def _refuse(option: str, reason: str, cause: Exception | None = None) -> NoReturn:
    raise click.BadParameter(reason, param_hint=f"'{option}'") from cause
