"""Config fields that make transformers load other files or code.

Whatever lies outside of the checkpoint is in no digest of it, so none may come from there.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import parse_json, quoted, read_bounded

_WEIGHTS = "transformers_weights"
_CODE = "auto_map"
_TOKENIZERS = "fast_tokenizer_files"
_POINTING = {
    *{"config.json", "preprocessor_config.json", "processor_config.json"},
    *{"tokenizer_config.json", "video_preprocessor_config.json"},
}
# A name that JSON spells with an escape is the same name: _ and small letters are \u005f to \u007a.
_SPELT = re.compile(rf'"({_WEIGHTS}|{_CODE}|{_TOKENIZERS})"|\\u00[5-7]'.encode())


def named_weights(config: Path) -> str | None:
    """The file of weights, or the index of several, that a configuration names; None without.

    Raises:
        ModelError: If it is none that transformers loads, or lies outside of the checkpoint.
    """
    said = _said(config)
    found = [one for one in _under(said, _WEIGHTS) if one is not None]
    if not found:
        return None
    if not isinstance(said, dict) or found != [said.get(_WEIGHTS)]:
        raise ModelError(f"{config}: {_WEIGHTS} is read at the top, and stands below it too")
    name = found[0]
    if not isinstance(name, str) or not name.endswith((".safetensors", ".safetensors.index.json")):
        raise ModelError(
            f"{config}: {_WEIGHTS} is {quoted(name)}, neither a .safetensors file nor an index"
            " of such files"
        )
    if leads_out(name):
        raise ModelError(f"{config}: {_WEIGHTS} is {quoted(name)}, outside of the checkpoint")
    return name


def refuse_what_lies_elsewhere(files: Iterable[Path]) -> None:
    """Refuse code and tokenizers that files name by a path; a hub's repository may be named.

    Raises:
        ModelError: If one does; names file and field.
    """
    for file in files:
        if file.name not in _POINTING:
            continue
        said = _said(file)
        for reference in _texts(_under(said, _CODE)):
            place, _, code = reference.rpartition("--")
            if "/" in code or _is_folder(place):
                raise ModelError(
                    f"{file}: {_CODE} names {quoted(reference)}, code in another folder; put it"
                    f" beside {file.name}, and name it MODULE.CLASS"
                )
        for name in _texts(_under(said, _TOKENIZERS)):
            if "/" in name:
                raise ModelError(
                    f"{file}: {_TOKENIZERS} names {quoted(name)}, in another folder; put it"
                    f" beside {file.name}"
                )


def leads_out(name: str) -> bool:
    """Whether a name in a folder is that of a file outside of it.

    >>> leads_out("sub/model.safetensors"), leads_out("../model.safetensors")
    (False, True)
    """
    return Path(name).is_absolute() or ".." in Path(name).parts


def _is_folder(place: str) -> bool:
    with suppress(OSError):  # a name that is too long
        return bool(place) and Path(place).is_dir()
    return False


def _said(file: Path) -> Any:  # noqa: ANN401 - JSON
    """What a file says, if any of the fields is in it; a tokenizer's may have a megabyte."""
    written = read_bounded(file)
    return parse_json(written, f"{file}: not JSON") if _SPELT.search(written) else None


def _under(said: Any, name: str) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """The values of a field, in whatever part of a configuration it stands."""
    below = [said]
    while below:
        one = below.pop()
        if isinstance(one, dict):
            if name in one:
                yield one[name]
            below.extend(one.values())
        elif isinstance(one, list):
            below.extend(one)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    below = list(values)
    while below:
        one = below.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            below.extend(one.values() if isinstance(one, dict) else one)
