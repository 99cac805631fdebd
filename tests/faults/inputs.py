"""What people hand over: half copies, archives, photographs, cells of formulas, pages, hubs."""

import csv
import io
import json
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from bench_assets.core.schema.errors import SettingsError
from bench_resources.checkpoints.watched_folders import survey_folders
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from tests.fakes.annotation_pages import Site
from tests.faults.checkpoints import headed, written_checkpoint
from tests.faults.homes import CLEAN, Whole, question_text
from tests.faults.processes import EVALUATE, ended, require_sentence, running
from tests.faults.servers.healing import key_set
from tests.faults.servers.server import MisbehavingServer
from tests.faults.table import Fault, FoundError, Trial
from tests.resources.annotation.port_cases import FORM, A
from tests.resources.checkpoints.test_hub_access import Faults, failing_hub

_CELLS = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://x")')
_OWN = ("messages", "model", "stream", "n", "prompt", "input", "system", "contents")
_ADDRESSES = ("/f/{}/next", "/f/1/{}", "/u/{}", "/{}", "/in/{}", "/f/{}/answers")
_NUMBERS = (10**20, -1, 2**63, "%00", "%1b%5b2J", "1e400", "٣", "..%2f")


def faults() -> list[Fault]:
    """One a kind; those of images take milliseconds."""
    refused = "refused, by name"
    return [
        _row("the end of a matrix is zero", "safetensors, from inside a row",
             "not evaluated, and why is said", _half_weights, drawn=True),
        *(_row(f"extra_body = {{{name} = ...}}", "bench.toml", refused,
               partial(_taken, name=name)) for name in _OWN),
        _row("numbers and controls in addresses of annotation pages", "GET",
             "no status of 500 or more", _requested_pages),
        _row("a photograph of 108 megapixels", "a JPEG of 12000 x 9000 px",
             "taken, in bounded memory", _large, short=False),
        _row("cells that spreadsheets evaluate", "questions, in bench export csv",
             "a text, with ' in front", _cells, short=False),
        *(_row(f"a hub that {name}", "HF_ENDPOINT", "a sentence within two minutes",
               partial(_hub, kind=name), short=False)
          for name in Faults.KINDS),
        *(_row(f"SIGINT is ignored, then {sent.name}", "nohup", must,
               partial(_ignored, sent=sent), short=False)
          for sent, must in ((signal.SIGINT, "it goes on to the right number"),
                             (signal.SIGTERM, "a sentence, and the right number afterwards"))),
    ]  # fmt: skip


def _row(
    name: str, made: str, must: str, attempt: Callable[[Trial], str], *, short: bool = True,
    drawn: bool = False,
) -> Fault:  # fmt: skip
    return Fault(
        group="inputs", name=name, made=made, must=must, attempt=attempt, short=short,
        drawn=drawn, longest=60.0 if short else 900.0,
    )  # fmt: skip


def _saved(image: Image.Image, form: str, **more: Any) -> bytes:
    data = io.BytesIO()
    image.save(data, form, **more)
    return data.getvalue()


def _photo(width: int, height: int, seed: int) -> Image.Image:
    noise = np.random.default_rng(seed).normal(128, 40, (height, width, 3))
    return Image.fromarray(noise.clip(0, 255).astype(np.uint8))


def _half_weights(trial: Trial) -> str:
    rows, width = 64, 512
    header = {"w": {"dtype": "F32", "shape": [rows, width], "data_offsets": [0, 4 * rows * width]}}
    weights = bytearray(trial.rng.randbytes(4 * rows * width))
    at = trial.rng.randrange(1, rows - 5) * 4 * width + trial.rng.randrange(4, 4 * width, 4)
    weights[at:] = bytes(len(weights) - at)
    folder = written_checkpoint(trial.folder / "runs" / "half", b"1234")
    (folder / "model.safetensors").write_bytes(headed(header, weights=bytes(weights)))
    survey = survey_folders([folder.parent], now=4e9, settle_seconds=0, remembered={})
    if survey.finished or "half-written" not in str(survey.unfinished):
        raise FoundError(f"taken: {survey.finished}, {survey.unfinished}")
    return "not taken: half-written"


