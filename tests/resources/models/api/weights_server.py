"""A stand-in for a server that is started for weights; imports little, so that it is up at once.

``python weights_server.py PATH PORT [option=value ...]`` answers every chat with what lies in
``PATH/model.safetensors`` behind its header, and the question. Options:

    name=NAME       the name of its model, which it says in every response; default: PATH
    asked=FILE      a line is added for each question
    starts=FILE     a line is added at each start: the process id
    dies=TEXT       ends at once with code 9 at a question that is TEXT
    after=N         ends so at the N-th question
    once=FILE       neither, if FILE is there; it is made then
    ends=N          ends with code N instead of listening
    loading=N       answers the first N looks at its health with 503
    root=PATH       says that its model is that folder
    writes=FILE     writes into FILE before it listens
    prints=TEXT     says that the key is TEXT
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
SEEN = {"looks": 0, "asked": 0}
OPTIONS: dict[str, str] = {}  # path and weights among them


def note(option: str, line: object) -> None:
    if file := OPTIONS.get(option):
        with LOCK, Path(file).open("a", encoding="utf-8") as opened:
            opened.write(f"{line}\n")


def die() -> None:
    once = OPTIONS.get("once")
    if not once or not Path(once).exists():
        if once:
            Path(once).touch()
        print("out of memory, says the stand-in", flush=True)
        os._exit(9)


class Serving(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            SEEN["looks"] += 1
            loading = SEEN["looks"] <= int(OPTIONS.get("loading", 0))
            self.say(503 if loading else 200, {})
        else:
            root = OPTIONS.get("root", OPTIONS["path"])
            self.say(200, {"data": [{"id": OPTIONS["name"], "root": root}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][-1]["content"]
        question = content if isinstance(content, str) else content[-1].get("text", "")
        note("asked", question)
        SEEN["asked"] += 1
        if question == OPTIONS.get("dies") or SEEN["asked"] == int(OPTIONS.get("after", 0)):
            die()
        message = {"role": "assistant", "content": f"{OPTIONS['weights']} {question}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 2, "completion_tokens": 1}
        self.say(200, {"model": OPTIONS["name"], "choices": [choice], "usage": usage})

    def say(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main(path: str, port: str, *pairs: str) -> None:
    weights = (Path(path) / "model.safetensors").read_bytes()[-4:].decode("latin-1")
    OPTIONS.update(
        {"path": path, "name": path, "weights": weights},
        **dict(pair.split("=", 1) for pair in pairs),
    )
    note("starts", os.getpid())
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
    ThreadingHTTPServer(("127.0.0.1", int(port)), Serving).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
