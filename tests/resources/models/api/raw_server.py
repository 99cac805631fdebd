"""A server on loopback that answers every request with the same bytes, and hangs up."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def saying(answer: bytes) -> Iterator[str]:
    """Serve; the base URL. Of a request as much is read as its Content-Length tells."""

    class Saying(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while line := self.rfile.readline().strip().lower():
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            self.rfile.read(length)
            with suppress(ConnectionError):  # whoever asked may have had enough of it
                self.wfile.write(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Saying) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """An answer; ``length`` is what it says of its body, by default the truth."""
    stated = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {stated}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
