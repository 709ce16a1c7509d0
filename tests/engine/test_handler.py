"""A fetch resolves its host itself, shares lookups with other fetches, and uses no expired address."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crawler.engine.client import FetchClient
from crawler.items import Reason
from crawler.worker.session import Session
from tests.defaults import options_with
from tests.fetch.dns_server import NXDOMAIN, SERVFAIL, DnsServer, Says, addresses
from tests.fetch.raw_server import RawServer

PUBLIC = "8.8.8.8"  # known only; nothing here connects to it


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def names() -> Iterator[DnsServer]:
    with DnsServer({"a.test": says("a.test", "127.0.0.1")}) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def run(names: DnsServer, clock: Clock) -> Callable[..., None]:
    def run(act: Callable[[FetchClient], Awaitable[None]], lease_end: float = math.inf, **given: Any) -> None:
        options = options_with(**{"DNS_SERVERS": names.address, "DNS_TIMEOUT": 100, "INTRANET_HOSTS": "*.test"} | given)
        session = SimpleNamespace(options=options, now=clock, lease_end=lambda: lease_end)

        async def main() -> None:
            client = FetchClient(cast("Session", session))
            try:
                await act(client)
            finally:
                client.close()

        asyncio.run(main())

    return run


def says(name: str, *values: str, ttl: int = 0, is_held: bool = False) -> Says:
    """Return an answer of the name server; by default one that only our own cache keeps."""
    return Says(records=addresses(name, *values, ttl=ttl), is_held=is_held)


async def until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds."""
    while not condition():  # noqa: ASYNC110 -- other threads make it so
        await asyncio.sleep(0.001)


Run = Callable[..., None]


def look_up_ahead(client: FetchClient, host: str) -> None:
    """Begin to look up a name before it is needed."""
    client.look_up(host, lambda: None)


def test_fetches_at_the_same_time_share_one_look_up(run: Run, names: DnsServer) -> None:
    with closing(RawServer()) as web:
        names.names["a.test"] = says("a.test", "127.0.0.1", is_held=True)

        async def act(client: FetchClient) -> None:
            urls = [f"http://a.test:{web.port}/{number}" for number in range(5)]
            fetching = [asyncio.ensure_future(client.fetch(url)) for url in urls]
            await until(lambda: names.count("a.test") == 1)
            names.release()
            assert {fetched.status for fetched in await asyncio.gather(*fetching)} == {200}
            assert names.count("a.test") == 1

        run(act, INTRANET_NETWORKS="127.0.0.1/32")


def test_a_name_that_was_looked_up_ahead_is_not_looked_up_again(run: Run, names: DnsServer) -> None:
    with closing(RawServer()) as web:

        async def act(client: FetchClient) -> None:
            assert client.known_address("a.test") is None
            for _ in range(3):
                look_up_ahead(client, "a.test")
            await until(lambda: client.known_address("a.test") is not None)
            assert client.known_address("A.test") == "127.0.0.1"
            look_up_ahead(client, "a.test")
            assert (await client.fetch(f"http://a.test:{web.port}/")).status == 200
            assert names.count("a.test") == 1

        run(act, INTRANET_NETWORKS="127.0.0.1/32")


def test_a_fetch_waits_for_a_look_up_that_was_begun_ahead(run: Run, names: DnsServer) -> None:
    names.names["a.test"] = Says(rcode=NXDOMAIN, is_held=True)

    async def act(client: FetchClient) -> None:
        look_up_ahead(client, "a.test")
        fetching = asyncio.ensure_future(client.fetch("http://a.test/"))
        await until(lambda: names.count("a.test") == 1)
        names.release()
        assert (await fetching).reason is Reason.DNS_FAILED
        assert names.count("a.test") == 1

    run(act)


@pytest.mark.parametrize(("rcode", "seconds"), [(NXDOMAIN, 60), (SERVFAIL, 5)])
def test_a_failed_lookup_is_not_repeated_for_a_while(
    run: Run, names: DnsServer, clock: Clock, rcode: int, seconds: float
) -> None:
    names.names["a.test"] = Says(rcode=rcode)

    async def act(client: FetchClient) -> None:
        look_up_ahead(client, "a.test")
        assert (await client.fetch("http://a.test/")).reason is Reason.DNS_FAILED
        queries = len(names.queries)
        clock.now += seconds - 0.1
        look_up_ahead(client, "a.test")
        assert (await client.fetch("http://a.test/")).reason is Reason.DNS_FAILED
        assert (client.known_address("a.test"), len(names.queries)) == (None, queries)
        clock.now += 0.1
        assert (await client.fetch("http://a.test/")).reason is Reason.DNS_FAILED
        assert len(names.queries) > queries

    run(act)


