# robot_identification: `make demo` and `make test` each start from a fresh clone.
# They need Python 3.11 or 3.12 with its venv module, and make; no ROS, no root.

VENV := .venv
BIN := $(VENV)/bin

# A Python of your choice: make setup PYTHON=/usr/bin/python3.11
PYTHON ?=
PYTEST_ARGS ?=
DEMO_ARGS ?=
BENCH_ARGS ?=
LOCK_ARGS ?=
# Of requirements/lock.txt.
PARTS := core report ros extras test docs

# A sourced ROS, another venv of ROS wheels and a personal pip set-up must not mix in. Only what
# the environment brought is dropped: `make test ROS_PYTHON_CHECK_FIELDS=1` still arrives.
# Without bytecode each of the hundreds of processes that tests start compiles the package.
FOREIGN := PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE LD_LIBRARY_PATH LD_PRELOAD \
           CMAKE_PREFIX_PATH PKG_CONFIG_PATH \
           PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_HASHES PIP_NO_DEPS _ROS_WHEELS_% \
           ROS_% AMENT_% COLCON_% CATKIN_% RMW_% RCL_% RCUTILS_% FASTRTPS_% FASTDDS_% CYCLONEDDS_%
$(foreach name,$(filter $(FOREIGN),$(.VARIABLES)),\
  $(if $(filter environment,$(origin $(name))),$(eval unexport $(name))))

# Where ament_index looks; without it ament_index_python raises.
export AMENT_PREFIX_PATH := $(CURDIR)/$(VENV)
# More BLAS threads make small matrices slower, not faster.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input
LOCKED := --require-hashes --no-deps --no-build-isolation

REQUIREMENTS := $(VENV)/.requirements-installed
PACKAGE := $(VENV)/.package-installed
COMPARED := $(VENV)/.compared-installed
SEEDS := rajagopal_2017 madsen_2020 porcelli_2020 tika_2020 raviola_2021
# Tests of nodes keep time, so they run after all the others, two files at a time: each test has a
# ROS graph of its own, and much of it waits. The demo, seven nodes that watch a moving arm, has
# the computer for itself. Where a machine stalls for a second, an arm that is watched has stopped:
# what fails is tried once more, and the summary names it. In the order of the files: that with the
# fewest tests, which would be last, takes longest.
NODE_TESTS := test/nodes test/launch
DEMO_TESTS := test/nodes/test_demo.py
NODE_OPTIONS := --reruns 1 -r sfER
SIDE_BY_SIDE := -n 2 --dist loadfile --no-loadscope-reorder
TESTS := echo 'test: all but the nodes' && \
  $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile $(NODE_TESTS:%=--ignore=%); \
  rest=$$?; echo 'test: the nodes' && \
  $(BIN)/python -m pytest $(NODE_OPTIONS) $(SIDE_BY_SIDE) $(NODE_TESTS) --ignore=$(DEMO_TESTS) && \
  echo 'test: the demo' && $(BIN)/python -m pytest $(NODE_OPTIONS) $(DEMO_TESTS) && \
  (exit $$rest)
