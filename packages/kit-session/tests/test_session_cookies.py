# SPDX-License-Identifier: MIT
"""Sessions in cookies, their secrets and size, and cookies that nobody of ours has made."""

from __future__ import annotations

import hmac
import json
import logging
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st
from itsdangerous import Signer

from kit.session import get_session
from kit.session.stores import MemoryStore

NAME = "__Host-session"


@pytest.mark.parametrize("encrypt", [False, True])
async def test_secrets_rotate(new_client, encrypt):
    old, new, other = (secrets.token_urlsafe(32) for _ in range(3))
    before = new_client(secret=old, encrypt=encrypt)
    await before.do(lambda s: s.update(n=1))
    between = new_client(secret=[new, old], encrypt=encrypt)
    between.cookies = dict(before.cookies)
    assert await between.data() == {"n": 1}
    await between.do(lambda s: s.update(n=2))
    after = new_client(secret=new, encrypt=encrypt)
    after.cookies = dict(between.cookies)
    assert await after.data() == {"n": 2}
    after.cookies = dict(before.cookies)
    assert await after.data() == {}
    stranger = new_client(secret=[other], encrypt=encrypt)
    stranger.cookies = dict(between.cookies)
    assert await stranger.data() == {}


async def test_secrets_of_signed_ids_rotate(new_client):
    store = MemoryStore()
    old, new = (secrets.token_urlsafe(32) for _ in range(2))
    before = new_client(secret=old, store=store)
    await before.do(lambda s: s.update(n=1))
    for secret, expected in (([new, old], {"n": 1}), (new, {}), ([old, new], {"n": 1})):
        after = new_client(secret=secret, store=store)
        after.cookies = dict(before.cookies)
        assert await after.data() == expected


async def test_a_signed_cookie_can_be_read_and_an_encrypted_one_can_not(new_client, secret):
    text = urlsafe_b64encode(b'"name":"Ada Lovelace"').decode()[4:20]
    signed, encrypted = new_client(secret=secret), new_client(secret=secret, encrypt=True)
    for client in (signed, encrypted):
        await client.do(lambda s: s.update(name="Ada Lovelace"))
    lengths = {client: len(client.cookie) for client in (signed, encrypted)}
    assert all(length < 250 for length in lengths.values())
    found = [
        any(text in urlsafe_b64encode(b"x" * n + _octets(client.cookie)).decode() for n in range(3))
        for client in (signed, encrypted)
    ]
    assert found == [True, False]


def _octets(cookie):
    body = cookie.partition(".")[0]
    return urlsafe_b64decode(body + "=" * (-len(body) % 4))


@pytest.mark.parametrize("encrypt", [False, True])
async def test_a_cookie_of_one_name_is_worth_nothing_under_another(new_client, secret, encrypt):
    shop = new_client(secret=secret, encrypt=encrypt)
    await shop.do(lambda s: s.rotate(user="admin"))
    admin = new_client(secret=secret, encrypt=encrypt, cookie="admin", cookie_name="__Host-admin")
    admin.cookies = {"__Host-admin": shop.cookie}
    assert await admin.do(lambda s: [s.user, s.is_new]) == [None, True]


async def test_too_large_for_a_cookie(new_client, secret, caplog):
    client = new_client(secret=secret)
    await client.do(lambda s: s.update(n="x" * 2800))
    response = await client.request(lambda c: get_session(c).update(m="x" * 400))
    assert response.status == 500
    assert response.headers.get_set_cookie() == []
    assert re.search(
        r"The session is too large for a cookie: name and value have 44\d\d octets, but clients "
        r"keep at most 4096\. Keep less in it, or give session\(store=\.\.\.\) a store\n",
        caplog.text,
    )
    assert await client.do(list) == ["n"]


async def test_hostile_cookies_are_new_sessions(client):
    await client.do(lambda s: [s.update(n=1), s.rotate(user="42")][0])
    good = client.cookie
    forged = secrets.token_urlsafe(32)
    signer = Signer("x" * 32, "kit.session __Host-session")
    hostile = [
        "",
        "x",
        ".",
        "...",
        "=",
        good[:-1],
        good[:-5],
        good[1:],
        good + "A",
        good + "=",
        good + " x",
        good.swapcase(),
        "%" + good,
        good + "x" * 60_000,
        "x" * 60_000,
        "é",
        "\x7f",
        forged,
        f"{forged}.{forged}",
        signer.sign(forged).decode(),
        "A" * 60,
        urlsafe_b64encode(b"[]").decode() + ".x",
    ]
    for value in hostile:
        client.cookies = {NAME: value}
        found = await client.do(lambda s: [dict(s), s.user, s.is_new])
        assert found == [{}, None, True], value[:80]
        client.cookies = {NAME: value}
        await client.do(lambda s: s.update(m=2))
        # It gets an id of its own, never that of the request.
        assert client.cookie not in (value, good)
        assert await client.do(lambda s: [dict(s), s.user]) == [{"m": 2}, None]
    # The same value, written in another way: it is read as every other cookie is.
    for value in (good, f'"{good}"', good.replace(good[5], "%" + good[5].encode().hex())):
        client.cookies = {NAME: value}
        assert await client.do(lambda s: s.user) == "42"


async def test_cookies_that_are_no_text_are_new_sessions(client):
    client.app.get("/a/b", lambda c: c.json([get_session(c).is_new]))
    for value in (b"\xff\xfe", b"__Host-session=\xff", b"__Host-session", b";;=;__Host-session="):
        text = value.decode("latin-1")
        response = await client.app.request("/a/b", headers={"cookie": text})
        assert await response.json() == [True]


