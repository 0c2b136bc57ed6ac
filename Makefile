# make test      lint, types and tests; sets up .venv by itself          (PYTHON=python3.13 chooses another Python)
# make matrix    the same on Python 3.11 and 3.13, the tests on the oldest numpy and scipy supported, and the whole grid
# make grid      the tests marked exhaustive: every clip, rate and push (about an hour)
# make bench     one table of measurements
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

.PHONY: test matrix test-3.11 test-3.13 test-oldest grid bench clean

test:
	$(venv) .venv "$(PYTHON)" test types
	$(call lint,.venv)
	$(call pytest,.venv)

matrix: test-3.11 test-3.13 test-oldest grid

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

bench:
	$(venv) .venv "$(PYTHON)" test types
	.venv/bin/python -m benchmarks

clean:
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
