"""Models that a command is given by location, without a section of bench.toml.

``hf:org/name@revision``, ``path/to/checkpoint``, ``http://127.0.0.1:8000/v1#name``, or the name of
a model; each may be followed by settings of a section: ``my-model,temperature=0.7,n=4``.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from bench_assets.core.schema.errors import (
    ModelError,
    SettingsError,
    UnknownNameError,
    did_you_mean,
)
from bench_assets.core.schema.training_runs import checkpoint_name
from bench_resources.checkpoints.adapters import HUB_ID
from bench_resources.checkpoints.files import ADAPTER_CONFIG
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.checkpoints.training_layouts import layout_of
from bench_resources.config.addresses import shown_address, template_of, template_of_value
from bench_resources.config.bench_toml import Settings
from bench_resources.config.engine_choice import choose_engine, gguf_of
from bench_resources.config.environment import expand_user
from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.engine_kinds import spec_of
from bench_resources.config.sections.local_models import (
    AutoSpec,
    CheckpointSpec,
    TransformersSpec,
    VllmSpec,
)
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.models.registry.named_models import (
    ResolvedModel,
    content_in,
    known_names,
    location_of,
    parse_section,
    resolve_name,
)

FORMS = "hf:org/name, a checkpoint's folder and http://...#name need no section"

_HUB = "hf:"
_AUTO = "auto"  # kind of a checkpoint whose engine is chosen
_SETTING_COMMA = re.compile(r",(?=[a-z_]+=)")  # before each chosen setting
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=/-]+")  # forbidden in partition keys, see sections.models
_END_BYTES = 1 << 20  # bytes at each end of a GGUF file that identify it, with its size
_CONFIGS = ("config.json", ADAPTER_CONFIG)
_SHOWN = 3  # folders that a message names
_UNNAMED_SETTINGS = {"api_key_env", "key_header", "program"}  # responses do not depend on them


def locate(text: str, settings: Settings) -> ResolvedModel:
    """Find the model at a location.

    A model that has a section has the section's name. Otherwise a hub id is its own name, a
    server's model is named ``name@host-port``, and a checkpoint ``run/step@<8 digits of its
    content>``, as in a watched folder: other weights in the same folder are another model. A named
    model with settings is named after both; those of a blind one are for the model behind it.

    Raises:
        UnknownNameError: If it is no location.
        SettingsError: If an entry is unknown, invalid or given twice.
        ModelError: If a folder is not a checkpoint.
    """
    if not text.strip() or text.encode(errors="ignore").decode() != text:  # no file can name it
        names = known_names(settings)
        raise UnknownNameError(f"model in {settings.file}", text, names, also=FORMS)
    location, *assignments = [text] if path_exists(text) else _SETTING_COMMA.split(text)
    chosen = template_of_value(_parse_settings(assignments))
    if assignments and not path_exists(location) and location in known_names(settings):
        return _changed_model(location, assignments, chosen, settings)
    if location.startswith(_HUB) and not path_exists(location):
        name, section = _hub_section(location, settings)
    elif location.startswith(("http://", "https://")):
        name, section = _server_section(location)
    else:
        name, section = _folder_section(text, location, settings)
    name, section = _partition_key(name, chosen), {**section, **chosen}
    section, engine = _with_engine(name, section, settings)
    model = _model_of_section(name, section, location, settings)
    if model.section and model.name not in settings.models:
        with suppress(ModelError, UnknownNameError):
            return resolve_name(model.name, settings)  # of a watched folder
    return replace(model, engine=engine if model.section else "")


def _changed_model(
    name: str, assignments: Sequence[str], chosen: Mapping[str, Any], settings: Settings
) -> ResolvedModel:
    """A named model with chosen settings; those of a derived model are for the one behind it."""
    key, section = _partition_key(name, chosen), _section_of(name, settings)
    inner = resolve_name(name, settings).of
    if not inner:
        return _model_of_section(key, {**section, **chosen}, name, settings)
    changed = locate(",".join([inner.name, *assignments]), settings)
    model = _model_of_section(key, {**section, "of": changed.name}, name, settings)
    return replace(model, of=changed)


def locate_responses(file: Path, model: str, settings: Settings) -> ResolvedModel:
    """Name a model whose responses are in a file; another file or section gets another name."""
    section = {"kind": "recorded", "file": str(file.resolve()), "model": model}
    name = _partition_key(model, {}) or file.stem
    return _model_of_section(name, section, str(file), settings)


def refuse_changed_checkpoint(model: ResolvedModel) -> None:
    """Refuse a checkpoint whose content has changed since it was named after it.

    Raises:
        ModelError: If its folder holds other weights.
    """
    folder = Path(model.location)
    if not model.content or not folder.is_dir():
        return
    file = model.spec.gguf_file if isinstance(model.spec, TransformersSpec) else None
    content = _digest_ends(folder / file) if file else fingerprint(folder)
    if content != model.content:
        again = "They get" if model.is_watched else "Give the folder again as --model; they get"
        raise ModelError(f"{model.name}: {folder} holds other weights now. {again} a new name")


def _with_engine(
    name: str, section: dict[str, Any], settings: Settings
) -> tuple[dict[str, Any], str]:
    """Choose the engine of a checkpoint, unless this command or an earlier one has chosen it.

    Returns:
        The section with its kind, and a message on an engine that was chosen here.
    """
    kind, earlier = section.get("kind", _AUTO), settings.models.get(name)
    if kind not in (_AUTO, *AutoSpec.own_fields()):
        return section, ""
    chosen = choose_engine(section, Path(section["path"]))
    if kind == _AUTO and isinstance(earlier, CheckpointSpec):  # other engines have other responses
        kind = earlier.kind
    if kind != _AUTO:
        return {**chosen.section, "kind": kind}, ""
    return chosen.section, chosen.message


def path_exists(text: str) -> bool:
    """Whether a text is the path of a file or folder."""
    try:
        return expand_user(text).exists()
    except OSError:  # it is longer than a path can be
        return False


def _hub_section(location: str, settings: Settings) -> tuple[str, dict[str, Any]]:
    """Name and section of a hub id, with its revision if it names one."""
    hub_id = location.removeprefix(_HUB).removeprefix("//")
    path, separator, revision = hub_id.partition("@")
    if not HUB_ID.fullmatch(path) or (separator and not revision):
        raise SettingsError(f"{location}: expected hf:org/name or hf:org/name@revision")
    for folder in (Path(path), settings.resolve(path)):
        if folder.exists():
            raise SettingsError(
                f"{location}: the folder {folder.absolute()} has this path too. Give the folder as"
                f" ./{path}, or change the working directory to use the hub"
            )
    return hub_id, {"path": path, **({"revision": revision} if revision else {})}


def _server_section(location: str) -> tuple[str, dict[str, Any]]:
    """Name and section of a model behind a server: ``address#model``."""
    address, _, model = location.partition("#")
    address = template_of(address.rstrip("/"))
    if not model:
        displayed = shown_address(address)
        raise SettingsError(f"{displayed}: no model name. Add one, as in {displayed}#NAME")
    url = urlsplit(address)
    _, _, host_and_port = url.netloc.rpartition("@")  # without a password
    server = re.sub(r"[^A-Za-z0-9.]+", "-", host_and_port).strip("-")
    path = url.path.strip("/").removesuffix("v1").strip("/")
    name = f"{model}@{server}/{path}" if path else f"{model}@{server}"
    return name, {"kind": "server", "base_url": address, "model": model}


