.DEFAULT_GOAL := help

# How many simulated nodes the cluster of cluster-up has.
NODES ?= 3

# What break and mend are about: IDENTIFIER or IDENTIFIER=INSTALL.
ADDON ?= ingress=external

# What bench measures, `cargo bench --bench cluster -- --help`.
BENCH ?= $(if $(shell command -v taskset),--pin)

# Recorded data that isn't kept here; the tests that read it are skipped where it is absent.
FIXTURES := $(or $(ADDONS_FIXTURES),../shared/fixtures)

TESTBED := cargo run --quiet --package addons-testbed --bin testbed --

.PHONY: help
help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Show six add-ons in a real cluster, one of them broken; ONCE=1 ends by itself
	@ONCE=$(ONCE) scripts/demo.sh

.PHONY: test
test: lint ## Run everything: format, lints, unit, property and cluster tests
	$(TESTBED) build >/dev/null
	cargo test --workspace
	@test -d "$(FIXTURES)" || \
	echo "SKIPPED: what reads recorded data, as there is no $(FIXTURES); ADDONS_FIXTURES names another folder"

.PHONY: test-faults
test-faults: tools ## Run every test of what goes wrong in a cluster, the long ones too
	$(TESTBED) build >/dev/null
	cargo test --test faults -- --include-ignored --test-threads=6

.PHONY: check
check: ## See whether it compiles
	cargo check --workspace --all-targets

.PHONY: lint
lint: tools ## Check format, lints, and the shell scripts where shellcheck is there
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/*.sh examples/*.sh; \
	else echo "shellcheck isn't installed: the shell scripts weren't checked"; fi

.PHONY: generate
generate: ## Write anew what comes from the code: crds/, figures in tests/health
	UPDATE_GENERATED=1 cargo test --test generated --test health

.PHONY: bench
bench: tools ## Measure on a real cluster beside a client-go program, see docs/performance.md
	cargo bench --bench cluster -- $(BENCH)

.PHONY: cluster-up
cluster-up: tools ## Start a test cluster in the background; the last line is its kubeconfig
	@$(TESTBED) up --nodes $(NODES)

.PHONY: cluster-down
cluster-down: ## End the cluster of cluster-up
	@$(TESTBED) down

.PHONY: break
break: ## Break an add-on of the examples, ADDON=ingress=external by default
	@examples/fault.sh break $(ADDON)

.PHONY: mend
mend: ## Mend it again
	@examples/fault.sh mend $(ADDON)

.PHONY: clean
clean: ## Remove what was built here; the cluster's programs stay in their cache
	cargo clean

# Names what is missing before anything long starts.
.PHONY: tools
tools:
	@scripts/need.sh
