"""The models of a command: names of bench.toml, paths, hub ids and server addresses."""

import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench_assets.core.schema.errors import (
    ModelError,
    SettingsError,
    SourceError,
    did_you_mean,
)
from bench_assets.core.tables.json_records import parse_json
from bench_assets.workspace.console.output import print_message

if TYPE_CHECKING:
    from bench_resources.config.bench_toml import Settings
    from bench_resources.models.registry.named_models import ResolvedModel

_MOST_LISTED = 20  # models of a server that an error lists
_PORTS = {"http": 80, "https": 443}
_CONNECT_TIMEOUT = 5.0  # s


def resolve_models(
    models: "Iterable[str | ResolvedModel]", settings: "Settings", elicit: str = ""
) -> "list[ResolvedModel]":
    """Find the models of a command, without duplicates; prints the names of new ones.

    Raises:
        BenchError: If a model or the method ``elicit`` is unknown.
    """
    from bench_resources.config.addresses import template_of_argument
    from bench_resources.config.sections.models import EMBEDDED_MODELS
    from bench_resources.models.registry.resolution import resolve

    resolved: dict[str, ResolvedModel] = {}
    for text in models:
        if not isinstance(text, str):
            if text.name in {**EMBEDDED_MODELS, **settings.models_of_file}:
                raise SettingsError(
                    f"name={text.name!r}: already the name of a model. Choose another"
                )
            resolved[text.name] = text
            continue
        model = resolve(text, settings, elicit)
        if resolved.setdefault(model.name, model) is not model:
            continue
        new, engine = model if model.section else model.base, model.base.engine
        if new.section and new.name not in settings.models:  # otherwise printed before
            called = template_of_argument(text)
            print_message(f"{called} is named {new.name} from now on{engine and f'; {engine}'}")
        elif engine and not model.base.section:
            print_message(f"{text} is {engine}")
    return list(resolved.values())


def sections_of(models: "Iterable[ResolvedModel]") -> dict[str, Mapping[str, Any]]:
    """Sections of models that were given by location, by name."""
    models = list(models)
    behind = sections_of(model.of for model in models if model.of) if models else {}
    return behind | {model.name: model.section for model in models if model.section}


def save_models(models: "Iterable[ResolvedModel]", settings: "Settings") -> None:
    """Store models given by location in the home, after checking that new ones are reachable.

    Raises:
        ModelError: If no server is listening at a new address, or the hub has no such model.
        HomeError: If the home cannot be written to.
    """
    from bench_resources.config.models_toml import read_models, save_models

    if not (sections := sections_of(models)):
        return
    existing = read_models(settings.home)
    for name, section in sections.items():
        if name not in existing and "base_url" in section:
            _check_connection(str(section["base_url"]))
            _check_served(section)
        if name not in existing and (path := str(section.get("path", ""))):
            from bench_resources.checkpoints.adapters import HUB_ID
            from bench_resources.checkpoints.identity import hub_commit

            if HUB_ID.fullmatch(path):
                hub_commit(path, str(section.get("revision") or "main"))
    save_models(settings.home, sections)


def _check_connection(address: str) -> None:
    """Connect once, so that an unreachable server fails before hundreds of requests are retried."""
    from bench_resources.config.addresses import fill_keys
    from bench_resources.http.pages import connection_problem

    parts = urlsplit(fill_keys(address))
    try:
        place = (parts.hostname or "", parts.port or _PORTS[parts.scheme])
        socket.create_connection(place, _CONNECT_TIMEOUT).close()
    except (OSError, ValueError, UnicodeError) as error:
        raise ModelError(f"{address}: {connection_problem(error)}") from error


def _check_served(section: Mapping[str, Any]) -> None:
    """Compare a model's name with ``/v1/models``; a server without that list passes.

    Raises:
        ModelError: If the server lists models, but not this one.
    """
    import httpx

    from bench_resources.config.addresses import fill_keys
    from bench_resources.config.environment import read_secret

    address, model = str(section["base_url"]), str(section["model"])
    variable = section.get("api_key_env")
    try:
        key = {"Authorization": f"Bearer {read_secret(str(variable))}"} if variable else {}
        answer = httpx.get(f"{fill_keys(address)}/models", headers=key, timeout=_CONNECT_TIMEOUT)
        listed = parse_json(answer.text) if answer.is_success else None
    except (httpx.HTTPError, SettingsError, SourceError, ValueError, RecursionError):
        return  # the first request reports the error
    rows = listed.get("data") if isinstance(listed, dict) else None
    names = [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]
    if names and model not in names and f"models/{model}" not in names:
        suggestion = did_you_mean(model, names)
        served = ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")
        raise ModelError(
            f"{address}: no model named {model!r}; it serves: {served}"
            f"{suggestion and f'; {suggestion}'}"
        )
