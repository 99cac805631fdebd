# make demo    build the mini editions, evaluate the embedded models, write leaderboard and report
# make ui      serve the Dagster UI on 127.0.0.1
# make check   format, lint, types, import contracts, Dagster definitions, the report's scripts, tests
# make families  test every image-text-to-text architecture of transformers, and write
#              docs/architectures.csv
# make check-dagster  the tests with the oldest supported minor release of Dagster
# make servers  CODIS with llama-server (compiled once, which takes minutes), transformers serve, and
#              LiteLLM's proxy in front of both
# make long    the slow tests that make check leaves out
# make browser  tests of the report and the Dagster UI in Chromium; skipped without it
# make cluster-check  tests of shared stores and cluster runs, with PostgreSQL, an object store and
#              Ray and Slurm clusters of two nodes that the tests start
#              BENCH_CLUSTER_SUITES="codis" evaluates one suite on the nodes instead of all five
# make mutants  plant faults in scoring code, and count those that the tests detect
# make faults  twenty minutes of misbehaving servers, kills, damaged disks, hostile files and fuzzing;
#              FAULTS_SECONDS=600 shortens it
# make proofs FILES=folder  compare with other projects, whose checkouts are in the folder; writes
#              docs/known-benchmarks.md and docs/proofs.md
# make coverage  measure how often 95 % intervals contain the true value (docs/statistics.md)
# make bench   measure speed and memory, and compare each figure with its bound
# make bench-gpu  compare the local engines on one GPU, for at most eight minutes (docs/gpu.md)
# make screenshots  write the images of the documentation from the home of make demo
# make docs    build the documentation site into site/; fails on warnings and broken links
# make lock    rewrite constraints.txt with the newest compatible releases
# make golden  rewrite the golden files of the tests; read the diff before you commit
PYTHON ?= python3
BIN := .venv/bin
export BENCH_HOME ?= $(CURDIR)/bench_home

.PHONY: demo proofs ui check check-dagster checked scripts homes models others families servers long browser mutants faults coverage bench bench-gpu golden screenshots docs install lock cluster-check
demo: install
	$(BIN)/bench home demo

ui: install
	$(BIN)/bench ui

FILES ?= ..

proofs: install
	$(BIN)/python -m tests.proofs $(FILES)

install: .venv/installed

# Install torch first: together with other packages, pip may choose a build with gigabytes of CUDA
# libraries. Then install the packages of models with their hashes, before an extra installs them
# without.
.venv/installed: pyproject.toml hatch_build.py constraints.txt embedded-models.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r embedded-models.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

lock: install
	$(BIN)/python .ci/lock.py

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory --jobs=4 --output-sync=target homes models others checked scripts

# Three parts run in parallel. Each collects only its own tests, whereas each worker of pytest-xdist
# would collect all. Three parts use two cores well, because tests also wait for servers and processes.
# The first part has the tests that need Great Expectations, the second most that import torch.
HOMES := $(addprefix tests/,annotate cli workspace defs sensors suites/blink)
MODELS := tests/docs tests/families tests/examples tests/python_api tests/audit \
	examples/edited_pairs bench_assets/__init__.py bench_assets/python_api \
	$(addprefix tests/,bundles export external_results suites/codis suites/cogbench/description) \
	$(addprefix tests/resources/,checkpoints config datasets encoders images \
	models/registry models/transformers response_cache tables)

homes models others: export OMP_NUM_THREADS := 1  # more threads than cores would slow the parts down
unexport PYTHONDONTWRITEBYTECODE  # otherwise every process that a test starts compiles all modules

homes:
	$(BIN)/pytest -q $(HOMES)

models:
	$(BIN)/pytest -q $(MODELS)

others:
	$(BIN)/pytest -q tests bench_assets resources sensors $(addprefix --ignore=,$(HOMES) $(MODELS))

# Writing mypy's cache takes a quarter of a first run, so it is used only if .venv/bin/mypy wrote one.
# Without DAGSTER_HOME, dg loads the definitions into a temporary instance, not into the developer's.
checked:
	$(BIN)/mypy $(if $(wildcard .mypy_cache),,--no-incremental)
	$(BIN)/lint-imports
	VIRTUAL_ENV=$(CURDIR)/.venv DAGSTER_HOME= $(BIN)/dg check defs

# Types and lint of the report's scripts; skipped with a message without Node or npm's registry.
scripts:
	$(BIN)/python -m tests.report.static.check

# An environment on top of .venv, so that all other packages are those of make check.
OLDER := .venv-dagster

check-dagster: $(OLDER)/installed
	OMP_NUM_THREADS=1 PYTHONPATH=$(CURDIR) $(OLDER)/bin/python -m pytest -q -n auto --dist loadfile tests

