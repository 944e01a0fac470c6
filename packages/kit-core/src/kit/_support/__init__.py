# SPDX-License-Identifier: MIT
"""What all rooms stand on: JSON, limits, paths, fast Structs."""
