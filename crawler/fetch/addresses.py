"""May this IP address be contacted?

Only public addresses are, unless the operator allows a part of an intranet: then the host must match a pattern
*and* the address must lie in an allowed network, so that a foreign host name that resolves to an internal address is
still refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_HOST_PATTERN = re.compile(r"[a-z0-9_.*?-]+|[0-9a-f:.]*:[0-9a-f:.]*")

# Where clouds serve credentials to every process on the machine. 168.63.129.16 looks public and is not.
_METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fd20:ce::254", "168.63.129.16"))
)

# IPv6 addresses that make a router send the packet on to the IPv4 address inside them.
_NAT64 = ip_network("64:ff9b::/96")
_NAT64_LOCAL = ip_network("64:ff9b:1::/48")

_6TO4 = ip_network("2002::/16")
_JUDGED_INSIDE = (_NAT64, _6TO4)  # as public as the IPv4 address inside; versions of ipaddress differ about both

# IANA calls these special; whether ipaddress calls parts of them global or private depends on its version.
_SPECIAL = tuple(
    map(
        ip_network,
        (
            *("192.0.0.0/24", "192.88.99.0/24", "3fff::/20"),
            *("2001:1::/32", "2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28"),
        ),
    )
)
_IPV6_UNICAST = ip_network("2000::/3")  # all that IANA has ever assigned


class AddressGuard:
    """Refuses every address that is not public, unless both the host and the address are allowed as intranet."""

    def __init__(self, intranet_hosts: Sequence[str] = (), intranet_networks: Sequence[str] = ()) -> None:
        self._hosts = tuple(_host_pattern(text) for text in intranet_hosts)
        self._networks = tuple(_network(text) for text in intranet_networks)

    def refusal(self, host: str, address: str) -> str | None:
        """Return in one word why the address must not be contacted for this host, or None if it may.

        >>> AddressGuard().refusal("example.com", "127.0.0.1")
        'loopback'
        """
        try:
            parsed = ip_address(address)
        except ValueError:
            return "not-an-address"
        if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:
            return "zone"  # it names one of our own network interfaces
        return next((word for each in _with_embedded(parsed) if (word := self._refusal_of(host, each))), None)

    def _refusal_of(self, host: str, address: Address) -> str | None:
        word = _special_use(address)
        if word is None or self._is_allowed_intranet(host, address):
            return None
        return word

    def _is_allowed_intranet(self, host: str, address: Address) -> bool:
        name = _normalized(host)
        if not any(fnmatchcase(name, pattern) for pattern in self._hosts):
            return False
        if address in _METADATA:  # a wide network does not allow it: the address itself must be listed
            return any(network.num_addresses == 1 and address in network for network in self._networks)
        return any(address in network for network in self._networks)


def _special_use(address: Address) -> str | None:
    """Return in one word what kind of special-use address this is, or None if it is public."""
    is_judged_inside = any(address in network for network in _JUDGED_INSIDE)
    kinds = (
        ("metadata", address in _METADATA),
        ("loopback", address.is_loopback),
        ("link-local", address.is_link_local),
        ("multicast", address.is_multicast),
        ("unspecified", address.is_unspecified),
        ("not-global", any(address in network for network in _SPECIAL)),
        ("reserved", address.is_reserved and not is_judged_inside),
        ("private", address.is_private and not is_judged_inside),
        ("not-global", not is_judged_inside and not _is_public(address)),
    )
    return next((word for word, applies in kinds if applies), None)


def _is_public(address: Address) -> bool:
    return address.is_global and (address.version == 4 or address in _IPV6_UNICAST)


def _with_embedded(address: Address) -> list[Address]:
    """Return the address and the IPv4 addresses embedded in it, all of which must be allowed.

    An IPv4-mapped address is only another spelling of its IPv4 address.
    """
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    embedded = [address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    if address in _NAT64_LOCAL:
        embedded += _nat64_local(address)
    return [address, *(inner for inner in embedded if inner is not None)]


def _nat64_local(address: IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that a local NAT64 address may embed.

    RFC 8215 leaves the layout to the network: RFC 6052's for /96 or for /48; the unused one reads as zero.
    """
    packed = address.packed
    readings = (IPv4Address(packed[12:]), IPv4Address(packed[6:8] + packed[9:11]))
    return [reading for reading in readings if int(reading)] or [readings[0]]


def _host_pattern(text: str) -> str:
    pattern = _normalized(text.strip())
    if not _HOST_PATTERN.fullmatch(pattern):
        raise ValueError(f"not a pattern for host names: {text!r}")
    return pattern


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise ValueError(f"not a network in CIDR notation: {text!r} ({error})") from error


def _normalized(host: str) -> str:
    """Return the host as patterns are written: lower case, no final dot, IPv6 without brackets."""
    name = host.lower().removesuffix(".")
    return name[1:-1] if name.startswith("[") and name.endswith("]") and ":" in name else name
