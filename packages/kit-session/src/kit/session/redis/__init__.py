# SPDX-License-Identifier: MIT
"""The session store for an app on several machines: Redis, or Valkey.

    from kit.session import session
    from kit.session.redis import RedisStore

    app.use(session(store=RedisStore("redis://127.0.0.1")))

It needs redis-py: `pip install "kit-session[redis]"`.
"""

from ._store import RedisStore

__all__ = ("RedisStore",)

# Public classes show the module that they are imported from.
RedisStore.__module__ = __name__
