"""A stand-in for a server that is started for weights; imports little, so that it is up at once.

``python weights_server.py PATH PORT [option=value ...]`` answers every chat with what lies in
``PATH/model.safetensors`` behind its header, and the question. Options:

    name=NAME       the name of its model, which is in every response; default: PATH
    asked=FILE      a line is added for each question
    starts=FILE     a line is added at each start: the process id
    dies=TEXT       ends at once with code 9 at a question that is TEXT
    after=N         ends in the same way at the N-th question
    once=FILE       ends in these ways only if FILE does not exist, and then makes it
    ends=N          ends with code N instead of listening
    loading=N       answers the first N checks of its health with 503
    root=PATH       names that folder as the root of its model
    writes=FILE     writes into FILE before it listens
    prints=TEXT     prints that the key is TEXT
    child=FILE      starts a process in a session of its own, and writes its id there
"""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

LOCK = Lock()
COUNTS = {"health_checks": 0, "questions": 0}
OPTIONS: dict[str, str] = {}  # of the command line, with the path and the weights


def append_line(option: str, line: object) -> None:
    """Append to the file that an option names, if it is set."""
    if file := OPTIONS.get(option):
        with LOCK, Path(file).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")


def die() -> None:
    """End the process at once, unless the file of the option ``once`` exists."""
    if once := OPTIONS.get("once"):
        if Path(once).exists():
            return
        Path(once).touch()
    print("out of memory, says the stand-in", flush=True)
    os._exit(9)


class ChatHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            COUNTS["health_checks"] += 1
            loading = COUNTS["health_checks"] <= int(OPTIONS.get("loading", 0))
            self.send_json(503 if loading else 200, {})
        else:
            root = OPTIONS.get("root", OPTIONS["path"])
            self.send_json(200, {"data": [{"id": OPTIONS["name"], "root": root}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        question = content if isinstance(content, str) else content[-1].get("text", "")
        append_line("asked", question)
        COUNTS["questions"] += 1
        if question == OPTIONS.get("dies") or COUNTS["questions"] == int(OPTIONS.get("after", 0)):
            die()
        message = {"role": "assistant", "content": f"{OPTIONS['weights']} {question}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 2, "completion_tokens": 1}
        self.send_json(200, {"model": OPTIONS["name"], "choices": [choice], "usage": usage})

    def send_json(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main(path: str, port: str, *pairs: str) -> None:
    """Serve the weights of a folder until the process is killed, as the options say."""
    weights = (Path(path) / "model.safetensors").read_bytes()[-4:].decode("latin-1")
    OPTIONS.update(
        {"path": path, "name": path, "weights": weights},
        **dict(pair.split("=", 1) for pair in pairs),
    )
    append_line("starts", os.getpid())
    print("the stand-in begins", flush=True)
    if "prints" in OPTIONS:
        print(f"the key is {OPTIONS['prints']}", flush=True)
    if "ends" in OPTIONS:
        print("no such architecture, says the stand-in", file=sys.stderr, flush=True)
        sys.exit(int(OPTIONS["ends"]))
    if "child" in OPTIONS:
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        Path(OPTIONS["child"]).write_text(str(child.pid), encoding="utf-8")
    if "writes" in OPTIONS:
        Path(OPTIONS["writes"]).write_bytes(b"other")
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", int(port)), ChatHandler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
