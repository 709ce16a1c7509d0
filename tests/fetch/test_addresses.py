"""Only public addresses are contacted, unless a host and a network are both allowed as intranet."""

from ipaddress import IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.addresses import AddressGuard

METADATA = ("169.254.169.254", "fd00:ec2::254", "100.100.100.200")


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "8.8.8.8",
        "2606:2800:220:1:248:1893:25c8:1946",
        "::ffff:8.8.8.8",
        "2002:808:808::1",  # 6to4 of 8.8.8.8
        "64:ff9b::8.8.8.8",  # NAT64 of 8.8.8.8
    ],
)
def test_a_public_address_may_be_contacted(address):
    assert AddressGuard().refusal("example.com", address) is None


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("198.18.0.1", "private"),
        ("192.0.2.1", "private"),
        ("2001:db8::1", "private"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("169.254.169.254", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("fd20:ce::254", "metadata"),
        ("100.100.100.200", "metadata"),
        ("168.63.129.16", "metadata"),
        ("100.64.0.1", "not-global"),
        ("192.0.0.192", "not-global"),
        ("192.88.99.1", "not-global"),
        ("3fff::1", "not-global"),
        ("192.0.0.9", "not-global"),
        ("2001:1::1", "not-global"),
        ("2001:20::1", "not-global"),
        ("fec0::1", "not-global"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("ff02::1", "multicast"),
        ("ff0e::1", "multicast"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("0.1.2.3", "private"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::8.8.8.8", "reserved"),  # IPv4-compatible, given up long ago
        ("4000::1", "reserved"),
        ("64:ff9b:1::8.8.8.8", "reserved"),  # NAT64 inside a network
        ("fe80::1%eth0", "zone"),
        ("2606:2800:220:1::1%1", "zone"),
    ],
)
def test_other_addresses_are_refused_by_kind(address, word):
    assert AddressGuard().refusal("example.com", address) == word


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "metadata"),
        ("2002:7f00:1::", "loopback"),
        ("2002:a9fe:a9fe::1", "metadata"),
        ("2002:a00:1::", "private"),
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b::a9fe:a9fe", "metadata"),
        ("2001:0:808:808:0:0:f5ff:fffe", "private"),  # Teredo
    ],
)
def test_an_address_inside_another_is_found(address, word):
    assert AddressGuard().refusal("example.com", address) == word


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.1", "0x7f000001", "2130706433", "017.0.0.1", "[::1]", "1.2.3.4 "]
)
def test_what_is_not_an_address_is_refused(text):
    assert AddressGuard().refusal("example.com", text) == "not-an-address"


@given(st.text())
def test_no_text_raises(text):
    assert isinstance(AddressGuard(["*"], ["10.0.0.0/8"]).refusal(text, text), str | None)


@pytest.mark.parametrize(
    ("host", "address", "allowed"),
    [
        ("wiki.corp.example", "10.20.1.1", True),
        ("WIKI.Corp.Example.", "10.20.1.1", True),
        ("a.b.corp.example", "10.20.1.1", True),
        ("intranet", "10.20.1.1", True),
        ("intranet", "fd12::7", True),
        ("intranet", "::ffff:10.20.1.1", True),
        ("corp.example", "10.20.1.1", False),  # the pattern matches subdomains only
        ("evilcorp.example", "10.20.1.1", False),
        ("evil.example", "10.20.1.1", False),
        ("wiki.corp.example", "10.21.1.1", False),
        ("wiki.corp.example", "127.0.0.1", False),
        ("wiki.corp.example", "8.8.8.8", True),
        ("wiki.corp.example", "64:ff9b::10.21.0.1", False),
        ("wiki.corp.example", "64:ff9b::10.20.0.1", True),
        ("10.20.1.1", "10.20.1.1", False),
    ],
)
def test_an_intranet_needs_both_a_host_and_a_network(host, address, allowed):
    guard = AddressGuard(["*.corp.example", "Intranet"], ["10.20.0.0/16", "fd12::/16"])
    assert (guard.refusal(host, address) is None) == allowed


@pytest.mark.parametrize(("hosts", "networks"), [(["*"], []), ([], ["0.0.0.0/0", "::/0"])])
def test_a_host_or_a_network_alone_opens_nothing(hosts, networks):
    assert AddressGuard(hosts, networks).refusal("intranet", "10.0.0.1") == "private"


@pytest.mark.parametrize("host", ["[::1]", "::1", "127.0.0.1"])
def test_a_host_pattern_may_be_an_address(host):
    assert AddressGuard([host], ["127.0.0.0/8", "::1/128"]).refusal(host, host.strip("[]")) is None


@pytest.mark.parametrize("address", METADATA)
def test_metadata_addresses_open_only_by_their_own_name(address):
    everything = ["0.0.0.0/0", "::/0"]
    assert AddressGuard(["*"], everything).refusal("a", address) == "metadata"
    assert AddressGuard(["*"], [address]).refusal("a", address) is None
    assert AddressGuard(["b"], [address]).refusal("a", address) == "metadata"


@pytest.mark.parametrize("hidden", ["64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::"])
def test_local_nat64_is_read_in_both_layouts(hidden):
    guard = AddressGuard(["*"], ["64:ff9b:1::/48", "10.0.0.0/8"])
    assert guard.refusal("a", hidden) == "metadata"
    assert guard.refusal("a", "64:ff9b:1::10.0.0.1") is None
    assert guard.refusal("a", "64:ff9b:1:a00:0:100::") is None


@pytest.mark.parametrize(
    "pattern", ["", " ", "a b", "http://a.example", "a.example:80", "a/b", "[a-z]", "[::1", "é.example"]
)
def test_a_bad_host_pattern_is_named(pattern):
    with pytest.raises(ValueError, match="host names") as raised:
        AddressGuard(["good.example", pattern])
    assert repr(pattern) in str(raised.value)


@pytest.mark.parametrize("network", ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0", "a.example", "::/129"])
def test_a_bad_network_is_named(network):
    with pytest.raises(ValueError, match="CIDR") as raised:
        AddressGuard([], ["10.0.0.0/8", network])
    assert repr(network) in str(raised.value)


@given(st.ip_addresses(v=4).filter(lambda address: not address.is_global))
def test_no_wrapping_hides_an_address_that_is_not_global(address):
    number, guard = int(address), AddressGuard()
    wrapped = [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x2002 << 112 | number << 80),
        IPv6Address(0x0064FF9B << 96 | number),
    ]
    for each in (address, *wrapped):
        assert guard.refusal("example.com", str(each)) is not None


@given(st.ip_addresses())
def test_only_global_addresses_pass(address):
    if AddressGuard().refusal("example.com", str(address)) is None and getattr(address, "ipv4_mapped", None) is None:
        inside = getattr(address, "sixtofour", None)  # versions of ipaddress differ about the outside
        assert (inside or address).is_global
        assert not address.is_multicast
        assert address.version == 4 or address in ip_network("2000::/3") or address in ip_network("64:ff9b::/96")
