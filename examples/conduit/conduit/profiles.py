# SPDX-License-Identifier: MIT
"""Users as others see them, and who follows whom."""

from __future__ import annotations

from conduit.database import Session, in_transaction
from conduit.parameters import FoundUser, Username, found
from conduit.queries.users import find_profile, follow, unfollow
from conduit.schemas import Profile, ProfileResponse
from conduit.tables import User
from conduit.tokens import CurrentUser, Reader, optional, required
from kit import HTTPException, Kit
from kit.typed import typed

profiles = Kit()
profiles.use(in_transaction)


@profiles.get("/:username", use=optional)
@typed
async def read_profile(username: Username, session: Session, reader: Reader) -> ProfileResponse:
    """Returns the profile of a user."""
    return ProfileResponse(found(await find_profile(session, username, reader), "user"))


@profiles.post("/:username/follow", use=required)
@typed
async def follow_user(followed: FoundUser, session: Session, user: CurrentUser) -> ProfileResponse:
    """Follows a user.

    Raises:
        HTTPException: 422 if the users are the same.
    """
    if followed.id == user.id:
        raise HTTPException(422, "you can't follow yourself")
    await follow(session, user, followed)
    return profile(followed, is_followed=True)


@profiles.delete("/:username/follow", use=required)
@typed
async def unfollow_user(
    followed: FoundUser, session: Session, user: CurrentUser
) -> ProfileResponse:
    """Unfollows a user."""
    await unfollow(session, user, followed)
    return profile(followed, is_followed=False)


def profile(user: User, *, is_followed: bool) -> ProfileResponse:
    return ProfileResponse(Profile(user.username, user.bio, user.image, is_followed))
