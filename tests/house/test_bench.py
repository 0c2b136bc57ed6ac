"""The bench: rows say what they measured, and what Heft is compared with owes what every controller owes."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import table
from benchmarks.baselines import PDOnRoot, Playback
from benchmarks.bodies import SIZES, standing
from solver import Push, Scene, bake, finish
from solver.references.clip import Clip
from tests.clips import synthetic
from tests.controllers import test_contract as contract
from tests.tolerances import PLAYBACK

rivals = pytest.mark.parametrize("kind", [PDOnRoot, Playback], ids=lambda kind: kind.__name__)


def test_a_row_knows_its_ratio_and_whether_it_met_its_target() -> None:
    fast = table.row("step", 0.5, "ms", baseline=0.25, ratio_below=3.0)
    assert (fast.ratio, fast.target, fast.met) == (2.0, "ratio < 3", True)
    slow = table.row("step", 0.5, "ms", below=0.4)
    assert (slow.baseline, slow.ratio, slow.target, slow.met) == (None, None, "< 0.4 ms", False)
    assert table.row("step", 0.5, "ms").met is None
    assert table.row("step", float("nan"), "ms", below=1.0).met is False, "what could not be measured is not met"
    assert table.row("step", 1.0, "ms", baseline=0.0, ratio_below=1.0).met is False


def test_rows_are_written_with_every_field_and_printed_in_columns(tmp_path: Path) -> None:
    rows = [table.row("one", 1.0, "ms", baseline=2.0, ratio_below=1.0), table.row("another", 12345.0, "B", below=1.0)]
    table.write(rows, tmp_path / "build" / "bench.json")
    written = json.loads((tmp_path / "build" / "bench.json").read_text())
    assert [list(row) for row in written] == 2 * [["name", "value", "unit", "baseline", "ratio", "target", "met"]]
    assert written[0]["ratio"] == 0.5 and written[1]["met"] is False
    lines = table.text(rows).splitlines()
    assert len(lines) == 3 and lines[1].endswith("yes") and lines[2].endswith("NO")


@rivals
@pytest.mark.parametrize("name", ["pushed walk", "squat with a load", "squashed ghost", "walk on a slippery slope"])
def test_rivals_keep_the_contract(kind: type, name: str) -> None:
    contract.test_every_step_balances(kind, name)
    contract.test_the_ground_only_pushes_and_within_its_friction(kind, name)
    contract.test_muscles_do_not_hold_the_root(kind, name)


def test_playback_ignores_a_push_and_the_helper_pays() -> None:
    character, motion = synthetic.squat(rate=30, duration=1.0)
    scene = Scene(character, motion, pushes=(Push.constant("pelvis", (0.0, 200.0, 0.0), 0.4, 0.2),))
    result = finish(bake(scene, Playback(scene)))
    assert result.deviation.max() < PLAYBACK
    during = (motion.times > 0.45) & (motion.times < 0.55)
    assert np.allclose((result.aid - result.reference_aid)[during, :3], (0.0, -200.0, 0.0), atol=1.0)


def test_stiffer_springs_on_the_root_follow_closer_and_help_more() -> None:
    character, motion = synthetic.squat(rate=30, duration=1.5)
    scene = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 200.0, 0.0), 0.5, 0.2),))
    soft, stiff = (finish(bake(scene, PDOnRoot(scene, rate))) for rate in (5.0, 50.0))
    assert np.abs(stiff.com - _com(scene)).max() < 0.5 * np.abs(soft.com - _com(scene)).max()
    assert stiff.aid_share.mean() > 2.0 * soft.aid_share.mean()


def _com(scene: Scene) -> np.ndarray:
    return finish(bake(scene, Playback(scene))).com


@pytest.mark.parametrize("freedoms", SIZES)
def test_bodies_of_the_bench_stand_on_eight_points(freedoms: int) -> None:
    character, motion = standing(freedoms, 0.5)
    clip = Clip(Scene(character, motion))
    assert clip.tree.nv == freedoms
    assert clip.schedule.touching.shape[1] == 8 and clip.schedule.touching.all()
