# What people and CI run. `make help` lists it.
SHELL := /bin/bash
# Tests start hundreds of Pythons; without stored bytecode each would compile numpy and matplotlib again.
unexport PYTHONDONTWRITEBYTECODE
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help run test build-tests test-rust test-python test-bbr lint lint-rust lint-python lint-web bench bench-components counts measured dist-daemon docs lab fuzz generate benchmark benchmark-page portable netlulld dist test-dist clean setup tools lock

VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(VENV)/.packages
EXTENSION := $(VENV)/.extension
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.csv' | sort)
CHARTS := python/netlull/report/shipped/uPlot.iife.min.js
OUT := out/quick
DAEMON := $(BIN)/netlulld
LAB := out/lab/index.html
NPM := web/node_modules/.package-lock.json
SHIPPED_LAB := python/netlull/report/shipped/lab.html
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
GUNGRAUN := 0.20.0
BENCH_TOOLS := $(CURDIR)/target/tools/gungraun-$(GUNGRAUN)
BENCH_RUNNER := $(BENCH_TOOLS)/bin/gungraun-runner

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: setup ## Reproduce troubled-marriage-2016 on its quick grid; says where the report is.
	$(BIN)/netlull reproduce troubled-marriage-2016 --quick --out $(OUT)

# Each skipped test appends its name here; the last line of `make test` counts them.
SKIPPED := $(CURDIR)/out/skipped
# Without clang or libbpf the crate live does not compile, nor what uses it.
BPF = $(shell command -v clang >/dev/null && test -e /usr/include/bpf/bpf_helpers.h && echo yes)
WITHOUT_BPF := $(addprefix --exclude netlull-,live agreement)
# The profile of the extension: what it has compiled is compiled.
TESTED = --profile fast --workspace --locked --exclude netlull-components $(if $(BPF),,$(WITHOUT_BPF))

WASM := wasm32-unknown-unknown
# The lab needs npm and Rust's target for WebAssembly. Its tests are skipped without them.
LABABLE = $(shell command -v npm >/dev/null && test -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM)" && echo yes)

test: setup tools ## Run all tests, Rust's and Python's; needs no root, and counts the skipped tests at the end.
	@$(MAKE) --no-print-directory -j2 $(if $(LABABLE),$(SHIPPED_LAB)) build-tests
	@mkdir -p $(dir $(SKIPPED)); printf "$(if $(BPF),,all of the crates live and agreement (clang or libbpf-dev is missing)\n)" > $(SKIPPED)
	@echo "Rust's tests and Python's run at once; each says what came of it when it is over."
	@NETLULL_SKIPPED=$(SKIPPED) $(MAKE) --no-print-directory --output-sync=target -j2 test-rust test-python; status=$$?; \
	sort -u $(SKIPPED) | awk '{ names = names sep $$0; sep = ", " } END { print NR " tests skipped" (NR ? ": " names : "") }'; \
	exit $$status

build-tests:
	cargo test $(TESTED) --tests --no-run

# Many of Rust's wait for real packets, and leave the processors to Python's. Examples of the documentation are tested with all
# crates: one crate alone has other features, and would be compiled again.
test-rust:
	cargo test $(TESTED) --tests
	cargo test $(TESTED) --doc

# The tests of a file run in one process, because they share fixtures that take long. Many wait for a browser or for real packets:
# three processes keep two processors busy.
test-python:
	$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 20

test-bbr: setup ## Build noq, drive its BBR next to netlull's, and renew the stored rows (validation/bbr).
	$(BIN)/python validation/bbr/run.py --rerun

lint: lint-rust lint-python lint-web ## Check formatting, lints, types and the arrows between crates and packages (`make -j2 lint`: languages at once).

lint-rust: tools
	cargo fmt --all --check
	cargo clippy --profile fast --workspace --all-targets --locked -- -D warnings

