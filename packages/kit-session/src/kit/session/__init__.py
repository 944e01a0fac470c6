# SPDX-License-Identifier: MIT
"""Sessions for the Kit web framework: signed cookies, or stores in memory, SQLite and Redis.

app.use(session(os.environ["SESSION_SECRET"]))

@app.post("/login")
async def login(c: Context) -> Response:
    session = await get_session(c)
    session.rotate(user="42")
    session["theme"] = "dark"
    return c.redirect("/", 303)
"""

from ._errors import SessionConflictError, SessionDataError, SessionError, SessionStoreError
from ._factory import session
from ._guard import OnMissing, require_user
from ._revocation import get_store, revoke_login, revoke_sessions
from ._saved import Flash
from ._session import Session, get_session

__all__ = (
    "Flash",
    "OnMissing",
    "Session",
    "SessionConflictError",
    "SessionDataError",
    "SessionError",
    "SessionStoreError",
    "get_session",
    "get_store",
    "require_user",
    "revoke_login",
    "revoke_sessions",
    "session",
)

# Public classes show the module that they are imported from.
for _class in (
    Flash,
    Session,
    SessionConflictError,
    SessionDataError,
    SessionError,
    SessionStoreError,
):
    _class.__module__ = __name__
