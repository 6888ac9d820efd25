"""Public addresses: which machines a page may be fetched from, known before anything is connected to.

What always holds: an address is public only if every form in which it may hide another one is public, too. A name is
resolved once, and what is connected to is the address that was checked.
"""

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from protocol.errors import ToolError

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Sequence[str]]

# Ways to write or to reach an IPv4 address through IPv6: translation, tunnels, and the old compatible form.
_DISGUISES = tuple(
    map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0:0/96"))
)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the open internet, and to nothing nearer."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.is_site_local or any(address in network for network in _DISGUISES):
            return False
    near = address.is_private or address.is_loopback or address.is_link_local
    odd = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not near and not odd


def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host by the machine's resolver, which also knows 2130706433, 0x7f.1 and 0177.0.0.1."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def checked(host: str, port: int, resolve: Resolve, allowed: Callable[[Address], bool]) -> str:
    """The address to connect to; ToolError if the host has none, or any that is not allowed."""
    try:
        found = resolve(host, port)
        addresses = [ip_address(address) for address in found]
    except (OSError, UnicodeError, ValueError) as error:
        raise ToolError(f"the host {host[:200]!r} cannot be found: {error}") from error
    if not addresses:
        raise ToolError(f"the host {host[:200]!r} cannot be found: it has no address")
    # One of them is enough to refuse: the next try might take it.
    if refused := [str(address) for address in addresses if not allowed(address)]:
        raise ToolError(f"{host[:200]!r} is {refused[0]}, which is not on the public internet: it may not be fetched")
    return found[0]
