# The commands of this repository. CMake and Ninja do the work; see CMakePresets.json.
# Every target installs the Debian packages it lacks (root, or a user with sudo) and then runs.

PYTHON ?= /usr/bin/python3
JOBS ?=
NINJA_JOBS = $(if $(JOBS),-j $(JOBS))

.DEFAULT_GOAL := help
.PHONY: help demo check check-long deb bench bench-crash bench-crash-pools bench-durable bench-fragmentation bench-instrumented bench-maps bench-memcached bench-wrap bench-redis bench-runtime memcached papers redis build build-dev setup clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: build ## Fetch Redis 3.2.6, find its persistent types, print the table
	@$(PYTHON) scripts/demo.py --nvmove build/release/bin/nvmove

check: build-dev ## Everything that proves the project works; T=tests/...: one test, or a folder of them
	@$(PYTHON) tests/run.py --build build/dev $(if $(T),--test $(T))

check-long: build-dev ## check, every program of the accuracy corpus, and clang-tidy
	@scripts/setup --long
	@$(PYTHON) tests/run.py --build build/dev --long

deb: ## Debian packages of the last commit, looked at by lintian: build/deb/*.deb
	@scripts/deb

bench: build ## Speed as ratios: cold scan, warm scan, cost per line (see bench/README.md)
	@$(PYTHON) bench/scan.py --nvmove build/release/bin/nvmove

bench-runtime: ## libnvmove beside libpmemobj: CPU time as ratios (see bench/README.md)
	@scripts/setup --bench
	@$(MAKE) --no-print-directory build
	@mkdir -p build/bench
	@build/release/bin/nvmove-runtime-bench --json build/bench/runtime.json

bench-instrumented: build ## Instrumented code with no pool open over clang's (see bench/README.md)
	@$(PYTHON) bench/instrumented.py --cc build/release/bin/nvmove-cc

bench-maps: ## A hash table and a tree in plain C beside libpmemobj (see bench/README.md)
	@scripts/setup --bench
	@$(MAKE) --no-print-directory build
	@$(PYTHON) bench/maps.py --cc build/release/bin/nvmove-cc $(if $(PMDK),--pmdk $(PMDK))

bench-durable: ## Commits on an ordinary disk, by NVMOVE_DURABLE, beside SQLite (see bench/README.md)
	@$(MAKE) --no-print-directory build
	@$(PYTHON) bench/durable.py --cc build/release/bin/nvmove-cc

bench-wrap: ## The SCM paper's B-tree through nvmove/wrap.h, by method (see bench/README.md)
	@$(MAKE) --no-print-directory build
	@$(PYTHON) bench/wrap.py

bench-fragmentation: ## A pool's footprint after a long life, over jemalloc's (see bench/README.md)
	@scripts/setup --bench
	@$(MAKE) --no-print-directory build
	@$(PYTHON) bench/fragmentation.py --cc build/release/bin/nvmove-cc

bench-redis: build ## Redis with its keyspace in a pool beside Redis as it is (see bench/README.md)
	@scripts/setup --bench
	@$(PYTHON) bench/redis.py --cc build/release/bin/nvmove-cc
	@$(PYTHON) bench/ycsb.py --cc build/release/bin/nvmove-cc
	@/usr/bin/python3 bench/plots.py

bench-memcached: build ## memcached with its items in a pool beside memcached as it is (see bench/README.md)
	@$(PYTHON) bench/memcached.py --cc build/release/bin/nvmove-cc

bench-crash: build ## A million states that a crash could leave, each recovered and judged (see bench/README.md)
	@$(PYTHON) bench/crash.py --bin build/release/bin

bench-crash-pools: build ## The same over moves, garbage collection, resizing, copies and repairs: 200,000 states
	@$(PYTHON) bench/crash.py --bin build/release/bin --pools

papers: ## Three papers, each table and figure beside ours: build/papers/report.html; QUICK=1: 10 minutes
	@scripts/setup --bench
	@$(MAKE) --no-print-directory build
	@/usr/bin/python3 bench/papers/papers.py --bin build/release/bin $(if $(QUICK),--quick)

redis: build ## Fetch Redis 3.2.6 and build it with its keyspace in a pool (see ports/redis)
	@echo "Fetching, patching and building Redis 3.2.6 ..."
	@$(PYTHON) ports/redis/build.py --cc build/release/bin/nvmove-cc

memcached: build ## Fetch memcached 1.6.18 and build it with its items in a pool (see ports/memcached)
	@$(PYTHON) ports/memcached/build.py --cc build/release/bin/nvmove-cc

build: setup ## Build the release preset into build/release
	@cmake --preset release >build/release.configure.log || { cat build/release.configure.log; exit 1; }
	@cmake --build --preset release $(NINJA_JOBS)

build-dev: setup
	@cmake --preset dev >build/dev.configure.log || { cat build/dev.configure.log; exit 1; }
	@cmake --build --preset dev $(NINJA_JOBS)

setup:
	@scripts/setup
	@mkdir -p build

clean: ## Remove what was built; fetched sources in third_party/ stay
	rm -rf build
