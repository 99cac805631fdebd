"""Measures one contender after the other, each in a process of its own."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any, TypeAlias
from unittest.mock import patch

from bench_resources.checkpoints.hub_access import first_line
from benchmarks.gpu.checkpoints import REAL, TINY, Model
from benchmarks.gpu.contenders import CONTENDERS, Ask, Scene
from benchmarks.gpu.questions import Album
from benchmarks.gpu.rows import Row, Run
from benchmarks.gpu.watching import Watching
from tests.resources.models.vllm import fake_vllm

_FIRST_TOKENS = 3  # of which the fastest counts
_WARM_UP = -1  # seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A contender, and how it is set."""

    engine: str
    name: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)  # of the scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, and where."""

    models: Sequence[Model]
    settings: Sequence[Setting]
    questions: Mapping[int, int]  # longest response -> how many questions
    batch_size: int
    device: str  # "cuda"; on the "cpu" stand-ins answer for vLLM


SETTINGS = (
    Setting(engine="plain generate"),
    Setting(engine="transformers"),
    Setting(engine="transformers", name="static cache", changed={"cache": "static"}),
    Setting(engine="transformers", name="compile", changed={"compile": True}),
    Setting(
        engine="transformers",
        name="compile, static cache",
        changed={"compile": True, "cache": "static"},
    ),
    Setting(engine="transformers", name="2 devices", changed={"n_devices": 2}),
    Setting(engine="vLLM alone"),
    Setting(engine="vllm"),
    Setting(engine="vLLM server"),
)
"""Every contender with its settings."""

REAL_PLAN = Plan(
    models=REAL,
    settings=SETTINGS,
    questions={8: 512, 512: 64},
    batch_size=32,
    device="cuda",
)
TINY_PLAN = Plan(
    models=TINY,
    settings=[one for one in SETTINGS if "compile" not in one.name],  # minutes, also if tiny
    questions={2: 4, 4: 3},
    batch_size=2,
    device="cpu",
)

Runs: TypeAlias = dict[int, Run]  # by longest response
Measure: TypeAlias = Callable[[str, Scene, Mapping[int, int]], Runs]


def measured(plan: Plan, folder: Path, measure: Measure | None = None) -> Iterator[Row]:
    """Make each model and measure everything about it.

    Args:
        plan: What is measured.
        folder: Where checkpoints and images are written.
        measure: By default in a process of its own.
    """
    for number, model in enumerate(plan.models):
        scene = Scene(
            checkpoint=folder / f"model-{number}",
            album=Album(folder=folder / f"images-{number}"),
            batch_size=plan.batch_size,
            device=plan.device,
        )
        for setting in plan.settings:
            runs, why_not = _runs(plan, model, scene, setting, measure or apart)
            for max_tokens in plan.questions:
                yield Row(
                    model=model.name,
                    max_tokens=max_tokens,
                    engine=setting.engine,
                    setting=setting.name,
                    run=runs.get(max_tokens),
                    why_not=why_not,
                )
        if scene.checkpoint.exists():
            rmtree(scene.checkpoint)  # gigabytes


def about(plan: Plan) -> str:
    """What a plan measures, in one line."""
    models = ", ".join(model.name for model in plan.models)
    settings = ", ".join(" ".join(filter(None, (one.engine, one.name))) for one in plan.settings)
    asked = " and ".join(f"{n} responses of {most} tokens" for most, n in plan.questions.items())
    return f"samples/s, tokens/s, GPU busy and memory of {models}: {asked}; engines: {settings}"


def missing(plan: Plan, engine: str, n_devices: int) -> str:
    """Say what hardware or package a measurement lacks; "" if nothing."""
    if plan.device == "cpu":
        return ""
    import torch

    there = torch.cuda.device_count()
    if there < n_devices:
        return f"{there} CUDA devices, not {n_devices}" if there else "no CUDA device"
    if "vllm" in engine.lower() and find_spec("vllm") is None:
        return "vllm is not installed"
    return ""


def apart(engine: str, scene: Scene, questions: Mapping[int, int]) -> Runs:
    """Measure in a process of its own, so that the next one finds the memory free."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(here, engine, scene, questions).result()


def here(engine: str, scene: Scene, questions: Mapping[int, int]) -> Runs:
    """Measure in this process: warm up, then the first token, then everything at once."""
    stand_ins = fake_vllm.modules() if scene.device == "cpu" else {}
    with (
        patch.dict(sys.modules, stand_ins),
        CONTENDERS[engine](scene) as ask,
        Watching(scene.n_devices) as watching,
    ):
        return {
            max_tokens: _run(ask, scene, watching, n, max_tokens)
            for max_tokens, n in questions.items()
        }


def _runs(
    plan: Plan, model: Model, scene: Scene, setting: Setting, measure: Measure
) -> tuple[Runs, str]:
    """Measure one setting; without a run, say why there is none."""
    if why_not := missing(plan, setting.engine, int(setting.changed.get("n_devices", 1))):
        return {}, why_not
    try:
        if not scene.checkpoint.exists():
            scene.checkpoint.mkdir()
            scene.album.folder.mkdir()
            model.save(scene.checkpoint, model.size)
        return measure(setting.engine, replace(scene, **setting.changed), plan.questions), ""
    except BrokenProcessPool:
        return {}, "its process died"
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is measured
        return {}, first_line(error)


def _run(ask: Ask, scene: Scene, watching: Watching, n: int, max_tokens: int) -> Run:
    few = scene.album.questions(2 * scene.batch_size * scene.n_devices, seed=_WARM_UP)
    ask(few, max_tokens)
    first = None if scene.n_devices > 1 else _first_token(ask, scene.album)
    asked = scene.album.questions(n, seed=max_tokens)
    watching.forget()
    start = perf_counter()
    tokens = ask(asked, max_tokens)
    seconds = perf_counter() - start
    return Run(
        samples=n,
        tokens=tokens,
        seconds=seconds,
        first_token=first,
        busy=watching.busy,
        memory=watching.memory,
    )


def _first_token(ask: Ask, album: Album) -> float:
    """Seconds of one question alone that is answered with one token; the least of a few."""
    taken = []
    for number in range(_FIRST_TOKENS):
        question = album.questions(1, seed=_WARM_UP - 1 - number)
        start = perf_counter()
        ask(question, 1)
        taken.append(perf_counter() - start)
    return min(taken)
