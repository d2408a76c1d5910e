# SPDX-License-Identifier: Apache-2.0
# make demo | test | bench | lint | wheel | clean: each sets up what it needs in .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 1); if [ $$n -gt 2 ]; then echo 2; else echo $$n; fi)
VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
CTEST := $(VENV)/bin/ctest --output-on-failure --no-tests=error --parallel $(JOBS)
LIBRARIES := $(PY) setup.py --quiet build_ext --inplace

# The environment sees its own packages only.
unexport PYTHONPATH PYTHONHOME
export PYTHONNOUSERSITE := 1
export NPU_BUILD_JOBS := $(JOBS)

.PHONY: help demo test bench lint format wheel clean distclean machine build packages \
        test-cpp test-cpp-libraries test-access test-python test-asan test-asan-short test-tsan test-soak \
        test-mutants test-fuzz test-aarch64 test-layering test-packaging
.NOTPARALLEL:

help:
	@echo "make demo    train a convolutional net on npu with operators of torch.ops.npu"
	@echo "make test    build, run the C++ tests (also under the sanitizers) and the Python tests"
	@echo "             parts: test-cpp test-asan-short test-tsan test-python test-layering"
	@echo "             by request: test-access test-asan (all of it) test-soak test-mutants test-aarch64 (in qemu-user)"
	@echo "                         test-fuzz test-packaging"
	@echo "make bench   time operators on npu beside torch on CPU"
	@echo "make lint    formatters, linters and type checker over all files"
	@echo "make format  apply the formatters"
	@echo "make wheel   dist/*.whl with kernels for all levels of the architecture"
	@echo "make clean   remove what was built; make distclean removes .venv, too"

# --- environments: one stamp per requirements file -----------------------------------------------
machine:
	@sh tools/check_machine.sh "$(PYTHON)" "$(JOBS)"

$(VENV)/.made: | machine
	@echo "make: making $(VENV); the first time takes minutes: packages are installed, and all kernels compiled"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.%: tools/requirements/%.txt tools/requirements/build.txt $(VENV)/.made
	@echo "make: installing tools/requirements/$*.txt into $(VENV)"
	@$(PIP_INSTALL) -r $<
	@touch $@

# --- libraries, in place ---------------------------------------------------------------------------
build: $(VENV)/.build | machine
	@$(LIBRARIES)

# What makes the entry point torch.backends known; the libraries stay in place.
$(VENV)/.packages: setup.py pyproject.toml $(VENV)/.build
	@$(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@

packages: build $(VENV)/.packages

# --- what users run --------------------------------------------------------------------------------
demo: $(VENV)/.demo packages
	$(PY) examples/demo.py

bench: $(VENV)/.build packages
	$(PY) -m bench.run --output bench/results.json

test: test-layering test-cpp test-asan-short test-tsan test-python

test-layering: $(VENV)/.test
	$(PY) -m unittest test.test_layering

test-cpp-libraries: export NPU_CMAKE_ARGS := -DNPU_BUILD_TESTS=ON
test-cpp-libraries: $(VENV)/.test | machine
	@$(LIBRARIES)

test-cpp: test-cpp-libraries
	$(CTEST) --test-dir build/dev

# What instructions touch, against what they say; a part of test-cpp.
test-access: test-cpp-libraries
	$(CTEST) --test-dir build/dev --tests-regex test_pto_access

# A file's tests stay in one process: they share compiled kernels.
test-python: $(VENV)/.test $(VENV)/.demo packages
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile

cmake_arguments = -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(VENV)/bin/ninja -DPython3_EXECUTABLE=$(CURDIR)/$(PY) \
  -DNPU_PACKAGE_DIR=$(CURDIR)/build/$(1)/packages -DNPU_BUILD_TESTS=ON
# All tests by request; within `make test` those that handle memory.
test-asan test-asan-short: $(VENV)/.test | machine
	@$(VENV)/bin/cmake -S . -B build/asan -G Ninja $(call cmake_arguments,asan) \
	  -DNPU_BUILD_TORCH=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNPU_SANITIZE=address,undefined \
	  -DNPU_SHORT_TESTS=$(if $(filter test-asan-short,$@),ON,OFF) --log-level=WARNING
	@$(VENV)/bin/cmake --build build/asan --target npu_tests --parallel $(JOBS)
	$(CTEST) --test-dir build/asan

test-tsan: $(VENV)/.test | machine
	@$(VENV)/bin/cmake -S . -B build/tsan -G Ninja $(call cmake_arguments,tsan) \
	  -DNPU_BUILD_TORCH=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNPU_SANITIZE=thread --log-level=WARNING
	@$(VENV)/bin/cmake --build build/tsan --target npu_threaded_tests --parallel $(JOBS)
	$(CTEST) --test-dir build/tsan --label-regex threaded

# By request: half a million operations in four threads and streams, about three minutes.
test-soak: $(VENV)/.test packages
	NPU_SOAK_OPERATIONS=500000 $(PY) -m pytest -q -s test/host/test_soak.py

# By request: the hazard checker against an oracle, on mutants of the kernels of all files: some minutes.
test-mutants: $(VENV)/.test packages
	NPU_MUTANTS=all $(PY) -m pytest -q -s test/check/test_mutants.py

# By request: 100,000 random tile programs, half of them for each generation of chips.
test-fuzz: test-cpp-libraries
	NPU_SOC=Ascend910B1 build/dev/test/fuzz/test_fuzz --programs 50000
	NPU_SOC=Ascend950PR build/dev/test/fuzz/test_fuzz --programs 50000

# By request: runtime, kernels and C++ tests, cross-compiled, in an emulator of the processor.
test-aarch64: $(VENV)/.test | machine
	@sh tools/check_aarch64.sh
	@$(VENV)/bin/cmake -S . -B build/aarch64 -G Ninja $(call cmake_arguments,aarch64) \
	  -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/csrc/cmake/aarch64_toolchain.cmake \
	  -DNPU_BUILD_TORCH=OFF --log-level=WARNING
	@$(VENV)/bin/cmake --build build/aarch64 --target npu_tests --parallel $(JOBS)
	$(CTEST) --test-dir build/aarch64

# Installs the wheel of all levels, and what other ways of installing make, into environments of its own.
test-packaging: $(VENV)/.test packages wheel
	NPU_TEST_WHEEL=$$(ls $(CURDIR)/dist/op_extension-*.whl) \
	  $(PY) -m pytest -q test/packaging test/packaging/install_ways.py

# clang-tidy reads the commands of a build that is configured, not made.
lint: $(VENV)/.lint $(VENV)/.test | machine
	@$(VENV)/bin/cmake -S . -B build/lint -G Ninja $(call cmake_arguments,lint) --log-level=WARNING
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/pre-commit run --all-files

# What lint asks for and a program can do.
format: $(VENV)/.lint
	git ls-files -z '*.c' '*.cpp' '*.h' '*.hpp' | xargs -0 $(VENV)/bin/clang-format -i
	git ls-files -z '*CMakeLists.txt' '*.cmake' | xargs -0 $(VENV)/bin/cmake-format -i
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

wheel: $(VENV)/.build | machine
	@rm -rf dist
	$(PY) setup.py --quiet bdist_wheel
	cd tools/compat_extra && ../../$(PY) setup.py --quiet egg_info --egg-base ../../build \
	  build --build-base ../../build/compat_extra bdist_wheel --dist-dir ../../dist
	@ls dist/*.whl

clean:
	rm -rf build dist npu_backend/lib op_extension/lib op_extension/include *.egg-info
	rm -f op_extension/*.so $(VENV)/.packages
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
