# SPDX-License-Identifier: MIT
"""`sign`, `verify`, `decode`, and the claims."""

from __future__ import annotations

import base64
import json
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt_keys import ASYMMETRIC, SECRET, jwk_of, pem, private_key, public_jwk, rsa_key

from kit.jwt import (
    DecodedToken,
    JwtAlgorithmMismatchError,
    JwtClaimMissingError,
    JwtError,
    JwtHeaderInvalidError,
    JwtPayloadInvalidError,
    JwtTokenAudienceError,
    JwtTokenExpiredError,
    JwtTokenInvalidError,
    JwtTokenIssuedAtError,
    JwtTokenIssuerError,
    JwtTokenNotBeforeError,
    JwtTokenSignatureMismatchedError,
    decode,
    decode_header,
    sign,
    verify,
)

NOW = 1_700_000_000


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stops the clock at NOW."""
    monkeypatch.setattr(time, "time", lambda: NOW + 0.5)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def with_header(header: Any, payload: bytes = b'{"a":1}', key: str = SECRET) -> str:
    """A token with any header and any payload, signed by HS256."""
    import hmac

    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    signed = f"{b64(encoded)}.{b64(payload)}"
    return f"{signed}.{b64(hmac.digest(key.encode(), signed.encode(), 'sha256'))}"


# --- signing and verifying -----------------------------------------------------------------------


@pytest.mark.parametrize("alg", ["HS256", "HS384", "HS512"])
@pytest.mark.parametrize("kind", ["text", "bytes", "jwk"])
def test_secrets(alg: Any, kind: str) -> None:
    key: Any = {
        "text": SECRET,
        "bytes": SECRET.encode(),
        "jwk": {"kty": "oct", "k": b64(SECRET.encode())},
    }[kind]
    token = sign({"sub": "ann"}, key, alg)
    assert verify(token, SECRET, alg) == {"sub": "ann"}
    assert verify(sign({"sub": "ann"}, SECRET, alg), key, alg) == {"sub": "ann"}
    with pytest.raises(JwtTokenSignatureMismatchedError):
        verify(token, SECRET + "x", alg)


@pytest.mark.parametrize("alg", ASYMMETRIC)
def test_key_pairs(alg: Any) -> None:
    key = private_key(alg)
    public = key.public_key()
    for own in (pem(key), pem(key).encode(), jwk_of(key), key):
        token = sign({"sub": "ann"}, own, alg)
        assert decode_header(token) == {"typ": "JWT", "alg": alg}
        for other in (pem(public), pem(public).encode(), jwk_of(public), public, own):
            assert verify(token, other, alg) == {"sub": "ann"}
    for other in (pem(public), jwk_of(public), public):
        with pytest.raises(ValueError, match=rf"^sign\(key=\.\.\.\) can't be used: {alg} signs"):
            sign({}, other, alg) if not isinstance(other, dict) else sign({}, public, alg)
    stranger = private_key(alg, "stranger") if alg != "EdDSA" else private_key("Ed448")
    with pytest.raises(JwtTokenSignatureMismatchedError):
        verify(sign({}, stranger, alg), public, alg)


def test_ed448() -> None:
    key = private_key("Ed448")
    assert verify(sign({"a": 1}, key, "EdDSA"), jwk_of(key.public_key()), "EdDSA") == {"a": 1}


def test_algorithm_and_id_of_a_json_web_key() -> None:
    key = jwk_of(private_key("ES256"), alg="ES256", kid="k1")
    token = sign({"a": 1}, key)
    assert decode_header(token) == {"typ": "JWT", "kid": "k1", "alg": "ES256"}
    assert verify(token, public_jwk("ES256", alg="ES256")) == {"a": 1}
    assert verify(token, public_jwk("ES256"), "ES256") == {"a": 1}
    assert decode_header(sign({}, key, header={"kid": "k2"}))["kid"] == "k2"


def test_header_of_a_signed_token() -> None:
    token = sign({}, SECRET, header={"typ": "at+jwt", "kid": "a"})
    assert decode_header(token) == {"typ": "at+jwt", "kid": "a", "alg": "HS256"}
    assert decode(token) == DecodedToken({"typ": "at+jwt", "kid": "a", "alg": "HS256"}, {})


def test_decoded_headers_are_not_shared() -> None:
    token = sign({}, SECRET, header={"x": [1]})
    for header in (decode_header(token), decode(token).header):
        header["alg"] = "none"
        header["x"].append(2)
    assert decode_header(token) == {"typ": "JWT", "alg": "HS256", "x": [1]}
    assert verify(token, SECRET, "HS256") == {}


def test_long_header() -> None:
    token = sign({"a": 1}, SECRET, header={"x5c": ["A" * 1000]})
    assert verify(token, SECRET, "HS256") == {"a": 1}


def test_times_may_be_datetimes() -> None:
    at = datetime(2023, 11, 14, 22, 13, 20, 900000, tzinfo=UTC)
    token = sign({"exp": at, "nbf": at, "iat": at, "sub": "ann"}, SECRET)
    assert decode(token).payload == {"exp": NOW, "nbf": NOW, "iat": NOW, "sub": "ann"}
    soon = datetime.now(UTC) + timedelta(minutes=5)
    assert verify(sign({"exp": soon}, SECRET), SECRET, "HS256")["exp"] == int(soon.timestamp())


@pytest.mark.parametrize(
    ("payload", "error", "text"),
    [
        ([1], TypeError, "sign(payload=...) takes a mapping, not list"),
        ({"exp": "soon"}, TypeError, "sign(): 'exp' is 'soon', expected a number or a datetime"),
        ({"iat": True}, TypeError, "sign(): 'iat' is True, expected a number or a datetime"),
        ({"nbf": datetime(2023, 1, 1)}, ValueError, "sign(): 'nbf' is datetime.datetime(2023"),
        ({"exp": float("inf")}, ValueError, "sign(): 'exp' is inf, expected a finite number"),
        ({"nbf": float("nan")}, ValueError, "sign(): 'nbf' is nan, expected a finite number"),
        ({"a": object()}, TypeError, "Encoding objects of type object is unsupported"),
    ],
)
def test_what_can_not_be_signed(payload: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        sign(payload, SECRET)
    assert text in str(caught.value)


def test_alg_is_no_member_of_the_header() -> None:
    with pytest.raises(
        ValueError, match=r"^sign\(header=\.\.\.\) can't have 'alg': use alg=\.\.\.$"
    ):
        sign({}, SECRET, header={"alg": "HS256"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
claims = st.dictionaries(
    st.text().filter(lambda name: name not in ("exp", "nbf", "iat", "aud")), json_values, max_size=4
)


@given(claims)
@settings(max_examples=40)
def test_what_is_signed_is_what_is_verified(payload: dict[str, Any]) -> None:
    token = sign(payload, SECRET)
    assert verify(token, SECRET, "HS256") == payload
    assert decode(token).payload == payload


@given(st.data())
@settings(max_examples=80)
def test_a_changed_token_is_refused(data: st.DataObject) -> None:
    token = sign({"sub": "ann"}, SECRET)
    at = data.draw(st.integers(0, len(token) - 1))
    new = data.draw(st.characters(codec="utf-8"))
    changed = token[:at] + new + token[at + 1 :]
    if changed != token:
        with pytest.raises(JwtError):
            verify(changed, SECRET, "HS256")


@given(st.text() | st.binary().map(b64) | st.from_regex(r"\A[\w-]+\.[\w-]+\.[\w-]*\Z"))
@settings(max_examples=80)
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(JwtError):
        verify(text, SECRET, "HS256")


# --- the form of a token -------------------------------------------------------------------------

HEADER = {"alg": "HS256", "typ": "JWT"}


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a.b",
        "a.b.c.d",
        "\u00e9.b.c",
        sign({}, SECRET) + "=",
        sign({}, SECRET) + "==",
        " " + sign({}, SECRET),
        sign({}, SECRET) + "\n",
        with_header(b"[]"),
        with_header(b"null"),
        with_header(b"{"),
        with_header(b"\xff"),
        with_header(b"[" * 100_000),
    ],
)
def test_malformed_tokens(token: str) -> None:
    for function in (lambda: verify(token, SECRET, "HS256"), lambda: decode(token)):
        with pytest.raises(JwtTokenInvalidError):
            function()


@pytest.mark.parametrize(("token", "kind"), [(None, "NoneType"), (b"a.b.c", "bytes")])
@pytest.mark.parametrize(
    "function", [decode, decode_header, lambda token: verify(token, SECRET, "HS256")]
)
def test_token_that_is_not_text(token: Any, kind: str, function: Any) -> None:
    with pytest.raises(TypeError, match=f"^a token must be a str, not {kind}$"):
        function(token)


def test_other_spellings_of_a_signature() -> None:
    # The last of 43 characters has two bits that mean nothing: three other ones have the same rest.
    token = sign({"sub": "ann"}, SECRET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    at = alphabet.index(token[-1])
    assert at % 4 == 0
    for other in alphabet[at + 1 : at + 4]:
        with pytest.raises(JwtTokenInvalidError, match="not canonical base64url"):
            verify(token[:-1] + other, SECRET, "HS256")


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"alg": None},
        {"alg": ["HS256"]},
        {**HEADER, "typ": 7},
        {**HEADER, "typ": None},
        {**HEADER, "kid": 7},
        {**HEADER, "kid": None},
        {**HEADER, "b64": True},
        {**HEADER, "crit": []},
        {**HEADER, "crit": ["exp"], "exp": 1},
        {**HEADER, "typ": "at+jwt"},
        {**HEADER, "typ": ""},
    ],
)
def test_headers_that_are_refused(header: Any) -> None:
    with pytest.raises(JwtHeaderInvalidError):
        verify(with_header(header), SECRET, "HS256")


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "HS512", "hs256", "RS256", ""])
def test_other_algorithms(alg: str) -> None:
    token = with_header({"alg": alg})
    for each in (token, token.rpartition(".")[0] + "."):
        with pytest.raises(JwtAlgorithmMismatchError):
            verify(each, SECRET, "HS256")


@pytest.mark.parametrize("payload", [b"1", b"[]", b'"a"', b"null", b"{", b"", b"\xff", b"[" * 9999])
def test_payloads_that_are_no_objects(payload: bytes) -> None:
    with pytest.raises(JwtPayloadInvalidError, match="not a JSON object"):
        verify(with_header(HEADER, payload), SECRET, "HS256")
    with pytest.raises(JwtPayloadInvalidError, match="not a JSON object"):
        decode(with_header(HEADER, payload))


def test_signature_counts_before_the_claims() -> None:
    token = sign({"exp": 1}, SECRET + "x")
    with pytest.raises(JwtTokenSignatureMismatchedError):
        verify(token, SECRET, "HS256")


def test_errors_show_neither_token_nor_key() -> None:
    for token in (sign({"exp": 1}, SECRET), "secret-token", with_header({"alg": "none"})):
        with pytest.raises(JwtError) as caught:
            verify(token, SECRET, "HS256")
        assert token not in str(caught.value)
        assert SECRET not in str(caught.value)


# --- claims --------------------------------------------------------------------------------------

ISSUER = "https://issuer.example"


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize(
    ("payload", "options", "error"),
    [
        ({"exp": NOW + 1}, {}, None),
        ({"exp": NOW}, {}, JwtTokenExpiredError),
        ({"exp": NOW + 0.4}, {}, JwtTokenExpiredError),
        ({"exp": NOW + 0.6}, {}, None),
        ({"exp": 0}, {}, JwtTokenExpiredError),
        ({"exp": -1}, {}, JwtTokenExpiredError),
        ({"exp": 10**30}, {}, None),
        ({"exp": NOW - 9}, {"leeway": 10}, None),
        ({"exp": NOW - 10}, {"leeway": 10.5}, JwtTokenExpiredError),
        ({"exp": NOW - 9}, {"exp": False}, None),
        ({"exp": "2999"}, {}, JwtPayloadInvalidError),
        ({"exp": True}, {}, JwtPayloadInvalidError),
        ({"exp": None}, {}, JwtPayloadInvalidError),
        ({"exp": "2999"}, {"exp": False}, None),
        ({"nbf": NOW}, {}, None),
        ({"nbf": NOW + 1}, {}, JwtTokenNotBeforeError),
        ({"nbf": NOW + 1}, {"leeway": 1}, None),
        ({"nbf": NOW + 1}, {"nbf": False}, None),
        ({"nbf": "0"}, {}, JwtPayloadInvalidError),
        ({"iat": NOW}, {}, None),
        ({"iat": NOW + 1}, {}, JwtTokenIssuedAtError),
        ({"iat": NOW + 1}, {"leeway": 0.5}, None),
        ({"iat": NOW + 1}, {"iat": False}, None),
        ({"iat": []}, {}, JwtPayloadInvalidError),
        ({"iss": ISSUER}, {"iss": ISSUER}, None),
        ({"iss": ISSUER}, {}, None),
        ({"iss": ISSUER + "/"}, {"iss": ISSUER}, JwtTokenIssuerError),
        ({"iss": [ISSUER]}, {"iss": ISSUER}, JwtTokenIssuerError),
        ({}, {"iss": ISSUER}, JwtTokenIssuerError),
        ({"iss": ISSUER}, {"iss": re.compile("issuer")}, None),
        ({"iss": "other"}, {"iss": re.compile("issuer")}, JwtTokenIssuerError),
        ({"iss": [ISSUER]}, {"iss": re.compile("issuer")}, JwtTokenIssuerError),
        ({"aud": "api"}, {"aud": "api"}, None),
        ({"aud": ["web", "api"]}, {"aud": "api"}, None),
        ({"aud": "api"}, {"aud": ["api", "web"]}, None),
        ({"aud": ["x", "web"]}, {"aud": ("api", "web")}, None),
        ({"aud": "api-1"}, {"aud": re.compile("^api")}, None),
        ({"aud": [5, "api-1"]}, {"aud": re.compile("^api")}, None),
        ({"aud": "web"}, {"aud": re.compile("^api")}, JwtTokenAudienceError),
        ({"aud": "apis"}, {"aud": "api"}, JwtTokenAudienceError),
        ({"aud": "api"}, {"aud": "apis"}, JwtTokenAudienceError),
        ({"aud": []}, {"aud": "api"}, JwtTokenAudienceError),
        ({"aud": 5}, {"aud": "api"}, JwtTokenAudienceError),
        ({"aud": {"api": 1}}, {"aud": "api"}, JwtTokenAudienceError),
        ({}, {"aud": "api"}, JwtTokenAudienceError),
        ({"aud": "api"}, {}, JwtTokenAudienceError),
        ({"aud": "api"}, {"aud": None}, JwtTokenAudienceError),
        ({"aud": "api"}, {"aud": False}, None),
        ({"aud": None}, {}, None),
        ({"exp": NOW + 1}, {"required": "exp"}, None),
        ({"exp": NOW + 1}, {"required": ["exp", "sub"]}, JwtClaimMissingError),
        ({"sub": None}, {"required": ["sub"]}, JwtClaimMissingError),
        ({"sub": ""}, {"required": ["sub"]}, None),
    ],
)
def test_claims(payload: Any, options: Any, error: type[Exception] | None) -> None:
    token = with_header(HEADER, json.dumps(payload).encode())
    if error is None:
        assert verify(token, SECRET, "HS256", **options) == payload
        return
    with pytest.raises(JwtError) as caught:
        verify(token, SECRET, "HS256", **options)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("typ", "expected", "accepted"),
    [
        ("JWT", None, True),
        ("jwt", None, True),
        ("application/JWT", None, True),
        (None, None, True),
        ("at+jwt", None, False),
        ("at+jwt", "at+jwt", True),
        ("AT+JWT", "at+jwt", True),
        ("application/at+jwt", "at+jwt", True),
        ("at+jwt", "application/at+jwt", True),
        ("JWT", "at+jwt", False),
        ("JWT", ["at+jwt", "JWT"], True),
        (None, "at+jwt", False),
    ],
)
def test_types_of_tokens(typ: str | None, expected: Any, accepted: bool) -> None:
    token = with_header({"alg": "HS256"} if typ is None else {"alg": "HS256", "typ": typ})
    if accepted:
        assert verify(token, SECRET, "HS256", typ=expected) == {"a": 1}
        return
    with pytest.raises(JwtHeaderInvalidError, match="has the typ"):
        verify(token, SECRET, "HS256", typ=expected)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"exp": 1}, TypeError, "verify(exp=...) takes a bool, not 1"),
        ({"leeway": "1"}, TypeError, "verify(leeway=...) takes a number, not '1'"),
        ({"leeway": -1}, ValueError, "expected at least 0 seconds"),
        ({"required": 1}, TypeError, "verify(required=...) takes a str or a list of them, not 1"),
        ({"iss": 1}, TypeError, "verify(iss=...) takes a str or a compiled pattern, not 1"),
        ({"iss": ""}, ValueError, "expected the issuer, such as 'https://issuer.example'"),
        ({"aud": True}, TypeError, "verify(aud=...) takes a str or a list of them, not True"),
        ({"aud": []}, ValueError, "expected a name such as 'api', or False for any audience"),
        ({"typ": 5}, TypeError, "verify(typ=...) takes a str or a list of them, not 5"),
        ({"audience": "api"}, TypeError, "verify() has no option 'audience': expected one of"),
    ],
)
def test_mistakes_in_the_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        verify(sign({}, SECRET), SECRET, "HS256", **options)
    assert text in str(caught.value)


# --- keys ----------------------------------------------------------------------------------------


def oct_key(**more: Any) -> dict[str, Any]:
    return {"kty": "oct", "k": b64(SECRET.encode()), **more}


NO_SECRET = (
    "HS256 needs a secret as str or bytes, but this is a public or private key: use the alg of "
    "that key, such as 'RS256'"
)
RSA_KIND = "needs a key of type RSA: as PEM, a JSON Web Key or a key object"


@pytest.mark.parametrize(
    ("key", "alg", "problem"),
    [
        ("", "HS256", "the key is empty"),
        (b"", "RS256", "the key is empty"),
        ([], "RS256", "expected at least one key"),
        ("x" * 31, "HS256", "needs a secret of at least 32 bytes (RFC 7518 section 3.2), but"),
        (
            pem(rsa_key()),
            "HS256",
            NO_SECRET,
        ),
        (
            pem(rsa_key().public_key()),
            "HS512",
            NO_SECRET.replace("HS256", "HS512"),
        ),
        (
            json.dumps(public_jwk("RS256")),
            "HS256",
            NO_SECRET,
        ),
        (rsa_key(), "HS256", "HS256 needs a secret as str or bytes, not RSAPrivateKey"),
        (SECRET, "RS256", f"RS256 {RSA_KIND}"),
        (pem(private_key("ES256")), "PS256", f"PS256 {RSA_KIND}"),
        (pem(private_key("ES384")), "ES256", "needs a key of type P-256: as PEM, a JSON Web"),
        (SECRET, "EdDSA", "needs a key of type Ed25519 or Ed448: as PEM, a JSON Web Key or a"),
        (7, "ES256", "ES256 needs a key of type P-256: as PEM, a JSON Web Key or a key object"),
        (rsa_key("small", 1024), "RS256", "needs a key of at least 2048 bits (RFC 7518"),
        (oct_key(), "RS256", "RS256 needs a JSON Web Key with the kty RSA"),
        (public_jwk("RS256"), "HS256", "HS256 needs a JSON Web Key with the kty oct"),
        (public_jwk("ES384"), "ES256", "needs a JSON Web Key with the kty EC and the crv"),
        (public_jwk("ES256"), "EdDSA", "needs a JSON Web Key with the kty OKP and the crv"),
        (oct_key(alg="HS512"), "HS256", "the JSON Web Key is for an alg other than HS256"),
        (oct_key(use="enc"), "HS256", "the JSON Web Key has a use other than sig"),
        (oct_key(key_ops=["encrypt"]), "HS256", "the key_ops of the JSON Web Key don't have"),
        (public_jwk("RS256", key_ops=["sign"]), "RS256", "the key_ops of the JSON Web Key"),
        (oct_key(key_ops="verify"), "HS256", "the key_ops of the JSON Web Key don't have 'verify'"),
        ({"kty": "oct"}, "HS256", "the JSON Web Key is not a valid key for HS256"),
        ({"kty": "oct", "k": ""}, "HS256", "the JSON Web Key is not a valid key for HS256"),
        ({"kty": "RSA", "n": 5}, "RS256", "the JSON Web Key is not a valid key for RS256"),
        ({**public_jwk("RS256"), "e": 65537}, "RS256", "is not a valid key for RS256"),
        (
            {**public_jwk("ES256"), "x": public_jwk("ES256", "other")["x"]},
            "ES256",
            "the JSON Web Key is not a valid key for ES256",
        ),
    ],
)
def test_keys_that_can_not_be_used(key: Any, alg: Any, problem: str) -> None:
    with pytest.raises(ValueError, match="can't be used") as caught:
        verify("", key, alg)
    assert problem in str(caught.value)


def der(key: Any) -> bytes:
    return b64decode("".join(pem(key).splitlines()[1:-1]))


PUBLIC = rsa_key().public_key()
ARMOUR = re.compile("-----.*-----\n")


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(der(PUBLIC), id="DER"),
        pytest.param(der(private_key("ES256").public_key()), id="DER of an elliptic curve"),
        pytest.param(der(private_key("EdDSA")), id="DER of a private key"),
        pytest.param(ARMOUR.sub("", pem(PUBLIC)), id="PEM without its first and last line"),
        pytest.param(b64encode(der(PUBLIC)).decode(), id="base64"),
        pytest.param(b64(der(PUBLIC)), id="base64url"),
        pytest.param(b64encode(pem(PUBLIC).encode()), id="PEM in base64"),
        pytest.param(b64encode(json.dumps(public_jwk("ES256")).encode()), id="JWK in base64"),
        pytest.param({"kty": "oct", "k": b64(der(PUBLIC))}, id="DER in a JWK"),
        pytest.param({"kty": "oct", "k": b64(pem(PUBLIC).encode())}, id="PEM in a JWK"),
        pytest.param({"kty": "oct", "k": b64(b64(der(PUBLIC)).encode())}, id="base64 in a JWK"),
    ],
)
@pytest.mark.parametrize("function", [sign, verify])
def test_public_keys_are_no_secrets(key: Any, function: Any) -> None:
    with pytest.raises(ValueError, match="can't be used") as caught:
        function({} if function is sign else "", key, "HS256")
    assert str(caught.value) == f"{function.__name__}(key=...) can't be used: {NO_SECRET}"


def test_secrets_that_look_a_little_like_keys() -> None:
    for secret in (b"0" + bytes(40), b64encode(b"0" + bytes(40)), b"=" * 40, b"MIIB" * 10):
        assert verify(sign({"a": 1}, secret), secret, "HS256") == {"a": 1}


def test_usage_of_json_web_keys() -> None:
    private = jwk_of(private_key("ES256"), key_ops=["sign"])
    token = sign({"a": 1}, private, "ES256")
    assert verify(token, private, "ES256") == {"a": 1}
    both = public_jwk("ES256", use="sig", key_ops=["verify", "sign"], alg="ES256")
    assert verify(token, both) == {"a": 1}
    assert verify(sign({"a": 1}, oct_key(key_ops=["sign"])), oct_key(key_ops=["verify"]), "HS256")
    assert verify(sign({"a": 1}, oct_key()), oct_key(key_ops=["sign"]), "HS256") == {"a": 1}
    with pytest.raises(ValueError, match="don't have 'sign'"):
        sign({}, oct_key(key_ops=["verify"]))


PRIMES = [each for each in range(3, 168) if all(each % other for other in range(2, each))]


def rsa_jwk(residues: dict[int, int]) -> dict[str, str]:
    """A public key whose modulus has these remainders, by the Chinese remainder theorem."""
    product = prod(residues)
    modulus = sum(
        rest * (product // prime) * pow(product // prime, -1, prime)
        for prime, rest in residues.items()
    )
    modulus = modulus % product + (product << 2048 - product.bit_length())
    modulus += 0 if modulus % 2 else product
    return {"kty": "RSA", "n": b64(modulus.to_bytes(256)), "e": "AQAB"}


@pytest.mark.parametrize("exponent", [1, 5, 2**40 + 1, 10**15])
def test_rsa_keys_that_can_be_factored(exponent: int) -> None:
    weak = {prime: pow(65537, exponent, prime) for prime in PRIMES}
    with pytest.raises(ValueError, match=r"can be factored \(CVE-2017-15361\)$"):
        verify("", rsa_jwk(weak), "RS256")
    for prime in PRIMES:
        others = {*range(1, prime)} - {pow(65537, each, prime) for each in range(prime)}
        if others:
            with pytest.raises(JwtTokenInvalidError):
                verify("", rsa_jwk({**weak, prime: min(others)}), "RS256")


def test_several_keys() -> None:
    keys = [private_key("ES256", "new"), pem(private_key("ES256", "old").public_key())]
    assert verify(sign({"a": 1}, keys, "ES256"), keys[0], "ES256") == {"a": 1}
    for name in ("new", "old"):
        token = sign({"a": 1}, private_key("ES256", name), "ES256")
        assert verify(token, keys, "ES256") == {"a": 1}
    with pytest.raises(JwtTokenSignatureMismatchedError):
        verify(sign({}, private_key("ES256"), "ES256"), keys, "ES256")
    with pytest.raises(ValueError, match=r"^sign\(key=\.\.\.\) can't be used: expected at least"):
        sign({}, [])


def test_short_secrets_if_they_are_allowed() -> None:
    token = sign({"a": 1}, "short", allow_short_secret=True)
    assert verify(token, "short", "HS256", allow_short_secret=True) == {"a": 1}
    with pytest.raises(ValueError, match="at least 32 bytes"):
        verify(token, "short", "HS256")
    with pytest.raises(ValueError, match="the key is empty"):
        sign({}, "", allow_short_secret=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda: sign({}, SECRET, allow_short_secret=1),  # type: ignore[arg-type]
        lambda: verify("", SECRET, "HS256", allow_short_secret="no"),  # type: ignore[arg-type]
    ],
)
def test_allow_short_secret_is_a_bool(function: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"\(allow_short_secret=\.\.\.\) takes a bool"):
        function()


@pytest.mark.parametrize(
    "function", [lambda alg: sign({}, SECRET, alg), lambda alg: verify("", SECRET, alg)]
)
@pytest.mark.parametrize("alg", ["none", "ES256K", "hs256", "RSA1_5"])
def test_unknown_algorithms(function: Any, alg: str) -> None:
    with pytest.raises(ValueError, match=rf"\(alg='{alg}'\) can't be used: expected 'HS256', "):
        function(alg)


def test_verification_needs_an_algorithm() -> None:
    with pytest.raises(
        ValueError, match=r"^verify\(\) needs alg=\.\.\., the algorithm of the tokens$"
    ):
        verify(sign({}, SECRET), SECRET)