lint-python: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/stubtest netlull._core --mypy-config-file pyproject.toml
	$(BIN)/python tools/check_arrows.py
	$(BIN)/python tools/import_cycles.py
	$(BIN)/python tools/check_imports.py
	$(BIN)/python tools/check_prose.py
	@test $$(wc -w < README.md) -le 700 || { echo "README.md has more than 700 words"; exit 1; }

lint-web: setup
	@if test -x web/node_modules/.bin/tsc; then web/node_modules/.bin/tsc --project web/lab; else echo "npm is missing: the lab's types are not checked"; fi

# Sources are the Markdown pages of the whole tree, docstrings, and the doc comments of the crates that are of use alone.
SITE := out/docs
RUSTDOC := $(addprefix --package netlull-,units power bound mechanism tcp wire network)
docs: setup $(LAB) ## Build the documentation site, out/docs/index.html, and check its links.
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --locked $(RUSTDOC)
	rm -rf $(SITE)
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --jobs auto -c docs --doctree-dir out/.doctrees . $(SITE)
	cp -r $${CARGO_TARGET_DIR:-target}/doc $(SITE)/rust
	@# The site's lab links to the site's pages; a copy elsewhere links to the project's address.
	mkdir -p $(SITE)/lab && sed 's|<html lang="en">|<html lang="en" data-docs="../docs/">|' $(LAB) > $(SITE)/lab/index.html
	$(BIN)/python tools/check_links.py $(SITE)
	@echo "open $(SITE)/index.html"

# The laboratory as one page: the engine as WebAssembly, scenes, shipped scenarios. Reports link into a copy next to them.
LAB_MODULE = $${CARGO_TARGET_DIR:-target}/$(WASM)/web/netlull_web.wasm
lab: $(SHIPPED_LAB) ## Build the laboratory for the browser, out/lab/index.html; needs Rust, its target for WebAssembly, and Node.
	@echo "open $(LAB)"

$(LAB): $(RUST) $(NPM) python/netlull/report/theme.css $(shell find web/lab -type f)
	! command -v rustup >/dev/null || rustup --quiet target add $(WASM)
	cargo build --profile web --locked --target $(WASM) --package netlull-web
	@mkdir -p $(@D)
	node web/lab/build.mjs $(LAB_MODULE) web/lab/data.json python/netlull/report/theme.css $@

$(SHIPPED_LAB): $(LAB)
	mkdir -p $(@D) && cp $< $@

generate: setup ## Renew the files that are derived from the core: JSON Schema, Python classes, tables of parameters, the lab's data.
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/lab_data.py
	@if test -d web/node_modules/esbuild; then node web/lab/tests/addresses.mjs docs/teaching/addresses.md web/lab/data.json; fi

