# make setup     a virtual environment in .venv with everything that crawling and testing need
# make crawl     crawl the bundled demo web into data/demo; with SEEDS=my.txt CONTACT=https://… [PAGES=1000] the real web
# make test      all tests, in three parts (at most 9 minutes on two cores)
# make test-slow  promises that make test keeps in a smaller form, at their full size
# make lint      format, lint and types
# make bench     pages per CPU-second against stock Scrapy
# make bench-polite  the share of the rate that politeness allows, against stock Scrapy, and what the next visit costs (about 8 minutes)
# make bench-duplicates  how many near-duplicates each method finds, by the size of its fingerprints too, what a sketch costs, pages that share a site template, what all that costs a crawl (about 5 minutes)
# make bench-index  the index of near-duplicates with a million pages: speed and bytes (about 6 minutes)
# make bench-discovery  all clusters of near-duplicates among a million sketches: time, memory, and whether they are right (about 15 seconds)
# make bench-export  documents a second from a collection to jsonl, and in each format of files (about 3 minutes)
# make bench-extract  what main texts are worth and cost, by every method and by libraries; and HTML parsers (about 5 minutes)
# make bench-frontier  ten million URLs on a hundred thousand hosts: time to load, bytes, memory, restart (about 20 minutes)
# make bench-search  the index of scrapy search: documents a second on one core, memory, bytes, and the time of a question (about 2 minutes)
# make bench-sites  what a decision by robots.txt costs, and a sitemap of the greatest size against Scrapy's class (about a minute)
# make bench-workers  what a second worker brings (about 4 minutes)
# make conformance  the test suites of other projects for URLs, robots.txt, lists, pages and documents, and why we differ where we do
# make prove-sites  robots.txt, validators and HEAD_POLICY, judged by the server's log (about 3 minutes)
# make prove-urls   a million mutated URLs, and the promises that must hold for each (about 3 minutes)
# make prove-docs   three real documentation sites: every page fetched, once (about 3 minutes; needs Debian)
# make prove-month  a month of crawling under a virtual clock, a million visits, each judged (about 10 minutes)
# make prove-polite 100,000 requests to 4,000 hosts, with kills, judged by the server's log (about 4 minutes)
# make prove-kill   the full proof that kill -9 loses nothing (about 15 minutes)
# make prove-workers  four workers, of which some are killed and stopped for ten minutes: nothing lost, every delay kept (about 20 minutes)
# make prove-duplicates  two workers, killed twenty times, find the same clusters of copies as undisturbed ones (about 4 minutes)
# make prove-feed  ten crawls of a changing web, the exporter killed two hundred times, engines that fail: four indexes equal the collection (about 15 minutes)
# With WORKERS=2 prove-polite and prove-kill crawl with so many processes.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -q -n 4

.PHONY: setup crawl bench bench-discovery bench-duplicates bench-export bench-extract bench-frontier bench-index bench-polite bench-search bench-sites bench-workers test test-units test-conformance test-crawls test-slow lint conformance prove-docs prove-duplicates prove-feed prove-sites prove-urls prove-month prove-polite prove-kill prove-workers clean

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python $(PYTHON) .venv && \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[test,lint,extractors,parquet]'; \
	else \
		$(PYTHON) -m venv .venv && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,lint,extractors,parquet]'; \
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

# Libraries that are only measured against. readability-lxml asks for old versions of what it needs, and runs with new ones.
.venv/peers: .venv/ready
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt selectolax html-text chardet rensa && \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt --no-deps readability-lxml; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt selectolax html-text chardet rensa && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps readability-lxml; \
	fi
	@touch .venv/peers

bench-frontier: setup
	$(BIN)/python -m benchmarks scale

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
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