# mypy takes a processor for 40 s: it has what the tests leave idle, as those of nodes do half of
# their time. Where the idle class is not allowed, as in some containers, niceness takes its place.
IDLE := $(if $(shell chrt --idle 0 echo may 2>/dev/null),chrt --idle 0,nice -n 19)
LINTED := $(wildcard robot_identification launch test benchmarks examples reproductions validation_studies docs setup.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: help setup demo test lint ruff mypy docs bench reproductions policies parameters lock clean check-python

help: ## List the targets
	@echo 'make <target>, with Python 3.11 or 3.12, its venv module and make:'
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
	@echo 'Another Python: make setup PYTHON=python3.11 (after make clean). Some tests: make test PYTEST_ARGS="-k bag".'

setup: $(PACKAGE) ## Make .venv with everything in it; leaves .venv/bin/robot-identification
	@$(if $(filter setup,$(MAKECMDGOALS)),echo 'setup: done: the command is $(BIN)/robot-identification; on the PATH of this terminal: . $(BIN)/activate',:)

demo: setup ## Identify and validate a simulated robot through its ROS nodes, and write a report
	@$(BIN)/robot-identification demo $(DEMO_ARGS)

test: setup ## Lint and run all tests
	@$(IDLE) $(MAKE) --no-print-directory $(if $(ROBOT_IDENTIFICATION_LONG_TESTS),lint,ruff mypy) & lint=$$!; \
	export LINTED_BESIDE=1; \
	$(if $(strip $(PYTEST_ARGS)),$(BIN)/python -m pytest $(PYTEST_ARGS),$(TESTS)); tested=$$?; \
	wait $$lint && exit $$tested

# flake8 with ament's rules takes as long as a tenth of all tests; ruff has the same rules but for
# the order of imports, which a test checks. So flake8 itself runs by night, and before a release.
lint: ruff mypy ## ruff, mypy, and flake8 with ament's rules of code and docstrings
	@echo 'lint: flake8'
	@$(BIN)/python -m flake8 $(LINTED)

ruff: setup
	@echo 'lint: ruff'
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff check --quiet --preview --select E,W,Q,A,C4 --ignore C416,C420 .

mypy: setup
	@echo 'lint: mypy'
	@$(BIN)/python -m mypy --no-error-summary

bench: setup $(COMPARED) ## Run the benchmarks, FIGAROH's beside ours; one table in benchmarks/results/table.md
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

docs: setup ## Build the documentation site in build/docs
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo 'docs: build/docs/index.html'

# The pages in docs/reproductions, with the JSON that a test holds them against. An hour.
reproductions: setup ## Reproduce the five papers into docs/reproductions
	@for seed in $(SEEDS); do \
	  $(BIN)/python -m reproductions $$seed -o docs/reproductions --force || exit 1; \
	done

policies: setup ## Write the SROS 2 policies in security/policies from the running nodes
	@$(BIN)/python test/security_policies.py

parameters: setup ## Write docs/parameters.md and config/nodes from what the nodes declare
	@$(BIN)/python docs/_ext/node_parameters.py

lock: setup ## Resolve requirements/*.in again into lock.txt and bench.txt; newer: LOCK_ARGS=--upgrade
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 $(LOCK_ARGS) \
	  $(PARTS:%=requirements/%.in) \
	  -o requirements/lock.txt --no-header -q
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 $(LOCK_ARGS) \
	  requirements/bench.in -c requirements/lock.txt \
	  -o requirements/bench.txt --no-header -q

clean: ## Remove .venv, caches and build folders; demo results stay
	rm -rf $(VENV) build install log dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A pyenv shim can exist and still not run, so each candidate is tried, and every refusal explained.
$(BIN)/python: | check-python
	@found=; why=; \
	for candidate in $(if $(PYTHON),'$(PYTHON)',python3.12 python3.11 python3); do \
	  version=$$("$$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || version=; \
	  case $$version in \
	    3.11|3.12) \
	      if "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then found=$$candidate; break; fi; \
	      problem="is $$version without venv (Debian, Ubuntu: apt install python$$version-venv)";; \
	    '') problem='does not run';; \
	    *) problem="is Python $$version";; \
	  esac; \
	  why="$$why; $$candidate $$problem"; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "setup: Python 3.11 or 3.12 with its venv module is needed$$why." >&2; \
	  echo 'setup: install one, or name one: make setup PYTHON=/path/to/python3.12' >&2; \
	  exit 1; \
	fi; \
	echo "setup: making $(VENV) with $$found (Python $$version)"; \
	"$$found" -m venv --clear $(VENV)
	@touch $(VENV)/COLCON_IGNORE

# A Python asked for by name must not silently give way to the one that .venv was made with.
check-python:
	@if [ -n '$(PYTHON)' ] && [ -x $(BIN)/python ]; then \
	  question='import sys; print("%d.%d" % sys.version_info[:2])'; \
	  asked=$$('$(PYTHON)' -c "$$question" 2>/dev/null) || asked='nothing that runs'; \
	  present=$$($(BIN)/python -c "$$question"); \
	  if [ "$$asked" != "$$present" ]; then \
	    echo "setup: $(VENV) holds Python $$present, PYTHON=$(PYTHON) is $$asked: run make clean first" >&2; \
	    exit 1; \
	  fi; \
	fi

# Some requirements have no wheel. Isolated, they would be built with a setuptools that no hash
# vouches for, so the locked one goes in first, and uv with it, which unpacks with all processes.
# The lock is complete. Were pip to resolve it again, it would ask for the newest release of what
# another package wants with an extra, and refuse it for want of a hash. An index that is set up
# for pip alone is not known to uv: then pip does it all.
$(REQUIREMENTS): requirements/lock.txt $(BIN)/python
	@echo 'setup: installing the locked requirements into $(VENV) (1 to 5 minutes, 2.2 GB)'
	@awk '/^[a-z]/ { keep = /^(packaging|setuptools|uv|wheel)==/ } keep' $< >$(VENV)/build-tools.txt
	@$(PIP_INSTALL) --require-hashes --no-deps -r $(VENV)/build-tools.txt
	@$(BIN)/uv pip install --quiet --no-cache --system-certs --python $(BIN)/python $(LOCKED) -r $< || { \
	  echo 'setup: uv failed, pip tries'; $(PIP_INSTALL) --no-compile $(LOCKED) -r $<; }
	@PYTHONWARNINGS=ignore $(BIN)/python -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib || true
	@touch $(VENV)/COLCON_IGNORE $@

# What the benchmarks measure us against; only they want it.
$(COMPARED): requirements/bench.txt $(REQUIREMENTS)
	@echo 'bench: installing FIGAROH into $(VENV)'
	@$(PIP_INSTALL) --require-hashes --no-deps --no-build-isolation -r $<
	@touch $@

# An editable install leaves out the shared files; links make ament_index find the tree's own.
$(PACKAGE): setup.py setup.cfg pyproject.toml package.xml $(REQUIREMENTS)
	@echo 'setup: installing robot_identification into $(VENV)'
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@mkdir -p $(VENV)/share/robot_identification $(VENV)/share/ament_index/resource_index/packages
	@cp resource/robot_identification $(VENV)/share/ament_index/resource_index/packages/
	@for item in package.xml config launch urdf; do \
	  ln -sfn ../../../$$item $(VENV)/share/robot_identification/$$item; \
	done
	@touch $@
