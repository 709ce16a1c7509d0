"""Names are resolved by name servers, also by faulty ones, or by the system."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pycares
import pytest

from crawler.engine import dns as module
from crawler.engine.dns import LookupThreads, NameLookups
from crawler.fetch.dns import LookupResult, read_hosts_file
from tests.fetch.dns_server import (
    AAAA,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    A,
    DnsServer,
    Says,
    addresses,
    alias,
)

LONG = 100.0  # no answer takes so long
ONE = Says(records=addresses("a.test", "192.0.2.1"))


@pytest.fixture
def server() -> Iterator[DnsServer]:
    with DnsServer({"a.test": ONE}) as server:
        yield server


def look_up(*names: str, servers: list[str], timeout: float = LONG) -> list[LookupResult]:
    async def main() -> list[LookupResult]:
        lookups = NameLookups(servers=servers, threads=4, timeout=timeout)
        found = await asyncio.gather(*(first(lookups, name) for name in names))
        lookups.close()
        return found

    return asyncio.run(main())


async def first(lookups: NameLookups, name: str) -> LookupResult:
    results: asyncio.Queue[LookupResult] = asyncio.Queue()
    lookups.ask(name, results.put_nowait)
    return await results.get()


def one(name: str, says: Says, **given: Any) -> LookupResult:
    with DnsServer({name: says}) as server:
        return look_up(name, servers=[server.address], **given)[0]


def test_both_families_are_asked_and_the_smallest_ttl_counts(server: DnsServer) -> None:
    records = [*addresses("a.test", "192.0.2.1", ttl=300), *addresses("a.test", "2001:db8::1", ttl=200)]
    server.names["a.test"] = Says(records=records)
    (found,) = look_up("a.test", servers=[server.address])
    assert (set(found.addresses), found.ttl, found.error) == ({"192.0.2.1", "2001:db8::1"}, 200.0, "")
    assert sorted(server.queries) == [("a.test", A, "udp"), ("a.test", AAAA, "udp")]


def test_a_chain_of_cnames_has_the_smallest_ttl_of_its_records() -> None:
    chain = [alias("a.test", "b.test", 70), alias("b.test", "c.test", 50), *addresses("c.test", "192.0.2.1", ttl=300)]
    found = one("a.test", Says(records=chain))
    assert (found.addresses, found.ttl) == (("192.0.2.1",), 50.0)


def test_a_name_may_have_ipv6_only() -> None:
    assert one("a.test", Says(records=addresses("a.test", "2001:db8::1"))).addresses == ("2001:db8::1",)


@pytest.mark.parametrize(
    ("says", "is_definite"),
    [
        (Says(rcode=NXDOMAIN, soa=10), True),
        (Says(rcode=NXDOMAIN), True),
        (Says(soa=10), True),  # there is the name, without addresses
        (Says(records=[alias("a.test", "b.test")]), True),  # and leads nowhere
        (Says(rcode=SERVFAIL), False),
        (Says(rcode=REFUSED), False),
    ],
)
def test_a_name_that_does_not_exist_differs_from_one_that_could_not_be_resolved(says: Says, is_definite: bool) -> None:
    found = one("a.test", says)
    assert (found.addresses, found.is_definite) == ((), is_definite)
    assert found.error


@pytest.mark.parametrize("name", ["a" * 64 + ".test", "a..test", ".".join(["a" * 60] * 5)])
def test_an_invalid_name_is_not_looked_up(server: DnsServer, name: str) -> None:
    (found,) = look_up(name, servers=[server.address])
    assert (found.addresses, server.queries) == ((), [])
    assert found.error


def test_no_search_domain_is_appended(server: DnsServer) -> None:
    look_up("missing.test", "single", servers=[server.address])
    assert {name for name, _, _ in server.queries} == {"missing.test", "single"}


def test_a_long_answer_comes_over_tcp() -> None:
    many = [f"192.0.2.{number}" for number in range(1, 200)]
    with DnsServer({"a.test": Says(records=addresses("a.test", *many), is_cut=True)}) as server:
        (found,) = look_up("a.test", servers=[server.address])
        assert set(found.addresses) == set(many)
        assert ("a.test", A, "tcp") in server.queries


def other_id(answer: bytes) -> bytes:
    return bytes([answer[0] ^ 1]) + answer[1:12] + answer[12:].replace(b"\xc0\x00\x02\x01", b"\xc0\x00\x02\x66")


def other_question(answer: bytes) -> bytes:
    return answer.replace(b"\x01a\x04test", b"\x01b\x04test").replace(b"\xc0\x00\x02\x01", b"\xc0\x00\x02\x66")


@pytest.mark.parametrize("spoil", [other_id, other_question, lambda answer: b""])
def test_an_answer_to_another_question_is_ignored(spoil: Callable[[bytes], bytes]) -> None:
    found = one("a.test", Says(records=addresses("a.test", "192.0.2.1"), before=spoil))
    assert found.addresses == ("192.0.2.1",)


@pytest.mark.parametrize(
    "spoil",
    [lambda answer: b"\xff" * 40, lambda answer: answer[:-3], lambda answer: answer[:7], lambda answer: answer + b"x"],
)
def test_after_a_malformed_answer_the_name_is_asked_again(spoil: Callable[[bytes], bytes]) -> None:
    found = one("a.test", Says(records=addresses("a.test", "192.0.2.1"), instead=spoil, times=1))
    assert found.addresses == ("192.0.2.1",)


def test_no_answer_breaks_later_lookups() -> None:
    """Names asked at the same time may fail: they share a socket, which c-ares closes after a malformed answer."""
    dice = random.Random(7)

    def spoil(answer: bytes) -> bytes:
        spoiled = bytearray(answer)
        for _ in range(dice.randint(1, 6)):
            spoiled[dice.randrange(2, len(spoiled))] = dice.randrange(256)
        return bytes(spoiled[: dice.choice([len(spoiled), dice.randint(2, len(spoiled))])])

    target = addresses("b.test", "192.0.2.1", "2001:db8::1")
    names = [f"{number}.test" for number in range(300)]
    spoiled = {name: Says(records=[alias(name, "b.test"), *target], instead=spoil, times=2, soa=60) for name in names}

    async def main() -> None:
        lookups = NameLookups(servers=[server.address], threads=1, timeout=LONG)
        await asyncio.gather(*(first(lookups, name) for name in names))
        assert (await first(lookups, "a.test")).addresses == ("192.0.2.1",)
        lookups.close()

    with DnsServer(spoiled | {"a.test": ONE}) as server:
        asyncio.run(main())


def test_lookups_without_an_answer_delay_no_others(server: DnsServer) -> None:
    slow = [f"slow{number}.test" for number in range(300)]
    quick = [f"quick{number}.test" for number in range(300)]
    server.names |= {name: Says(records=addresses(name, "192.0.2.2"), is_held=True) for name in slow}
    server.names |= {name: Says(records=addresses(name, "192.0.2.3")) for name in quick}

    async def main() -> None:
        lookups = NameLookups(servers=[server.address], threads=1, timeout=LONG)
        waiting = [asyncio.ensure_future(first(lookups, name)) for name in slow]
        found = await asyncio.gather(*(first(lookups, name) for name in quick))
        assert {each.addresses for each in found} == {("192.0.2.3",)}
        assert not any(each.done() for each in waiting)
        server.release()
        found = await asyncio.gather(*waiting)
        assert {each.addresses for each in found} == {("192.0.2.2",)}
        lookups.close()

    asyncio.run(main())


def test_a_late_answer_is_reported_after_the_timeout(server: DnsServer) -> None:
    server.names["a.test"] = Says(records=addresses("a.test", "192.0.2.1"), is_held=True)

    async def main() -> None:
        lookups = NameLookups(servers=[server.address], threads=1, timeout=0.01)
        results: asyncio.Queue[LookupResult] = asyncio.Queue()
        lookups.ask("a.test", results.put_nowait)
        assert await results.get() == LookupResult(error="no answer within 0.01 s")
        server.release()
        assert (await results.get()).addresses == ("192.0.2.1",)
        lookups.close()

    asyncio.run(main())


def test_another_server_is_asked_when_one_is_dead(server: DnsServer) -> None:
    with DnsServer() as dead:
        pass
    for servers in ([dead.address, server.address], [server.address, dead.address]):
        assert look_up("a.test", servers=servers)[0].addresses == ("192.0.2.1",)
    assert look_up("a.test", servers=[dead.address])[0].error


def test_the_hosts_file_has_precedence_over_name_servers(server: DnsServer) -> None:
    hosts = read_hosts_file(Path("/etc/hosts").read_text())
    names = [name for name in hosts if ":" not in hosts[name][0] and not name.startswith(("localhost", "ip6-"))]
    if not names:
        pytest.skip("there is no name in /etc/hosts")
    (found,) = look_up(names[0], servers=[server.address])
    assert set(found.addresses) <= set(hosts[names[0]])
    assert server.queries == []


def test_answers_survive_a_new_channel(server: DnsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """c-ares keeps answers without limit, so that its channel is renewed now and then."""
    monkeypatch.setattr(module, "_CHANNEL_NAMES", 2)
    opened = []
    channel = pycares.Channel
    monkeypatch.setattr(pycares, "Channel", lambda **given: opened.append(given) or channel(**given))
    names = [f"{number}.test" for number in range(20)]
    server.names |= {name: Says(records=addresses(name, "192.0.2.2"), is_held=True) for name in names}

    async def main() -> None:
        lookups = NameLookups(servers=[server.address], threads=1, timeout=LONG)
        waiting = [asyncio.ensure_future(first(lookups, name)) for name in names]
        assert (await first(lookups, "a.test")).addresses == ("192.0.2.1",)
        server.release()
        assert {each.addresses for each in await asyncio.gather(*waiting)} == {("192.0.2.2",)}
        lookups.close()

    asyncio.run(main())
    assert len(opened) == 11


# ── the system ──


@pytest.fixture
def by_system(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    queries: list[str] = []

    def lookup(name: str) -> LookupResult:
        queries.append(name)
        return LookupResult(addresses=("192.0.2.9",))

    monkeypatch.setattr(module, "system_lookup", lookup)
    return queries


def test_without_a_name_server_the_system_is_asked(by_system: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_server(**given: Any) -> pycares.Channel:
        assert given["flags"] & pycares.ARES_FLAG_NO_DFLT_SVR
        raise pycares.AresError("Failed to initialize c-ares channel")

    monkeypatch.setattr(pycares, "Channel", no_server)
    assert look_up("a.test", servers=[]) == [LookupResult(addresses=("192.0.2.9",))]
    assert by_system == ["a.test"]


@pytest.mark.parametrize("name", ["wiki", "printer.local"])
def test_local_names_are_resolved_by_the_system_unless_servers_are_named(
    by_system: list[str], server: DnsServer, name: str
) -> None:
    assert look_up(name, servers=[])[0].addresses == ("192.0.2.9",)
    assert by_system == [name]
    look_up(name, servers=[server.address])
    assert by_system == [name]
    assert server.count(name) == 1


def test_no_thread_waits_while_another_is_busy() -> None:
    threads, release, done = LookupThreads(2), threading.Event(), threading.Semaphore(0)
    threads.run(lambda: [release.wait(60), done.release()])  # type: ignore[func-returns-value]
    for _ in range(50):
        threads.run(done.release)
    for _ in range(50):
        assert done.acquire(timeout=60)
    release.set()
    assert done.acquire(timeout=60)


# ── the end ──


def test_lookups_under_way_end_when_the_resolver_is_closed(server: DnsServer) -> None:
    server.names["a.test"] = Says(is_held=True)

    async def main() -> LookupResult:
        lookups = NameLookups(servers=[server.address], threads=1, timeout=LONG)
        waiting = asyncio.ensure_future(first(lookups, "a.test"))
        await asyncio.sleep(0)
        lookups.close()
        return await waiting

    found = asyncio.run(main())
    assert (found.addresses, found.is_definite) == ((), False)


ENDS = """
import asyncio, sys
from crawler.engine.dns import NameLookups
async def main():
    lookups = NameLookups(servers=[sys.argv[1]], threads=1, timeout=100)
    for number in range(50):
        lookups.ask(f"{number}.test", print)
    if sys.argv[2] == "closed":
        lookups.close()
asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["closed", "open"])
def test_lookups_under_way_do_not_delay_the_exit(server: DnsServer, how: str) -> None:
    server.names = {f"{number}.test": Says(is_held=True) for number in range(50)}
    ended = subprocess.run(
        [sys.executable, "-c", ENDS, server.address, how], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
