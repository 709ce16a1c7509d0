"""Every setting is read and has its effect; an invalid value stops the start with the setting's name."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import default_settings

from crawler import settings as project
from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import Misconfigured
from crawler.fetch.dns import DnsLifetimes
from crawler.items import Reason
from crawler.options import Options
from crawler.parse.html import DEFAULT_READING
from crawler.urls import rules
from crawler.urls.rules import SWITCHABLE, UrlRule
from tests.defaults import DEFAULTS, options_with


class RecordingSettings:
    """Settings that record which of them are read."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return getattr(project, name, default)


def test_every_setting_has_a_valid_default_and_is_read() -> None:
    recorded = RecordingSettings()
    Options.of(recorded)
    assert recorded.names <= set(vars(project))
    ours = {name for name in vars(project) if name.isupper() and not hasattr(default_settings, name)}
    assert ours == recorded.names - {"CONCURRENT_REQUESTS", "DNS_TIMEOUT"}


@pytest.mark.parametrize(
    ("alone", "setting"),
    [
        pytest.param(replace(DEFAULT_READING, context=False), DEFAULTS.reading, id="parse_html"),
        pytest.param(DuplicateRule(), DEFAULTS.duplicates, id="near-duplicates"),
        pytest.param(rules.DEFAULTS, DEFAULTS.urls.switches, id="canonicalize"),
    ],
)
def test_functions_have_the_defaults_of_the_settings(alone: object, setting: object) -> None:
    assert alone == setting


def test_an_empty_crawl_dir_is_the_default_one() -> None:
    assert options_with(CRAWL_DIR="").crawl.dir == DEFAULTS.crawl.dir


def test_the_defaults_of_a_crawl() -> None:
    options = options_with()
    assert options.crawl.dir == Path("data/crawl")
    assert options.store == "sqlite:data/crawl/crawl.db"
    assert options.warc_directory == Path("data/crawl/warc")
    assert (options.contact, options.urls.own_hosts, options.urls.mode, options.crawl.horizon) == (
        "",
        (),
        "domains",
        60.0,
    )
    assert (options.politeness.min_delay, options.politeness.latency_factor, options.politeness.latency_cap) == (
        5.0,
        5.0,
        30.0,
    )
    assert options.revisit.interval == 7 * 86_400
    assert options.fetch.limits.max_body == 8 * 1024 * 1024
    assert options.fetch.limits.max_document == 32 * 1024 * 1024
    assert options.intranet.refusal("a.test", "127.0.0.1") == "loopback"
    assert options.fetch.verify_tls is False
    assert (options.metrics.port, options.metrics.file) == (0, None)
    options.commit.step_hook("does nothing")


def test_the_store_is_in_the_crawl_directory_by_default() -> None:
    assert options_with(CRAWL_DIR="/somewhere").store == "sqlite:/somewhere/crawl.db"
    assert options_with(CRAWL_DIR="/somewhere", STORE=" sqlite:/else.db ").store == "sqlite:/else.db"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", ()),
        (None, ()),
        ("A.test", ("a.test",)),
        (" a.test, *.B.test ,,", ("a.test", "*.b.test")),
        (["a.test", " *.B.test ", ""], ("a.test", "*.b.test")),
        (("a.test",), ("a.test",)),
    ],
)
def test_a_list_may_be_given_as_text_or_list(given: Any, words: tuple[str, ...]) -> None:
    options = options_with(OWN_HOSTS=given)
    assert options.urls.own_hosts == options.politeness.own_hosts == words


def test_numbers_may_be_given_as_text() -> None:
    options = options_with(
        CRAWL_MAX_PAGES="17",
        CRAWL_MAX_SECONDS=" 1.5 ",
        CRAWL_HORIZON="inf",
        POLITENESS_MIN_DELAY="7",
        COMMIT_VISITS="5.0",
    )
    assert (options.crawl.max_pages, options.crawl.max_seconds, options.crawl.horizon) == (17, 1.5, math.inf)
    assert (options.politeness.min_delay, options.commit.visits) == (7.0, 5)
    assert isinstance(options.crawl.max_pages, int)


