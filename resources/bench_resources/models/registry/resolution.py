"""Finds the model that a command names, once, by its name or its location."""

from bench_assets.core.schema.elicitation import GENERATE
from bench_assets.core.schema.errors import ModelError, UnknownNameError
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.base import ModelSpec
from bench_resources.models.registry.named_models import (
    ENCODER,
    ResolvedModel,
    elicited,
    resolve_name,
)


def resolve(text: str, settings: Settings, elicit: str = "") -> ResolvedModel:
    """Find a model or an encoder by its name, or a model by its location (see ``locations``).

    ``elicit`` is a method of elicitation; "": none.

    Raises:
        UnknownNameError: If it is neither the name nor the location of a model.
        SettingsError: If an entry or the method is unknown, invalid or not applicable.
        ModelError: If a folder is not a checkpoint, a watched one does not exist any more, or its
            kind or weights cannot be used here.
    """
    from bench_resources.models.registry.locations import locate, path_exists

    try:
        model = resolve_name(text, settings)
    except UnknownNameError:
        if text in settings.encoders:
            path = str(settings.encoders[text].get("path"))
            model = ResolvedModel(name=text, spec=ModelSpec(kind=ENCODER), location=path)
        else:
            model = locate(text, settings)
    except ModelError:  # of a checkpoint that is gone, whose name may be a folder's too
        if not path_exists(text):
            raise
        model = locate(text, settings)
    return elicited(model, elicit, settings) if elicit not in ("", GENERATE) else model
