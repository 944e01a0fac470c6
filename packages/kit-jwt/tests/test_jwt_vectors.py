# SPDX-License-Identifier: MIT
"""Tokens and keys of others: Wycheproof, and the examples of the RFCs and of their cookbook.

The payloads of many are no claims. Such a token is refused with the error for its payload if its
signature is right, since that is looked at after the signature.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.jwk import verify_with_jwks
from kit.jwt import JwtError, JwtPayloadInvalidError, decode_header, sign, verify

VECTORS = Path(__file__).parent / "vectors"
OPTIONS: dict[str, Any] = {"exp": False, "aud": False}
# Where the vectors contradict an RFC, or each other; the answer of Kit is the opposite of theirs.
DISPUTED = {
    **dict.fromkeys((346, 350), "its key says that it is for PS256, and the token has PS384"),
    **dict.fromkeys((347, 351), "its key says that it is for ES521, which isn't an algorithm"),
    **dict.fromkeys((367, 370), "it is to be invalid, and is the same as the valid 357"),
    **dict.fromkeys((372, 373), "it has a ?, which isn't base64url, and is to be valid"),
}


def read(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def is_accepted(token: str, key: Any, alg: Any = None) -> bool:
    """Whether key and signature are accepted."""
    try:
        verify(token, key, alg, **OPTIONS)
    except JwtPayloadInvalidError:
        return True
    except (JwtError, ValueError):
        return False
    return True


def wycheproof() -> list[Any]:
    groups = []
    for group in read("wycheproof_jws.json")["groups"]:
        tests = [
            (number, valid, token.replace("~", group["prefix"]))
            for number, valid, _, token in group["tests"]
        ]
        groups.append(pytest.param(group["key"], tests, id=f"{group['name']}-{tests[0][0]}"))
    return groups


@pytest.mark.parametrize(("key", "tests"), wycheproof())
def test_wycheproof_signatures(key: Any, tests: list[tuple[int, bool, str]]) -> None:
    wrong = [number for number, valid, token in tests if is_accepted(token, key) is not valid]
    assert wrong == [number for number, *_ in tests if number in DISPUTED]


def test_disputed_tokens_of_wycheproof() -> None:
    groups = read("wycheproof_jws.json")["groups"]
    found = {
        number: (group["key"], token.replace("~", group["prefix"]))
        for group in groups
        for number, _, _, token in group["tests"]
    }
    for number in (346, 347, 350, 351):
        key, token = found[number]
        alg = decode_header(token)["alg"]
        assert key["alg"] != alg
        assert is_accepted(token, {**key, "alg": alg}, alg)
    assert found[367][1] == found[370][1] == found[357][1]
    assert "?" in found[372][1]
    assert "?" in found[373][1]


def test_all_of_wycheproof_is_there() -> None:
    groups = read("wycheproof_jws.json")["groups"]
    assert sum(len(group["tests"]) for group in groups) == 401
    assert sum(valid for group in groups for _, valid, *_ in group["tests"]) >= 10
    assert sum(len(group["tests"]) for group in read("wycheproof_jwk.json")["groups"]) == 26


@pytest.mark.parametrize("group", read("wycheproof_jwk.json")["groups"], ids=lambda g: g["name"])
async def test_wycheproof_keys(group: Any) -> None:
    for number, valid, _, token in group["tests"]:
        alg, kid = decode_header(token)["alg"], decode_header(token)["kid"]
        if alg.startswith("HS"):
            # A set for everybody has no secrets: each of them is a key of its own here. The tests
            # of sets that mix kinds, or repeat an id, expect them to be refused as a whole.
            keys = [key for key in group["keys"] if key["kid"] == kid]
            with pytest.raises(ValueError, match=r"use kit\.jwt for tokens with a secret"):
                await verify_with_jwks(token, keys=keys, allowed_algorithms=alg)
            if len(keys) == 1 and len({key["kty"] for key in group["keys"]}) == 1:
                assert is_accepted(token, keys[0], alg) is valid, number
            continue
        try:
            await verify_with_jwks(
                token,
                keys=group["keys"],
                allowed_algorithms=alg,
                verification={"exp": False, "aud": False},
            )
        except JwtPayloadInvalidError:
            accepted = True
        except JwtError:
            accepted = False
        else:
            accepted = True
        assert accepted is valid, number
        if len(group["keys"]) == 1:
            assert is_accepted(token, group["keys"][0], alg) is valid, number


@pytest.mark.parametrize(
    ("key", "alg", "accepted", "token"),
    [pytest.param(*vector[1:], id=vector[0]) for vector in read("rfc.json")["tokens"]],
)
def test_tokens_of_rfcs(key: Any, alg: Any, accepted: bool, token: str) -> None:
    assert is_accepted(token, key, alg) is accepted


def test_rfc_7519_claims() -> None:
    name, key, alg, _, token = read("rfc.json")["tokens"][0]
    assert name == "RFC 7515 A.1"
    claims = {"iss": "joe", "exp": 1300819380, "http://example.com/is_root": True}
    assert verify(token, key, alg, exp=False) == claims


def test_rfc_7517_keys() -> None:
    keys = read("rfc.json")["keys"]
    ec, rsa = keys["public"]
    private_ec, private_rsa = keys["private"]
    assert verify(sign({"a": 1}, private_rsa), rsa) == {"a": 1}
    assert verify(sign({"a": 1}, private_rsa), private_rsa) == {"a": 1}
    # Keys for encryption.
    token = sign({"a": 1}, {**private_ec, "use": "sig"}, "ES256")
    assert verify(token, {**ec, "use": "sig"}, "ES256") == {"a": 1}
    with pytest.raises(ValueError, match="use other than sig"):
        verify(token, ec, "ES256")
    with pytest.raises(ValueError, match="use other than sig"):
        sign({"a": 1}, private_ec, "ES256")
    wrapping, hmac = keys["symmetric"]
    assert verify(sign({"a": 1}, hmac), hmac, "HS256") == {"a": 1}
    with pytest.raises(ValueError, match="is for an alg other than HS256"):
        sign({"a": 1}, wrapping, "HS256")