$(OLDER)/installed: .venv/installed
	$(PYTHON) -m venv $(OLDER)
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > "$$($(OLDER)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/below.pth"
	$(OLDER)/bin/pip install --quiet --disable-pip-version-check 'dagster==1.12.22' 'dagster-webserver==1.12.22' 'dagster-pandas==0.28.22'
	$(OLDER)/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# torchvision is needed by some families, and changes the tensors of others: install it in a separate
# folder.
families: install
	$(BIN)/python -m tests.families.support
	$(BIN)/pytest -q -n auto -m "" tests/families
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --constraint constraints.txt --target .venv/vision torchvision timm
	PYTHONPATH=.venv/vision $(BIN)/python -m tests.families.support --vision
	PYTHONPATH=.venv/vision $(BIN)/pytest -q -n auto -m vision tests/families

# Not in .venv: the proxy needs other releases of the same packages.
SERVERS := .venv-servers
LLAMA := $(SERVERS)/llama.cpp

servers: install $(SERVERS)/bin/litellm $(LLAMA)/bin/llama-server
	BENCH_SERVERS=$(CURDIR)/$(SERVERS) $(BIN)/pytest -q -rs -m "" tests/servers

$(SERVERS)/bin/litellm:
	$(PYTHON) -m venv $(SERVERS)
	$(SERVERS)/bin/pip install --quiet --disable-pip-version-check 'litellm[proxy]==1.106.0'

# The source of llama.cpp is part of the source of its Python package.
$(LLAMA)/bin/llama-server: $(SERVERS)/bin/litellm
	mkdir -p $(LLAMA)/source
	$(SERVERS)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary llama-cpp-python \
		--require-hashes --dest $(LLAMA) --requirement tests/servers/llama.txt
	tar -x -f $(LLAMA)/llama_cpp_python-*.tar.gz -C $(LLAMA)/source --strip-components 1
	$(SERVERS)/bin/pip install --quiet --disable-pip-version-check cmake ninja
	PATH="$(CURDIR)/$(SERVERS)/bin:$$PATH" cmake -S $(LLAMA)/source/vendor/llama.cpp -B $(LLAMA) -G Ninja \
		-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF \
		-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
	$(SERVERS)/bin/cmake --build $(LLAMA) --target llama-server --parallel 2

long: install
	$(BIN)/pytest -q -n auto --dist loadfile -m long tests examples/edited_pairs

# An environment on top of .venv, so that make check runs without the packages for clusters.
CLUSTER := .venv-cluster
CLUSTER_TESTS = $(shell grep -rlE '(postgres_server|object_store|ray_cluster|cluster\.team) import|cluster-check installs|no nginx here|\b(database_address|open_shared_responses|store_endpoint|bucket)\b' \
	tests --include='test_*.py')

cluster-check: $(CLUSTER)/installed
	ls /usr/lib/postgresql/*/bin/pg_ctl > /dev/null 2>&1 || apt-get install --quiet --yes postgresql || true
	command -v nginx > /dev/null || apt-get install --quiet --yes nginx-light openssl || true
	PYTHONPATH=$(CURDIR) $(CLUSTER)/bin/python -m pytest -q -rs -m "" $(CLUSTER_TESTS)

$(CLUSTER)/installed: .venv/installed
	$(PYTHON) -m venv $(CLUSTER)
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > "$$($(CLUSTER)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/below.pth"
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[annotate,cluster,k8s]' 'moto[server]' importlib_resources jsonschema
	$(CLUSTER)/bin/pip install --quiet --disable-pip-version-check --no-deps kubernetes-validate
	touch $@

browser: install
	$(BIN)/pytest -q -m browser tests

mutants: install
	$(BIN)/python -m tests.mutants

faults: install
	$(BIN)/python -m tests.faults

coverage: install
	$(BIN)/python -m benchmarks.coverage

bench: install
	$(BIN)/python -m benchmarks

bench-gpu: install
	$(BIN)/python -m benchmarks.gpu

# An environment on top of .venv, because make check does not need mkdocs.
DOCS := .venv-docs

docs: $(DOCS)/installed
	$(BIN)/python -m tests.docs.settings_page
	$(BIN)/python -m tests.docs.parser_page
	$(BIN)/python -m tests.docs.defaults_page
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

$(DOCS)/installed: .venv/installed
	$(PYTHON) -m venv $(DOCS)
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > "$$($(DOCS)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/below.pth"
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

golden: install
	$(BIN)/pytest -q --golden tests -m golden

screenshots: install
	$(BIN)/python docs/screenshots.py
