# SPDX-License-Identifier: GPL-3.0-or-later
"""Files appear whole or not at all: written beside their place under another name, then renamed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .._link import solver


def check_places(outputs: Sequence[Path], inputs: Sequence[Path | None]) -> None:
    """Whether all results can be written, before any time is spent; none over what is read, none over another."""
    for n, path in enumerate(outputs):
        if any(_is_same(path, source) for source in inputs if source is not None):
            raise solver.InputError("It is the file that is read.", str(path), "Choose another name for the result.")
        if any(_is_same(path, other) for other in outputs[:n]):
            raise solver.InputError("Two results would be written there.", str(path), "Give each a name of its own.")
    for path in outputs:
        check_place(path)


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return os.path.samefile(one, other)
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def check_place(path: Path) -> None:
    """Whether a file can be written there."""
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".heft-", dir=folder)
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise solver.InputError(f"Nothing can be written there: {reason(error)}.", str(folder),
                                "Choose another folder, or free it.") from None
    if path.is_dir():
        raise solver.InputError("It is a folder.", str(path), "Give the name of a file.")


def publish(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` make the file, then put it in place in one step; whatever happens, nothing half-written stays."""
    # the ending stays: Blender's exporters insist on it
    temporary = path.with_name(f".{path.stem[:60]}.{os.getpid()}.part{path.suffix}")
    try:
        try:
            write(temporary)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except (OSError, RuntimeError) as error:
            raise solver.InputError(f"It could not be written: {reason(error)}.", str(path),
                                    "Free the disk, or choose another folder.") from None
    finally:
        for leftover in (temporary, temporary.with_name(temporary.name + "@")):  # Blender writes to name@ first
            leftover.unlink(missing_ok=True)


def publish_text(path: Path, text: str) -> None:
    publish(path, lambda temporary: _write(temporary, text))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def reason(error: Exception) -> str:
    """An error's own words, without their last stop; of an operator's traceback the line that says what it was."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if "Traceback (most recent call last)" in words:
        words = [line for line in words.splitlines() if line and not line.startswith((" ", "Location:"))][-1]
        words = re.sub(r"^OSError: (\[Errno \d+\] )?", "", words)
    return " ".join(words.removeprefix("Error: ").split()).rstrip(".")
