# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the add-on finds the solver; everything else in `addon` writes `from ._link import solver`.

Installed, they are neighbours in a package of unknown name: `heft`, or in Blender `bl_ext.<repository>.heft`.
In a checkout both stand at the top level, which is also how the type checker sees them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__ == "addon":
    import solver
else:
    from .. import solver

__all__ = ["solver"]
