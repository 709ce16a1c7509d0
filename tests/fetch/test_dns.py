import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from math import inf

import pytest

from crawler.fetch.dns import Resolver, read_hosts_file, system_lookup

NAMES = {"a.test": ["192.0.2.1"], "b.test": ["2001:db8::2", "192.0.2.2", "192.0.2.2"], "empty.test": []}


class Lookup:
    """A name service of a few names that remembers what it was asked."""

    def __init__(self, names=NAMES):
        self.names = dict(names)
        self.asked = []

    def __call__(self, name):
        self.asked.append(name)
        if name not in self.names:
            raise OSError(f"no such name: {name}")
        return self.names[name]


def test_an_answer_is_kept_until_it_expires():
    lookup = Lookup()
    resolver = Resolver(lookup, {}, ttl=100)
    assert resolver.cached("a.test", 0) is None
    answer = resolver.look_up("a.test", 0)
    assert (answer.addresses, answer.error, answer.expires) == (("192.0.2.1",), "", 100)
    assert resolver.cached("a.test", 99.9) == answer
    assert resolver.cached("a.test", 100) is None
    resolver.look_up("a.test", 50)
    assert lookup.asked == ["a.test"]
    lookup.names["a.test"] = ["192.0.2.9"]
    assert resolver.look_up("a.test", 100).addresses == ("192.0.2.9",)


def test_ipv4_comes_first_and_nothing_twice():
    assert Resolver(Lookup(), {}).look_up("b.test", 0).addresses == ("192.0.2.2", "2001:db8::2")


@pytest.mark.parametrize("name", ["missing.test", "empty.test"])
def test_a_failure_is_an_answer_for_a_shorter_time(name):
    lookup = Lookup()
    resolver = Resolver(lookup, {}, ttl=100, negative_ttl=10)
    answer = resolver.look_up(name, 0)
    assert (answer.addresses, answer.expires) == ((), 10)
    assert answer.error
    assert resolver.cached(name, 9) == answer
    assert resolver.cached(name, 10) is None
    assert lookup.asked == [name]


@pytest.mark.parametrize("error", [OSError("down"), UnicodeError("label too long"), KeyError(), RuntimeError("odd")])
def test_whatever_the_lookup_raises_is_an_answer(error):
    def fail(name):
        raise error

    assert Resolver(fail, {}).look_up("a.test", 0).error == (str(error) or type(error).__name__)


def test_names_are_one_whatever_their_case_and_final_dot():
    lookup = Lookup()
    resolver = Resolver(lookup, {})
    assert resolver.look_up("A.Test.", 0) == resolver.look_up("a.test", 1) == resolver.cached("A.TEST", 2)
    assert lookup.asked == ["a.test"]


def test_the_hosts_file_speaks_first_and_for_ever():
    lookup = Lookup()
    resolver = Resolver(lookup, {"A.test": ("2001:db8::1", "127.0.0.2")})
    answer = resolver.cached("a.test", 0)
    assert (answer.addresses, answer.expires) == (("127.0.0.2", "2001:db8::1"), inf)
    assert resolver.look_up("a.TEST", 1e12) == answer
    assert lookup.asked == []


@pytest.mark.parametrize(
    ("name", "address"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1"), ("[2001:DB8::1]", "2001:db8::1")],
)
def test_an_address_is_its_own_answer(name, address):
    lookup = Lookup()
    resolver = Resolver(lookup, {})
    assert resolver.look_up(name, 0).addresses == (address,)
    assert resolver.cached(name, 0).addresses == (address,)
    assert lookup.asked == []


@pytest.mark.parametrize("name", ["127.1", "0x7f.1", "2130706433", "[", "]", ""])
def test_what_only_resembles_an_address_is_looked_up(name):
    lookup = Lookup()
    Resolver(lookup, {}).look_up(name, 0)
    assert lookup.asked == [name]


def test_the_least_recently_used_answer_gives_way():
    resolver = Resolver(Lookup({name: ["192.0.2.1"] for name in "abc"}), {}, capacity=2)
    resolver.look_up("a", 0)
    resolver.look_up("b", 0)
    resolver.cached("a", 0)
    resolver.look_up("c", 0)
    assert [name for name in "abc" if resolver.cached(name, 0)] == ["a", "c"]


def test_a_slow_name_holds_up_no_other():
    release = threading.Event()

    def lookup(name):
        assert name != "slow.test" or release.wait(20)
        return ["192.0.2.1"]

    resolver = Resolver(lookup, {})
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(resolver.look_up, "slow.test", 0)
        assert resolver.look_up("quick.test", 0).addresses
        assert resolver.cached("slow.test", 0) is None
        release.set()
        assert slow.result(20).addresses


def test_many_threads_may_ask():
    names = [f"{number}.test" for number in range(50)]
    resolver = Resolver(Lookup({name: [f"192.0.2.{name.split('.')[0]}"] for name in names}), {}, capacity=10)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: resolver.look_up(name, 0), names * 20))
    assert [answer.addresses[0] for answer in answers] == [f"192.0.2.{name.split('.')[0]}" for name in names * 20]
    assert sum(resolver.cached(name, 0) is not None for name in names) == 10


def test_the_system_knows_localhost():
    addresses = system_lookup("localhost")
    assert "127.0.0.1" in addresses
    assert len(set(addresses)) == len(addresses)


def test_the_system_refuses_what_is_no_name():
    with pytest.raises((OSError, UnicodeError)):
        system_lookup("a" * 64 + ".test")
    answer = Resolver(system_lookup, {}).look_up("a" * 64 + ".test", 0)
    assert answer.error


def test_the_system_is_asked_for_streams_of_either_family(monkeypatch):
    def getaddrinfo(name, port, family, type):  # noqa: A002
        assert (name, port, family, type) == ("a.test", None, socket.AF_UNSPEC, socket.SOCK_STREAM)
        six = (socket.AF_INET6, type, 6, "", ("2001:db8::1", 0, 0, 0))
        four = (socket.AF_INET, type, 6, "", ("192.0.2.1", 0))
        return [six, four, six]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert system_lookup("a.test") == ("192.0.2.1", "2001:db8::1")


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
