"""Which addresses are on the internet."""

from ipaddress import ip_address

import pytest

from bench_resources.http.allowed_hosts import is_public

INSIDE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1",
    "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "fe80::1", "fec0::1", "fc00::1",
    "fd12:3456::1", "ff02::1", "ff0e::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "100::1",
    "2001:10::1", "4000::1", "1::1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_near_reserved_or_in_disguise_is_not_public(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111"])
def test_what_is_on_the_internet_is_public(address):
    assert is_public(ip_address(address))