@pytest.mark.parametrize(
    ("given", "is_on"), [("True", True), ("1", True), (True, True), ("no", False), (0, False), (None, False)]
)
def test_flags_may_be_given_as_text(given: Any, is_on: bool) -> None:
    assert options_with(FETCH_VERIFY_TLS=given).fetch.verify_tls is is_on


URL_FILES = ["URL_RULES", "URL_INCLUDE", "URL_EXCLUDE"]
NUMBERS = [
    *("CRAWL_MAX_PAGES", "CRAWL_MAX_SECONDS", "CRAWL_HORIZON", "CRAWL_MAX_DEPTH", "POLITENESS_MIN_DELAY"),
    *("URL_MAX_LENGTH", "URL_MAX_SEGMENTS", "URL_MAX_REPEATS", "URL_MAX_PARAMETERS"),
    *("POLITENESS_LATENCY_FACTOR", "POLITENESS_LATENCY_CAP", "REVISIT_INTERVAL", "RETRY_DELAY", "ROBOTS_RETRY_DELAY"),
    *(
        "DNS_THREADS",
        "DNS_MIN_TTL",
        "DNS_MAX_TTL",
        "DNS_NEGATIVE_TTL",
        "FETCH_CONNECT_TIMEOUT",
        "FETCH_FIRST_BYTE_TIMEOUT",
        "FETCH_TIMEOUT",
        "FETCH_MIN_BYTES_PER_SECOND",
    ),
    *(
        "FETCH_MIN_RATE_TIME",
        "FETCH_MAX_BODY",
        "FETCH_MAX_DOCUMENT",
        "FETCH_MAX_HEAD",
        "FETCH_MAX_BUFFERED",
        "FRONTIER_ACTIVE_HOSTS",
    ),
    *("FRONTIER_QUEUE_LENGTH", "FRONTIER_LEASE_AHEAD", "PARTITION_LEASE", "CONCURRENT_REQUESTS", "WARC_SEGMENT_BYTES"),
    *("COMMIT_VISITS", "COMMIT_INTERVAL", "CONTENT_PROCESSES", "CONTENT_CPU_TIME", "CONTENT_TIMEOUT"),
    *("CONTENT_MAX_MEMORY", "METRICS_PORT"),
]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["many", "", None, "nan", -1, "-inf", [], "0x10"])
def test_an_invalid_number_is_refused_with_the_name_of_its_setting(name: str, value: Any) -> None:
    with pytest.raises(Misconfigured, match=f"^{name}=") as caught:
        options_with(**{name: value})
    assert repr(value) in str(caught.value)
    assert caught.value.exit_code == 78


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "CRAWL_HORIZON"])
def test_only_the_horizon_may_be_infinite(name: str) -> None:
    with pytest.raises(Misconfigured, match=f"^{name}=.*must be a"):
        options_with(**{name: "inf"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # whole numbers, and not too small
        ("CRAWL_MAX_PAGES", 1.5),
        ("COMMIT_VISITS", 0),
        ("FETCH_MAX_BODY", 0),
        ("FETCH_MAX_HEAD", 1023),
        ("URL_MAX_LENGTH", 15),
        ("URL_MAX_SEGMENTS", 0),
        ("URL_MAX_REPEATS", 0),
        ("URL_MAX_PARAMETERS", 1.5),
        ("CRAWL_MAX_DEPTH", 0.5),
        ("DNS_THREADS", 0),
        ("FRONTIER_ACTIVE_HOSTS", 0),
        ("FRONTIER_QUEUE_LENGTH", 0),
        ("PARTITION_LEASE", 2.9),
        ("CONCURRENT_REQUESTS", 0),
        ("WARC_SEGMENT_BYTES", 0),
        ("CONTENT_CPU_TIME", 0),
        ("CONTENT_TIMEOUT", 0.5),
        ("CONTENT_MAX_MEMORY", 1024),
        ("METRICS_PORT", 65_536),
        ("METRICS_PORT", 1.5),
        # choices
        ("SCOPE", "everything"),
        ("SCOPE", ""),
        ("FETCH_VERIFY_TLS", "perhaps"),
        ("URL_SKIP_ACTIONS", "perhaps"),
        ("URL_SKIP_APIS", 2),
        *((rule.setting, "perhaps") for rule in SWITCHABLE.values()),
        # ports
        ("URL_PORTS", "80,http"),
        ("URL_PORTS", "80;443"),
        ("URL_PORTS", "80 443"),
        ("URL_PORTS", "0"),
        ("URL_PORTS", "-80"),
        ("URL_PORTS", "65536"),
        ("URL_PORTS", "8e1"),
        ("URL_PORTS", "9" * 5_000),
        ("URL_PORTS", [80, None]),
        ("URL_PORTS", "80,22"),  # a port that is never allowed
        # endings that no file has
        ("URL_SKIP_TYPES", "tar.gz"),
        ("URL_SKIP_TYPES", "*.zip"),
        ("URL_SKIP_TYPES", "zip;tar"),
        # the minimum delay for hosts that are not our own
        ("POLITENESS_MIN_DELAY", 0.5),
        # text that would break a header
        ("CONTACT", "me@a.test\r\nX: y"),
        ("CONTACT", "me@a.test\0"),
        ("CONTACT", "連絡@a.test"),
        # networks, files, functions
        ("INTRANET_NETWORKS", "10.0.0.0/33"),
        ("INTRANET_HOSTS", "a b.test"),
        ("DNS_HOSTS", "/no/such/file"),
        ("DNS_SERVERS", "dns.test"),
        ("DNS_SERVERS", "192.0.2.1 192.0.2.2"),
        ("DNS_MIN_TTL", 86_401),
        ("DNS_MAX_TTL", 59),
        *((name, value) for name in URL_FILES for value in ("/no/such/file", "/", "a\0b")),
        ("COMMIT_STEP_HOOK", "no.such.module:function"),
        ("COMMIT_STEP_HOOK", "math:no_such_function"),
        ("COMMIT_STEP_HOOK", "math"),
        ("COMMIT_STEP_HOOK", ":function"),
        ("COMMIT_STEP_HOOK", "math:pi"),
        ("CONTENT_HOOK", "math:no_such_function"),
    ],
)
def test_an_invalid_value_is_refused_with_the_name_of_its_setting(name: str, value: Any) -> None:
    with pytest.raises(Misconfigured, match=name):
        options_with(**{name: value})


