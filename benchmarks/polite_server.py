"""Serve two thousand hosts with small pages, each on an address of its own, and log when requests came.

Hosts differ by address, so that no names are resolved. `take` on standard input prints the times of the requests as one
line of JSON; the server ends when its input does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import uvloop

from benchmarks.server import _END, _listeners

_PAGE = "<!DOCTYPE html><title>{0}</title><p>Page {0}: " + "a few words. " * 40 + "<ul>{1}</ul>"
_LINKS = 4  # links of a page to the next pages of its host, without end
_HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"


def addresses_of(hosts: int) -> list[str]:
    return [f"127.40.{number // 250}.{number % 250 + 1}" for number in range(hosts)]


class Farm:
    """The hosts and their request log, which all connections share."""

    def __init__(self, delays: dict[str, float]) -> None:
        self.requests: list[tuple[float, str]] = []
        self.robots = {address: _robots(delay) for address, delay in delays.items()}

    def answer(self, address: str, path: bytes) -> bytes:
        if path == b"/robots.txt":
            return self.robots[address]
        self.requests.append((time.monotonic(), address))
        number = int(path[1:] or 0)
        links = "".join(f'<li><a href="/{after}">page {after}</a>' for after in range(number + 1, number + 1 + _LINKS))
        body = _PAGE.format(f"{address} {number}", links).encode()
        return _HEAD % (b"200 OK", b"text/html", len(body), body)

    def take(self) -> str:
        requests, self.requests = self.requests, []
        return json.dumps(requests)


def _robots(delay: float) -> bytes:
    body = f"User-agent: *\nCrawl-delay: {delay:g}\n".encode()
    return _HEAD % (b"200 OK", b"text/plain", len(body), body)


class Connection(asyncio.Protocol):
    def __init__(self, farm: Farm, address: str) -> None:
        self._farm = farm
        self._address = address
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._buffer = (self._buffer + data).split(_END)
        for request in requests:
            self._transport.write(self._farm.answer(self._address, request.split(b" ", 2)[1]))


async def serve(delays: dict[str, float]) -> None:
    listeners = _listeners(list(delays))
    farm = Farm(delays)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for listener in listeners:
        await loop.create_server(partial(Connection, farm, listener.getsockname()[0]), sock=listener)
    os.set_blocking(0, False)
    loop.add_reader(0, _command, farm, ended)
    print(json.dumps({"port": listeners[0].getsockname()[1]}), flush=True)
    await ended.wait()


def _command(farm: Farm, ended: asyncio.Event) -> None:
    with suppress(BlockingIOError):
        if os.read(0, 4096):
            print(farm.take(), flush=True)
        else:
            ended.set()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.polite_server", description=__doc__)
    parser.add_argument("delays", type=Path, help="JSON: address → Crawl-delay")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384)), hard))
    uvloop.run(serve(json.loads(parser.parse_args().delays.read_text())))


if __name__ == "__main__":
    main()