def _taken(trial: Trial, name: str) -> str:
    (trial.folder / "bench.toml").write_text(
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://127.0.0.1:8/v1"\n'
        f"extra_body = {{ {name} = 2 }}"
    )
    try:
        load_settings(trial.folder)
    except SettingsError as error:
        if name not in str(error):
            raise FoundError(f"the error does not name the field: {error}") from error
        return "refused"
    raise FoundError("taken as if it were well")


def _requested_pages(trial: Trial) -> str:
    with Site(trial.folder) as site:
        site.people.ask(FORM, [A])
        http = site.visitor("ana").http
        http.get(site.link("ana"))
        statuses = set()
        for address in _ADDRESSES:
            for number in _NUMBERS:
                got = http.get(address.format(number))
                statuses.add(got.status_code)
                if got.status_code >= 500 or "Traceback" in got.text:
                    raise FoundError(f"{address.format(number)}: {got.status_code}")
                if {c for c in got.text if ord(c) < 32} - set("\t\r\n"):
                    raise FoundError(f"{address.format(number)}: a control character in the page")
    return f"statuses {sorted(statuses)}"


def _large(trial: Trial) -> str:
    data = _saved(_photo(120, 90, 0).resize((12000, 9000)), "JPEG", quality=60)
    stored = ImageStore(folder=str(trial.folder)).put(data, "photograph")
    if (stored.width, stored.height) != (12000, 9000):
        raise FoundError(f"stored as {stored.width} x {stored.height}")
    return "taken"


def _cells(trial: Trial) -> str:
    with MisbehavingServer() as server, key_set():
        door = Whole(trial.folder / "home", server.base_url)
        file = door.home / "quiz.jsonl"
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        rows = [
            row | {"question": f"{cell} {question_text(row['id'])}"}
            for row, cell in zip(rows, _CELLS, strict=True)
        ]
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        if door.evaluate() != CLEAN:
            raise FoundError("another number")
        with running(door.home, ("export", "csv")) as process:
            status, output = ended(process)
    if status:
        raise FoundError(f"status {status}: {output[-300:]}")
    n = 0
    for one in (door.home / "export" / "csv").glob("*.csv"):
        with one.open(encoding="utf-8", newline="") as opened:
            for cell in (cell for row in csv.reader(opened) for cell in row):
                n += cell.startswith(tuple(f"'{first}" for first in "=+-@\t"))
                if cell.startswith(("=", "+", "-", "@", "\t")) and not _is_number(cell):
                    raise FoundError(f"{one.name}: {cell[:40]!r}")
    if n < len(_CELLS):
        raise FoundError(f"{n} of {len(_CELLS)} cells are there")
    return f"{n} cells are texts"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _hub(trial: Trial, kind: str) -> str:
    (trial.folder / "home").mkdir()
    with failing_hub() as hub:
        started = time.monotonic()
        with running(
            trial.folder / "home", ("evaluate", "blink", "--limit", "1", "--model", f"hf:{kind}/m"),
            ["env", f"HF_ENDPOINT={hub}", f"HF_HOME={trial.folder / 'cache'}"],
        ) as process:  # fmt: skip
            status, output = ended(process)
        took = time.monotonic() - started
    require_sentence(output)
    if not status or took > 300:  # with the start of Python and torch, on a busy machine
        raise FoundError(f"status {status} after {took:.0f} s: {output[-300:]}")
    return f"a sentence after {took:.0f} s"


def _ignored(trial: Trial, sent: signal.Signals) -> str:
    with MisbehavingServer(latency=3.0) as server:
        door = Whole(trial.folder / "home", server.base_url)
        words = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
        with running(door.home, EVALUATE, words) as process:
            while not server.received.total() and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(sent)
            status, output = ended(process)
        require_sentence(output)
        if (status == 0) != (sent == signal.SIGINT):
            raise FoundError(f"status {status}: {output[-300:]}")
        with key_set():
            if (value := door.evaluate()) != CLEAN:
                raise FoundError(f"another number afterwards: {value}")
    return f"status {status}, then the right number"
