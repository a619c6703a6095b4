# `make help` lists the targets: the lines behind their names are the help.
.NOTPARALLEL:
.DEFAULT_GOAL := help
WITH_NODE := tools/with-node
# Those that judge how long something takes, or do as much as the machine can, are not run beside others.
E2E_BESIDE := h2spec interop software release fuzz crash disk linearizability snapshot restore migrate chart docs observe differential etcdctl schedules tikv
E2E_ALONE := tikv-faults cluster chaos kube-storage etcd kube move kube-cluster containers
# More for vitest, e.g. make test VITEST_FLAGS=packages/server
VITEST_FLAGS :=

.PHONY: help
help: ## This list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install what is needed, and nothing else: node >= 24 where PATH has none, and the npm packages
	@tools/setup

.PHONY: run
run: setup ## Start a node on 127.0.0.1:2379, data in ./data (Ctrl-C stops it)
	@echo 'A store that speaks etcd v3 on http://127.0.0.1:2379. In another terminal:'
	@echo '  etcdctl put hello world'
	@echo '  etcdctl get hello'
	@echo '  etcdctl watch --prefix /registry/'
	@echo '  curl http://127.0.0.1:2379/health'
	@exec packages/server/bin/engram --name default --data-dir data \
	  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379

.PHONY: cluster
cluster: setup ## Start a cluster of three members on PD and three stores, on 127.0.0.1 (Ctrl-C stops all)
	@[ -x e2e/tikv/bin/unistore-lab ] && [ -x e2e/tikv/bin/pd-server ] || e2e/tikv/lab/build
	@exec $(WITH_NODE) node e2e/cluster/up.ts .e2e/cluster

.PHONY: e2e-chaos
e2e-chaos: setup ## Three members on hosts of their own, half an hour of faults of networks, processes and storage
	@SECONDS_OF_FAULTS=$${SECONDS_OF_FAULTS:-1800} $(WITH_NODE) tools/e2e chaos

LOSSES_OF_A_LEADER := 'kill -9 of the leader,SIGSTOP of the leader,the leader is cut off from everybody,kill -9 of the leader and the busiest store'

.PHONY: e2e-failover
e2e-failover: setup ## How long writes stand still when a leader is lost: ROUNDS (50) each of kill, pause, partition, with a store
	@ROUNDS=$${ROUNDS:-50} SECONDS_OF_FAULTS=1200 FAULTS=$(LOSSES_OF_A_LEADER) $(WITH_NODE) tools/e2e chaos

.PHONY: e2e-cluster
e2e-cluster: setup ## Three members on PD and three stores, under kills, pauses and restarts
	@$(WITH_NODE) tools/e2e cluster

.PHONY: e2e-fence
e2e-fence: setup ## Leaders that come back behind a trim of the log: ROUNDS (50) of stops, kills and second processes, from SEED
	@ROUNDS=$${ROUNDS:-50} TIMEOUT_SECONDS=$${TIMEOUT_SECONDS:-3600} $(WITH_NODE) e2e/cluster/fence

.PHONY: e2e-fence-cuts
e2e-fence-cuts: setup ## The same for leaders that are cut off, in ROUNDS (16) of partitions longer than a member may be silent, from SEED
	@ROUNDS=$${ROUNDS:-16} TIMEOUT_SECONDS=$${TIMEOUT_SECONDS:-3600} $(WITH_NODE) e2e/chaos/fence

.PHONY: test
test: setup lint types ## Lint, types, the layer check and all unit and integration tests
	@$(WITH_NODE) vitest run $(VITEST_FLAGS)

.PHONY: sim
sim: setup ## Simulated nodes: RUNS=n runs so many seeds (1000), SEED=n replays one and tells its story; CLUSTER=1: clusters, TIKV=1: on scripted stores
	@$(WITH_NODE) node test/sim/main.ts

.PHONY: schedules
schedules: setup ## Small games of processes on scripted stores, in every order of their requests: PREEMPTIONS=n (3), GAME=text
	@$(WITH_NODE) node test/sim/schedules/main.ts

.PHONY: sim-mutants
sim-mutants: setup ## Defects put in by hand, and the seeds that find them: a table
	@$(WITH_NODE) node test/sim/mutants/main.ts

.PHONY: lint
lint: setup ## Lint and format, without changing anything
	@$(WITH_NODE) biome check .

