"""What a run takes of the machine that it runs on, and which folders it reads there."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import dagster as dg

from resources.config.bench_toml import Settings
from resources.config.sections.base import ModelSpec
from resources.config.sections.local_models import PLAIN_TEMPLATE, LocalSpec
from resources.config.sections.models import BlindSpec

_MODEL = "dagster/partition"


def needs_of(run: dg.DagsterRun, settings: Settings) -> dict[str, float]:
    """What a run takes: that of its model, if that has its weights where the run is.

    Raises:
        UnknownNameError: If there is no model of that name, or no more.
    """
    spec = _model_of(run, settings)
    if not isinstance(spec, LocalSpec) or spec.on == "ray":
        return {"cpu": 1}  # its replicas, or a server, have all the rest
    return {"cpu": 1, "gpu": spec.gpus, **spec.needs}


def folders_of(run: dg.DagsterRun, settings: Settings) -> list[str]:
    """Files and folders that every machine must have under the same name for a run.

    Of a run over a model, those of the model; of one that builds questions, the sources.

    Raises:
        UnknownNameError: If there is no model of that name, or no more.
    """
    if spec := _model_of(run, settings):
        return list(dict.fromkeys(_places_of(spec, settings)))
    sources = (settings.sources.get(suite, "") for suite in _suites_of(run))
    return [str(there) for one in sources if one and (there := settings.resolve(one)).exists()]


def _model_of(run: dg.DagsterRun, settings: Settings) -> ModelSpec | None:
    name = run.tags.get(_MODEL)
    if name is None:
        return None
    spec = settings.model(name)
    return settings.model(spec.of) if isinstance(spec, BlindSpec) else spec


def _places_of(spec: ModelSpec, settings: Settings) -> Iterator[str]:
    if not isinstance(spec, LocalSpec):
        return
    template = "" if spec.chat_template == PLAIN_TEMPLATE else spec.chat_template
    for place in (spec.path, spec.base, spec.processor, template):
        if place and ((there := settings.resolve(place)).exists() or Path(place).is_absolute()):
            yield str(there)


def _suites_of(run: dg.DagsterRun) -> Iterable[str]:
    return sorted({key.path[0] for key in run.asset_selection or ()})
