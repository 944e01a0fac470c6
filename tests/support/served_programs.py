# SPDX-License-Identifier: MIT
"""Serves the recorded programs of the core."""

from __future__ import annotations

from functools import partial

from recorded_programs import Programs, bindings, load

application = Programs("kit_app_runner", "app_cases.jsonl.gz")
# The rule `part_options`: Kit refuses to register the others.
_rewrites = load("compare").rewrites
for _name, _app in application.programs.items():
    application.programs[_name] = _rewrites.parts_without_options(_app)
application.runner.Kit = partial(application.runner.Kit, lifespan=bindings)
