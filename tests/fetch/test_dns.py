"""The resolver caches answers and failures, shares look-ups and reads hosts files."""

import socket
from dataclasses import replace
from math import inf

import pytest

from crawler.fetch.dns import (
    DnsLifetimes,
    LookupResult,
    ResolvedName,
    Resolver,
    read_hosts_file,
    read_server,
    system_lookup,
)
from tests.defaults import DEFAULTS

LIFETIMES = DEFAULTS.dns.lifetimes
NAMES = {"a.test": ("192.0.2.1",), "b.test": ("2001:db8::2", "192.0.2.2", "192.0.2.2"), "empty.test": ()}


class Lookup:
    """A name service that knows a few names, answers with this TTL and records its queries."""

    def __init__(self, names=NAMES, ttl=100.0):
        self.names, self.ttl = dict(names), ttl
        self.queries = []

    def __call__(self, name, callback):
        self.queries.append(name)
        if name not in self.names:
            raise OSError(f"no such name: {name}")
        callback(LookupResult(addresses=self.names[name], ttl=self.ttl, is_definite=True))


class ManualLookup:
    """A name service whose answers a test sends by calling the recorded callbacks."""

    def __init__(self):
        self.queries = []

    def __call__(self, name, callback):
        self.queries.append((name, callback))


def resolver_with(lookup, hosts=(), **options):
    return Resolver(lookup, dict(hosts), **{"lifetimes": LIFETIMES} | options)


def look_up_now(resolver, name, now):
    answers = []
    resolver.look_up(name, now, answers.append)
    (answer,) = answers
    return answer


def test_an_answer_is_kept_until_it_expires():
    lookup = Lookup()
    resolver = resolver_with(lookup)
    assert resolver.cached("a.test", 0) is None
    answer = look_up_now(resolver, "a.test", 0)
    assert (answer.addresses, answer.error, answer.expires) == (("192.0.2.1",), "", 100)
    assert resolver.cached("a.test", 99.9) == answer
    assert resolver.cached("a.test", 100) is None
    assert look_up_now(resolver, "a.test", 50) == answer
    assert lookup.queries == ["a.test"]
    lookup.names["a.test"] = ("192.0.2.9",)
    assert look_up_now(resolver, "a.test", 100).addresses == ("192.0.2.9",)


@pytest.mark.parametrize(
    ("found", "seconds"),
    [
        (LookupResult(addresses=("192.0.2.1",), ttl=50), 50),
        (LookupResult(addresses=("192.0.2.1",), ttl=0), 20),
        (LookupResult(addresses=("192.0.2.1",), ttl=1e9), 1000),
        (LookupResult(error="no such name", is_definite=True), 10),
        (LookupResult(error="time is up"), 5),
        (LookupResult(), 5),
    ],
)
def test_how_long_an_answer_holds(found, seconds):
    lifetimes = DnsLifetimes(min_ttl=20, max_ttl=1000, negative_ttl=10)
    resolver = resolver_with(lambda name, callback: callback(found), lifetimes=lifetimes)
    answer = look_up_now(resolver, "a.test", 7)
    assert answer.expires == 7 + seconds
    assert bool(answer.error) is not bool(answer.addresses)
    assert resolver.cached("a.test", 6.9 + seconds) == answer
    assert resolver.cached("a.test", 7 + seconds) is None


def test_a_failure_may_be_kept_even_shorter():
    assert replace(LIFETIMES, negative_ttl=2).of(LookupResult(error="time is up")) == 2
    assert replace(LIFETIMES, negative_ttl=0).of(LookupResult(is_definite=True)) == 0


def test_ipv4_comes_first_and_nothing_twice():
    assert look_up_now(resolver_with(Lookup()), "b.test", 0).addresses == ("192.0.2.2", "2001:db8::2")


def test_the_number_of_addresses_of_a_name_is_limited():
    many = tuple(f"192.0.2.{number}" for number in range(200))
    assert look_up_now(resolver_with(Lookup({"a.test": many})), "a.test", 0).addresses == many[:32]


