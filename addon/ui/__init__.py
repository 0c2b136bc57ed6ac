# SPDX-License-Identifier: GPL-3.0-or-later
"""What the animator sees."""
