"""Physics for a keyframed character; runs without Blender.

    character = Character.build([...])
    scene = Scene(character, motion, pushes=(Push.constant("chest", (200, 0, 0), start=1.0, duration=0.2),))
    result = finish(bake(scene, QuasiPhysical(scene, NATURAL)))
"""

from .bake import Job, bake, finish
from .controllers.quasi_physical import NATURAL, STRONG, SUBTLE, QuasiPhysical, Settings
from .controllers.zmp_comfort import Diagnosis, ZmpComfort
from .controllers.zmp_comfort import Settings as ComfortSettings
from .errors import DivergenceError, InputError, NoSolutionError, SolverError
from .model.assemble import Assembly, assemble
from .model.character import Character, ContactPoints, Limb, Link
from .model.motion import Motion
from .model.release import Release
from .model.result import Note, Progress, Result, Step
from .model.scene import ContactOverride, Goal, Load, Push, Scene
from .model.state import State
from .model.terrain import HeightField, Heights, Moving, Plane, Probe, Steps, Terrain, TriangleMesh, Union
from .numerics import rotation

__all__ = [
    "NATURAL", "STRONG", "SUBTLE", "Assembly", "Character", "ComfortSettings", "ContactOverride", "ContactPoints",
    "Diagnosis", "DivergenceError", "Goal", "HeightField", "Heights", "InputError", "Job", "Limb", "Link", "Load",
    "Motion", "Moving", "NoSolutionError", "Note", "Plane", "Probe", "Progress", "Push", "QuasiPhysical", "Release",
    "Result", "Scene", "Settings", "SolverError", "State", "Step", "Steps", "Terrain", "TriangleMesh", "Union",
    "ZmpComfort", "assemble", "bake", "finish", "rotation",
]