def test_own_hosts_may_have_a_short_delay() -> None:
    assert options_with(POLITENESS_MIN_DELAY=0.1, OWN_HOSTS="a.test").politeness.min_delay == 0.1


@pytest.mark.parametrize(
    ("contact", "agent"),
    [
        ("", "Orbweaver/0.1"),
        (" https://example.com/bot ", "Orbweaver/0.1 (+https://example.com/bot)"),
        ("me@example.com", "Orbweaver/0.1 (+me@example.com)"),
    ],
)
def test_the_user_agent_contains_the_contact(contact: str, agent: str) -> None:
    assert options_with(CONTACT=contact).user_agent == agent


def test_without_a_contact_only_own_hosts_are_in_scope() -> None:
    anonymous = options_with(SCOPE="any", OWN_HOSTS="mine.test").new_scope()
    assert anonymous.rejection("http://mine.test/") is None
    assert anonymous.rejection("http://theirs.test/") == (Reason.NO_CONTACT, "")
    assert options_with(SCOPE="any", CONTACT="me@a.test").new_scope().rejection("http://theirs.test/") is None
    short = options_with(SCOPE="any", CONTACT="me@a.test", URL_MAX_LENGTH=20).new_scope()
    assert short.rejection("http://theirs.test/too-long") == (Reason.URL_TOO_LONG, "27 characters, 20 at most")


# ── URLs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_files_without_text_are_not_visited_by_default() -> None:
    assert {"jpg", "zip", "exe"} < set(DEFAULTS.urls.skip_types)
    assert not {"html", "pdf", "txt", "xml", "php"} & set(DEFAULTS.urls.skip_types)


