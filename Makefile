# make setup            a virtual environment in .venv with everything that crawling and testing need
# make crawl            crawl the bundled demo web into data/demo;
#                       with SEEDS=my.txt CONTACT=https://… [PAGES=1000] the real web
# make test             all tests, in three parts (at most 9 minutes on two cores)
# make test-slow        promises that make test checks in a smaller form, at their full size
# make test-pythons     the tests of units with other interpreters, each installed beside .venv; PYTHONS="python3.13 …"
# make lint             format, lint and types
# make conformance      test suites of other projects for URLs, robots.txt, lists, pages and documents, and the
#                       reason for each difference
#
# Proofs judge whole crawls from outside. With WORKERS=2 prove-polite and prove-kill crawl with so many processes.
# make prove-kill       kill -9 loses nothing: 200 kills, and one at each step of the commit (about 15 minutes)
# make prove-polite     100,000 requests to 4,000 hosts, with kills, judged by the server's log (about 4 minutes)
# make prove-wheel      the wheel with all its packages, installed into an empty environment, works (about 2 minutes)
# make prove-workers    four workers, some killed and some stopped for ten minutes: nothing lost, every delay kept
#                       (about 20 minutes)
# make prove-duplicates two workers, killed twenty times, find the same clusters as undisturbed ones (about 4 minutes)
# make prove-sites      robots.txt, validators and HEAD_POLICY, judged by the server's log (about 3 minutes)
# make prove-feed       ten crawls of a changing web, the exporter killed 200 times, engines that fail: four indexes
#                       equal the collection (about 15 minutes)
# make prove-focus      focused crawls of two real webs, killed and with two workers, find as much as a simulation does
#                       (about 15 minutes; needs the webs)
# make prove-urls       a million mutated URLs, and the promises that must hold for each (about 3 minutes)
# make prove-docs       three real documentation sites: every page fetched, once (about 3 minutes; needs Debian)
# make prove-month      a month under a virtual clock, a million visits, each judged (about 10 minutes)
#
# Benchmarks
# make bench            pages per CPU-second against stock Scrapy
# make bench-links      pages with very many new links: URLs a second, and the size of the store's log (about 8 minutes)
# make bench-polite     the share of the rate that politeness allows, against stock Scrapy; the cost of the next visit
#                       (about 8 minutes)
# make bench-duplicates near-duplicates found by each method and size of fingerprint; the cost of a sketch; pages that
#                       share a site template; the cost to a crawl (about 5 minutes)
# make bench-index      the index of near-duplicates with a million pages: speed and bytes (about 6 minutes)
# make bench-discovery  all clusters among a million sketches: time, memory, correctness (about 15 seconds)
# make bench-export     documents a second from a collection to jsonl, and in each file format (about 3 minutes)
# make bench-extract    quality and cost of main texts, by each method and by libraries; HTML parsers (about 15 minutes)
# make bench-feeds      what a feed of all pages (`-O pages.jsonl`) costs a crawl (about 4 minutes)
# make bench-focus      focused crawls of two webs with ten topics against simple ways to score links; how well a topic
#                       tells pages apart; what a topic costs a crawl (about 15 minutes; needs the webs)
# make bench-frontier   ten million URLs on a hundred thousand hosts: time to load, bytes, memory, restart
#                       (about 20 minutes)
# make bench-search     the index of scrapy search: documents a second on one core, memory, bytes, query time
#                       (about 2 minutes)
# make bench-sites      the cost of a robots.txt decision; a sitemap of the greatest size against Scrapy's class
#                       (about a minute)
# make bench-workers    the gain from a second worker (about 4 minutes)

PYTHON ?= python3
PYTHONS ?= python3.12 python3.13
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -q -n 4

.PHONY: setup crawl test test-units test-conformance test-crawls test-slow test-pythons lint conformance clean
.PHONY: prove-docs prove-duplicates prove-feed prove-focus prove-kill prove-month prove-polite prove-sites prove-urls prove-wheel
.PHONY: prove-workers
.PHONY: bench bench-discovery bench-duplicates bench-export bench-extract bench-feeds bench-focus bench-frontier
.PHONY: bench-index bench-links bench-polite bench-search bench-sites bench-workers

setup: .venv/ready

# What is installed shows that it goes on: a line every 15 seconds, from a loop that ends with the installation.
.venv/ready: pyproject.toml constraints.txt
	@echo "Installing into .venv; this takes a minute or two."
	@(for seconds in $$(seq 15 15 1800); do \
		sleep 15 >/dev/null 2>&1; kill -0 $$$$ 2>/dev/null || exit 0; \
		echo "  $$seconds s: $$(grep -o 'Downloading [^ ]*\|Installing collected packages' .venv/setup.log 2>/dev/null | tail -n 1)"; \
	done) & speaker=$$!; trap 'kill $$speaker' EXIT; \
	if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python $(PYTHON) .venv && \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[test,lint,extractors,learn,parquet]'; \
	else \
		$(PYTHON) -m venv .venv && { \
		$(BIN)/python -m pip install --disable-pip-version-check --no-color --progress-bar off -c constraints.txt \
			-e '.[test,lint,extractors,learn,parquet]' >.venv/setup.log 2>&1 || \
		{ tail -n 20 .venv/setup.log; echo "The installation failed; .venv/setup.log has all that it said."; exit 1; }; }; \
	fi
	@touch .venv/ready