@pytest.mark.parametrize("error", [OSError("down"), UnicodeError("label too long"), KeyError(), RuntimeError("odd")])
def test_whatever_the_lookup_raises_is_an_answer(error):
    def fail(name, callback):
        raise error

    assert look_up_now(resolver_with(fail), "a.test", 0).error == (str(error) or type(error).__name__)


def test_concurrent_requests_for_a_name_share_one_look_up():
    slow, answers = ManualLookup(), []
    resolver = resolver_with(slow)
    for name in ("a.test", "A.TEST.", "a.test"):
        resolver.look_up(name, 0, answers.append)
    ((name, callback),) = slow.queries
    callback(LookupResult(addresses=("192.0.2.1",)))
    assert (name, answers) == ("a.test", [ResolvedName(addresses=("192.0.2.1",), error="", expires=60)] * 3)
    resolver.look_up("a.test", 60, answers.append)
    assert len(slow.queries) == 2


def test_a_slow_look_up_delays_no_other_name():
    slow, answers = ManualLookup(), []
    resolver = resolver_with(slow)
    resolver.look_up("slow.test", 0, answers.append)
    resolver.look_up("quick.test", 0, answers.append)
    slow.queries[1][1](LookupResult(addresses=("192.0.2.1",)))
    assert [answer.addresses for answer in answers] == [("192.0.2.1",)]


def test_an_answer_that_comes_too_late_is_kept_for_the_next():
    slow, answers = ManualLookup(), []
    resolver = resolver_with(slow)
    resolver.look_up("a.test", 0, answers.append)
    callback = slow.queries[0][1]
    callback(LookupResult(error="time is up"))
    assert resolver.cached("a.test", 4).error == "time is up"
    callback(LookupResult(addresses=("192.0.2.1",)))
    assert resolver.cached("a.test", 4).addresses == ("192.0.2.1",)
    assert [answer.error for answer in answers] == ["time is up"]


@pytest.mark.parametrize("late", [LookupResult(error="time is up"), LookupResult(addresses=("192.0.2.9",))])
def test_an_old_answer_does_not_replace_a_newer_one(late):
    slow, answers = ManualLookup(), []
    resolver = resolver_with(slow)
    resolver.look_up("a.test", 0, answers.append)
    slow.queries[0][1](LookupResult(error="time is up"))
    resolver.look_up("a.test", 10, answers.append)
    slow.queries[1][1](LookupResult(addresses=("192.0.2.1",), ttl=300))
    slow.queries[0][1](late)
    assert resolver.cached("a.test", 20).addresses == ("192.0.2.1",)


def test_names_are_one_whatever_their_case_and_final_dot():
    lookup = Lookup()
    resolver = resolver_with(lookup)
    assert look_up_now(resolver, "A.Test.", 0) == look_up_now(resolver, "a.test", 1) == resolver.cached("A.TEST", 2)
    assert lookup.queries == ["a.test"]


def test_the_hosts_file_comes_first_and_never_expires():
    lookup = Lookup()
    resolver = resolver_with(lookup, {"A.test": ("2001:db8::1", "127.0.0.2")})
    answer = resolver.cached("a.test", 0)
    assert (answer.addresses, answer.expires) == (("127.0.0.2", "2001:db8::1"), inf)
    assert look_up_now(resolver, "a.TEST", 1e12) == answer
    assert lookup.queries == []


