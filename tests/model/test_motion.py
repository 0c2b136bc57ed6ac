"""What a motion refuses, and what becomes of it between its keys."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from solver.model.motion import Motion, uniform_times
from solver.numerics import rotation
from tests.tolerances import ROUNDING
from tests.worlds import refusal

RATES = (24, 25, 30, 60, 120)


def swing(t: np.ndarray, links: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Root positions and rotations of a smooth dance: about every axis, more than a turn, 1 Hz at most."""
    positions = np.stack((np.sin(2.0 * t), np.cos(3.0 * t), 0.2 * t), -1)
    phase = np.arange(links)
    wave = np.stack([np.sin(a * t[:, None] + phase + a) for a in (1.0, 2.0, 5.0)], -1)  # (F, N, 3)
    turn = 4.0 * t[:, None, None] * np.array([0.0, 0.0, 1.0])
    return positions, rotation.multiply(rotation.exp(turn), rotation.exp(wave))


def dance(rate: float, frames: int = 40, start: float = 0.0, stretch: bool = False) -> Motion:
    times = uniform_times(frames, rate, start)
    positions, rotations = swing(times - start)
    wave = np.sin(times)[:, None, None] * np.ones((4, 3))
    return Motion(times, positions, rotations, offsets=0.3 * wave if stretch else None,
                  scales=1.0 + 0.5 * wave if stretch else None)


# --- refusals -----------------------------------------------------------------------------------------------


def pieces(frames: int = 5, links: int = 3) -> dict[str, Any]:
    return {"times": uniform_times(frames, 30.0), "positions": np.zeros((frames, 3)),
            "rotations": np.tile(rotation.IDENTITY, (frames, links, 1)), "offsets": np.zeros((frames, links, 3)),
            "scales": np.ones((frames, links, 3))}


def test_the_good_motion_of_these_tests_is_accepted() -> None:
    assert len(Motion(**pieces())) == 5