@pytest.mark.parametrize(
    ("name", "value", "url", "refusal"),
    [
        ("URL_MAX_LENGTH", 20, "http://a.test/2345678", (Reason.URL_TOO_LONG, "21 characters, 20 at most")),
        ("URL_MAX_SEGMENTS", "2", "http://a.test/1/2/3", (Reason.PATH_TOO_DEEP, "3 segments, 2 at most")),
        ("URL_MAX_REPEATS", 1, "http://a.test/x/x", (Reason.REPEATED_SEGMENT, "x occurs more than 1 times")),
        ("URL_MAX_PARAMETERS", 0, "http://a.test/?a=1", (Reason.TOO_MANY_PARAMETERS, "1 parameters, 0 at most")),
        ("URL_PORTS", "81", "http://a.test/", (Reason.PORT_DENIED, "80")),
        ("URL_PORTS", 81, "http://a.test/", (Reason.PORT_DENIED, "80")),  # a single one may be a number
        ("URL_PORTS", [81, "82"], "http://a.test/", (Reason.PORT_DENIED, "80")),
        ("URL_SKIP_TYPES", "pdf", "http://a.test/a.PDF", (Reason.FILE_TYPE, "pdf")),
        ("URL_SKIP_TYPES", " .PDF , txt", "http://a.test/a.pdf", (Reason.FILE_TYPE, "pdf")),
        ("URL_SKIP_TYPES", ["unitypackage"], "http://a.test/a.unitypackage", (Reason.FILE_TYPE, "unitypackage")),
        ("CRAWL_MAX_DEPTH", 1, "http://a.test/", (Reason.TOO_FAR, "2 links, 1 at most")),
    ],
)
def test_a_url_that_a_setting_forbids_is_refused(name: str, value: Any, url: str, refusal: tuple[Reason, str]) -> None:
    plain = options_with(SCOPE="any", CONTACT="me@a.test").new_scope()
    changed = options_with(SCOPE="any", CONTACT="me@a.test", **{name: value}).new_scope()
    assert plain.rejection(url, 2) is None
    assert changed.rejection(url, 2) == refusal


@pytest.mark.parametrize(
    ("name", "value", "url"),
    [
        ("URL_PORTS", "80,443,9000", "http://a.test:9000/"),
        ("URL_SKIP_TYPES", "", "http://a.test/a.zip"),
        ("URL_SKIP_ACTIONS", False, "http://a.test/logout"),
        ("URL_SKIP_APIS", "no", "http://a.test/wp-json/"),
        ("URL_MAX_REPEATS", 9, "http://a.test/x/x/x/x"),
    ],
)
def test_a_url_that_a_setting_allows_is_visited(name: str, value: Any, url: str) -> None:
    plain = options_with(SCOPE="any", CONTACT="me@a.test").new_scope()
    changed = options_with(SCOPE="any", CONTACT="me@a.test", **{name: value}).new_scope()
    assert plain.rejection(url) is not None
    assert changed.rejection(url) is None


def test_without_ports_only_those_of_the_seeds_are_visited() -> None:
    options = options_with(SCOPE="any", CONTACT="me@a.test", URL_PORTS="")
    scope = options.urls.new_scope(["http://a.test:9000/"])
    assert options.urls.ports == ()
    assert scope.rejection("http://b.test:9000/") is None
    assert scope.rejection("http://b.test/") == (Reason.PORT_DENIED, "80")
    assert options_with().urls.ports == (80, 443, 8000, 8080, 8443)


@pytest.mark.parametrize("rule", SWITCHABLE.values(), ids=lambda rule: rule.setting)
def test_every_rule_for_the_spelling_of_urls_can_be_switched(rule: UrlRule) -> None:
    assert options_with(**{rule.setting: True}).urls.new_policy().canonicalize(rule.before) == rule.after
    assert options_with(**{rule.setting: "no"}).urls.new_policy().canonicalize(rule.before) == rule.before


