# make test      lint, types and tests; sets up .venv and .venv-bpy-5.0 by itself   (PYTHON=python3.13 chooses another)
# make matrix    the same on Python 3.11 and 3.13, on the oldest numpy and scipy, on Blender 4.2 to 5.2, and the grid
# make blender   the tests of the add-on on Blender 4.2, 4.5, 5.0 and 5.2, as Python modules
# make other-blenders   what of it `make test` leaves: all but the add-on's tests on 5.0
# make grid      the tests marked exhaustive: every clip, rate and push (about an hour)
# make bench     one table of measurements
# make demo      bakes the walk with pushes without a window: .blend, report and contact sheet in build/demo
# make sheets    renders the sheets that README and docs show
# make scenes    makes the sample scenes anew, with Blender 4.2
# make extension builds and checks one extension zip per platform in build/extension  (PLATFORM=linux-x64 for one)
# make install-test   installs the zip in a Blender program with a clean profile and bakes with it
# make clean     removes environments and caches

PYTHON ?=
PYTHON311 ?= python3.11
PYTHON313 ?= python3.13
JOBS ?= 2
PYTEST_ARGS ?=

# Small matrices: threads inside BLAS cost more than they give, and make timings wander.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

# An environment is `.ci/venv FOLDER PYTHON GROUP...`; the groups stand in pyproject.toml.
venv = @bash .ci/venv
lint = $(1)/bin/python -m ruff check && $(1)/bin/python -m mypy
pytest = $(1)/bin/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

# What touches Blender runs in its own environment (bpy wants an older numpy than the judges).
BLENDER_TESTS = tests/bridge tests/ui tests/command
SCENE_TESTS = tests/scenes
PLATFORM ?=
blender = $(1)/bin/python -m pytest -n $(JOBS) $(BLENDER_TESTS) $(PYTEST_ARGS)

.PHONY: demo sheets scenes extension install-test test matrix test-3.11 test-3.13 test-oldest blender other-blenders test-bpy-4.2 test-bpy-4.5 test-bpy-5.0 test-bpy-5.2 grid \
	bench clean

test:
	$(venv) .venv "$(PYTHON)" test types
	$(call lint,.venv)
	$(call pytest,.venv)
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	$(call blender,.venv-bpy-5.0)

matrix: test-3.11 test-3.13 test-oldest blender grid

blender: test-bpy-4.2 test-bpy-4.5 test-bpy-5.0 test-bpy-5.2

other-blenders: test-bpy-4.2 test-bpy-4.5 test-bpy-5.2
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	.venv-bpy-5.0/bin/python -m pytest -n $(JOBS) $(SCENE_TESTS) $(PYTEST_ARGS)

test-bpy-4.2 test-bpy-4.5 test-bpy-5.0: test-bpy-%:
	$(venv) .venv-bpy-$* "$(PYTHON311)" bpy-$*
	$(call blender,.venv-bpy-$*)
	.venv-bpy-$*/bin/python -m pytest -n $(JOBS) $(SCENE_TESTS) $(PYTEST_ARGS)

test-bpy-5.2: test-bpy-%:
	$(venv) .venv-bpy-$* "$(PYTHON313)" bpy-$*
	$(call blender,.venv-bpy-$*)
	.venv-bpy-$*/bin/python -m pytest -n $(JOBS) $(SCENE_TESTS) $(PYTEST_ARGS)

test-3.11:
	$(venv) .venv-3.11 "$(PYTHON311)" test types
	$(call lint,.venv-3.11)
	$(call pytest,.venv-3.11)

test-3.13:
	$(venv) .venv-3.13 "$(PYTHON313)" test types
	$(call lint,.venv-3.13)
	$(call pytest,.venv-3.13)

test-oldest:
	$(venv) .venv-oldest "$(PYTHON311)" oldest
	$(call pytest,.venv-oldest)

grid:
	$(venv) .venv "$(PYTHON)" test types
	$(call pytest,.venv) -m exhaustive
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	$(call blender,.venv-bpy-5.0) -m exhaustive

bench:
	$(venv) .venv "$(PYTHON)" test types
	.venv/bin/python -m benchmarks
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	.venv-bpy-5.0/bin/python -m benchmarks.bake_time

demo:
	@bash .ci/demo "$(PYTHON311)" "$(PYTHON313)"

sheets:
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	for name in walk_with_pushes walk_over_rough_ground trot_over_rubble fall; do \
		.venv-bpy-5.0/bin/python -m addon bake sample_scenes/$$name.blend --sheet-width 1200 \
			--sheet docs/pictures/sheet_$$name.png || exit 1; done

scenes:
	$(venv) .venv-bpy-4.2 "$(PYTHON311)" bpy-4.2
	.venv-bpy-4.2/bin/python -m sample_scenes.build

extension:
	$(venv) .venv-bpy-5.0 "$(PYTHON311)" bpy-5.0
	.venv-bpy-5.0/bin/python .ci/extension.py $(addprefix --platform ,$(PLATFORM))

install-test:
	$(MAKE) extension PLATFORM=linux-x64
	.venv-bpy-5.0/bin/python -m pytest tests/extension $(PYTEST_ARGS)

clean:
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
