.DEFAULT_GOAL := help

# How many simulated nodes the cluster of cluster-up has.
NODES ?= 3

TESTBED := cargo run --quiet --package addons-testbed --bin testbed --

.PHONY: help
help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: cluster-up
cluster-up: ## Start a test cluster in the background; the last line is its kubeconfig
	@$(TESTBED) up --nodes $(NODES)

.PHONY: cluster-down
cluster-down: ## End the cluster of cluster-up
	@$(TESTBED) down
