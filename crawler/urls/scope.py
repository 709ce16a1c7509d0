"""Is this URL part of the crawl?"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from crawler.items import Reason
from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of, matches, origin_of, port_of, registered_domain

MODES = ("any", "domains", "hosts", "prefixes")
WEB_PORTS = frozenset({80, 443, 8000, 8080, 8443})
MOST_ORIGINS = 65_536  # verdicts remembered before we start over


class Scope:
    """What the seeds ask for, within what the operator allows.

    any       everything
    domains   all hosts of the seeds' registered domains; of a seed that has none (an address, a bare name) its host
    hosts     the seeds' hosts
    prefixes  what lies in or below the seeds' directories, on the seeds' own origins
    """

    def __init__(
        self,
        mode: str,
        seeds: Iterable[str],
        *,
        own_hosts: Sequence[str] = (),
        contact: bool = True,
        max_length: int = 2048,
        ports: Container[int] = WEB_PORTS,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"scope {mode!r} is none of {', '.join(MODES)}")
        self.mode = mode
        self._own_hosts = tuple(own_hosts)
        self._contact = contact
        self._max_length = max_length
        self._ports = ports
        self._seed_ports: set[int] = set()
        self._sites: set[str] = set()  # domains and hosts
        self._directories: set[str] = set()
        self._verdicts: dict[str, Reason | None] = {}  # by origin
        for seed in seeds:
            self.add(seed)

    def add(self, seed: str) -> None:
        """Extend the scope by one seed; its port is allowed from now on. What is not a URL extends nothing."""
        url = canonicalize(seed)
        if url is None:
            return
        host = host_of(url)
        self._seed_ports.add(port_of(url))
        self._directories.add(_path(url).rpartition("/")[0] + "/")
        self._sites.add((registered_domain(host) or host) if self.mode == "domains" else host)
        self._verdicts.clear()

    def rejection(self, url: str) -> Reason | None:
        """Why this canonical URL is not to be visited, or None if it is."""
        if len(url) > self._max_length:
            return Reason.URL_TOO_LONG
        origin = origin_of(url)
        try:
            verdict = self._verdicts[origin]
        except KeyError:
            verdict = self._remember(origin, self._judge_origin(origin))
        if verdict is None and self.mode == "prefixes" and not self._is_below_a_seed(url):
            return Reason.OUT_OF_SCOPE
        return verdict

    def _remember(self, origin: str, verdict: Reason | None) -> Reason | None:
        if len(self._verdicts) >= MOST_ORIGINS:
            self._verdicts.clear()
        self._verdicts[origin] = verdict
        return verdict

    def _judge_origin(self, origin: str) -> Reason | None:
        host, port = host_of(origin), port_of(origin)
        if port not in self._ports and port not in self._seed_ports:
            return Reason.PORT_DENIED
        if not self._contact and not matches(host, self._own_hosts):
            return Reason.NO_CONTACT
        if not self._has_site(host):
            return Reason.OUT_OF_SCOPE
        return None

    def _has_site(self, host: str) -> bool:
        if self.mode == "any":
            return True
        if self.mode == "domains":
            return (registered_domain(host) or host) in self._sites
        return host in self._sites

    def _is_below_a_seed(self, url: str) -> bool:
        directory = _path(url)
        first = len(origin_of(url))
        while (slash := directory.rfind("/", first)) >= 0:
            if directory[: slash + 1] in self._directories:
                return True
            directory = directory[:slash]
        return False


def _path(url: str) -> str:
    return url.partition("?")[0]