.PHONY: format
format: setup ## Bring the whole tree into form, and fix what can be fixed safely
	@$(WITH_NODE) biome check --write .

.PHONY: types
types: setup ## Check the types
	@$(WITH_NODE) tsc -p .

.PHONY: house-counts
house-counts: setup ## Rules that stand twice, constants of costs, owners of the loop's time: REVISIONS='main HEAD~1' for older ones
	@$(WITH_NODE) node tools/house-counts.ts $(REVISIONS)

.PHONY: sbom
sbom: setup ## A bill of materials of what runs, as CycloneDX
	@$(WITH_NODE) npm sbom --sbom-format=cyclonedx --sbom-type=application --omit=dev

.PHONY: release
release: setup ## What is given to users, into .release: executables, a bundle for node 24, images, for linux x64 and arm64
	@$(WITH_NODE) node tools/release/main.ts $(RELEASE_FLAGS)

.PHONY: image
image: setup ## The container images alone, without a container engine (needs apt-get and dpkg-deb)
	@$(WITH_NODE) node tools/release/main.ts --only image $(RELEASE_FLAGS)

.PHONY: generate
generate: ## Remake the protobuf codecs from proto/
	@tools/setup --without-code
	@$(WITH_NODE) node packages/protobuf/tools/generate.ts