# Every result is of this build; finished runs in out/benchmark are reused.
RESULTS := python/netlull/shipped/benchmark/results
benchmark: setup ## Run the baselines of netlull benchmark with ranking seeds, and renew their results and docs/benchmark.md.
	$(BIN)/netlull benchmark run --controller baselines --seeds ranking --out out/benchmark
	mkdir -p $(RESULTS)
	for file in out/benchmark/*/result.json; do cp $$file $(RESULTS)/$$(basename $$(dirname $$file)).json; done
	$(MAKE) --no-print-directory benchmark-page

benchmark-page: setup ## Renew docs/benchmark.md from the results that netlull ships.
	$(BIN)/netlull benchmark compare --page docs/benchmark.md --picture docs/images/benchmark.svg
	$(BIN)/python tools/first_picture.py docs/images/first.svg

# BENCH can hold options, such as `BENCH=--quick`; benches/README.md lists them. HTSIM=DIR names a checkout of htsim.
BENCH := --growth --store
bench: measured tools ## Measure the engine side by side with ns-2, ns-3 and optionally htsim (a quarter of an hour).
	$(BIN)/python benches/run.py $(if $(HTSIM),--htsim $(HTSIM)) $(BENCH)

# Speed is measured with full optimisation. The extension stays so until its sources change.
measured: setup
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked

bench-components: $(PACKAGES) $(BENCH_RUNNER) ## Count the instructions of the engine's components; fails if one grew by more than 3 %.
	GUNGRAUN_RUNNER=$(BENCH_RUNNER) $(BIN)/python benches/components.py --store $(if $(REASON),--renew "$(REASON)")

# With REASON="..." both commands store the new counts in benches/counts.csv.
counts: $(PACKAGES) ## Count the instructions of short runs; fails if one grew by more than 3 % (see benches/README.md).
	@if command -v valgrind >/dev/null; then $(BIN)/python benches/counts.py $(if $(REASON),--renew "$(REASON)"); \
	else echo "1 check skipped: instruction counts (valgrind is missing; Debian: apt-get install valgrind)"; fi

# The runner must be of the version that benches/components/Cargo.toml names.
$(BENCH_RUNNER):
	command -v valgrind >/dev/null || { echo "valgrind is missing (Debian: apt-get install valgrind)"; exit 1; }
	cargo install gungraun-runner --version =$(GUNGRAUN) --locked --quiet --root $(BENCH_TOOLS)

# FUZZ_SECONDS and FUZZ_SEED can be given; what fails is written to out/fuzz/.
FUZZ_SECONDS := 60
FUZZ_SEED := $(shell date +%s)
# The real modules that the attack mutates, from templates in C.
GUESTS = $(if $(shell command -v clang && command -v wasm-ld),link-controller rate-controller station)
fuzz: setup ## Attack the readers and the simulator, TCP endpoints on random paths, the packet parser and WebAssembly modules, for a minute each.
	$(BIN)/python tools/attack.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)
	$(BIN)/pytest -q --hypothesis-profile fuzz --hypothesis-seed $(FUZZ_SEED) tests/test_topology_files.py tests/test_fleet_loads.py -k "multigraph or directions or damaged"
	PROPTEST_CASES=$$((100 * $(FUZZ_SECONDS))) cargo test --quiet --profile fast --locked --package netlull-network --test capacity
	cargo build --quiet --profile fast --locked --package netlull-tcp --example fuzz_path
	cargo build --quiet --profile fast --locked --package netlull-wire --example fuzz_wire
	cargo build --quiet --profile fast --locked --package netlull-plugin --example fuzz_modules
	@rm -rf out/fuzz/guests; mkdir -p out/fuzz/guests; cd out/fuzz/guests; for kind in $(GUESTS); do \
	  $(CURDIR)/$(BIN)/netlull plugin new $$kind --kind $$kind --language c >/dev/null && (cd $$kind && ./build.sh) || exit 1; done
	@end=$$((SECONDS + $(FUZZ_SECONDS))); seed=$(FUZZ_SEED); \
	while [ $$SECONDS -lt $$end ]; do \
	  $${CARGO_TARGET_DIR:-target}/fast/examples/fuzz_path --seed $$seed --count 500 --out out/fuzz || exit 1; \
	  $${CARGO_TARGET_DIR:-target}/fast/examples/fuzz_wire --seed $$seed --count 100000 --out out/fuzz || exit 1; \
	  $${CARGO_TARGET_DIR:-target}/fast/examples/fuzz_modules --seed $$seed --count 500 --out out/fuzz $(foreach kind,$(GUESTS),out/fuzz/guests/$(kind)/$(kind).wasm) || exit 1; \
	  seed=$$((seed + 1)); \
	done

# Each is installed once, next to the compiled code. An interrupted installation leaves no bin.
DENY := $(CURDIR)/target/tools/cargo-deny-0.20.2
MUTATE := $(CURDIR)/target/tools/cargo-mutants-27.1.0
$(DENY)/bin $(MUTATE)/bin:
	cargo install $(subst -0,@0,$(subst -27,@27,$(notdir $(@D)))) --locked --quiet --root $(@D)

audit: setup $(DENY)/bin ## Check licences, advisories and yanked versions of all dependencies.
	PATH=$(DENY)/bin:$$PATH $(BIN)/python tools/audit.py

# A crate and a part of its mutants can be given: MUTANTS=mechanism SHARD=0/10. Results go to out/mutants/CRATE.
# The tests of the crate take seconds for a change. Those of the simulator take longer, and see only the changes missed.
MUTANTS := power
SHARD := 0/1
MUTATED := out/mutants/$(MUTANTS)
MUTATION = $(MUTATE)/bin/cargo-mutants mutants --package netlull-$(MUTANTS) --test-package netlull-$(MUTANTS) --minimum-test-timeout 60
mutants: $(MUTATE)/bin ## Change the code of a crate in small ways, and list the changes that no test notices.
	mkdir -p $(MUTATED)
	@# The program ends with 2 if tests missed a change, with 3 if one made them endless.
	$(MUTATION) --shard $(SHARD) --sharding round-robin --output $(MUTATED) || [ $$? -eq 2 -o $$? -eq 3 ]
	sed 's/[][\.*+?(){}|^$$]/\\&/g; s/.*/--re\n^&$$/' $(MUTATED)/mutants.out/missed.txt | \
	xargs -r -d '\n' $(MUTATION) --test-package netlull-sim --output $(MUTATED)

