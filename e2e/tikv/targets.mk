# The TiKV lab: PD and three stores of the TiKV protocol, built from Go modules, on 127.0.0.1.
TIKV_LAB := .e2e/tikv-lab

.PHONY: tikv-build
tikv-build: ## Build the TiKV lab from Go modules (minutes the first time)
	@e2e/tikv/lab/build all

.PHONY: tikv-up
tikv-up: setup ## Start the TiKV lab: one PD and three stores on 127.0.0.1, behind the strict proxy (STRICT=0: without)
	@[ -x e2e/tikv/bin/unistore-lab ] || e2e/tikv/lab/build
	@e2e/tikv/lab/up $(TIKV_LAB)

.PHONY: tikv-down
tikv-down: ## End the TiKV lab and throw its data away
	@e2e/tikv/lab/down $(TIKV_LAB)
	@rm -rf $(TIKV_LAB)

.PHONY: e2e-tikv
e2e-tikv: setup ## TiKV's client and the storage on it: real PD and stores, beside client-go, under faults of two minutes
	@SECONDS_PER_FAULT=120 RACES=10000 e2e/tikv/run all
