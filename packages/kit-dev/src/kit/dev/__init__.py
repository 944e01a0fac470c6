# SPDX-License-Identifier: MIT
"""The development helpers of Kit, and the `kit` command (`kit.dev.cli`)."""
