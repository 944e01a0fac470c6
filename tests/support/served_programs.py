# SPDX-License-Identifier: MIT
"""Serves the recorded programs of the core."""

from __future__ import annotations

from functools import partial

from recorded_programs import Programs, bindings

application = Programs("kit_app_runner", "app_cases.jsonl.gz")
application.runner.Kit = partial(application.runner.Kit, lifespan=bindings)
