# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m addon bake ...` from a checkout, `python -m heft.addon bake ...` where Heft is installed."""

from .command import console

if __name__ == "__main__":
    console()
