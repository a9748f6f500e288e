# A thin front: each target runs one script or one CMake preset. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build run check test test-vulkan fuzz bench format format-check tidy clean

sources = find src include test bench -name '*.[ch]' -o -name '*.cc'

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 16

setup:  ## install the Debian packages of packages.txt that are missing
	@sh scripts/setup.sh

build: setup  ## the tools, optimised, in build/bin/
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

run: build  ## compile and run examples/gelu.hlo, compare with the interpreter, measure
	@sh scripts/run_gelu.sh

check: setup  ## the quick tests: layout, release build, unit and golden tests, the corpus sample
	@python3 scripts/run_tests.py --check

test: setup  ## all steps of scripts/run_tests.py: three builds, unit and golden tests, conformance, fuzzers, tidy
	@python3 scripts/run_tests.py

test-vulkan: build  ## the conformance corpus on a Vulkan device
	@python3 scripts/conformance.py --platform=vulkan

fuzz: setup  ## every fuzz target for 60 s
	@python3 scripts/fuzz.py --seconds=60

bench: build  ## compare with the peers that are installed
	@python3 bench/run.py
	@python3 bench/tiles.py
	@python3 bench/peers.py

format: setup  ## lay out all C and C++ sources
	@$(sources) | xargs clang-format-19 -i

format-check: setup  ## fail if `make format` would change anything
	@$(sources) | xargs clang-format-19 --dry-run --Werror

tidy: setup  ## clang-tidy over all C sources but tests
	@sh scripts/tidy.sh

clean:  ## remove build/
	rm -rf build
