# SPDX-License-Identifier: MIT
"""The commands, a module each; `command` is the click command."""
