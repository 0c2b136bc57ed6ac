"""docs/formats.md names everything that presets and job lists may hold."""

from dataclasses import fields

import pytest

from addon.bridge.settings import ContactSpec, GroundSpec, LoadSpec, Part, PushSpec, ReleaseSpec, Setup
from addon.command.batch.jobs import FLAGS
from tests.program import ROOT

TEXT = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
KINDS = (Setup, Part, PushSpec, LoadSpec, GroundSpec, ContactSpec, ReleaseSpec)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_key_of_a_preset_is_explained(kind) -> None:
    table = TEXT.partition("## Jobs")[0]
    assert not [spec.name for spec in fields(kind) if f"`{spec.name}`" not in table]


def test_every_option_of_a_job_and_every_word_for_a_place_is_named() -> None:
    jobs = TEXT.partition("## Jobs")[2].partition("## Motions")[0]
    assert not [flag for flag in FLAGS if f"`{flag}`" not in jobs]
    assert all(f"`@{place}`" in TEXT for place in ("chest", "head", "hips", "hands", "feet"))
