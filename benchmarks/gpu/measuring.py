"""Measures each engine in a new process, which is killed when the time is over."""

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

_MAX_START_SECONDS = 480.0  # of a server
_MAX_END_SECONDS = 30.0  # of a process that has sent all rows
_IMAGE_SIZE = (640, 480)  # px
_WARM_UP_TOKENS = 4
_CONCURRENCY = 256  # requests at a server
_POLL_SECONDS = 0.1  # between two measurements of the memory
NO_TIME = "no time left"
NO_VLLM = "there is no command vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Models, questions and programs of all measurements."""

    sizes: Sequence[Size]
    questions: Mapping[int, int]  # tokens of a response -> number of questions
    batch_size: int
    device: str
    vllm: str  # command


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    model: str
    tokens: int  # of a response
    engine: str
    samples_per_second: float = 0.0
    memory_gib: float | None = None
    reason: str = ""  # why it was not measured


@dataclass(frozen=True, slots=True)
class ImageQuestions:
    """Questions about random images, so that engines cannot reuse cached prefixes."""

    images: dict[str, bytes] = field(default_factory=dict)  # by digest

    def draw(self, n: int, seed: int) -> list[Prompt]:
        """Draw questions with an image each, which depends on the seed."""
        rng = random.Random(seed)
        return [
            Prompt.of(self._draw_image(rng), f"Question {number}: what is in the image?")
            for number in range(n)
        ]

    def _draw_image(self, rng: random.Random) -> Image:
        noise = PILImage.frombytes("RGB", (64, 48), rng.randbytes(64 * 48 * 3))
        file = io.BytesIO()
        noise.resize(_IMAGE_SIZE, PILImage.Resampling.BICUBIC).save(file, "JPEG", quality=90)
        digest = sha256(file.getvalue()).hexdigest()
        self.images[digest] = file.getvalue()
        return Image(digest)


Ask: TypeAlias = Callable[[Sequence[Prompt], int], None]
"""Asks questions, and waits for responses of some tokens each."""


@contextmanager
def start_plain_generate(plan: Plan, folder: Path, images: Mapping[str, bytes]) -> Iterator[Ask]:
    """Load a model for a plain loop over ``generate``, with the same batch size."""
    from bench_resources.models.transformers.loading import load_weights
    from bench_resources.models.transformers.processor import load_processor

    spec, checkpoint = _build_spec(plan, folder)
    model = load_weights(spec, checkpoint)
    processor: Any = load_processor(spec, checkpoint)

    def ask(questions: Sequence[Prompt], tokens: int) -> None:
        for start in range(0, len(questions), plan.batch_size):
            batch = questions[start : start + plan.batch_size]
            inputs = processor.apply_chat_template(
                [_conversation(question, images) for question in batch],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            ).to(model.device, dtype=model.dtype)
            tokens_out = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
            processor.batch_decode(tokens_out[:, inputs["input_ids"].shape[1] :])

    yield ask


@contextmanager
def start_transformers(plan: Plan, folder: Path, images: Mapping[str, bytes]) -> Iterator[Ask]:
    """Load a model for the engine of ``kind = "transformers"``."""
    from bench_resources.models.transformers.model import load

    spec, checkpoint = _build_spec(plan, folder)
    model = load(spec, checkpoint)

    def ask(questions: Sequence[Prompt], tokens: int) -> None:
        section = spec.model_copy(update={"max_tokens": tokens})
        _require_answers(
            Batches(section, images.__getitem__, lambda: model).stream(_requests(questions))
        )

    yield ask


@contextmanager
def start_vllm(plan: Plan, folder: Path, images: Mapping[str, bytes]) -> Iterator[Ask]:
    """Start the server of ``kind = "vllm"``, and end it afterwards."""
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
        engine = ServerEngine(asked, images.__getitem__)
        _require_answers(engine.stream(_requests(questions)))

    try:
        server.wait_until_ready(spec.health, _MAX_START_SECONDS)
        yield ask
    finally:
        server.end()