def test_a_lookup_ahead_gives_only_addresses_that_may_be_contacted(run: Run, names: DnsServer) -> None:
    names.names["b.test"] = says("b.test", "10.0.0.1", PUBLIC, "127.0.0.1")
    names.names["c.test"] = says("c.test", "::1", "2606:4700::1")

    async def act(client: FetchClient) -> None:
        for name in ("a.test", "b.test", "c.test"):
            look_up_ahead(client, name)
        await until(lambda: None not in (client.known_address("b.test"), client.known_address("c.test")))
        assert (await client.fetch("http://a.test/")).reason is Reason.ADDRESS_DENIED
        known = [client.known_address(name) for name in ("a.test", "b.test", "c.test", "127.0.0.1", "[2606:4700::1]")]
        assert known == [None, PUBLIC, "2606:4700::1", None, "2606:4700::1"]

    run(act)


def test_a_name_that_changes_to_a_private_address_is_refused(run: Run, names: DnsServer, clock: Clock) -> None:
    """DNS rebinding: each new answer is checked, and the fetch goes to the address that was checked."""
    names.names["a.test"] = says("a.test", PUBLIC)
    with closing(RawServer()) as inside:

        async def act(client: FetchClient) -> None:
            look_up_ahead(client, "a.test")
            await until(lambda: client.known_address("a.test") == PUBLIC)
            names.names["a.test"] = says("a.test", "127.0.0.1")
            clock.now += 59.9
            assert client.known_address("a.test") == PUBLIC
            clock.now += 0.1
            assert client.known_address("a.test") is None
            fetched = await client.fetch(f"http://a.test:{inside.port}/")
            assert (fetched.reason, fetched.detail) == (Reason.ADDRESS_DENIED, "a.test is 127.0.0.1: loopback")

        run(act)
        assert not inside.connections


def test_a_fetch_uses_the_current_address_of_a_name(run: Run, names: DnsServer, clock: Clock) -> None:
    with closing(RawServer(address="127.0.0.2")) as old, closing(RawServer(address="127.0.0.3", port=old.port)) as new:

        async def act(client: FetchClient) -> None:
            names.names["a.test"] = says("a.test", "127.0.0.2")
            for address, seconds in (("127.0.0.3", 30), ("127.0.0.3", 30), ("127.0.0.4", 60)):
                assert (await client.fetch(f"http://a.test:{old.port}/")).status == 200
                names.names["a.test"] = says("a.test", address)
                clock.now += seconds
            assert (await client.fetch(f"http://a.test:{old.port}/")).reason is Reason.ADDRESS_DENIED

        run(act, INTRANET_NETWORKS="127.0.0.2/31")
        assert [sum(len(each.requests) for each in web.connections) for web in (old, new)] == [2, 1]


def test_a_lookup_without_an_answer_fails_in_time(run: Run, names: DnsServer) -> None:
    names.names["a.test"] = Says(is_held=True)

    async def act(client: FetchClient) -> None:
        fetched = await client.fetch("http://a.test/")
        assert (fetched.reason, fetched.detail) == (Reason.DNS_FAILED, "no answer within 0.01 s")

    run(act, DNS_TIMEOUT=0.01)


def test_a_stop_ends_lookups_under_way(run: Run, names: DnsServer) -> None:
    names.names["a.test"] = Says(is_held=True)

    async def act(client: FetchClient) -> None:
        fetching = asyncio.ensure_future(client.fetch("http://a.test/"))
        await until(lambda: names.count("a.test") == 1)
        client.abort_all()
        assert (await fetching).reason is Reason.STOPPED
        look_up_ahead(client, "b.test")
        assert (await client.fetch("http://c.test/")).reason is Reason.STOPPED
        assert names.count("b.test") == 0

    run(act)


def test_nothing_is_sent_after_the_lease_has_expired(run: Callable[..., None], clock: Clock) -> None:
    with closing(RawServer()) as server:

        async def act(client: FetchClient) -> None:
            url = f"http://a.test:{server.port}/"
            fetched = await client.fetch(url)
            assert (fetched.reason, fetched.was_sent) == (Reason.STOPPED, False)
            assert server.connections == []

        run(act, lease_end=clock.now, INTRANET_NETWORKS="127.0.0.0/8")
