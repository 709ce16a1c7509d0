"""The scope lets in what the seeds ask for, and says why it lets nothing else in."""

import pytest

from crawler.items import Reason
from crawler.urls import scope as scope_module
from crawler.urls.scope import UrlOptions

SEEDS = ["https://www.example.com/docs/guide/start.html?x=/y/", "http://127.0.0.1/a/", "http://h1.test:9000/"]


def reason(scope, url):
    refusal = scope.rejection(url)
    return refusal and refusal.reason


@pytest.mark.parametrize(
    ("url", "modes"),
    [
        ("https://www.example.com/docs/guide/", "any domains hosts prefixes"),
        ("https://www.example.com/docs/guide/deep/er?q=1", "any domains hosts prefixes"),
        ("https://www.example.com/docs/guide", "any domains hosts"),
        ("https://www.example.com/docs/guidelines/", "any domains hosts"),
        ("https://www.example.com/?/docs/guide/", "any domains hosts"),
        ("http://www.example.com/docs/guide/", "any domains hosts"),  # another origin
        ("https://example.com/", "any domains"),
        ("https://a.b.example.com/", "any domains"),
        ("https://badexample.com/", "any"),
        ("https://example.com.evil.net/", "any"),
        ("http://127.0.0.1/a/b", "any domains hosts prefixes"),
        ("http://127.0.0.1/b", "any domains hosts"),
        ("http://127.0.0.2/a/", "any"),
        ("http://h1.test:9000/any/where", "any domains hosts prefixes"),
        ("http://h1.test/any/where", "any domains hosts"),
        ("http://a.h1.test/", "any domains"),
        ("http://h2.test/", "any"),
    ],
)
@pytest.mark.parametrize("mode", ["any", "domains", "hosts", "prefixes"])
def test_modes(mode, url, modes):
    expected = None if mode in modes.split() else Reason.OUT_OF_SCOPE
    scope = UrlOptions(mode=mode).new_scope(SEEDS)
    assert reason(scope, url) is expected
    assert reason(scope, url) is expected  # also from memory


def test_a_bare_host_name_is_its_own_domain():
    scope = UrlOptions(mode="domains").new_scope(["http://intranet/"])
    assert scope.rejection("http://intranet/page") is None
    assert reason(scope, "http://a.intranet/") is Reason.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("port", "expected"),
    [("", None), (":8080", None), (":9000", None), (":22", Reason.PORT_DENIED), (":9001", Reason.PORT_DENIED)],
)
def test_only_web_ports_and_those_of_seeds_are_visited(port, expected):
    assert reason(UrlOptions().new_scope(SEEDS), f"http://example.com{port}/") is expected


def test_allowed_ports_can_be_given():
    scope = UrlOptions(mode="any", ports=(81,)).new_scope([])
    assert scope.rejection("http://example.com:81/") is None
    assert reason(scope, "http://example.com/") is Reason.PORT_DENIED


def test_without_contact_only_own_hosts_are_visited():
    scope = UrlOptions(mode="any", contact=False, own_hosts=("*.mine.test",)).new_scope([])
    assert scope.rejection("http://a.mine.test/") is None
    assert reason(scope, "http://example.com/") is Reason.NO_CONTACT


def test_long_urls_are_refused():
    scope = UrlOptions(mode="any", max_length=30).new_scope([])
    assert scope.rejection("http://example.com/" + "a" * 11) is None
    assert reason(scope, "http://example.com/" + "a" * 12) is Reason.URL_TOO_LONG


def test_a_scope_grows_with_its_seeds():
    scope = UrlOptions(mode="hosts").new_scope([])
    assert reason(scope, "http://example.com:7777/") is Reason.PORT_DENIED
    scope.add("http://EXAMPLE.com:7777")
    assert scope.rejection("http://example.com:7777/") is None
    scope.add("not a url")
    assert reason(scope, "http://example.org/") is Reason.OUT_OF_SCOPE


def test_memory_for_verdicts_is_bounded(monkeypatch):
    monkeypatch.setattr(scope_module, "MOST_ORIGINS", 10)
    scope = UrlOptions(mode="hosts").new_scope(["http://host3.test/"])
    answers = [scope.rejection(f"http://host{number % 20}.test/") for number in range(100)]
    assert [number % 20 for number, answer in enumerate(answers) if answer is None] == [3] * 5
    assert len(scope._verdicts) <= 10


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match="'everything'"):
        UrlOptions(mode="everything").new_scope([])