ENGINES = {
    "plain generate": start_plain_generate,
    "transformers": start_transformers,
    "vllm serve": start_vllm,
}


def _build_spec(plan: Plan, folder: Path) -> tuple[TransformersSpec, Checkpoint]:
    spec = TransformersSpec(
        kind="transformers", path=str(folder), device=plan.device, batch_size=plan.batch_size
    )
    return spec, Checkpoint(location=str(folder), content="")  # its digest changes no figure


def _conversation(question: Prompt, images: Mapping[str, bytes]) -> list[dict[str, Any]]:
    (turns,) = question.rounds()
    decoded = {image.sha256: decode(image, images[image.sha256], None) for image in question.images}
    return [to_message(turn, decoded) for turn in turns]


def _requests(questions: Sequence[Prompt]) -> list[Request]:
    return [Request(prompt=question) for question in questions]


def _require_answers(responses: Iterator[tuple[int, Response]]) -> None:
    """Wait for all responses.

    Raises:
        RuntimeError: If one has an error.
    """
    for _, response in responses:
        if response.error:
            raise RuntimeError(response.error)


@contextmanager
def _peak_memory(engine: str, device: str) -> Iterator[list[float]]:
    """Yield a list that will contain the peak in GiB.

    On a GPU, it is the memory in use by all processes. On the CPU, it is that of this process; for
    vLLM, the list stays empty.
    """
    peak: list[float] = []
    if device == "cpu":
        yield peak
        if engine != "vllm serve":  # which runs in another process
            peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
        return
    import torch

    is_done = Event()

    def watch() -> None:
        while not is_done.wait(_POLL_SECONDS):
            free, total = torch.cuda.mem_get_info()
            peak[:] = [max([(total - free) / 2**30, *peak])]

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        is_done.set()
        thread.join()


def _send_rows(
    plan: Plan, size: Size, engine: str, folder: Path, sender: "Connection[Row, None]"
) -> None:
    """Measure an engine here, and send a row for each length of responses, or until an error."""
    image_questions = ImageQuestions()
    row = partial(Row, model=size.name, engine=engine)
    tokens = 0
    try:
        with ENGINES[engine](plan, folder, image_questions.images) as ask:
            for tokens, number in plan.questions.items():
                ask(image_questions.draw(plan.batch_size, seed=-tokens), _WARM_UP_TOKENS)
                questions = image_questions.draw(number, seed=tokens)
                with _peak_memory(engine, plan.device) as peak:
                    started = monotonic()
                    ask(questions, tokens)
                    speed = number / (monotonic() - started)
                memory_gib = peak[0] if peak else None
                sender.send(row(tokens=tokens, samples_per_second=speed, memory_gib=memory_gib))
    except (BenchError, OSError, RuntimeError, ValueError) as error:
        sender.send(row(tokens=tokens, reason=first_line(error)))


def measure_engine(
    plan: Plan, size: Size, engine: str, folder: Path, seconds: float
) -> Iterator[Row]:
    """Measure an engine for at most some seconds; yield a row for each length of responses.

    A new process frees its memory for the next engine.
    """
    unmeasured, reason = list(plan.questions), NO_TIME
    if engine == "vllm serve" and not find_program(plan.vllm):
        reason = NO_VLLM
    elif seconds > 0:
        deadline, spawn = monotonic() + seconds, get_context("spawn")
        receiver, sender = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_send_rows, args=(plan, size, engine, folder, sender))
        process.start()
        sender.close()
        try:
            while unmeasured and receiver.poll(max(0.0, deadline - monotonic())):
                row: Row = receiver.recv()
                if row.reason:
                    reason = row.reason
                    break
                unmeasured.remove(row.tokens)
                yield row
            process.join(_MAX_END_SECONDS if not unmeasured else 0)  # its server ends with it
        except EOFError:
            reason = "its process died"
        finally:
            process.kill()
            process.join()
    for tokens in unmeasured:
        yield Row(model=size.name, tokens=tokens, engine=engine, reason=reason)
