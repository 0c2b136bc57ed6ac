"""What the character stands on. A terrain answers two questions about many points at once: `probe` and `height`.

The ground is the solid under its surface. `probe` measures the signed distance to that solid and tells where its
surface pushes; `height` looks straight down and tells planners what a foot would land on.
"""

from .base import FRICTION, Heights, Probe, Terrain
from .height_field import HeightField
from .mesh import TriangleMesh
from .moving import Moving
from .plane import Plane
from .steps import Steps
from .union import Union

__all__ = ["FRICTION", "HeightField", "Heights", "Moving", "Plane", "Probe", "Steps", "Terrain", "TriangleMesh",
           "Union"]
