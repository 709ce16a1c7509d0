"""The synthetic web is reproducible, fully reachable, and has every feature that its options promise."""

from __future__ import annotations

import gzip
import re
from collections import deque
from functools import cache
from html import unescape
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

import can_ada
import pytest
from protego import Protego

from tests.webgraph.answers import Answer
from tests.webgraph.generate import MOVED_ROBOTS, ROBOTS, Web
from tests.webgraph.layout import LONG_CHAIN

WEB = Web(7)
ATTEMPTS = 3  # the third answer of a page always succeeds


def answer_to(web: Web, url: str, attempt: int = ATTEMPTS) -> Answer:
    parts = urlsplit(url)
    assert parts.hostname
    return web.answer(parts.hostname, parts.path + (f"?{parts.query}" if parts.query else ""), attempt)


def header(answer: Answer, name: str) -> str:
    return dict(answer.headers)[name]


def plain(url: str) -> str:
    """Return a URL as a simple crawler reads it: without fragment and dots, host in lower case."""
    parts = urlsplit(urldefrag(url).url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return urljoin(f"{parts.scheme}://{parts.netloc.lower()}", target)


class Walk(NamedTuple):
    """The URLs that a walk through the web found."""

    answers: dict[str, int]  # URL → status
    linked: set[str]
    redirected: dict[str, str]


@cache
def walk(web: Web) -> Walk:
    """Walk breadth first from the seeds, over links and redirects, inside the web."""
    found = Walk({}, set(), {})
    queue = deque(web.seeds())
    while queue:
        url = queue.popleft()
        if url in found.answers or urlsplit(url).hostname not in web.addresses():
            continue
        answer = answer_to(web, url)
        found.answers[url] = answer.status
        queue.extend(targets_of(answer, url, found))
    return found


def targets_of(answer: Answer, url: str, found: Walk) -> list[str]:
    """Return the URLs to which an answer leads."""
    if 300 <= answer.status < 400:
        location = header(answer, "Location")
        found.redirected[url] = urljoin(url, location) if location else ""
        return [found.redirected[url]]
    if not header(answer, "Content-Type").startswith("text/html"):
        return []
    body = gzip.decompress(answer.body) if ("Content-Encoding", "gzip") in answer.headers else answer.body
    links = [plain(urljoin(url, unescape(link))) for link in re.findall(r'href="([^"]*)"', body.decode("latin-1"))]
    found.linked.update(links)
    return links


def test_the_same_seed_makes_the_same_web() -> None:
    again = Web(7)
    assert list(again.urls()) == list(WEB.urls())
    assert [again.digest(url) for url in again.urls()] == [WEB.digest(url) for url in WEB.urls()]


def test_another_seed_makes_another_web() -> None:
    other = Web(8)
    assert set(other.urls()) != set(WEB.urls())
    assert not {other.digest(url) for url in other.urls()} & {WEB.digest(url) for url in WEB.urls()}


@pytest.mark.parametrize(("hosts", "pages"), [(1, 1), (3, 3), (7, 100), (30, 1500), (300, 5000)])
def test_a_web_has_exactly_the_given_number_of_pages(hosts: int, pages: int) -> None:
    web = Web(3, hosts, pages)
    urls = list(web.urls())
    assert len(urls) == len(set(urls)) == pages
    assert {urlsplit(url).hostname for url in urls} == set(web.addresses())


def test_hosts_differ_much_in_size() -> None:
    hosts = [urlsplit(url).hostname for url in WEB.urls()]
    sizes = sorted(hosts.count(host) for host in set(hosts))
    assert sizes[0] <= 10
    assert sizes[-1] >= 100


@pytest.mark.parametrize(("hosts", "pages"), [(0, 10), (11, 10)])
def test_a_web_whose_hosts_would_be_empty_is_refused(hosts: int, pages: int) -> None:
    with pytest.raises(ValueError, match=f"{hosts} hosts"):
        Web(1, hosts, pages)


def test_every_url_is_in_canonical_form() -> None:
    for url in [*WEB.urls(), *WEB.forbidden(), *WEB.missing(), *WEB.redirects(), *WEB.seeds()]:
        assert can_ada.parse(url).href == url


def test_the_default_port_is_omitted_from_urls() -> None:
    web = Web(7, port=80)
    assert web.seeds()[0] == "http://h000.site0.test/"
    assert walk(web).answers.keys() >= set(web.urls())


@pytest.mark.parametrize("seed", [1, 2, 7])
@pytest.mark.parametrize("one_seed", [False, True])
def test_a_walk_finds_everything_and_nothing_else(seed: int, one_seed: bool) -> None:
    web = Web(seed, one_seed=one_seed)
    found = walk(web)
    good = {url for url, status in found.answers.items() if status == 200}
    assert good == set(web.urls()) | web.forbidden()
    assert found.redirected == web.redirects()
    assert {url: status for url, status in found.answers.items() if status >= 400} == web.missing()
    assert found.linked >= web.missing().keys() | web.forbidden()


def test_one_seed_is_one_page() -> None:
    assert len(Web(7, one_seed=True).seeds()) == 1
    assert len(WEB.seeds()) == 30


def test_hidden_pages_are_linked_nowhere() -> None:
    assert WEB.hidden()
    assert not WEB.hidden() & walk(WEB).linked


def test_some_links_leave_the_web() -> None:
    hosts = {urlsplit(link).hostname for link in walk(WEB).linked}
    assert hosts == {*WEB.addresses(), "elsewhere.invalid"}


def test_redirects_form_chains_a_loop_and_dead_ends() -> None:
    redirects = WEB.redirects()
    pages = set(WEB.urls())
    lengths = {chain_length(redirects, url) for url in redirects.keys() - redirects.values()}
    assert lengths == {1, 2, 3, LONG_CHAIN}
    ends = {target for target in redirects.values() if target not in pages and target not in redirects}
    assert "" in ends
    assert "ftp://elsewhere.invalid/file" in ends
    assert ends & WEB.forbidden()
    front = WEB.seeds()[0]
    assert redirects[f"{front}loop/a"] == f"{front}loop/b"
    assert redirects[f"{front}loop/b"] == f"{front}loop/a"


def chain_length(redirects: dict[str, str], url: str) -> int:
    return 1 + chain_length(redirects, redirects[url]) if url in redirects else 0


def test_redirects_use_several_statuses_and_both_spellings_of_a_location() -> None:
    answers = [answer_to(WEB, url) for url in WEB.redirects()]
    assert {answer.status for answer in answers} == {301, 302, 307}
    assert {header(answer, "Location")[:1] for answer in answers} >= {"/", "h"}


def test_some_redirects_lead_to_another_host() -> None:
    assert any(urlsplit(source).hostname != urlsplit(target).hostname for source, target in WEB.redirects().items())


def test_flaky_pages_fail_the_stated_number_of_times_and_then_succeed() -> None:
    flaky = {url: WEB.flaky(url) for url in WEB.urls() if WEB.flaky(url)[1]}
    assert {flaw for flaw, _ in flaky.values()} == {"500", "503", "reset", "short"}
    assert {times for _, times in flaky.values()} == {1, 2}
    for url, (flaw, times) in flaky.items():
        assert [failure(answer_to(WEB, url, attempt)) for attempt in range(1, times + 2)] == [flaw] * times + [""]


def failure(answer: Answer) -> str:
    if answer.behaviour in ("reset", "short"):
        return answer.behaviour
    return "" if answer.status == 200 else str(answer.status)


def test_a_503_answer_has_a_retry_after() -> None:
    busy = [url for url in WEB.urls() if WEB.flaky(url)[0] == "503"]
    assert {header(answer_to(WEB, url, 1), "Retry-After") for url in busy} == {"1"}


def test_pages_have_several_codings_charsets_and_types() -> None:
    answers = [answer_to(WEB, url) for url in WEB.urls()]
    assert {answer.behaviour for answer in answers} == {"normal", "gzip", "chunked", "slow"}
    assert {header(answer, "Content-Type") for answer in answers} >= {
        "text/html; charset=utf-8",
        "text/html; charset=iso-8859-1",
        "text/plain; charset=utf-8",
    }


def test_the_body_of_an_answer_is_the_document_in_the_declared_charset() -> None:
    for url in WEB.urls():
        answer = answer_to(WEB, url)
        body = gzip.decompress(answer.body) if answer.behaviour == "gzip" else answer.body
        assert body == WEB.body(url)
        assert body.decode(header(answer, "Content-Type").partition("charset=")[2])


def test_all_documents_differ_and_have_the_given_mean_size() -> None:
    bodies = [WEB.body(url) for url in WEB.urls()]
    assert len(set(bodies)) == len(bodies)
    assert 3600 < sum(map(len, bodies)) / len(bodies) < 4400


def test_a_page_that_does_not_exist_has_no_body() -> None:
    with pytest.raises(KeyError):
        WEB.body(f"{WEB.seeds()[0]}p/100000")


def test_hosts_have_every_kind_of_robots_file() -> None:
    kinds = {(answer_to(WEB, robots(url), 1).status, answer_to(WEB, robots(url)).status) for url in WEB.seeds()}
    assert kinds == {(404, 404), (200, 200), (503, 200), (301, 301)}


def robots(front: str) -> str:
    return urljoin(front, ROBOTS)


def test_robots_rules_forbid_exactly_the_forbidden_urls() -> None:
    rules = {front: Protego.parse(rules_of(front)) for front in WEB.seeds()}
    for url in WEB.forbidden():
        assert not rules[urljoin(url, "/")].can_fetch(url, "crawler")
    for url in [*WEB.urls(), *WEB.missing(), *WEB.redirects()]:
        assert rules[urljoin(url, "/")].can_fetch(url, "crawler")


def rules_of(front: str) -> str:
    answer = answer_to(WEB, robots(front))
    if answer.status == 301:
        assert header(answer, "Location") == MOVED_ROBOTS
        answer = answer_to(WEB, urljoin(front, MOVED_ROBOTS))
    return answer.body.decode() if answer.status == 200 else ""


def test_some_hosts_have_a_crawl_delay() -> None:
    delays = {front: Protego.parse(rules_of(front)).crawl_delay("crawler") or 0.0 for front in WEB.seeds()}
    assert {front: WEB.host_delay(urlsplit(front).hostname or "") for front in WEB.seeds()} == delays
    assert set(delays.values()) == {0.0, 0.4}


def test_every_feature_can_be_switched_off() -> None:
    shares = {name: 0.0 for name in vars(WEB) if name.endswith("_share")}
    web = Web(7, robots=False, latency=0.0, **shares)  # type: ignore[arg-type]
    found = walk(web)
    assert found.answers == dict.fromkeys(web.urls(), 200)
    assert found.linked <= set(web.urls())
    assert {**web.redirects(), **web.missing(), **dict.fromkeys(web.forbidden())} == {}
    answers = [answer_to(web, url, 1) for url in web.urls()]
    assert {(answer.behaviour, header(answer, "Content-Type")) for answer in answers} == {
        ("normal", "text/html; charset=utf-8")
    }
    assert {answer_to(web, robots(front)).status for front in web.seeds()} == {404}


def test_hosts_have_their_own_addresses_unless_they_share_them() -> None:
    assert len(set(WEB.addresses().values())) == 30
    assert len(set(Web(7, shared_addresses=10).addresses().values())) == 3
    assert len(set(Web(7, hosts=1000).addresses().values())) == 1000


def test_the_hosts_file_contains_all_addresses() -> None:
    lines = [line.split() for line in WEB.hosts_file().splitlines()]
    assert {host: address for address, host in lines} == WEB.addresses()


def test_a_request_for_an_unknown_host_is_answered_with_421() -> None:
    assert WEB.answer("elsewhere.invalid", "/", 1).status == 421


def test_hosts_differ_in_latency_up_to_the_limit() -> None:
    delays = {answer_to(WEB, url).delay for url in WEB.seeds()}
    assert len(delays) == 30
    assert max(delays) <= WEB.latency
