# SPDX-License-Identifier: MIT
"""How `c.text`, `c.json` and the like build a response."""
