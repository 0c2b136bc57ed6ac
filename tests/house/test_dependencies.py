"""Who may know whom: rules that read the imports of every file, and offences that show the rules bite.

numerics <- model <- physics <- references <- controllers <- director, fall_record <- recorder <- bake
bake <- solver.__all__
solver.__all__ <- addon/bridge <- addon/job <- addon/ui <- addon/command
"""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SOLVER_ROOMS = (  # each knows those before it
    "numerics",
    "model",
    "physics",
    "references",
    "controllers",
    "director",
    "fall_record",
    "recorder",
    "bake",
)
SOLVER_PACKAGES = {"numpy", "scipy", "quadprog"}
ADDON_ROOMS = {"_link": 0, "bridge": 1, "job": 2, "ui": 3, "command": 4, "__main__": 5}  # each knows lower numbers
OPERATORS = {  # what only an operator does
    "addon/bridge/edit_bones.py",  # bones are made in edit mode
    "addon/command/files.py",  # files are opened, imported and saved
    "addon/command/stage.py",  # pictures are rendered
}
BLENDER_MODULES = {"bpy", "mathutils", "bmesh", "gpu", "gpu_extras", "blf", "bl_ext", "aud", "idprop"}

Rule = Callable[[str, str], list[str]]  # (path below the root, source) -> offences


def imports(path: str, source: str) -> Iterator[tuple[int, bool, str]]:
    """(line, is relative, dotted name from the root) of everything imported, at any depth of the file."""
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, False, alias.name
        elif isinstance(node, ast.ImportFrom):
            climb = len(package) - node.level + 1
            base = package[: max(climb, 0)] if node.level else []
            outside = ["<outside>"] if node.level and climb < 0 else []
            for alias in node.names:
                yield node.lineno, node.level > 0, ".".join(
                    outside + base + ([node.module] if node.module else []) + [alias.name]
                )
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            argument = node.args[0]
            if name in ("import_module", "__import__") and isinstance(argument, ast.Constant):
                target = str(argument.value)
                if not target.startswith("."):
                    yield node.lineno, False, target


def room_of(path: str) -> str:
    """`solver/physics/contact.py` -> `physics`, `solver/bake.py` -> `bake`, `solver/__init__.py` -> ``."""
    return path.split("/")[1].removesuffix(".py").removesuffix("__init__")


def split(target: str) -> tuple[str, str]:
    """`solver.physics.contact` -> (`solver`, `physics`); `solver` -> (`solver`, ``)."""
    package, room = f"{target}..".split(".")[:2]
    return package, room


def solver_keeps_away_from_blender(path: str, source: str) -> list[str]:
    return [
        f"{path}:{line} imports {target}"
        for line, _, target in imports(path, source)
        if split(target)[0] in BLENDER_MODULES
    ]


def solver_imports_itself_relatively_and_few_packages(path: str, source: str) -> list[str]:
    allowed = set(sys.stdlib_module_names) | SOLVER_PACKAGES
    return [
        f"{path}:{line} imports {target}; solver imports itself relatively, and {sorted(SOLVER_PACKAGES)}"
        for line, is_relative, target in imports(path, source)
        if (split(target)[0] != "solver" if is_relative else split(target)[0] not in allowed)
    ]


def solver_rooms_know_only_those_to_their_left(path: str, source: str) -> list[str]:
    room = room_of(path)
    if not room:  # the front door shows every room
        return []
    if room == "errors":
        known: tuple[str, ...] = ("errors",)
    elif room in SOLVER_ROOMS:
        known = ("errors", *SOLVER_ROOMS[: SOLVER_ROOMS.index(room) + 1])
    else:
        return [f"{path} is in no room of {SOLVER_ROOMS}"]
    return [
        f"{path}:{line} imports {target}; {room} knows only {known}"
        for line, is_relative, target in imports(path, source)
        if is_relative and split(target)[0] == "solver" and split(target)[1] not in known
    ]


