"""The engines, each measured in a process of its own, which is ended when the time is over."""

import io
import random
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeAlias

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.redaction import Secrets
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.environment import find_program
from bench_resources.config.sections.local_models import TransformersSpec, VllmSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.models.managed.process import HOST, StartedServer, free_port
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import decode, to_message
from benchmarks.gpu.checkpoint import Size

_STARTS_WITHIN = 480.0  # s, of a server
_ENDS_WITHIN = 30.0  # s, of a measured process
_IMAGE = (640, 480)  # px
_WARM_UP_TOKENS = 4
_CONCURRENCY = 256  # requests at a server
_POLL_SECONDS = 0.1  # s between two looks at the memory
NO_TIME = "no time left"
NO_VLLM = "there is no command vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and with what."""

    sizes: Sequence[Size]
    questions: Mapping[int, int]  # tokens of a response -> number of questions
    batch_size: int
    device: str
    vllm: str  # the command


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    model: str
    tokens: int  # of a response
    engine: str
    samples_per_second: float = 0.0
    memory: float | None = None  # GiB
    reason: str = ""  # why it was not measured


@dataclass(frozen=True, slots=True)
class Album:
    """Questions with an image each, so that none is answered from a prefix that is kept."""

    images: dict[str, bytes] = field(default_factory=dict)

    def questions(self, number: int, seed: int) -> list[Prompt]:
        """Draw questions; another seed draws other images."""
        rng = random.Random(seed)
        return [
            Prompt.of(self._image(rng), f"Question {n}: what is in the image?")
            for n in range(number)
        ]

    def _image(self, rng: random.Random) -> Image:
        coarse = PILImage.frombytes("RGB", (64, 48), rng.randbytes(64 * 48 * 3))
        written = io.BytesIO()
        coarse.resize(_IMAGE, PILImage.Resampling.BICUBIC).save(written, "JPEG", quality=90)
        digest = sha256(written.getvalue()).hexdigest()
        self.images[digest] = written.getvalue()
        return Image(digest)


Ask: TypeAlias = Callable[[Sequence[Prompt], int], None]  # questions, tokens of a response


@contextmanager
def plain_generate(plan: Plan, folder: Path, album: Album) -> Iterator[Ask]:
    """A loop over ``model.generate``, as a model card has it, in batches of the same size."""
    from bench_resources.models.transformers.loading import load_weights
    from bench_resources.models.transformers.processor import load_processor

    spec, checkpoint = _transformers(plan, folder)
    model = load_weights(spec, checkpoint)
    processor: Any = load_processor(spec, checkpoint)

    def ask(questions: Sequence[Prompt], tokens: int) -> None:
        for start in range(0, len(questions), plan.batch_size):
            batch = questions[start : start + plan.batch_size]
            inputs = processor.apply_chat_template(
                [_conversation(question, album) for question in batch],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            ).to(model.device, dtype=model.dtype)
            written = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
            processor.batch_decode(written[:, inputs["input_ids"].shape[1] :])

    yield ask


@contextmanager
def transformers(plan: Plan, folder: Path, album: Album) -> Iterator[Ask]:
    """Our engine of ``kind = "transformers"``."""
    from bench_resources.models.transformers.model import load

    spec, checkpoint = _transformers(plan, folder)
    model = load(spec, checkpoint)

    def ask(questions: Sequence[Prompt], tokens: int) -> None:
        section = spec.model_copy(update={"max_tokens": tokens})
        _require_answers(
            Batches(section, album.images.__getitem__, lambda: model).stream(_requests(questions))
        )

    yield ask


@contextmanager
def vllm_serve(plan: Plan, folder: Path, album: Album) -> Iterator[Ask]:
    """The server of ``kind = "vllm"``, with our requests."""
    section = {"kind": "vllm", "path": str(folder), "program": plan.vllm}
    spec = VllmSpec.model_validate({**section, "options": "--max-model-len 4096"})
    port, log = free_port(), folder.with_suffix(".log")
    command = spec.command(path=spec.path, port=port, name="m")
    server = StartedServer(command, port, log, Secrets())
    address = {"kind": "server", "base_url": f"http://{HOST}:{port}/v1", "model": "m"}

    def ask(questions: Sequence[Prompt], tokens: int) -> None:
        fields = {"server": "vllm", "max_tokens": tokens, "concurrency": _CONCURRENCY}
        body = {"extra_body": {"ignore_eos": True}}
        asked = ServerSpec.model_validate({**address, **fields, **body})
        engine = ServerEngine(asked, album.images.__getitem__)
        _require_answers(engine.stream(_requests(questions)))

    try:
        server.wait_until_ready(spec.health, _STARTS_WITHIN)
        yield ask
    finally:
        server.end()


