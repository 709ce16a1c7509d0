"""Templates of hosts are learned one after another, and what a stop leaves is offered to the next run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import find_template, pack_template, template_fingerprint
from crawler.items import Page, Visited
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of
from crawler.worker.committer import SimilarArchivedPage
from crawler.worker.runtime import Similarities
from tests.contracts.similar_texts import WORDS
from tests.contracts.visits import fetch
from tests.frontier.simulation import Simulation
from tests.samples import NOW, acquire

RULE = DuplicateRule()
HEADER, FOOTER = random.Random(98).choices(WORDS, k=350), random.Random(99).choices(WORDS, k=350)
SHOP, NEWS = (key_of(f"http://{name}.test/").host for name in ("shop", "news"))


def text_of(name: str, number: int, own: int = 400) -> str:
    """Return the text of a page whose header and footer stand on all pages of its site."""
    return " ".join([*HEADER, *random.Random(f"{name}{number}").choices(WORDS, k=own), *FOOTER])


class TextReader:
    """Implements `crawler.worker.runtime.PageReader` on texts in memory; a test decides when a step ends."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.steps: list[tuple[str, Callable[[], None]]] = []  # what is being read, and what ends it

    def end_step(self) -> str:
        name, end = self.steps.pop(0)
        end()
        return name

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Similarities], None]
    ) -> None:
        raise AssertionError("no visit ends here")

    def compare_archived(self, page: UndecidedPage, then: Callable[[Similarities | None], None]) -> None:
        similarities = {
            other.id: jaccard(
                page_shingles(self.texts[page.document.url], page.template, RULE),
                page_shingles(self.texts[other.document.url], other.template, RULE),
            )
            for other in page.candidates
        }
        self.steps.append((f"compare {page.document.url}", lambda: then(similarities)))

    def learn_template(self, job: TemplateJob, then: Callable[[TemplateResult | None], None]) -> None:
        texts = [self.texts[document.url] for _, document in job.pages]
        template = job.template
        if template is None:
            template = pack_template(find_template([page_shingles(text, b"", RULE) for text in texts]))
        sketches = {
            number: (document.id, page_sketch(self.texts[document.url], template, RULE))
            for number, document in job.pages
        }
        mark = template_fingerprint(template)
        result = TemplateResult(host=job.host, template=template, mark=mark, sketches=sketches)
        self.steps.append((f"learn {host_of(job.pages[0][1].url)}", lambda: then(result)))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    acquire(opened, Simulation.owner, 0, NOW, 60, 60)
    yield opened
    opened.close()


def page(text: str) -> Page:
    digest = sha256(text.encode()).digest()
    return Page(
        text=text,
        body_digest=digest,
        payload_digest=digest,
        text_digest=digest,
        sketch=page_sketch(text, b"", RULE),
        template=template_fingerprint(b""),
    )


def fetch_all(store: Store, texts: Mapping[str, str]) -> None:
    """Commit pages, and leave the template jobs to which they give rise to the next run."""
    for number, (url, text) in enumerate(texts.items()):
        fetch(store, url, NOW + number, page=page(text))


def site(name: str, pages: int = 8) -> dict[str, str]:
    return {f"http://{name}.test/{number}": text_of(name, number) for number in range(pages)}


def started(store: Store, reader: TextReader) -> Simulation:
    """Start a worker and let its store work; nothing is due within its horizon."""
    simulation = Simulation(store, now=NOW + 100, page_reader=reader)
    run(simulation)
    return simulation


def run(simulation: Simulation) -> None:
    simulation.run(until=simulation.time + 60)


def test_jobs_of_an_earlier_run_are_finished_one_host_at_a_time(store: Store) -> None:
    texts = site("shop") | site("news")
    fetch_all(store, texts)
    assert set(store.similarity.template_hosts("me")) == {SHOP, NEWS}
    reader = TextReader(texts)
    simulation = started(store, reader)
    learned = []
    while reader.steps:
        assert len(reader.steps) == 1
        assert not simulation.worker.is_done
        learned.append(reader.end_step())
        run(simulation)
    assert sorted(learned) == ["learn news.test", "learn shop.test"]
    assert store.similarity.template_hosts("me") == []
    assert store.similarity.template(SHOP)
    assert simulation.worker.is_done


def with_an_open_question() -> dict[str, str]:
    """A site, and elsewhere a page that is almost one of its pages, the header and the footer left out."""
    own = random.Random(50).choices(WORDS, k=400)
    edited = [*own]
    for place in (100, 200, 300):
        edited[place] = f"edited{place}"
    copied = {"http://b.test/": " ".join(own), "http://shop.test/7": " ".join([*HEADER, *edited, *FOOTER])}
    return site("shop", pages=7) | copied


def test_pages_that_the_new_sketches_leave_open_are_compared(store: Store) -> None:
    texts = with_an_open_question()
    fetch_all(store, texts)
    reader = TextReader(texts)
    simulation = started(store, reader)
    assert reader.end_step() == "learn shop.test"
    run(simulation)
    assert reader.end_step() == "compare http://shop.test/7"
    run(simulation)
    assert (reader.steps, simulation.worker.is_done) == ([], True)
    (document, *_) = store.documents.versions(key_of("http://shop.test/7"))
    assert document.duplicate_of is not None


@pytest.mark.parametrize("steps", [0, 1])
def test_what_a_stop_leaves_undone_is_done_by_the_next_run(store: Store, steps: int) -> None:
    """Stopped while the template is being learned, and while a page is being compared."""
    texts = with_an_open_question()
    fetch_all(store, texts)
    reader = TextReader(texts)
    simulation = started(store, reader)
    for _ in range(steps):
        reader.end_step()
        run(simulation)
    simulation.worker.stop()
    reader.end_step()
    while simulation.worker.is_waiting:
        simulation.step()
    assert reader.steps == []
    assert steps == 1 or store.similarity.template_hosts("me") == [SHOP]

    reader = TextReader(texts)
    simulation = started(store, reader)
    while reader.steps:
        reader.end_step()
        run(simulation)
    (document, *_) = store.documents.versions(key_of("http://shop.test/7"))
    assert document.duplicate_of is not None
    assert store.similarity.template_hosts("me") == []


def test_a_crawl_that_ends_while_pages_are_read_keeps_the_job(store: Store) -> None:
    texts = site("shop")
    fetch_all(store, texts)

    class EndingReader(TextReader):
        def learn_template(self, job: TemplateJob, then: Callable[[TemplateResult | None], None]) -> None:
            self.steps.append(("end", lambda: then(None)))

    reader = EndingReader(texts)
    simulation = started(store, reader)
    reader.end_step()
    run(simulation)
    assert reader.steps == []
    assert store.similarity.template_hosts("me") == [SHOP]