# The crates that simulate, and the systems besides Linux that they are checked for. Needs rustup.
ENGINE := units document text power mechanism tcp wire network sim
SYSTEMS := x86_64-pc-windows-gnu aarch64-apple-darwin $(WASM)
portable: setup ## For a release: check the package's types for Windows, and that the engine's crates compile for Windows, macOS and WebAssembly.
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	rustup target add $(SYSTEMS)
	cargo check --quiet --locked $(SYSTEMS:%=--target %) $(ENGINE:%=--package netlull-%)

netlulld: tools $(DAEMON) ## Build netlulld, the program that emulates, as one static binary beside the netlull command.

# It runs on machines without Rust, Python or libraries: nothing in it is dynamic, or it is not built.
$(DAEMON): $(PACKAGES) $(RUST) $(wildcard crates/live/*/*.[ch])
	RUSTFLAGS="-C target-feature=+crt-static" cargo build --quiet --profile daemon --locked --target $(HOST) --package netlull-live
	@built=$${CARGO_TARGET_DIR:-target}/$(HOST)/daemon/netlulld; \
	if ldd $$built 2>&1 | grep -q '=>'; then echo "$$built is not static"; exit 1; fi; \
	install -m 755 $$built $@

# What a release holds. `--locked` is given here, not in pyproject.toml: the source archive has fewer crates than its Cargo.lock.
# The static program has no library of the system in it: musl's, which comes with Rust's target, is linked.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
STATIC := $(shell uname -m)-unknown-linux-musl
RELEASE = netlulld-$(VERSION)-$(STATIC)
dist: export CARGO_PROFILE_WEB_LTO = fat
dist: export CARGO_PROFILE_WEB_CODEGEN_UNITS = 1
dist: setup ## Build the release into dist/: wheel, sdist, netlulld, man pages, shell completions.
	rm -rf dist $(LAB) && mkdir dist
	$(MAKE) --no-print-directory $(SHIPPED_LAB)
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/maturin build --release --locked --quiet $(WHEEL) --out dist
	$(BIN)/maturin sdist --out dist
	$(if $(BPF),$(MAKE) --no-print-directory dist-daemon,@echo "skipped: netlulld (clang or libbpf-dev is missing)")
	$(BIN)/python tools/pages.py dist/share
	tar -C dist/share -czf dist/netlull-$(VERSION)-pages.tar.gz man completions
	rm -r dist/share
	ls -l dist

dist-daemon:
	mkdir dist/$(RELEASE)
	! command -v rustup >/dev/null || rustup target add $(STATIC)
	cargo build --quiet --profile daemon --locked --target $(STATIC) --package netlull-live
	cargo run --quiet --profile fast --locked --package netlull-live --example pages dist/$(RELEASE)
	install --strip -m 755 $${CARGO_TARGET_DIR:-target}/$(STATIC)/daemon/netlulld dist/$(RELEASE)
	cp LICENSE* dist/$(RELEASE)
	tar -C dist -czf dist/$(RELEASE).tar.gz $(RELEASE)
	rm -r dist/$(RELEASE)

test-dist: setup ## Install each file of dist/ in a clean environment and try it (run `make dist` first).
	$(BIN)/pytest packaging

clean: ## Remove what was built; results in out/ stay.
	rm -rf target dist $(VENV) web/node_modules python/netlull/report/shipped python/netlull/_core*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: $(EXTENSION) $(CHARTS) # Make the virtual environment, build the extension, fetch what reports bundle, where stale.

# The packages are pinned with their hashes; `make lock` renews the pins. uv, one of them, installs the others in a quarter of pip's time;
# where it does not reach them, pip does.
$(PACKAGES): tools/dev.lock
	@command -v cargo >/dev/null || { echo "cargo is missing: the engine is written in Rust; install it from https://rustup.rs" >&2; exit 1; }
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r <(awk '/^[^ #]/ { own = /^uv==/ } own' $<)
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r $< || $(BIN)/python -m pip install --quiet --require-hashes -r $<
	touch $@

$(EXTENSION): $(PACKAGES) pyproject.toml $(RUST)
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --locked
	touch $@

# The packages of web/, where npm is. npm writes this file last.
$(NPM): web/package-lock.json
	@npm ci --prefix web --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null

# The chart library of report pages, pinned with its hash in web/package-lock.json; what is fetched is never committed.
# Without it reports have static figures only, which is said here and on the page.
$(CHARTS): web/package-lock.json
	@if ! command -v npm >/dev/null; then echo "npm is missing: reports will have static figures only (Debian: apt-get install npm)"; \
	elif ! $(MAKE) --no-print-directory $(NPM); then \
	  echo "npm could not fetch the chart library: reports will have static figures only"; \
	else mkdir -p $(@D) && cp web/node_modules/uplot/LICENSE web/node_modules/uplot/dist/uPlot.min.css $(@D) && \
	  cp web/node_modules/uplot/dist/uPlot.iife.min.js $@; fi

# Programs that some tests compare with. A test that needs one which is missing says so.
tools: # Install ns-2, ns-3, tshark, tcpdump, tcptrace, chromium, valgrind, what tests with real packets and with WebAssembly need (Debian packages, a target of Rust), where missing.
	@! command -v rustup >/dev/null || rustup --quiet target add $(WASM) || echo "no target $(WASM); tests that need it will say so"
	@missing=""; command -v ns >/dev/null || missing="ns2"; command -v tshark >/dev/null || missing="$$missing tshark"; \
	test -e /usr/include/ns3/version-defines.h || missing="$$missing libns3-dev"; command -v g++ >/dev/null || missing="$$missing g++"; \
	command -v clang >/dev/null || missing="$$missing clang"; command -v wasm-ld >/dev/null || missing="$$missing lld"; command -v chromium >/dev/null || missing="$$missing chromium"; test -e /usr/include/bpf/bpf_helpers.h || missing="$$missing libbpf-dev"; \
	for tool in iptables curl valgrind tcpdump tcptrace; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; command -v ip >/dev/null || missing="$$missing iproute2"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	  else echo "missing:$$missing; tests that need them will say so (Debian: apt-get install $$missing)"; fi; \
	fi

lock: $(PACKAGES) ## Renew tools/dev.lock from pyproject.toml.
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-emit-index-url --quiet --custom-compile-command "make lock" --output-file tools/dev.lock
