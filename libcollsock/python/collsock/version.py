# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The version, which is that of the library in C."""
__version__ = "1.0.0"