ENGINES = {
    "plain generate": plain_generate,
    "transformers": transformers,
    "vllm serve": vllm_serve,
}


def _transformers(plan: Plan, folder: Path) -> tuple[TransformersSpec, Checkpoint]:
    spec = TransformersSpec(
        kind="transformers", path=str(folder), device=plan.device, batch_size=plan.batch_size
    )
    return spec, Checkpoint(location=str(folder), content="")  # no number depends on its digest


def _conversation(question: Prompt, album: Album) -> list[dict[str, Any]]:
    (turns,) = question.rounds()
    images = {i.sha256: decode(i, album.images[i.sha256], None) for i in question.images}
    return [to_message(turn, images) for turn in turns]


def _requests(questions: Sequence[Prompt]) -> list[Request]:
    return [Request(prompt=question) for question in questions]


def _require_answers(responses: Iterator[tuple[int, Response]]) -> None:
    """Wait for all responses.

    Raises:
        RuntimeError: If one has an error: what was not answered was not measured.
    """
    for _, response in responses:
        if response.error:
            raise RuntimeError(response.error)


@contextmanager
def _peak_memory(engine: str, device: str) -> Iterator[list[float]]:
    """Most GiB in use on the GPU, whichever process holds it; on the CPU, of this process."""
    peak: list[float] = []
    if device == "cpu":
        yield peak
        if engine != "vllm serve":  # which is a process of its own
            peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
        return
    import torch

    is_over = Event()

    def watch() -> None:
        while not is_over.wait(_POLL_SECONDS):
            free, total = torch.cuda.mem_get_info()
            peak[:] = [max([(total - free) / 2**30, *peak])]

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield peak
    finally:
        is_over.set()
        watching.join()


def _measure(
    plan: Plan, size: Size, engine: str, folder: Path, pipe: "Connection[Row, None]"
) -> None:
    """Measure an engine in this process, and send a row for each length of responses."""
    album, row = Album(), partial(Row, model=size.name, engine=engine)
    tokens = 0
    try:
        with ENGINES[engine](plan, folder, album) as ask:
            for tokens, number in plan.questions.items():
                ask(album.questions(plan.batch_size, seed=-tokens), _WARM_UP_TOKENS)
                questions = album.questions(number, seed=tokens)
                with _peak_memory(engine, plan.device) as peak:
                    started = monotonic()
                    ask(questions, tokens)
                    speed = number / (monotonic() - started)
                memory = peak[0] if peak else None
                pipe.send(row(tokens=tokens, samples_per_second=speed, memory=memory))
    except (BenchError, OSError, RuntimeError, ValueError) as error:
        pipe.send(row(tokens=tokens, reason=first_line(error)))


def measured(plan: Plan, size: Size, engine: str, folder: Path, seconds: float) -> Iterator[Row]:
    """Measure an engine within some seconds; a row for each length of responses.

    A process of its own leaves the memory to the next engine.
    """
    missing, reason = list(plan.questions), NO_TIME
    if engine == "vllm serve" and not find_program(plan.vllm):
        reason = NO_VLLM
    elif seconds > 0:
        ends, spawn = monotonic() + seconds, get_context("spawn")
        ours, theirs = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_measure, args=(plan, size, engine, folder, theirs))
        process.start()
        theirs.close()
        try:
            while missing and ours.poll(max(0.0, ends - monotonic())):
                row: Row = ours.recv()
                if row.reason:
                    reason = row.reason
                    break
                missing.remove(row.tokens)
                yield row
            process.join(_ENDS_WITHIN if not missing else 0)  # its server ends with it
        except EOFError:
            reason = "its process died"
        finally:
            process.kill()
            process.join()
    for tokens in missing:
        yield Row(model=size.name, tokens=tokens, engine=engine, reason=reason)
