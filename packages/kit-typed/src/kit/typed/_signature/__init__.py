# SPDX-License-Identifier: MIT
"""The functions of users: parameters, annotations, markers."""