def test_lists_of_urls_and_rules_come_from_files(tmp_path: Path) -> None:
    include, exclude, rules = tmp_path / "in.txt", tmp_path / "out.txt", tmp_path / "rules.txt"
    include.write_bytes("\ufeffhttp://a.test/\r\n# more\r\n".encode())  # as some editors write it
    exclude.write_text("~/tag/\n")
    rules.write_bytes("\ufeffa.test drop view\r\n".encode())
    options = options_with(
        SCOPE="any", CONTACT="me@a.test", URL_INCLUDE=f" {include} ", URL_EXCLUDE=str(exclude), URL_RULES=rules
    )
    scope = options.new_scope()
    assert scope.rejection("http://a.test/x") is None
    assert scope.rejection("http://b.test/x") == (Reason.NOT_INCLUDED, str(include))
    assert scope.rejection("http://a.test/tag/x") == (Reason.EXCLUDED, f"{exclude}:1 ~/tag/")
    assert scope.policy.canonicalize("http://a.test/?view=1") == "http://a.test/"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("URL_INCLUDE", "http://a.test/\na.test\n", "{file}:2: 'a.test' is no beginning of a URL"),
        ("URL_INCLUDE", "~[\n", "{file}:1: '[' is no regular expression"),
        ("URL_EXCLUDE", "\n\n~\n", "{file}:3: an empty regular expression"),
        ("URL_RULES", "# x\na.test dorp x\n", "{file}:2: 'dorp' is none of"),
        ("URL_RULES", "a.test off dot_segments\n", "{file}:1: 'dot_segments' is no rule"),
    ],
)
def test_an_invalid_line_in_a_file_is_refused_with_its_number(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    file = tmp_path / "list.txt"
    file.write_text(content)
    with pytest.raises(Misconfigured) as caught:
        options_with(**{name: str(file)})
    assert message.format(file=file) in str(caught.value)
    assert "Nothing was crawled." in str(caught.value)


@pytest.mark.parametrize("name", URL_FILES)
def test_a_file_that_is_no_text_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "list.txt").write_bytes(b"http://a.test/\xff\n")
    with pytest.raises(Misconfigured, match=rf"^{name}=.*list\.txt"):
        options_with(**{name: str(tmp_path / "list.txt")})


def test_an_include_list_without_patterns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# none yet\n")
    with pytest.raises(Misconfigured, match=r"^URL_INCLUDE="):
        options_with(URL_INCLUDE=str(tmp_path / "list.txt"))


def test_an_intranet_is_opened_by_host_and_network() -> None:
    guard = options_with(INTRANET_HOSTS="*.mine.test", INTRANET_NETWORKS="127.0.0.0/8, ::1/128").intranet
    assert guard.refusal("www.mine.test", "127.0.0.5") is None
    assert guard.refusal("www.theirs.test", "127.0.0.5") is not None


def test_host_names_are_read_from_a_hosts_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("127.0.0.2 a.test b.test\n")
    assert options_with(DNS_HOSTS=str(path)).dns.hosts == {"a.test": ("127.0.0.2",), "b.test": ("127.0.0.2",)}


def test_name_servers_and_dns_lifetimes_can_be_set() -> None:
    options = options_with(DNS_SERVERS="127.0.0.1:5353, [::1]:53,", DNS_MIN_TTL=1, DNS_MAX_TTL="2", DNS_NEGATIVE_TTL=0)
    assert options.dns.servers == ("127.0.0.1:5353", "[::1]:53")
    assert options.dns.lifetimes == DnsLifetimes(min_ttl=1, max_ttl=2, negative_ttl=0)
    assert options_with().dns.servers == ()


@pytest.mark.parametrize("content", [b"nonsense a.test\n", b"127.0.0.1\n", b"\xff\xfe\n"])
def test_a_bad_hosts_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hosts").write_bytes(content)
    with pytest.raises(Misconfigured, match=r"^DNS_HOSTS="):
        options_with(DNS_HOSTS=str(tmp_path / "hosts"))


def test_the_steps_of_a_commit_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    options_with(COMMIT_STEP_HOOK="builtins:print").commit.step_hook("after commit")
    assert capsys.readouterr().out == "after commit\n"


@pytest.mark.parametrize("threshold", [0.3, 1.2])
def test_an_invalid_threshold_for_near_duplicates_is_refused(threshold: float) -> None:
    with pytest.raises(Misconfigured, match=f"DUPLICATE_THRESHOLD={threshold:g}: must be from 0.5 to 1, or 0"):
        options_with(DUPLICATE_THRESHOLD=threshold)


def test_near_duplicate_detection_can_be_switched_off() -> None:
    assert options_with(DUPLICATE_THRESHOLD=0).duplicates.threshold == 0
    assert options_with(DUPLICATE_LINKS=False).duplicates.links is False
