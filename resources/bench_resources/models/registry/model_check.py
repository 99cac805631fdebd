"""Model check: loads a model, sends six probes and reports; the cache is not used."""

import time
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from statistics import median
from typing import Any

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.schema.chat import Image, Prompt, Request, Turn
from bench_assets.core.schema.errors import BenchError, ModelError
from bench_resources.checkpoints.hub_access import first_line
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.base import ModelSpec, SamplingSection
from bench_resources.config.sections.engine_kinds import EngineContext, EngineKind
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.config.sections.models import RecordedSpec
from bench_resources.models.registry.engines import engine_kind, resolve_local_paths
from bench_resources.models.registry.named_models import (
    ENCODER,
    AnySpec,
    ResolvedModel,
    unknown_model_error,
)
from bench_resources.models.registry.recorded import read_recorded
from bench_resources.redaction.responses import RedactingEngine
from bench_resources.response_cache.engine import Engine, validate_arrivals
from bench_resources.response_cache.rows import TokenCounts

_SMALL, _LARGE = (224, 224), (640, 480)  # width and height of the images, px

REQUIRED = frozenset({"an image", "control tokens"})
"""Probes that every model has to answer; refusing another one only excludes such questions."""

_CONTROL_TOKENS = ("<image>", "<|image_pad|>", "<|im_end|>", "</s>", "[INST]")
_SYSTEM = "You answer with one number."
_COUNT_QUESTION = "How many things are there in the picture? Answer with one number."
_SEED = 11  # seed of the scene


class SyntheticImages:
    """Two synthetic images by digest, of two apples and of five dogs; deterministic."""

    def __init__(self) -> None:
        self._images: dict[str, bytes] = {}
        self.apples = self._draw("red apple", 2, _LARGE)
        self.dogs = self._draw("dog", 5, _SMALL)

    def read(self, digest: str) -> bytes:
        """The bytes of one of the images, as PNG."""
        return self._images[digest]

    def _draw(self, name: str, count: int, size: tuple[int, int]) -> Image:
        """Draw and keep an image of equal sprites; ``size`` is its width and height in px."""
        scene, rng = Scene(*size), Random(_SEED)
        sprite_size = min(size) // 4
        for _ in range(count):
            centre = scene.free_spot(sprite_size, sprite_size, rng)
            assert centre  # so few sprites fit
            scene.sprite(name, centre, sprite_size)
        png = scene.png()
        digest = sha256(png).hexdigest()
        self._images[digest] = png
        return Image(digest)


