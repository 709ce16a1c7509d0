"""Name the resource that limits the speed of a crawl process."""

from __future__ import annotations

from dataclasses import dataclass

_BUSY = 0.85  # a thread that works for this share of the time is the limit
_FAR = 2.0  # politeness does not limit a crawl that makes less than 1/2 of the visits that it allows


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLoad:
    """What a crawl process did in the last few seconds, as input of `bottleneck`."""

    main_thread: float  # share of the time in which it worked
    store_thread: float  # the same
    is_network_down: bool = False
    is_bandwidth_spent: bool = False
    is_buffer_full: bool = False  # responses that are not parsed yet fill the memory allowed for them
    pages_waiting: int = 0  # pages that wait for a content process
    content_processes: int = 0
    connections_free: int = 0
    hosts: int = 0  # active hosts
    allowed: float = 0.0  # visits a second that the delays of these hosts allow
    rate: float = 0.0  # visits a second that were really made


def bottleneck(load: ProcessLoad) -> str:
    """Say what limits the crawl, in the words that users read after "limited by".

    >>> bottleneck(ProcessLoad(main_thread=0.2, store_thread=0.1, connections_free=3, hosts=412, allowed=82.4))
    'politeness: 412 hosts allow 82.4 visits a second'
    >>> bottleneck(ProcessLoad(main_thread=0.3, store_thread=0.95, connections_free=3))
    'the store'
    >>> bottleneck(ProcessLoad(main_thread=0.6, store_thread=0.3, connections_free=9, hosts=2, allowed=90, rate=7))
    'CPU: other processes are using the cores'
    """
    if load.is_network_down:
        return "our network, which seems to be down"
    if load.main_thread >= _BUSY:
        return "the CPU of the crawl process"
    if load.store_thread >= _BUSY:
        return "the store"
    if load.is_buffer_full or load.pages_waiting > 2 * load.content_processes > 0:
        return "the content processes"
    if load.is_bandwidth_spent:
        return "BANDWIDTH_LIMIT"
    if load.connections_free <= 0:
        return "the connections"
    if load.rate and load.allowed > _FAR * load.rate:
        return "CPU: other processes are using the cores"
    if not load.hosts:
        return "nothing: no host has a URL that is due"
    allowed = f": {load.hosts:,} hosts allow {load.allowed:.1f} visits a second" if load.allowed else ""
    return f"politeness{allowed}"
