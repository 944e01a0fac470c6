# SPDX-License-Identifier: MIT
"""The session store for an app on one machine: a SQLite file, shared by all its processes.

    from kit.session import session
    from kit.session.sqlite import SQLiteStore

    app.use(session(store=SQLiteStore("sessions.db")))

It needs only Python.
"""

from ._store import SQLiteStore

__all__ = ("SQLiteStore",)

# Public classes show the module that they are imported from.
SQLiteStore.__module__ = __name__