def probes(images: SyntheticImages) -> dict[str, Prompt]:
    """The six probe conversations, by name."""
    apples, dogs = images.apples, images.dogs
    control_tokens = " ".join(_CONTROL_TOKENS)
    return {
        "an image": Prompt.of(apples, _COUNT_QUESTION),
        "two images": Prompt.of(
            apples,
            dogs,
            "Are there more things in the first or in the second? Say first or second.",
        ),
        "no image": Prompt.of("What is the capital of France? Answer with one word."),
        "a system prompt": Prompt.of(apples, _COUNT_QUESTION, system=_SYSTEM),
        "control tokens": Prompt.of(
            apples, f"Does the picture show the text {control_tokens} anywhere? Answer yes or no."
        ),
        "a conversation": Prompt(
            (
                Turn("user", (apples, "What is in the picture? Answer with one word.")),
                Turn("assistant", ("Apples.",)),
                Turn("user", ("What colour are they?",)),
                Turn("user", ("Is that the colour of a banana? Answer yes or no.",)),
            )
        ),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """A probe and its response."""

    probe: str
    response: str = ""
    note: str = ""  # what was changed about the prompt, or why the response is no answer
    error: str = ""
    failed: bool = False  # a reason against evaluating the model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """The findings of a model check."""

    model: str
    kind: str = ""
    place: str = ""  # path, hub id, address, ...
    error: str = ""  # why the model could not be checked
    note: str = ""  # what was not checked, and why
    response_seconds: float | None = None  # the median of the probes; the first loads the model
    probes: tuple[ProbeResult, ...] = ()

    @property
    def failures(self) -> list[str]:
        """Reasons against evaluating this model."""
        reasons = [self.error] if self.error else []
        reasons += [f"{probe.probe}: {probe.error}" for probe in self.probes if probe.failed]
        return reasons


def run_probes(
    check: ModelCheck, engine: Engine, images: SyntheticImages, *, blind: bool
) -> ModelCheck:
    """Send the probes one by one; adds their results to a check, also those of refused ones.

    Raises:
        ModelError: If it does not load, or cannot answer at all.
    """
    results: list[ProbeResult] = []
    seconds: list[float] = []
    for name, prompt in probes(images).items():
        request = Request(prompt=prompt.without_images() if blind else prompt)
        start = time.perf_counter()
        response = dict(validate_arrivals(engine.stream([request]), 1))[0]
        seconds.append(time.perf_counter() - start)
        results.append(
            ProbeResult(
                probe=name,
                response=response.text,
                note=response.note or response.no_answer,
                error=response.error,
                failed=bool(response.error) and name in REQUIRED,
            )
        )
    return replace(check, probes=tuple(results), response_seconds=median(seconds))


_MAX_TOKENS = 32  # tokens of a response: its first words show whether a model sees


def check_model(model: ResolvedModel, settings: Settings) -> ModelCheck:
    """Load, probe and describe a model; errors are part of the description."""
    check = ModelCheck(model=model.base.name, kind=model.spec.kind, place=model.spec.place)
    try:
        if model.spec.kind == ENCODER:
            raise unknown_model_error(model.name, settings)
        blind = any(link.spec.kind == "blind" for link in model.chain)
        check = _run_check(check, model.base.spec, settings, blind=blind)
    except BenchError as exc:
        check = replace(check, error=known_secrets(settings.home).redacted(first_line(exc)))
    return replace(check, model=model.name)


def _run_check(
    check: ModelCheck, spec: ModelSpec, settings: Settings, *, blind: bool
) -> ModelCheck:
    """Add the findings on a model to a check, or why nothing was checked."""
    if isinstance(spec, RecordedSpec):
        responses, file = read_recorded(check.model, spec, settings)
        return replace(check, note=f"responses in {file}: {len(responses)}; nothing else to check")
    kind, images = engine_kind(spec), SyntheticImages()
    if kind is None:
        return replace(check, note="a baseline; nothing to check")
    context = EngineContext(
        name=check.model,
        read_image=images.read,
        resolve=settings.resolve,
        spent=lambda _: TokenCounts(),
    )
    try:
        secrets = known_secrets(settings.home)
        raw_engine = _open_engine(_shorten_responses(spec), kind, context)
        with closing(RedactingEngine(raw_engine, secrets)) as engine:
            return run_probes(check, engine, images, blind=blind)
    except BenchError:
        raise
    except Exception as error:  # third-party code or files may raise anything
        raise ModelError(f"{check.place}: {type(error).__name__}: {first_line(error)}") from error


def _open_engine(spec: ModelSpec, kind: EngineKind[Any], context: EngineContext) -> Engine:
    """Open an engine; a local one without the findings that a home keeps."""
    if not isinstance(spec, TransformersSpec):
        return kind.engine(spec, context)
    from bench_resources.models.transformers.engine import TransformersEngine

    spec = resolve_local_paths(spec, context.resolve)
    return TransformersEngine(spec, spec.path, context.read_image)


def _shorten_responses(spec: AnySpec) -> AnySpec:
    """Limit the length of the responses of a model that generates them."""
    if not isinstance(spec, SamplingSection):
        return spec
    return spec.model_copy(update={"max_tokens": min(spec.max_tokens, _MAX_TOKENS)})
