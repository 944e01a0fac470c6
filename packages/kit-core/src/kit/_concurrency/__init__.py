# SPDX-License-Identifier: MIT
"""Tasks that outlive the code that starts them, and how they signal each other."""
