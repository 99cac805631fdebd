"""A stand-in for a server of weights that notes each request, and on which node it came.

``python noting_server.py PATH PORT FILE`` adds a line to FILE when a request comes, and answers it
a moment later: by the request alone, the same wherever it is asked.
"""

import hashlib
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_SLURM = {"n1": "127.0.0.2", "n2": "127.0.0.3"}  # as Ray's nodes are called
WAIT = 0.5  # s before each response


class Noting(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.say({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        digest = hashlib.sha256(body).hexdigest()
        node = os.environ.get("BENCH_TEST_RAY_NODE", "here here").split()[1]
        node = _SLURM.get(os.environ.get("SLURMD_NODENAME", ""), node)
        with open(sys.argv[3], "a") as file:  # noqa: PTH123 - without site-packages, up at once
            file.write(f"{sys.argv[1]} {digest} {node}\n")
        time.sleep(WAIT)
        message = {
            "role": "assistant",
            "content": f"The answer is {'ABCD'[int(digest[0], 16) % 4]}",
        }
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 2, "completion_tokens": 1}
        self.say({"model": json.loads(body)["model"], "choices": [choice], "usage": usage})

    def say(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Noting).serve_forever()
