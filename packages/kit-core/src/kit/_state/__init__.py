# SPDX-License-Identifier: MIT
"""What an app consists of below its public face: routes, lifespan, settings."""