@pytest.mark.parametrize(
    ("name", "address"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1"), ("[2001:DB8::1]", "2001:db8::1")],
)
def test_an_address_is_its_own_answer(name, address):
    lookup = Lookup()
    resolver = resolver_with(lookup)
    assert look_up_now(resolver, name, 0).addresses == (address,)
    assert resolver.cached(name, 0).addresses == (address,)
    assert lookup.queries == []


@pytest.mark.parametrize("name", ["127.1", "0x7f.1", "2130706433", "[", "]", ""])
def test_what_only_resembles_an_address_is_looked_up(name):
    lookup = Lookup()
    look_up_now(resolver_with(lookup), name, 0)
    assert lookup.queries == [name]


def test_the_least_recently_used_answer_gives_way():
    resolver = resolver_with(Lookup(dict.fromkeys("abc", ("192.0.2.1",))), capacity=2)
    look_up_now(resolver, "a", 0)
    look_up_now(resolver, "b", 0)
    resolver.cached("a", 0)
    look_up_now(resolver, "c", 0)
    assert [name for name in "abc" if resolver.cached(name, 0)] == ["a", "c"]


def test_the_system_knows_localhost():
    found = system_lookup("localhost")
    assert "127.0.0.1" in found.addresses
    assert len(set(found.addresses)) == len(found.addresses)


def test_the_system_refuses_what_is_no_name():
    found = system_lookup("a" * 64 + ".test")
    assert (found.addresses, found.is_definite) == ((), True)
    assert found.error


@pytest.mark.parametrize(
    ("error", "is_definite"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), True),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), False),
        (OSError("too many open files"), False),
    ],
)
def test_what_the_system_cannot_say_is_a_failure(monkeypatch, error, is_definite):
    def getaddrinfo(*args, **kwargs):
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert system_lookup("a.test") == LookupResult(error=error.strerror or str(error), is_definite=is_definite)


def test_the_system_is_asked_for_streams_of_either_family(monkeypatch):
    def getaddrinfo(name, port, family, type):  # noqa: A002
        assert (name, port, family, type) == ("a.test", None, socket.AF_UNSPEC, socket.SOCK_STREAM)
        six = (socket.AF_INET6, type, 6, "", ("2001:db8::1", 0, 0, 0))
        four = (socket.AF_INET, type, 6, "", ("192.0.2.1", 0))
        return [six, four, six]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert system_lookup("a.test") == LookupResult(addresses=("192.0.2.1", "2001:db8::1"))


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("192.0.2.1", "192.0.2.1:53"),
        ("127.0.0.1:5353", "127.0.0.1:5353"),
        ("::1", "[::1]:53"),
        ("[::1]", "[::1]:53"),
        ("[2001:db8::1]:1053", "[2001:db8::1]:1053"),
    ],
)
def test_a_name_server_is_an_address_and_perhaps_a_port(text, server):
    assert read_server(text) == server


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dns.test",
        "192.0.2",
        "192.0.2.1:",
        "192.0.2.1:0",
        "192.0.2.1:65536",
        "192.0.2.1:x",
        "[::1",
        "::1]",
        "[]:53",
        "fe80::1%lo",
        "[::1]:53:53",
        "192.0.2.1,192.0.2.2",
        ":53",
    ],
)
def test_what_is_no_name_server_is_refused(text):
    with pytest.raises(ValueError, match="is not the address of a name server"):
        read_server(text)


def test_a_hosts_file_is_read():
    text = """
# the test web
127.0.0.2   one.test two.test   # two names
127.0.0.3\tOne.Test
::1 one.test

127.0.0.2 one.test
fe80::1%lo0 local.test.
"""
    assert read_hosts_file(text) == {
        "one.test": ("127.0.0.2", "127.0.0.3", "::1"),
        "two.test": ("127.0.0.2",),
        "local.test": ("fe80::1%lo0",),
    }


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("one.test 127.0.0.1", "'one.test' is not an address"),
        ("127.0.0 one.test", "'127.0.0' is not an address"),
        ("127.0.0.1", "no name follows 127.0.0.1"),
        ("127.0.0.1 # one.test", "no name follows 127.0.0.1"),
        ("127.0.0.1 http://one.test/", "'http://one.test/' is not a host name"),
        ("127.0.0.1 one.test:80", "'one.test:80' is not a host name"),
    ],
)
def test_a_malformed_line_is_named(line, complaint):
    with pytest.raises(ValueError, match="line 2: ") as raised:
        read_hosts_file(f"127.0.0.1 good.test\n{line}\n")
    assert complaint in str(raised.value)
