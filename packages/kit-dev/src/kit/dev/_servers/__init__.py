# SPDX-License-Identifier: MIT
"""What `kit serve` runs an app with, a module each; they are entry points of `kit.servers`."""