def controllers_do_not_know_each_other(path: str, source: str) -> list[str]:
    """A controller is a file or a folder of `controllers`."""
    if room_of(path) != "controllers" or path == "solver/controllers/__init__.py":
        return []
    own = path.split("/")[2].removesuffix(".py")
    return [
        f"{path}:{line} imports {target}; a controller knows `base` and no other controller"
        for line, is_relative, target in imports(path, source)
        if is_relative and split(target) == ("solver", "controllers")
        if f"{target}...".split(".")[2] not in ("base", own)
    ]


def addon_finds_the_solver_through_the_link(path: str, source: str) -> list[str]:
    if path == "addon/_link.py":
        return []
    return [
        f"{path}:{line} imports {target}; addon imports itself relatively, and the solver from `_link`"
        for line, is_relative, target in imports(path, source)
        if (split(target)[0] != "addon" if is_relative else split(target)[0] in ("solver", "addon", "heft"))
    ]


def addon_rooms_point_one_way(path: str, source: str) -> list[str]:
    room = room_of(path)
    if not room:
        return []
    if room not in ADDON_ROOMS:
        return [f"{path} is in no room of {tuple(ADDON_ROOMS)}"]
    return [
        f"{path}:{line} imports {target}; {room} knows only what stands before it in {tuple(ADDON_ROOMS)}"
        for line, is_relative, target in imports(path, source)
        for package, other in [split(target)]
        if is_relative and package == "addon" and other != room
        if ADDON_ROOMS.get(other, 99) >= ADDON_ROOMS[room]
    ]


def bpy_attributes(path: str, source: str) -> Iterator[tuple[int, str]]:
    """(line, name) of every `bpy.name` that is read or imported, under whatever name bpy was imported."""
    tree = ast.parse(source)
    aliases = {"bpy"} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "bpy" and alias.asname
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield node.lineno, node.attr
    for line, _, target in imports(path, source):
        if target.startswith("bpy."):
            yield line, target.split(".")[1]


def addon_reads_the_context_in_ui_and_command_only(path: str, source: str) -> list[str]:
    if room_of(path) in ("ui", "command"):
        return []
    return [
        f"{path}:{line} reads bpy.context; take what is needed as an argument"
        for line, name in bpy_attributes(path, source)
        if name == "context"
    ]


def addon_calls_no_operators(path: str, source: str) -> list[str]:
    if path in OPERATORS:
        return []
    return [
        f"{path}:{line} uses bpy.ops; use the data API"
        for line, name in bpy_attributes(path, source)
        if name == "ops"
    ]


SOLVER_RULES: list[Rule] = [
    solver_keeps_away_from_blender,
    solver_imports_itself_relatively_and_few_packages,
    solver_rooms_know_only_those_to_their_left,
    controllers_do_not_know_each_other,
]
ADDON_RULES: list[Rule] = [
    addon_finds_the_solver_through_the_link,
    addon_rooms_point_one_way,
    addon_reads_the_context_in_ui_and_command_only,
    addon_calls_no_operators,
]
RULES = [("solver", rule) for rule in SOLVER_RULES] + [("addon", rule) for rule in ADDON_RULES]


