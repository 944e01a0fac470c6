# SPDX-License-Identifier: MIT
"""The internal state of an app: routes, lifespan, settings."""
