.DEFAULT_GOAL := help
.PHONY: help demo test check lint generate bench cluster-up cluster-down break mend clean

testbed := cargo run --quiet --package addons-testbed --bin testbed --
nodes ?= 3
ADDON ?= ingress=external

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

demo: ## A cluster, six add-ons, one of them broken (ONCE=1 ends by itself)
	@ONCE=$(ONCE) scripts/demo.sh

test: lint ## Everything: format, lints, unit, property and cluster tests
	@scripts/need.sh
	$(testbed) build
	cargo test --workspace

check: ## Does it compile
	cargo check --workspace --all-targets

lint: ## Format, clippy, shell scripts
	@scripts/need.sh
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/*.sh examples/*.sh; \
	else echo "shellcheck isn't installed: the shell scripts weren't checked"; fi

generate: ## Write crds/ anew from the code
	UPDATE_GENERATED=1 cargo test --test generated

bench: ## Figures on a real cluster, see docs/performance.md
	cargo bench

cluster-up: ## Start a cluster in the background; the last line is its kubeconfig
	@$(testbed) up --nodes $(nodes)

cluster-down: ## End it
	@$(testbed) down

break: ## Break an add-on of the examples (ADDON=ingress=external)
	@examples/fault.sh break $(ADDON)

mend: ## Mend it again
	@examples/fault.sh mend $(ADDON)

clean: ## Remove what was built here; the cluster's programs stay in their cache
	cargo clean
	rm -rf .testbed
