# SPDX-License-Identifier: MIT
"""SegmentHashRouter in the suite that every router for Kit can run."""

from __future__ import annotations

from typing import Any

from segment_hash_router import SegmentHashRouter

from kit.interface import Router
from kit.router.testing import Feature, RouterConformance


class TestSegmentHashRouter(RouterConformance):
    unsupported = frozenset(
        {
            Feature.OPTIONAL,
            Feature.EXPRESSION,
            Feature.MIDDLE_WILDCARD,
            Feature.PREFIX_WILDCARD,
        }
    )

    def new_router(self) -> Router[Any]:
        return SegmentHashRouter()