.PHONY: bench
bench: setup ## All benchmarks of the packages, in full (minutes)
	@for bench in packages/*/bench/*.bench.ts; do echo "== $$bench"; $(WITH_NODE) node $$bench || exit 1; done

# More for a comparison, e.g. make bench-million BENCH_FLAGS='--keys 100000 --markdown million.md', or --smoke: seconds
BENCH_FLAGS :=

.PHONY: bench-compare
bench-compare: setup ## Beside etcd, in turn: rates, latencies, CPU and memory of each kind of request (needs go)
	@$(WITH_NODE) node bench/compare/run.ts $(BENCH_FLAGS)

.PHONY: bench-budget
bench-budget: setup ## What a request costs, stage by stage: CPU on the event loop and beside it (needs go)
	@$(WITH_NODE) node bench/budget/run.ts $(BENCH_FLAGS)

.PHONY: bench-cluster
bench-cluster: setup ## Beside etcd: three members each, Engram's on PD and three stores (needs go)
	@[ -x e2e/tikv/bin/unistore-lab ] && [ -x e2e/tikv/bin/pd-server ] || e2e/tikv/lab/build
	@$(WITH_NODE) node bench/cluster/run.ts $(BENCH_FLAGS)

.PHONY: bench-image
bench-image: setup ## The image in TiKV: blank nodes, cold reads, lists without a disk, what rounds cost, updates for a long time
	@[ -x e2e/tikv/bin/tidbstore-lab ] && [ -x e2e/tikv/bin/pd-server ] || e2e/tikv/lab/build all
	@$(WITH_NODE) node bench/image/run.ts $(BENCH_FLAGS)

.PHONY: bench-million
bench-million: setup ## Beside etcd: a million keys, what they take, and how long restarts take (needs go)
	@$(WITH_NODE) node bench/million/run.ts $(BENCH_FLAGS)

.PHONY: bench-restore
bench-restore: setup ## Beside etcdutl: a million keys restored from a snapshot of etcd, and back (needs go)
	@$(WITH_NODE) node bench/restore/run.ts $(BENCH_FLAGS)

.PHONY: bench-restore-cluster
bench-restore-cluster: setup ## A snapshot of etcd restored into PD and three stores, for three members (needs go)
	@[ -x e2e/tikv/bin/unistore-lab ] && [ -x e2e/tikv/bin/pd-server ] || e2e/tikv/lab/build
	@$(WITH_NODE) node bench/restore/cluster.ts $(BENCH_FLAGS)

.PHONY: bench-mixed
bench-mixed: setup ## Beside etcd: puts and renewals during a large list, a snapshot, a compaction (needs go)
	@$(WITH_NODE) node bench/mixed/run.ts $(BENCH_FLAGS)

.PHONY: bench-sustained
bench-sustained: setup ## Beside etcd: half an hour each of writes, watchers and compactions, minute by minute (needs go)
	@$(WITH_NODE) node bench/sustained/run.ts $(BENCH_FLAGS)

.PHONY: bench-attacks
bench-attacks: setup ## What others wait while a client attacks, beside etcd (needs go)
	@$(WITH_NODE) node bench/attacks/run.ts --stores new,etcd $(BENCH_FLAGS)

.PHONY: bench-attacks-cluster
bench-attacks-cluster: setup ## The same at a follower and at the peer port of three members, on the lab of e2e/tikv (needs go)
	@[ -x e2e/tikv/bin/unistore-lab ] && [ -x e2e/tikv/bin/pd-server ] || e2e/tikv/lab/build
	@$(WITH_NODE) node bench/attacks/cluster.ts $(BENCH_FLAGS)

.PHONY: bench-attacks-mixed
bench-attacks-mixed: setup ## All attacks beside a kube-like load for MINUTES (10): p99, memory, nothing lost
	@$(WITH_NODE) node bench/attacks/mixed.ts $(BENCH_FLAGS)

.PHONY: bench-fair
bench-fair: setup ## What a modest client waits beside a greedy connection, and the shares of two greedy ones
	@$(WITH_NODE) node bench/fair/run.ts $(BENCH_FLAGS)

.PHONY: bench-auth
bench-auth: setup ## What users and roles cost a get and a put (needs go)
	@$(WITH_NODE) node bench/auth/run.ts $(BENCH_FLAGS)

.PHONY: bench-auth-one-process
bench-auth-one-process: setup ## The same on nodes of one process, loaded in short blocks in turn (needs go)
	@$(WITH_NODE) node bench/auth/one-process.ts $(BENCH_FLAGS)

.PHONY: bench-tracing
bench-tracing: setup ## What traces cost a get and a put, on nodes of one process, loaded in blocks in turn (needs go)
	@$(WITH_NODE) node bench/tracing/run.ts $(BENCH_FLAGS)

.PHONY: bench-etcd-tool
bench-etcd-tool: setup ## Beside etcd, driven by etcd's own benchmark tool (needs go)
	@$(WITH_NODE) node bench/etcd-tool/run.ts $(BENCH_FLAGS)

.PHONY: e2e
e2e: setup ## All parts of e2e: two at a time, then alone those that judge times
	@$(WITH_NODE) tools/e2e $(E2E_BESIDE) -- $(E2E_ALONE)

.PHONY: e2e-kube
e2e-kube: setup ## A real kube-apiserver on a real node
	@$(WITH_NODE) tools/e2e kube

.PHONY: e2e-crash
e2e-crash: setup ## kill -9 under load: what was acknowledged is there
	@$(WITH_NODE) tools/e2e crash

.PHONY: e2e-disk
e2e-disk: setup ## States of the disk after a loss of power, from recorded system calls (needs strace, or root and apt-get)
	@$(WITH_NODE) tools/e2e disk

.PHONY: e2e-linearizability
e2e-linearizability: setup ## What concurrent clients of a dying process see has an order
	@$(WITH_NODE) tools/e2e linearizability

.PHONY: e2e-snapshot
e2e-snapshot: setup ## A snapshot in the hands of etcd's own tools, and a real etcd started on it
	@$(WITH_NODE) tools/e2e snapshot

.PHONY: e2e-restore
e2e-restore: setup ## Databases of a real etcd, restored into an engram and back
	@$(WITH_NODE) tools/e2e restore

.PHONY: e2e-migrate
e2e-migrate: setup ## A real etcd under load is followed into an engram, and an engram into an etcd
	@$(WITH_NODE) tools/e2e migrate

.PHONY: e2e-move
e2e-move: setup ## A kube-apiserver is moved from an etcd to an engram and back while clients write; MEMBERS=3: to a cluster
	@$(WITH_NODE) tools/e2e move

.PHONY: e2e-kube-storage
e2e-kube-storage: setup ## The storage tests of Kubernetes' own apiserver
	@$(WITH_NODE) tools/e2e kube-storage

.PHONY: e2e-etcd
e2e-etcd: setup ## etcd's own black-box tests, as far as one node goes
	@$(WITH_NODE) tools/e2e etcd

.PHONY: e2e-h2spec
e2e-h2spec: setup ## Every frame of HTTP/2, right and wrong
	@$(WITH_NODE) tools/e2e h2spec

.PHONY: e2e-fuzz
e2e-fuzz: setup ## Bytes that nobody meant, for 20 s of each kind, or FUZZ_SECONDS of each kind and each parser, from SEED
	@$(WITH_NODE) tools/e2e fuzz

.PHONY: e2e-fuzz-parsers
e2e-fuzz-parsers: setup ## The same of the parsers alone, for FUZZ_SECONDS (60) of each: nine minutes
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} FUZZ_KINDS=parsers $(WITH_NODE) tools/e2e fuzz

.PHONY: e2e-interop
e2e-interop: setup ## Real clients on five gRPC stacks (needs go, python3, a JDK with mvn, cargo)
	@$(WITH_NODE) tools/e2e interop

.PHONY: e2e-software
e2e-software: setup ## CoreDNS, Patroni, Vitess' topology, etcd's grpc-proxy and APISIX' requests on a node (needs go, python3)
	@$(WITH_NODE) tools/e2e software

.PHONY: e2e-differential
e2e-differential: setup ## A real etcd and a node are asked the same, and must answer the same
	@$(WITH_NODE) tools/e2e differential

.PHONY: e2e-etcdctl
e2e-etcdctl: setup ## Every command of etcdctl and etcdutl on a real etcd and on a node: the same answers
	@$(WITH_NODE) tools/e2e etcdctl

.PHONY: chart
chart: setup ## Write README and values.schema.json of helm/engram from its values.yaml
	@$(WITH_NODE) node tools/chart/main.ts

.PHONY: flags
flags: setup ## Write docs/FLAGS.md from the table of flags
	@$(WITH_NODE) node tools/flags/main.ts

.PHONY: observe
observe: setup ## Write the chart's alerts and dashboards, docs/RUNBOOKS.md and docs/METRICS.md
	@$(WITH_NODE) node tools/observe/main.ts

.PHONY: pictures
pictures: setup ## Write docs/charts: pictures of the newest results
	@$(WITH_NODE) node tools/docs/main.ts pictures

.PHONY: docs
docs: setup ## Make the site of the documentation, in .site/dist
	@$(WITH_NODE) node tools/docs/main.ts site

.PHONY: docs-serve
docs-serve: docs ## Show the site on http://127.0.0.1:4173
	@$(WITH_NODE) node tools/docs/main.ts serve

.PHONY: e2e-docs
e2e-docs: setup ## The site of the documentation, and every link in it
	@$(WITH_NODE) tools/e2e docs

.PHONY: e2e-observe
e2e-observe: setup ## Alerts by promtool, and every expression on a Prometheus that scrapes a loaded member (needs apt-get)
	@$(WITH_NODE) tools/e2e observe

.PHONY: e2e-observe-live
e2e-observe-live: setup ## The same, and alerts fired by their causes on members that run (needs go, apt-get)
	@LIVE=1 $(WITH_NODE) tools/e2e observe

.PHONY: e2e-release
e2e-release: setup ## A release made twice, installed, started (needs go, apt-get, dpkg-deb)
	@$(WITH_NODE) tools/e2e release

.PHONY: e2e-engine
e2e-engine: setup ## The image in a container engine that is started for it (needs root, apt-get, go; not in make e2e)
	@$(WITH_NODE) tools/e2e engine

.PHONY: e2e-compose
e2e-compose: setup ## The files of deploy/compose, by docker compose in an engine that is started for it (needs root, apt-get, go; not in make e2e)
	@$(WITH_NODE) tools/e2e compose

.PHONY: e2e-containers
e2e-containers: setup ## Three members and the lab in containers, killed, paused, disconnected; MINUTES=20 for longer (needs root, apt-get, go)
	@$(WITH_NODE) tools/e2e containers

.PHONY: e2e-upgrade
e2e-upgrade: setup ## Members of the version before and of this one in one cluster, upgraded and taken back under load (needs git's history and npm; not in make e2e)
	@$(WITH_NODE) tools/e2e upgrade

.PHONY: e2e-kind
e2e-kind: setup ## Clusters of kind without a registry: the chart under Kubernetes' own faults, scaled, its certificates replaced; a control plane on Engram. MINUTES=20 for longer (needs root, apt-get, go)
	@$(WITH_NODE) tools/e2e kind

.PHONY: e2e-chart
e2e-chart: setup ## The chart by Helm 3 and 4: lint, schemas, flags, probes and backups on a real member (needs go)
	@$(WITH_NODE) tools/e2e chart

# The client of TiKV has a laboratory of its own: PD and stores of the protocol, built from Go modules.
include e2e/tikv/targets.mk