crawl: setup
ifeq ($(strip $(SEEDS)),)
	@$(BIN)/python -m crawler.demo $(if $(PAGES),-- -s CRAWL_MAX_PAGES=$(PAGES))
else
	@$(BIN)/scrapy crawl web -a seeds='$(SEEDS)' -s CONTACT='$(CONTACT)' -s CRAWL_MAX_PAGES='$(or $(PAGES),0)'
endif

test: test-units test-conformance test-crawls

test-units: setup
	$(PYTEST) tests -m "not crawl and not slow" --ignore=tests/conformance

test-conformance: setup
	$(PYTEST) tests/conformance -m "not slow"

test-crawls: setup
	$(PYTEST) --dist loadgroup tests -m "crawl and not slow"

test-slow: setup
	$(PYTEST) --dist loadgroup tests -m slow

test-pythons:
	@for python in $(PYTHONS); do \
		command -v $$python >/dev/null || { echo "$$python is not here; name others with PYTHONS=…"; exit 1; }; \
		directory=.venv-$$(basename $$python); echo "── $$($$python --version), in $$directory"; \
		$$python -m venv $$directory && \
		$$directory/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
			-e '.[test,lint,extractors,learn,parquet]' && \
		$$directory/bin/python -m pytest -q -n 4 tests -m "not crawl and not slow" --ignore=tests/conformance || exit 1; \
	done

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

prove-sites: setup
	$(BIN)/python -m tests.proofs.sites

prove-duplicates: setup
	$(BIN)/python -m tests.proofs.copies

prove-feed: setup
	$(BIN)/python -m tests.proofs.feed

prove-focus: setup
	$(BIN)/python -m tests.proofs.focus

prove-docs: setup
	$(BIN)/python -m tests.proofs.docs

prove-urls: setup
	$(BIN)/python -m tests.urls.mutations

conformance: setup
	$(BIN)/python -m tests.conformance

prove-month: setup
	$(BIN)/python -m tests.frontier.month

prove-polite: setup
	$(BIN)/python -m tests.proofs.polite --request-rate --address-limit 4 $(if $(WORKERS),--workers $(WORKERS))

prove-kill: setup
	$(BIN)/python -m tests.proofs.kill $(if $(WORKERS),--workers $(WORKERS))

prove-wheel: setup
	ORBWEAVER_FULL_INSTALL=1 $(BIN)/python -m pytest -q tests/crawl/test_own_project.py

prove-workers: setup
	$(BIN)/python -m tests.proofs.workers --alone

bench: setup
	$(BIN)/python -m benchmarks crawl
	$(BIN)/python -m benchmarks crawl --open
	$(BIN)/python -m benchmarks content

bench-duplicates: .venv/peers
	$(BIN)/python -m benchmarks duplicates
	$(BIN)/python -m benchmarks same-site
	$(BIN)/python -m benchmarks inline

bench-index: setup
	$(BIN)/python -m benchmarks sketch-index

bench-discovery: setup
	$(BIN)/python -m benchmarks discovery

bench-export: setup
	$(BIN)/python -m benchmarks export
	$(BIN)/python -m benchmarks export-files

bench-extract: .venv/peers
	$(BIN)/python -m benchmarks extract
	$(BIN)/python -m benchmarks parsers

# Libraries that are only measured against. readability-lxml asks for old versions of its dependencies, and runs with
# new ones.
PEERS := selectolax html-text chardet rensa newspaper4k goose3 boilerpy3
.venv/peers: .venv/ready
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt $(PEERS) && \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt --no-deps readability-lxml; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PEERS) && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps readability-lxml; \
	fi
	@touch .venv/peers

bench-feeds: setup
	$(BIN)/python -m benchmarks feeds

bench-focus: setup
	$(BIN)/python -m benchmarks focus --parts
	$(BIN)/python -m benchmarks focus-topics
	$(BIN)/python -m benchmarks focus-cost

bench-frontier: setup
	$(BIN)/python -m benchmarks scale

bench-links: setup
	$(BIN)/python -m benchmarks many-links

bench-search: setup
	$(BIN)/python -m benchmarks search

bench-sites: setup
	$(BIN)/python -m benchmarks sites

bench-workers: setup
	$(BIN)/python -m benchmarks workers

bench-polite: setup
	$(BIN)/python -m benchmarks polite
	$(BIN)/python -m benchmarks frontier

clean:
	rm -rf .venv .venv-python* .mypy_cache .ruff_cache .pytest_cache .hypothesis
