"""Ports of loopback that a test may use."""

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind((host, 0))
        return int(free.getsockname()[1])