def _section_of(name: str, settings: Settings) -> dict[str, Any]:
    """The section of a model of bench.toml, or of an embedded one."""
    spec = resolve_name(name, settings).spec
    derived = {"serve", "server"} if isinstance(spec, VllmSpec) else None
    return spec.model_dump(mode="json", exclude_unset=True, by_alias=True, exclude=derived)


def _folder_section(text: str, location: str, settings: Settings) -> tuple[str, dict[str, Any]]:
    """Name and section of a checkpoint's folder; an error suggests similar names."""
    path = expand_user(location)
    if path_exists(location):
        return _checkpoint_section(path.resolve(), location)
    if location.startswith((".", "/", "~")) or ("/" in location and path.parent.is_dir()):
        siblings = path.parent.iterdir() if path.parent.is_dir() else ()
        folders = (sibling.name for sibling in siblings if sibling.is_dir())
        hints = [f"{location}: no such folder", did_you_mean(path.name, folders)]
        raise ModelError("; ".join(filter(None, hints)))
    names = known_names(settings)
    if "/" in location:
        hub_hint = f"on the hub: hf:{location}" if HUB_ID.fullmatch(location) else ""
        message = f"{location}: no such folder, and no model of this name"
        hints = [message, did_you_mean(location, names), hub_hint]
        raise ModelError("; ".join(filter(None, hints)))
    raise UnknownNameError(f"model in {settings.file}", text, names, also=FORMS)


