"""Build one extension zip per platform: the add-on, the solver, and unmodified wheels of scipy and quadprog.

    python .ci/extension.py [--platform linux-x64 ...] [--out build/extension] [--pin]

Wheels are downloaded into build/wheels and must have the hashes of .ci/wheels.txt; `--pin` writes that file anew.
Blender brings numpy. Blender itself checks the result: its validator comes with the bpy module of this environment.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / ".ci" / "wheels.txt"
TAGS = {
    "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    "windows-x64": ["win_amd64"],
    "windows-arm64": ["win_arm64"],
    "macos-arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
    "macos-x64": ["macosx_10_14_x86_64", "macosx_10_13_x86_64", "macosx_10_9_x86_64"],
}
# Blender 4.2 to 5.0 have Python 3.11, 5.1 and 5.2 have 3.13; builds of Linux distributions have newer ones.
PYTHONS = {"linux-x64": ["311", "313", "314"], "macos-x64": ["311"]}
QUADPROG = "0.1.14"


def scipy_version(platform: str, python: str) -> str:
    """1.15.3 is the last that imports on the numpy of Blender 4.2; Windows on ARM begins with Blender 4.4 and 1.17."""
    return "1.15.3" if python == "311" and platform != "windows-arm64" else "1.17.1"


def wanted(platform: str) -> list[tuple[str, str]]:
    """(requirement, Python) of a platform."""
    return [(requirement, python) for python in PYTHONS.get(platform, ["311", "313"])
            for requirement in (f"scipy=={scipy_version(platform, python)}", f"quadprog=={QUADPROG}")]


def download(platform: str, requirement: str, python: str, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary=:all:", "--dest", str(folder), "--implementation", "cp", "--python-version", python,
               "--abi", f"cp{python}", *(f"--platform={tag}" for tag in TAGS[platform]), requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{requirement} for {platform}, Python {python} cannot be downloaded:\n{done.stderr[-800:]}")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def pinned() -> dict[str, list[tuple[str, str]]]:
    """Platform -> (file name, sha256)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in PINS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            platform, name, digest = line.split()
            found.setdefault(platform, []).append((name, digest))
    return found


def pin(platforms: list[str], wheels: Path) -> None:
    lines = ["# platform, wheel, sha256: what `make extension` bundles. Written by .ci/extension.py --pin."]
    for platform in platforms:
        for requirement, python in wanted(platform):
            part = wheels / f"pin-{platform}-{python}"
            part.mkdir(parents=True, exist_ok=True)
            download(platform, requirement, python, part)
        for path in sorted(wheels.glob(f"pin-{platform}-*/*.whl")):
            lines.append(f"{platform} {path.name} {sha256(path)}")
            shutil.copy(path, wheels / path.name)
    for part in wheels.glob("pin-*"):
        shutil.rmtree(part)
    PINS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fetch(platform: str, wheels: Path) -> list[Path]:
    """The pinned wheels of a platform, downloaded where they are missing, each with its hash checked."""
    wheels.mkdir(parents=True, exist_ok=True)
    names = pinned()[platform]
    missing = [name for name, _ in names if not (wheels / name).is_file()]
    for requirement, python in wanted(platform) if missing else []:
        if any(name.startswith(requirement.split("==")[0]) and f"cp{python}-" in name for name in missing):
            download(platform, requirement, python, wheels)
    for name, digest in names:
        if not (wheels / name).is_file() or sha256(wheels / name) != digest:
            (wheels / name).unlink(missing_ok=True)
            raise SystemExit(f"{name}: the index no longer has this file, or other bytes under its name.")
    return [wheels / name for name, _ in names]


def stage(platform: str, wheels: list[Path], folder: Path) -> Path:
    """What goes into the zip."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    for name in ("__init__.py", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("addon", "solver"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for wheel in wheels:
        shutil.copy(wheel, folder / "wheels" / wheel.name)
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    listed = "".join(f'  "./wheels/{wheel.name}",\n' for wheel in wheels)
    extra = f'platforms = ["{platform}"]\nwheels = [\n{listed}]\n\n'
    head, tables = manifest.split("[permissions]")
    (folder / "blender_manifest.toml").write_text(f"{head}{extra}[permissions]{tables}", encoding="utf-8")
    return folder


def validator() -> Path:
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("The validator comes with the bpy module, which this Python lacks: run `make extension`.")
    found = sorted(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    return found[-1]


def build(folder: Path, platform: str, out: Path) -> Path:
    import tomllib

    told = tomllib.loads((folder / "blender_manifest.toml").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"heft-{told['version']}-{platform}.zip"
    tool, tags = str(validator()), out / "tags.json"
    tags.write_text('{"add-on": ["Animation", "Rigging", "Physics"], "theme": []}', encoding="utf-8")
    for command in (["build", "--source-dir", str(folder), "--output-filepath", str(path)],
                    ["validate", "--valid-tags", str(tags), str(path)]):
        done = subprocess.run([sys.executable, tool, *command], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"Blender's {command[0]} refuses {platform}:\n{done.stdout}{done.stderr}")
    tags.unlink()
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", action="append", choices=list(TAGS), help="default: all")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "extension")
    parser.add_argument("--pin", action="store_true", help="write .ci/wheels.txt anew")
    told = parser.parse_args()
    wheels = ROOT / "build" / "wheels"
    if told.pin:
        pin(list(TAGS), wheels)
    for platform in told.platform or list(TAGS):
        folder = stage(platform, fetch(platform, wheels), ROOT / "build" / "staged" / platform)
        path = build(folder, platform, told.out)
        shutil.rmtree(folder)
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)", flush=True)


if __name__ == "__main__":
    main()