async def test_of_two_cookies_of_the_name_none_counts(client):
    client.app.get("/a/b", lambda c: c.json(get_session(c).user))
    await client.do(lambda s: s.rotate(user="42"))
    good = f"{NAME}={client.cookie}"

    async def user(header):
        response = await client.app.request("/a/b", headers={"cookie": header})
        return await response.json()

    assert await user(good) == "42"
    assert await user(f"a=b; {good}; x{good[1:]}; {good}") == "42"
    assert await user(f"{good}; {NAME}=x") is None
    assert await user(f"{NAME}=; {good}") is None
    # HTTP/2 may send several lines.
    lines = [("cookie", "a=b"), ("cookie", good)]
    assert await (await client.app.request("/a/b", headers=lines)).json() == "42"


def signer_of(secret, purpose=f"kit.session {NAME}"):
    key = hmac.digest(secret.encode(), purpose.encode(), "sha256")
    return Signer(key, key_derivation="none", digest_method=sha256)


async def test_itsdangerous_accepts_what_is_signed_and_the_other_way_round(new_client, secret):
    client = new_client(secret=[secret, secrets.token_urlsafe(32)])
    signer = signer_of(secret)
    for length in range(7):  # base64 may have padding, which is left out
        await client.do(lambda s, n=length: s.update(n="x" * n))
        text = signer.unsign(client.cookie)  # raises BadSignature
        content = json.loads(urlsafe_b64decode(text + b"=="))
        assert content["d"]["n"] == "x" * length
        content["d"] = {"m": "y" * length}
        text = urlsafe_b64encode(json.dumps(content, separators=(",", ":")).encode()).rstrip(b"=")
        client.cookies = {NAME: signer.sign(text).decode()}
        assert await client.data() == {"m": "y" * length}


async def test_itsdangerous_accepts_signed_ids_and_the_other_way_round(new_client, secret):
    store = MemoryStore()
    client, unsigned = new_client(secret=secret, store=store), new_client(store=store)
    signer = signer_of(secret, f"kit.session {NAME} id")
    await client.do(lambda s: s.update(n=1))
    unsigned.cookies = {NAME: signer.unsign(client.cookie).decode()}
    assert await unsigned.data() == {"n": 1}
    await unsigned.do(lambda s: [s.update(n=2), s.rotate()][0])
    client.cookies = {NAME: signer.sign(unsigned.cookie).decode()}
    assert await client.data() == {"n": 2}


async def test_a_signature_has_one_spelling(new_client, secret):
    client = new_client(secret=secret)
    await client.do(lambda s: s.update(n=1))
    good = client.cookie
    # The last of 43 characters has 2 bits more than there are.
    other = good[:-1] + chr(ord(good[-1]) + 1)
    signatures = [urlsafe_b64decode(each.rpartition(".")[2] + "=") for each in (good, other)]
    assert signatures[0] == signatures[1]
    client.cookies = {NAME: other}
    assert await client.data() == {}


async def test_what_was_signed_but_is_no_session(new_client, secret):
    """Another version of this package, or another program with the secret."""
    client = new_client(secret=secret)
    signer = signer_of(secret)
    await client.do(lambda s: s.update(n=1))
    assert signer.validate(client.cookie)
    for data in (b"{}", b"[]", b"\xff", b'{"i":"x","c":"y","e":1}', b"[" * 2000):
        text = urlsafe_b64encode(data).rstrip(b"=")
        client.cookies = {NAME: signer.sign(text).decode()}
        assert await client.do(lambda s: s.is_new)


async def test_the_key_that_signs_encrypts_nothing(new_client, secret):
    signing = f"kit.session {NAME}"
    client = new_client(secret=secret, encrypt=True)
    salt, nonce, data = bytes(16), bytes(12), b'{"i":"x","c":9e9,"e":9e9,"u":"42"}'
    users = []
    for purpose in (signing, f"{signing} encrypted"):
        key = hmac.digest(secret.encode(), purpose.encode(), "sha256")
        cipher = AESGCM(hmac.digest(key, salt, "sha256"))
        sealed = salt + nonce + cipher.encrypt(nonce, data, f"{signing} encrypted".encode())
        client.cookies = {NAME: urlsafe_b64encode(sealed).rstrip(b"=").decode()}
        users.append(await client.do(lambda s: s.user))
    assert users == [None, "42"]


@pytest.mark.parametrize("encrypt", [False, True])
def test_no_changed_cookie_is_valid(run, new_client, secret, encrypt):
    client = new_client(secret=secret, encrypt=encrypt)

    async def make():
        await client.do(lambda s: s.update(n=1))
        return client.cookie

    good = run(make)

    @settings(max_examples=40)
    @given(st.integers(0, len(good) - 1), st.sampled_from("AZaz09-_."))
    def check(position, letter):
        changed = good[:position] + letter + good[position + 1 :]

        async def read():
            client.cookies = {NAME: changed}
            return await client.data()

        assert run(read) == ({"n": 1} if changed == good else {})

    check()


async def test_a_cookie_of_before_stays_valid_until_it_expires(new_client, secret):
    """What a store is for: nobody remembers what was signed."""
    client = new_client(secret=secret)
    await client.do(lambda s: s.rotate(user="42"))
    old = client.other()
    await client.do(lambda s: s.destroy())
    assert await old.do(lambda s: s.user) == "42"


async def test_nothing_secret_is_logged(client, secret, caplog):
    caplog.set_level(logging.DEBUG)
    await client.do(lambda s: [s.update(pin="1234-5678"), s.rotate(user="ada@example.com")][0])
    await client.data()
    await client.request(lambda c: get_session(c).update(bad=object()))
    for text in (client.cookie, secret, "1234-5678", "ada@example.com"):
        assert text not in caplog.text
