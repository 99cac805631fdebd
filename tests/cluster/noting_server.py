"""A fake server of weights that writes down each request and the node on which it runs.

``python noting_server.py PATH PORT FILE`` adds a line to FILE for each request, and answers it a
moment later; the response depends on the request alone.
"""

import hashlib
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_SLURM = {"n1": "127.0.0.2", "n2": "127.0.0.3"}  # as Ray's nodes are called
WAIT = 0.5  # s before each response


class NotingHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_json({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        digest = hashlib.sha256(body).hexdigest()
        _, node = os.environ.get("BENCH_TEST_RAY_NODE", "here here").split()
        node = _SLURM.get(os.environ.get("SLURMD_NODENAME", ""), node)
        _, weights, _, requests_file = sys.argv
        with open(requests_file, "a") as file:  # noqa: PTH123 - pathlib would slow the start
            file.write(f"{weights} {digest} {node}\n")
        time.sleep(WAIT)
        letter = "ABCD"[int(digest[0], 16) % 4]
        message = {"role": "assistant", "content": f"The answer is {letter}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 2, "completion_tokens": 1}
        self.send_json({"model": json.loads(body)["model"], "choices": [choice], "usage": usage})

    def send_json(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), NotingHandler).serve_forever()
