# SPDX-License-Identifier: MIT
"""Login with OpenID Connect and OAuth for the Kit web framework, and access tokens of machines.

login = oidc(issuer="https://id.example", client_id="books", client_secret=SECRET)
app.use(session(store=SQLiteStore("sessions.db")))
login.register(app)

@app.get("/me", use=login.required)
def me(c: Context) -> Response:
    return c.json({"name": c.get("user").name})
"""

from ._access_tokens import access_token, require_scopes
from ._client import AuthMethod
from ._errors import LoginError, ProviderError
from ._factory import oauth2, oidc
from ._login import Login
from ._navigation import is_navigation
from ._provider import FetchClaims
from ._resource import protected_resource
from ._routing_app import RoutingApp
from ._settings import Prompt
from ._several import Logins, logins
from ._user import AccessToken, User

__all__ = (
    "AccessToken",
    "AuthMethod",
    "FetchClaims",
    "Login",
    "LoginError",
    "Logins",
    "Prompt",
    "ProviderError",
    "RoutingApp",
    "User",
    "access_token",
    "is_navigation",
    "logins",
    "oauth2",
    "oidc",
    "protected_resource",
    "require_scopes",
)

# Public classes show the module that they are imported from.
for _class in (AccessToken, Login, LoginError, Logins, ProviderError, RoutingApp, User):
    _class.__module__ = __name__