@pytest.mark.parametrize("name", ["times", "positions", "rotations", "offsets", "scales"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused_with_its_place(name: str, value: float) -> None:
    parts = pieces()
    parts[name].flat[-1] = value
    word = "root position" if name == "positions" else name
    with refusal(word, "not a number", str(tuple(n - 1 for n in parts[name].shape))):
        Motion(**parts)


@pytest.mark.parametrize("name", ["positions", "rotations", "offsets", "scales"])
@pytest.mark.parametrize("cut", [np.s_[:-1], np.s_[..., :-1], np.s_[0]], ids=["frame", "component", "axis"])
def test_wrong_shapes_are_refused(name: str, cut: Any) -> None:
    parts = pieces()
    parts[name] = parts[name][cut]
    with refusal("shape", "Motion"):
        Motion(**parts)


@pytest.mark.parametrize("times", ["soon", [[0.0], [1.0, 2.0]], None])
def test_times_that_are_no_numbers_are_refused(times: Any) -> None:
    with refusal("times", "Motion"):
        Motion(**{**pieces(), "times": times})


@pytest.mark.parametrize("name", ["offsets", "scales"])
def test_offsets_and_scales_of_another_character_are_refused(name: str) -> None:
    parts = pieces()
    parts[name] = parts[name][:, :-1]
    with refusal(name, "shape"):
        Motion(**parts)


@pytest.mark.parametrize("times", [[0.0, 1.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.5, 2.0, 3.0]], ids=["repeated", "backward"])
def test_times_must_increase(times: list[float]) -> None:
    with refusal("Time", "frame 2"):
        Motion(**pieces() | {"times": times})


@pytest.mark.parametrize("frames", [0, 1])
def test_one_frame_is_not_a_motion(frames: int) -> None:
    with refusal("frame", "two"):
        Motion(**pieces(frames))


@pytest.mark.parametrize("length", [0.0, 0.99, 1.001])
def test_quaternions_must_have_unit_length(length: float) -> None:
    parts = pieces()
    parts["rotations"][3, 1] *= length
    with refusal("link 1", "frame 3", "length"):
        Motion(**parts)


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_scales_must_be_positive(scale: float) -> None:
    parts = pieces()
    parts["scales"][2, 1, 0] = scale
    with refusal("scale", "link 1", "frame 2"):
        Motion(**parts)


def test_ragged_lists_are_refused_like_wrong_shapes() -> None:
    with refusal("root position"):
        Motion(**pieces(2) | {"positions": [[0.0, 0.0, 0.0], [0.0, 0.0]]})


# --- parts --------------------------------------------------------------------------------------------------


def test_a_part_is_the_same_frames() -> None:
    whole = dance(30, stretch=True)
    part = whole.part(5, 12)
    for name in ("times", "positions", "rotations", "offsets", "scales"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[5:12])
    with refusal("1 frame"):
        whole.part(3, 4)


def test_rate_and_duration_are_those_of_the_clip() -> None:
    motion = dance(25, frames=51, start=3.0)
    assert motion.duration == pytest.approx(2.0) and motion.rate == pytest.approx(25.0)


def test_new_poses_keep_times_and_stretch() -> None:
    motion = dance(30, stretch=True)
    other = motion.with_poses(motion.positions + 1.0, motion.rotations)
    np.testing.assert_array_equal(other.positions, motion.positions + 1.0)
    np.testing.assert_array_equal(other.scales, motion.scales)


# --- resampling ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start_frame", [0, 1, 1001])
@pytest.mark.parametrize("substeps", [1, 2, 3, 5])
@pytest.mark.parametrize("rate", RATES)
def test_resampling_passes_through_the_keys_bit_for_bit(rate: int, substeps: int, start_frame: int) -> None:
    motion = dance(rate, frames=31, start=start_frame / rate, stretch=True)
    count = substeps * 30 + 1
    grids = {
        "divided": (start_frame * substeps + np.arange(count)) / (rate * substeps),
        "linspace": np.linspace(motion.times[0], motion.times[-1], count),
        "accumulated": motion.times[0] + np.cumsum(np.full(count, 1.0 / (rate * substeps))) - 1.0 / (rate * substeps),
    }
    for times in grids.values():
        fine = motion.resampled(times)
        np.testing.assert_array_equal(fine.times, times)
        for name in ("positions", "rotations", "offsets", "scales"):
            np.testing.assert_array_equal(getattr(fine, name)[::substeps], getattr(motion, name), err_msg=name)
        assert np.abs(np.linalg.norm(fine.rotations, axis=-1) - 1.0).max() < ROUNDING


@pytest.mark.parametrize("rate", RATES)
def test_between_keys_the_dance_is_the_dance(rate: int) -> None:
    motion = dance(rate, frames=2 * rate)
    times = np.linspace(motion.times[0], motion.times[-1], 777)
    fine = motion.resampled(times)
    positions, rotations = swing(times)
    inner = (times > 0.2) & (times < motion.times[-1] - 0.2)  # a spline is less sure at its ends
    error = 20.0 * (5.0 / rate) ** 4  # fourth order in the spacing of the keys; 5 rad/s is the fastest wave
    assert np.abs(fine.positions - positions)[inner].max() < error
    assert np.abs(rotation.subtract(fine.rotations, rotations))[inner].max() < error


def test_twice_the_keys_make_a_sixteenth_of_the_error() -> None:
    def error(rate: int) -> float:
        motion = dance(rate, frames=2 * rate + 1)
        times = np.linspace(0.5, 1.5, 333)
        return float(np.abs(rotation.subtract(motion.resampled(times).rotations, swing(times)[1])).max())

    assert error(24) / error(48) == pytest.approx(16.0, rel=0.3)


@pytest.mark.parametrize("rate", RATES)
def test_resampling_is_smooth(rate: int) -> None:
    """Accelerations between keys are those of the dance: straight lines (slerp) would jump at keys by eight times."""
    motion = dance(rate, frames=2 * rate)
    step = 1.0 / (8.0 * rate)
    times = motion.times[0] + step * np.arange(8 * (len(motion) - 1) + 1)
    fine = motion.resampled(np.minimum(times, motion.times[-1]))

    def accelerations(rotations: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turning = rotation.subtract(rotations[1:], rotations[:-1]) / step
        return np.diff(turning, axis=0) / step, np.diff(positions, 2, axis=0) / step**2

    inner = slice(4 * 8, -4 * 8)
    for ours, true in zip(accelerations(fine.rotations, fine.positions), accelerations(*reversed(swing(fine.times)))):
        assert np.abs(ours[inner] - true[inner]).max() < 0.1 * np.abs(true).max()


@pytest.mark.parametrize("seed", range(3))
def test_signs_of_quaternions_do_not_matter(seed: int) -> None:
    motion = dance(30, frames=60)
    flips = np.random.default_rng(seed).choice([-1.0, 1.0], size=(60, 4, 1))
    flipped = replace(motion, rotations=motion.rotations * flips)
    times = np.linspace(motion.times[0], motion.times[-1], 400)
    straight, other = motion.resampled(times), flipped.resampled(times)
    assert np.abs(rotation.matrix(straight.rotations) - rotation.matrix(other.rotations)).max() < ROUNDING
    np.testing.assert_array_equal(flipped.resampled(motion.times).rotations, flipped.rotations)


@pytest.mark.parametrize("keys", [2, 3, 4, 9])
@pytest.mark.parametrize("turn", [np.pi, np.pi - 1e-9, np.pi + 1e-9, 0.9 * np.pi])
def test_keys_half_a_turn_apart_are_joined_without_a_jump(keys: int, turn: float) -> None:
    axis = np.array([0.6, 0.0, 0.8])
    rotations = rotation.exp((np.arange(keys) % 2 * turn)[:, None, None] * axis)  # there and back again
    motion = Motion(uniform_times(keys, 30.0), np.zeros((keys, 3)), rotations)
    fine = motion.resampled(np.linspace(0.0, motion.times[-1], 100 * (keys - 1) + 1))
    assert np.abs(np.linalg.norm(fine.rotations, axis=-1) - 1.0).max() < ROUNDING
    np.testing.assert_array_equal(fine.rotations[::100], rotations)
    steps = np.linalg.norm(rotation.subtract(fine.rotations[1:], fine.rotations[:-1]), axis=-1)
    assert steps.max() < 5.0 * np.pi / 100.0


@pytest.mark.parametrize("seed", range(4))
def test_wild_keys_give_rotations_without_a_jump(seed: int) -> None:
    rotations = rotation.normalised(np.random.default_rng(seed).normal(size=(12, 20, 4)))
    motion = Motion(uniform_times(12, 30.0), np.zeros((12, 3)), rotations)
    fine = motion.resampled(np.linspace(0.0, motion.times[-1], 1101))
    assert np.abs(np.linalg.norm(fine.rotations, axis=-1) - 1.0).max() < ROUNDING
    np.testing.assert_array_equal(fine.rotations[::100], rotations)
    steps = np.linalg.norm(rotation.subtract(fine.rotations[1:], fine.rotations[:-1]), axis=-1)
    assert steps.max() < 10.0 * np.pi / 100.0


def irregular() -> Motion:
    """Keys at uneven times between which a spline of the components passes near zero (one in a thousand does)."""
    generator = np.random.default_rng(1497)
    times = np.concatenate(([0.0], np.cumsum(np.exp(1.5 * generator.normal(size=7))) / 30.0))
    return Motion(times, np.zeros((8, 3)), rotation.normalised(generator.normal(size=(8, 1, 4))))


def test_uneven_keys_give_unit_rotations_through_the_keys() -> None:
    motion = irregular()
    times = np.union1d(motion.times, np.linspace(0.0, motion.times[-1], 801))
    fine = motion.resampled(times)
    assert np.abs(np.linalg.norm(fine.rotations, axis=-1) - 1.0).max() < ROUNDING
    np.testing.assert_array_equal(fine.rotations[np.isin(times, motion.times)], motion.rotations)
    steps = np.linalg.norm(rotation.subtract(fine.rotations[1:], fine.rotations[:-1]), axis=-1)[:, 0]
    interval = np.diff(motion.times)[np.searchsorted(motion.times, 0.5 * (times[1:] + times[:-1])) - 1]
    assert (steps < 5.0 * np.pi * np.diff(times) / interval + ROUNDING).all()


def test_a_sample_does_not_depend_on_what_else_is_asked() -> None:
    motion = irregular()
    times = np.linspace(0.0, motion.times[-1], 801)
    few, many = motion.resampled(times[::8]), motion.resampled(times)
    assert np.abs(rotation.matrix(few.rotations) - rotation.matrix(many.rotations[::8])).max() < ROUNDING


def test_two_keys_are_enough() -> None:
    motion = dance(30, frames=2)
    fine = motion.resampled(np.linspace(0.0, motion.times[-1], 5))
    np.testing.assert_array_equal(fine.positions[[0, 4]], motion.positions)
    np.testing.assert_allclose(fine.positions[2], motion.positions.mean(0), atol=ROUNDING)


def test_a_still_motion_stays_still() -> None:
    rotations = np.tile(rotation.normalised(np.array([0.3, -0.5, 0.7, 0.1])), (6, 3, 1))
    motion = Motion(uniform_times(6, 24.0), np.tile([1.0, 2.0, 3.0], (6, 1)), rotations)
    fine = motion.resampled(np.linspace(0.0, motion.times[-1], 50))
    assert np.abs(fine.positions - [1.0, 2.0, 3.0]).max() < ROUNDING
    assert np.abs(fine.rotations - rotations[0]).max() < ROUNDING


def test_sudden_squash_never_turns_inside_out() -> None:
    scales = np.ones((8, 1, 3))
    scales[4:] = 0.01  # a spline swings below zero after such a drop
    motion = Motion(uniform_times(8, 30.0), np.zeros((8, 3)), np.tile(rotation.IDENTITY, (8, 1, 1)), scales=scales)
    fine = motion.resampled(np.linspace(0.0, motion.times[-1], 100))
    assert fine.scales is not None and (fine.scales > 0.0).all()


def test_times_outside_the_clip_are_refused() -> None:
    motion = dance(30, frames=31)
    for times in ([-0.1, 0.5, 0.6], [0.4, 0.5, 1.1]):
        with refusal("outside", "within the clip"):
            motion.resampled(np.array(times))
    assert len(motion.resampled(np.array([-1e-12, 1.0 + 1e-12]))) == 2  # rounding is not outside
