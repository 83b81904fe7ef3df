import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.fetch import address

# Every range that is never allowed: an address in it, and its first and last if there is more than one.
LOOPBACK = ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]
PRIVATE = [
    *("10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"),
    *("100.64.0.0", "100.127.255.255", "198.18.0.0", "198.19.255.255"),
    *("fc00::", "fd12:3456:789a::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1"),
]
NEVER = [
    *("0.0.0.0", "0.255.255.255", "::"),
    *("169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255", "fe80::1"),
    *("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"),
    *("192.0.0.8", "192.0.0.170", "192.88.99.1"),
    *("224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"),
    *("240.0.0.1", "255.255.255.255"),
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8"),
    *(
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ),
    *("100::1", "4000::1"),
]
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.17",
    "223.255.255.255",
]
PUBLIC6 = ["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2400:cb00:2048:1::c629:d7a2"]


@pytest.mark.parametrize("ip", PUBLIC + PUBLIC6)
def test_public_addresses_are_allowed(ip: str) -> None:
    assert address.allowed(ip, False, False)
    assert address.allowed(ip, True, False)


@pytest.mark.parametrize("ip", LOOPBACK + PRIVATE)
def test_private_addresses_are_allowed_by_option(ip: str) -> None:
    assert not address.allowed(ip, False, False)
    assert address.allowed(ip, True, False)


@pytest.mark.parametrize("ip", NEVER)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("loopback_only", [False, True])
def test_no_option_allows_these_addresses(ip: str, private: bool, loopback_only: bool) -> None:
    assert not address.allowed(ip, private, loopback_only)


@pytest.mark.parametrize("ip", PRIVATE + PUBLIC + PUBLIC6)
def test_without_a_contact_only_loopback_is_allowed(ip: str) -> None:
    assert not address.allowed(ip, False, True)
    assert not address.allowed(ip, True, True)


@pytest.mark.parametrize("ip", LOOPBACK)
def test_without_a_contact_loopback_still_needs_the_option(ip: str) -> None:
    assert not address.allowed(ip, False, True)
    assert address.allowed(ip, True, True)


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1:80", "fe80::1%eth0", "2606::1%eth0", "１.1.1.1"],
)
def test_text_that_is_not_an_address_is_not_allowed(text: str) -> None:
    assert not address.allowed(text, True, False)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_reached_through_ipv6(ip: ipaddress.IPv4Address) -> None:
    number = int(ip)
    for wrapped in ((0xFFFF << 32) + number, number, (0x64FF9B << 96) + number, (0x2002 << 112) + (number << 80)):
        assert not address.allowed(str(ipaddress.IPv6Address(wrapped)), True, False)


@given(st.ip_addresses())
def test_an_address_that_the_standard_library_calls_private_is_never_public(
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    documentation = any(
        ip in ipaddress.ip_network(net)
        for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20")
    )
    if not ip.is_global and not documentation:
        assert not address.allowed(str(ip), False, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2.3.4", ("1.2.3.4", 0)),
        ("1.2.3.4:8080", ("1.2.3.4", 8080)),
        ("::1", ("::1", 0)),
        ("[::1]", ("::1", 0)),
        ("[::1]:8080", ("::1", 8080)),
        ("[2001:DB8:0::1]:1", ("2001:db8::1", 1)),
    ],
)
def test_an_address_may_name_a_port(text: str, expected: tuple[str, int]) -> None:
    assert address.split(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.2.3",
        "1.2.3.4:",
        "1.2.3.4:0",
        "1.2.3.4:65536",
        "1.2.3.4:x",
        "1.2.3.4:80:80",
        "[::1]:",
        "[::1]x",
        "[1.2.3.4]:80",
        "host:80",
        "[::1",
    ],
)
def test_any_other_text_is_not_an_address(text: str) -> None:
    assert address.split(text) is None