@pytest.mark.parametrize(("package", "rule"), RULES, ids=lambda value: getattr(value, "__name__", value))
def test_the_tree_keeps_the_rule(package: str, rule: Rule) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert ROOT / package / "__init__.py" in files
    offences = [
        offence
        for file in files
        for offence in rule(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    ]
    assert not offences, "\n" + "\n".join(offences)


OFFENCES: dict[Rule, list[tuple[str, str]]] = {
    solver_keeps_away_from_blender: [
        ("solver/model/x.py", "import bpy"),
        ("solver/model/x.py", "try:\n    from mathutils import Matrix\nexcept ImportError:\n    pass"),
        ("solver/model/x.py", "def f():\n    import bmesh.ops"),
        ("solver/model/x.py", "import importlib\nimportlib.import_module('bpy.types')"),
    ],
    solver_imports_itself_relatively_and_few_packages: [
        ("solver/model/x.py", "import pinocchio"),
        ("solver/model/x.py", "from solver.numerics import qp"),
        ("solver/model/x.py", "import heft.solver"),
        ("solver/model/x.py", "from ...addon import job"),
        ("solver/model/x.py", "from ....addon import job"),
    ],
    solver_rooms_know_only_those_to_their_left: [
        ("solver/numerics/x.py", "from ..model import state"),
        ("solver/numerics/x.py", "from ..model.state import State"),
        ("solver/physics/x.py", "from .. import references"),
        ("solver/physics/x.py", "from .. import Character"),
        ("solver/physics/x.py", "from ... import solver"),
        ("solver/controllers/x.py", "from ..bake import bake"),
        ("solver/errors.py", "from .model import state"),
        ("solver/utils.py", ""),
    ],
    controllers_do_not_know_each_other: [
        ("solver/controllers/x.py", "from .modal_space import Settings"),
        ("solver/controllers/x.py", "from . import modal_space"),
        ("solver/controllers/x.py", "from .. import controllers"),
        ("solver/controllers/x/path.py", "from ..modal_space import Settings"),
        ("solver/controllers/x/__init__.py", "from ..modal_space import Settings"),
        ("solver/controllers/base.py", "from .modal_space import Settings"),
    ],
    addon_finds_the_solver_through_the_link: [
        ("addon/job.py", "import solver"),
        ("addon/job.py", "from .. import solver"),
        ("addon/bridge/x.py", "from ...solver.model import state"),
    ],
    addon_rooms_point_one_way: [
        ("addon/bridge/x.py", "from ..ui import panels"),
        ("addon/ui/x.py", "from ..command import main"),
        ("addon/utils.py", ""),
    ],
    addon_reads_the_context_in_ui_and_command_only: [
        ("addon/bridge/x.py", "import bpy\nprint(bpy.context.scene)"),
        ("addon/job.py", "import bpy as b\nc = b.context"),
        ("addon/job.py", "from bpy import context"),
    ],
    addon_calls_no_operators: [
        ("addon/ui/x.py", "import bpy\nbpy.ops.nla.bake()"),
        ("addon/ui/x.py", "from bpy import ops"),
    ],
}

GOOD: list[tuple[str, str]] = [
    ("solver/numerics/x.py", "import math\nimport numpy as np\nfrom scipy.linalg import eigh"),
    ("solver/physics/x.py", "from . import y\nfrom ..errors import InputError\nfrom ..model import state"),
    ("solver/controllers/x.py", "from ..references import clip\nfrom .base import Controller"),
    ("solver/controllers/x/path.py", "from . import y\nfrom ..base import Controller\nfrom .y import Path"),
    ("solver/controllers/__init__.py", "from importlib import import_module\nimport_module('.x', __name__)"),
    ("solver/bake.py", "from .controllers import base\nfrom .model.result import Result"),
    ("solver/__init__.py", "from .bake import bake\nfrom .errors import SolverError"),
    ("addon/bridge/x.py", "import bpy\nfrom .._link import solver\ndef f(scene: bpy.types.Scene): ..."),
    ("addon/ui/x.py", "import bpy\nfrom . import y\nfrom ..job import bake\nprint(bpy.context)"),
]


@pytest.mark.parametrize("rule", [rule for _, rule in RULES], ids=lambda rule: rule.__name__)
def test_the_rule_bites(rule: Rule) -> None:
    for path, source in OFFENCES[rule]:
        assert rule(path, source), f"{path} with {source!r}"


@pytest.mark.parametrize(("path", "source"), GOOD)
def test_the_rules_let_good_code_pass(path: str, source: str) -> None:
    rules = [rule for package, rule in RULES if path.startswith(f"{package}/")]
    assert rules and [offence for rule in rules for offence in rule(path, source)] == []
