# SPDX-License-Identifier: MIT
"""Tools for authors of middleware, stores and other packages for Kit.

They check options, call functions that may be async, keep values per request, observe requests, and
handle event loops, forks and Redis.
"""
