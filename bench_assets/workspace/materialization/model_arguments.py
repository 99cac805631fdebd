"""The models of a command: names of bench.toml, paths, hub ids and server addresses."""

import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench_assets.core.schema.errors import BenchError, ModelError, SettingsError, did_you_mean
from bench_assets.core.tables.json_records import parse_json
from bench_assets.workspace.console.output import print_message

if TYPE_CHECKING:
    from bench_resources.config.bench_toml import Settings
    from bench_resources.models.registry.named_models import ResolvedModel

_MOST_LISTED = 20  # models of a server that an error lists
_PORTS = {"http": 80, "https": 443}
_CONNECT_TIMEOUT = 5.0  # s to connect to a server


def resolve_models(
    models: "Iterable[str | ResolvedModel]", settings: "Settings", elicit: str = ""
) -> "list[ResolvedModel]":
    """Find the models of a command, without duplicates; prints the names of new ones.

    Raises:
        BenchError: If a model or the method ``elicit`` is unknown, or a resolved name taken.
    """
    from bench_resources.config.sections.models import EMBEDDED_MODELS
    from bench_resources.models.registry.resolution import resolve

    resolved: dict[str, ResolvedModel] = {}
    for argument in models:
        if not isinstance(argument, str):
            if argument.name in {**EMBEDDED_MODELS, **settings.models_of_file}:
                raise SettingsError(
                    f"name={argument.name!r}: already the name of a model. Choose another"
                )
            resolved[argument.name] = argument
            continue
        model = resolve(argument, settings, elicit)
        if resolved.setdefault(model.name, model) is model:
            _print_resolution(argument, model, settings)
    return list(resolved.values())


def _print_resolution(argument: str, model: "ResolvedModel", settings: "Settings") -> None:
    """Print the name of a model given by location if it is new, and the chosen engine."""
    from bench_resources.config.addresses import template_of_argument

    located = model if model.section else model.base
    engine = model.base.engine
    if located.section and located.name not in settings.models:  # otherwise printed before
        note = f"; {engine}" if engine else ""
        location = template_of_argument(argument)
        print_message(f"{location} is named {located.name} from now on{note}")
    elif engine and not model.base.section:
        print_message(f"{argument} is {engine}")


def sections_of(models: "Iterable[ResolvedModel]") -> dict[str, Mapping[str, Any]]:
    """Sections of models that were given by location and of the models behind them, by name."""
    models = list(models)
    if not models:
        return {}
    base_sections = sections_of(model.of for model in models if model.of)
    return base_sections | {model.name: model.section for model in models if model.section}


def save_models(models: "Iterable[ResolvedModel]", settings: "Settings") -> None:
    """Store models given by location in the home, after checking that new ones are reachable.

    Raises:
        ModelError: If no server is listening at a new address, or it or the hub lacks the model.
        HomeError: If the home cannot be written to.
    """
    from bench_resources.checkpoints.adapters import HUB_ID
    from bench_resources.checkpoints.identity import hub_commit
    from bench_resources.config.models_toml import read_models, save_models

    sections = sections_of(models)
    if not sections:
        return
    existing = read_models(settings.home)
    for name, section in sections.items():
        if name in existing:
            continue
        if "base_url" in section:
            _check_connection(str(section["base_url"]))
            _check_served(section)
        path = str(section.get("path") or "")
        if HUB_ID.fullmatch(path):
            hub_commit(path, str(section.get("revision") or "main"))  # raises if there is none
    save_models(settings.home, sections)


def _check_connection(address: str) -> None:
    """Connect once, so that an unreachable server fails before hundreds of requests are retried."""
    from bench_resources.config.addresses import fill_keys
    from bench_resources.http.pages import connection_problem

    url = urlsplit(fill_keys(address))
    try:
        endpoint = (url.hostname or "", url.port or _PORTS[url.scheme])
        socket.create_connection(endpoint, _CONNECT_TIMEOUT).close()
    except (OSError, ValueError, UnicodeError) as error:
        raise ModelError(f"{address}: {connection_problem(error)}") from error


def _check_served(section: Mapping[str, Any]) -> None:
    """Raise ``ModelError`` if ``/v1/models`` lists other models only; no list passes."""
    import httpx

    from bench_resources.config.addresses import fill_keys
    from bench_resources.config.environment import read_secret

    address, model = str(section["base_url"]), str(section["model"])
    variable = section.get("api_key_env")
    try:
        headers = {"Authorization": f"Bearer {read_secret(str(variable))}"} if variable else {}
        url = f"{fill_keys(address)}/models"
        response = httpx.get(url, headers=headers, timeout=_CONNECT_TIMEOUT)
        listed = parse_json(response.text) if response.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, BenchError, ValueError, RecursionError):
        return  # the first request reports the error
    rows = listed.get("data") if isinstance(listed, dict) else None
    rows = rows if isinstance(rows, list) else ()
    names = [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row]
    if names and model not in names and f"models/{model}" not in names:
        served = ", ".join(names[:_MOST_LISTED]) + (", ..." if len(names) > _MOST_LISTED else "")
        message = f"{address}: no model named {model!r}; it serves: {served}"
        suggestion = did_you_mean(model, names)
        raise ModelError(f"{message}; {suggestion}" if suggestion else message)
