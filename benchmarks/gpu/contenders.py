"""Everything that can answer: our engines, and what each is measured against."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import URLError
from urllib.request import urlopen

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.checkpoints.identity import pin
from bench_resources.config.sections.local_models import LocalSpec, TransformersSpec, VllmSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import ServerEngine
from bench_resources.models.transformers.engine import DataParallelEngine
from bench_resources.models.workers.batching import Batches
from bench_resources.models.workers.local_model import Answers, decode, message
from benchmarks.gpu.questions import Album
from tests.chat_server import ChatServer

Ask: TypeAlias = Callable[[Sequence[Prompt], int], int]  # max_tokens -> tokens that came back

_CONCURRENCY = 256
_STARTS_WITHIN = 600.0  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a contender has to work with; all of it can be pickled."""

    checkpoint: Path
    album: Album
    batch_size: int
    device: str  # "cuda", or "cpu" for the tiny models
    n_devices: int = 1
    compile: bool = False
    cache: str = "dynamic"

    @property
    def transformers(self) -> TransformersSpec:
        """How transformers is to run the checkpoint."""
        several = [f"cuda:{n}" if self.device == "cuda" else "cpu" for n in range(self.n_devices)]
        where: dict[str, Any] = {"device": self.device}
        return TransformersSpec.model_validate(
            {"kind": "transformers", "path": str(self.checkpoint), "batch_size": self.batch_size}
            | {"compile": self.compile, "cache": self.cache}
            | (where if self.n_devices == 1 else {"devices": several})
        )

    @property
    def vllm(self) -> VllmSpec:
        """How vLLM is to run the checkpoint."""
        more = {"extra": {"load_format": "dummy"}, "max_model_len": 4096}
        return VllmSpec.model_validate({"kind": "vllm", "path": str(self.checkpoint), **more})


@contextmanager
def transformers(scene: Scene) -> Iterator[Ask]:
    """Our engine ``transformers``; several devices are as many processes."""
    from bench_resources.models.transformers.model import load

    spec = scene.transformers
    if scene.n_devices == 1:
        yield _in_batches(spec, load(spec, pin(spec.path)), scene.album)
        return
    engines: dict[int, DataParallelEngine] = {}

    def ask(questions: Sequence[Prompt], max_tokens: int) -> int:
        if max_tokens not in engines:
            while engines:
                engines.popitem()[1].close()
            longer = spec.model_copy(update={"max_tokens": max_tokens})
            engines[max_tokens] = DataParallelEngine(longer, spec.path, scene.album.read)
        return _counted(engines[max_tokens].stream(_requests(questions)))

    try:
        yield ask
    finally:
        for engine in engines.values():
            engine.close()


@contextmanager
def plain_generate(scene: Scene) -> Iterator[Ask]:
    """A loop over ``model.generate``, as a model card has it, in batches of the same size."""
    from bench_resources.models.transformers.loading import load_weights
    from bench_resources.models.transformers.processor import load_processor

    spec = scene.transformers
    checkpoint = pin(spec.path)
    model = load_weights(spec, checkpoint)
    processor: Any = load_processor(spec, checkpoint)

    def ask(questions: Sequence[Prompt], max_tokens: int) -> int:
        n_tokens = 0
        for start in range(0, len(questions), scene.batch_size):
            talks = [_talk(one, scene.album) for one in questions[start : start + scene.batch_size]]
            inputs = processor.apply_chat_template(
                talks,
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            ).to(model.device, dtype=model.dtype)
            made = model.generate(**inputs, max_new_tokens=max_tokens, do_sample=False)
            new = made[:, inputs["input_ids"].shape[1] :]
            n_tokens += new.numel()
            processor.batch_decode(new)
        return n_tokens

    yield ask


@contextmanager
def vllm(scene: Scene) -> Iterator[Ask]:
    """Our engine ``vllm``."""
    from bench_resources.models.vllm.model import load

    yield _in_batches(scene.vllm, load(scene.vllm, pin(str(scene.checkpoint))), scene.album)