def _checkpoint_section(path: Path, location: str) -> tuple[str, dict[str, Any]]:
    """Name and section of a checkpoint; its name contains its content."""
    if not path.is_dir() and path.suffix != ".gguf":
        raise ModelError(f"{location} is not a checkpoint (expected a folder or a .gguf file)")
    file = path if path.is_file() else gguf_of(path)
    if file:
        name = f"{checkpoint_name([file.parent.name, file.stem])}@{_digest_ends(file)}"
        return name, {"path": str(file)}
    try:
        content = fingerprint(path)
    except (ModelError, OSError) as error:
        if layout := layout_of(path):
            raise ModelError(layout.message) from error
        problem = f"{error}{_checkpoint_hint(path)}"
        raise ModelError(f"{location} is not a checkpoint: {problem}") from error
    return f"{checkpoint_name([path.parent.name, path.name])}@{content}", {"path": str(path)}


def _checkpoint_hint(folder: Path) -> str:
    """Hint on the checkpoints below a folder, for the folder of a whole run; "" without any."""
    patterns = [f"{depth}/{name}" for depth in ("*", "*/*") for name in _CONFIGS]
    files = [file for pattern in patterns for file in folder.glob(pattern)]
    folders = sorted({str(file.parent.relative_to(folder)) for file in files})
    more = f" and {len(folders) - _SHOWN} more" if len(folders) > _SHOWN else ""
    return f"; it contains {', '.join(folders[:_SHOWN])}{more}" if folders else ""


def _digest_ends(file: Path) -> str:
    """First digits of a digest of a file's size, beginning and end."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        digest = sha256(f"{size}\n".encode() + stream.read(_END_BYTES))
        stream.seek(max(0, size - _END_BYTES))
        digest.update(stream.read())
    return digest.hexdigest()[:8]


def _parse_settings(assignments: Sequence[str]) -> dict[str, Any]:
    """Read each ``name=value``, with a value of TOML, or else a text; raises on duplicates."""
    settings: dict[str, Any] = {}
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        if name in settings:
            raise SettingsError(f"{name}: given twice for one model. Remove one")
        try:
            settings[name] = tomllib.loads(f"value = {value}")["value"]
        except ValueError:
            settings[name] = value
    return settings


def _partition_key(name: str, chosen: Mapping[str, Any]) -> str:
    """Build a partition key from a name and the chosen settings; "" if the name has only marks."""
    suffixes = [f"+{n}={v}" for n, v in sorted(chosen.items()) if n not in _UNNAMED_SETTINGS]
    raw_parts = shown_address("".join([name, *suffixes])).split("/")
    parts = [_UNSAFE.sub("-", part).strip("-") for part in raw_parts]
    return "/".join(part for part in parts if part.strip(".")).lstrip("._@+=-/")


def _model_of_section(
    name: str, section: dict[str, Any], location: str, settings: Settings
) -> ResolvedModel:
    """The model of bench.toml with an equal section, else a new one under a free name."""
    spec = parse_section(spec_of(section["kind"]), section, template_of(location))
    sections = {**EMBEDDED_MODELS, **settings.models_of_file}
    for existing_name, existing_spec in sections.items():
        if _normalize_spec(existing_spec, settings) == _normalize_spec(spec, settings):
            return resolve_name(existing_name, settings)
    existing = {**EMBEDDED_MODELS, **settings.models}.get(name)
    # The name of a checkpoint outside the file contains its content, which may be elsewhere now.
    is_moved = isinstance(existing, CheckpointSpec) and name not in sections
    if existing not in (None, spec) and not is_moved:
        name += f"+{sha256(orjson.dumps(section, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]}"
    return ResolvedModel(
        name=name,
        spec=spec,
        location=location_of(spec, settings),
        content=content_in(name),
        section=section,
    )


def _normalize_spec(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """A spec with its engine chosen and its folder absolute, for comparison with another."""
    if isinstance(spec, AutoSpec):
        with suppress(ModelError):
            spec = choose_engine(spec.model_dump(), settings.resolve(spec.path)).spec
    if isinstance(spec, CheckpointSpec) and settings.resolve(spec.path).exists():
        return spec.model_copy(update={"path": str(settings.resolve(spec.path).resolve())})
    return spec
