# SPDX-License-Identifier: MIT
"""Registration, login and the logged-in user."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET

from conduit.database import Session, Transaction, in_transaction
from conduit.passwords import authenticate, hash_password
from conduit.queries.users import add_user, rename
from conduit.schemas import LoginUser, NewUser, UpdateUser, UserResponse
from conduit.schemas import User as UserShown
from conduit.tables import User
from conduit.tokens import CurrentUser, Signer, Tokens, required
from kit import HTTPException, Kit
from kit.typed import Body, typed

users = Kit()
account = Kit()
account.use(in_transaction)


@users.post("/")
@typed(status=201)
async def create_user(
    user: Annotated[NewUser, Body(embed=True)], session: Transaction, tokens: Signer
) -> UserResponse:
    """Registers a user."""
    # Hashing is slow, so it comes before the first statement: no connection is held meanwhile.
    hashed = await hash_password(user.password)
    return shown(await add_user(session, user.username, user.email, hashed), tokens)


@users.post("/login")
@typed
async def login(
    user: Annotated[LoginUser, Body(embed=True)], session: Transaction, tokens: Signer
) -> UserResponse:
    """Logs in.

    Raises:
        HTTPException: 401 if there is no such user, or the password is wrong.
    """
    found = await authenticate(session, user.email, user.password)
    if found is None:
        raise HTTPException(401, "email or password is wrong")
    return shown(found, tokens)


@account.get("/", use=required)
@typed
async def read_user(user: CurrentUser, tokens: Signer) -> UserResponse:
    """Returns the logged-in user."""
    return shown(user, tokens)


@account.put("/", use=required)
@typed
async def update_user(
    changes: Annotated[UpdateUser, Body("user", embed=True)],
    user: CurrentUser,
    session: Session,
    tokens: Signer,
) -> UserResponse:
    """Updates the logged-in user. Omitted fields stay unchanged."""
    if changes.password is not UNSET:
        await session.commit()  # releases the connection, as in `authenticate`
        user.password = await hash_password(changes.password)
    if changes.username is not UNSET:
        rename(user, changes.username)
    if changes.email is not UNSET:
        user.email = changes.email.lower()
    if changes.bio is not UNSET:
        user.bio = changes.bio or None
    if changes.image is not UNSET:
        user.image = changes.image or None
    await session.flush()
    return shown(user, tokens)


def shown(user: User, tokens: Tokens) -> UserResponse:
    token = tokens.sign(user)
    return UserResponse(UserShown(user.email, token, user.username, user.bio, user.image))