@contextmanager
def vllm_alone(scene: Scene) -> Iterator[Ask]:
    """The offline loop of vLLM itself: all conversations in one call of ``LLM.chat``."""
    from vllm import LLM, SamplingParams

    from bench_resources.models.vllm.loading import arguments

    said = arguments(scene.vllm, pin(str(scene.checkpoint)), str(scene.checkpoint))
    llm = LLM(**said, enable_prefix_caching=True, **scene.vllm.extra)

    def ask(questions: Sequence[Prompt], max_tokens: int) -> int:
        talks = [_talk(one, scene.album) for one in questions]
        for said in (said for talk in talks for said in talk):
            said["content"] = [
                {"type": "image_pil", "image_pil": part["image"]} if "image" in part else part
                for part in said["content"]
            ]
        params = [SamplingParams(temperature=0.0, max_tokens=max_tokens) for _ in talks]
        outputs = llm.chat(talks, params, use_tqdm=False)
        return sum(len(output.outputs[0].token_ids) for output in outputs)

    yield ask


@contextmanager
def vllm_server(scene: Scene) -> Iterator[Ask]:
    """A vLLM server of its own behind our ``kind = "server"``; on the CPU a stand-in."""
    with _server(scene) as address:
        entry = {"kind": "server", "server": "vllm", "base_url": address, "model": "m"}

        def ask(questions: Sequence[Prompt], max_tokens: int) -> int:
            more = {"max_tokens": max_tokens, "concurrency": _CONCURRENCY}
            engine = ServerEngine(ServerSpec.model_validate(entry | more), scene.album.read)
            return _counted(engine.stream(_requests(questions)))

        yield ask


CONTENDERS: dict[str, Callable[[Scene], AbstractContextManager[Ask]]] = {
    "plain generate": plain_generate,
    "transformers": transformers,
    "vLLM alone": vllm_alone,
    "vllm": vllm,
    "vLLM server": vllm_server,
}


def _in_batches(spec: LocalSpec, model: Answers, album: Album) -> Ask:
    """Ask a loaded model as the engines do."""

    def ask(questions: Sequence[Prompt], max_tokens: int) -> int:
        longer = spec.model_copy(update={"max_tokens": max_tokens})
        batches = Batches(longer, album.read, lambda: model)
        return _counted(batches.stream(_requests(questions)))

    return ask


def _requests(questions: Sequence[Prompt]) -> list[Request]:
    return [Request(prompt=question) for question in questions]


def _counted(responses: Iterable[tuple[int, Response]]) -> int:
    """Count the tokens of responses.

    Raises:
        RuntimeError: If one has an error: what was not answered was not measured.
    """
    n_tokens = 0
    for _, response in responses:
        if response.error:
            raise RuntimeError(response.error)
        n_tokens += response.completion_tokens or 0
    return n_tokens


def _talk(question: Prompt, album: Album) -> list[dict[str, Any]]:
    (turns,) = question.rounds()
    images = {i.sha256: decode(i, album.read(i.sha256), None) for i in question.images}
    return [message(turn, images) for turn in turns]


@contextmanager
def _server(scene: Scene) -> Iterator[str]:
    if scene.device == "cpu":
        with ChatServer("word") as stand_in:
            yield stand_in.base_url
        return
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(scene.checkpoint)]
    command += ["--served-model-name", "m"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--load-format", "dummy"]
    command += ["--max-model-len", str(scene.vllm.max_model_len), "--dtype", scene.vllm.dtype]
    log = scene.album.folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    ends = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < ends:
        if process.poll() is not None:
            last = (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
            raise RuntimeError(f"the vLLM server ended with {process.returncode}: {last}")
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(1)
    raise RuntimeError(f"the vLLM server is not ready after {_STARTS_WITHIN:.0f} s")
