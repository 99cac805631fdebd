# make demo    the main job: build the mini editions, evaluate the embedded models, leaderboard
# make ui      the same in the Dagster UI on 127.0.0.1
# make check   format, lint, types, import contracts, definitions, the report's scripts, tests: what
#              .ci/run calls
# make families  every architecture of transformers asked everything, into docs/architectures.csv
# make check-dagster  the tests again with the older minor release of Dagster that is supported
# make servers  CODIS through servers that others wrote: llama-server (compiled once, some minutes),
#              transformers serve, and LiteLLM's proxy before both
# make long    the tests that make check leaves out because they take long; of the built routes
#              make check builds BLINK's alone
# make browser  the report and the Dagster UI driven in Chromium; skipped where there is none
# make cluster-check  what machines share, on a PostgreSQL, an object store and a Ray cluster of two
#              nodes of its own; says why it skips what it cannot run
#              BENCH_CLUSTER_SUITES="codis" for fewer than all five suites on two nodes
# make mutants  forty faults in what gives points: how many do the tests notice?
# make faults  twenty minutes of misbehaving servers, kills, damaged disks, hostile files, fuzzers;
#              FAULTS_SECONDS=600 for less
# make proofs FILES=folder  compares bench with other projects, whose checkouts the folder has:
#              docs/known-benchmarks.md and docs/proofs.md
# make coverage  do 95 % intervals hold the truth 95 times in 100? docs/statistics.md; ten minutes
# make bench   speed and memory, each figure with its bound beside it
# make bench-gpu  the local engines on one GPU beside plain generate, in eight minutes: docs/gpu.md
# make screenshots  the README's images of the report and of the UI, from what make demo left
# make docs    the documentation site, into site/; a warning or a broken link fails
# make lock    rewrite constraints.txt: the newest releases that go together
# make golden  rewrite the golden files of the tests; read the diff before you commit it
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

# torch first and by itself: asked for together with the rest, pip may take a build with gigabytes
# of CUDA libraries. To evaluate on a GPU, install the build for it into .venv afterwards.
# Then the models that come in packages, by their hashes: what the extras name is there already.
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

# Side by side. What a file's tests share is made once, and each part imports and collects no more
# than its own: workers of pytest-xdist would collect everything, each of them. Three parts for two
# cores, because each waits now and then: for a server, a process or the time of day.
# The first has what needs Great Expectations, the second most of what imports torch.
HOMES := $(addprefix tests/,annotate cli workspace defs sensors suites/blink)
MODELS := tests/docs tests/families tests/examples tests/python_api tests/audit \
	examples/edited_pairs bench_assets/__init__.py bench_assets/python_api \
	$(addprefix tests/,bundles export external_results suites/codis suites/cogbench/description) \
	$(addprefix tests/resources/,checkpoints config datasets encoders images \
	models/registry models/transformers response_cache tables)

homes models others: export OMP_NUM_THREADS := 1  # processes of several threads are in each other's way
unexport PYTHONDONTWRITEBYTECODE  # else every process that a test starts compiles all of us anew

homes:
	$(BIN)/pytest -q $(HOMES)

models:
	$(BIN)/pytest -q $(MODELS)

others:
	$(BIN)/pytest -q tests bench_assets resources sensors $(addprefix --ignore=,$(HOMES) $(MODELS))

# To write mypy's cache takes a quarter of the first run: it pays for who runs it again and again, and
# .venv/bin/mypy makes it.
checked:
	$(BIN)/mypy $(if $(wildcard .mypy_cache),,--no-incremental)
	$(BIN)/lint-imports
	VIRTUAL_ENV=$(CURDIR)/.venv DAGSTER_HOME= $(BIN)/dg check defs

# Types and rules of the report's scripts. Without Node or npm's registry it says so, and passes.
scripts:
	$(BIN)/python -m tests.report.static.check

# In a layer over .venv, so that all else is what make check tests.
OLDER := .venv-dagster

check-dagster: $(OLDER)/installed
	OMP_NUM_THREADS=1 PYTHONPATH=$(CURDIR) $(OLDER)/bin/python -m pytest -q -n auto --dist loadfile tests

$(OLDER)/installed: .venv/installed
	$(PYTHON) -m venv $(OLDER)
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > "$$($(OLDER)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/below.pth"
	$(OLDER)/bin/pip install --quiet --disable-pip-version-check 'dagster==1.12.22' 'dagster-webserver==1.12.22' 'dagster-pandas==0.28.22'
	touch $@

# Some families' images need torchvision, and have it in a folder of its own: to all others it would
# mean other tensors.
families: install
	$(BIN)/python -m tests.families.support
	$(BIN)/pytest -q -n auto -m "" tests/families
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --constraint constraints.txt --target .venv/vision torchvision timm
	PYTHONPATH=.venv/vision $(BIN)/python -m tests.families.support --vision
	PYTHONPATH=.venv/vision $(BIN)/pytest -q -n auto -m vision tests/families

# Never in .venv: the proxy wants other releases of what we use.
SERVERS := .venv-servers
LLAMA := $(SERVERS)/llama.cpp

servers: install $(SERVERS)/bin/litellm $(LLAMA)/bin/llama-server
	BENCH_SERVERS=$(CURDIR)/$(SERVERS) $(BIN)/pytest -q -rs -m "" tests/servers

$(SERVERS)/bin/litellm:
	$(PYTHON) -m venv $(SERVERS)
	$(SERVERS)/bin/pip install --quiet --disable-pip-version-check 'litellm[proxy]==1.106.0'

# The source of llama.cpp lies inside the source of its Python package.
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

# In a layer over .venv, so that all else is tested as it is without what only clusters need.
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

# In a layer over .venv: mkdocs is no part of what make check tests.
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
