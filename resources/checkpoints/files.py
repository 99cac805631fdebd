"""Files that loading a checkpoint reads, and their digests.

A configuration may make transformers load files or code outside of the checkpoint. These would be
in no digest, and are refused.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import file_digest, sha256
from os.path import lexists
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.file_access import (
    open_regular,
    quoted_name,
    read_json,
    regular_file_stat,
)

_WEIGHTS = "transformers_weights"
_CODE = "auto_map"
_TOKENIZERS = "fast_tokenizer_files"
_POINTING = {
    *{"config.json", "preprocessor_config.json", "processor_config.json"},
    *{"tokenizer_config.json", "video_preprocessor_config.json"},
}


def named_weights(config: Path) -> str | None:
    """The weight file or index that a configuration names; None without.

    Raises:
        ModelError: If it is none that transformers loads, or lies outside of the checkpoint.
    """
    said = read_json(config)
    found = [one for one in _field_values(said, _WEIGHTS) if one is not None]
    if not found:
        return None
    if not isinstance(said, dict) or found != [said.get(_WEIGHTS)]:
        raise ModelError(f"{config}: {_WEIGHTS} is read at the top, and stands below it too")
    name = found[0]
    if not isinstance(name, str) or not name.endswith((".safetensors", ".safetensors.index.json")):
        raise ModelError(
            f"{config}: {_WEIGHTS} is {quoted_name(name)}, neither a .safetensors file nor an index"
            " of such files"
        )
    if is_outside(name):
        raise ModelError(f"{config}: {_WEIGHTS} is {quoted_name(name)}, outside of the checkpoint")
    return name


def refuse_outside_files(files: Iterable[Path]) -> None:
    """Refuse configurations that name code or tokenizers by a path.

    Raises:
        ModelError: If one does; names file and field.
    """
    for file in files:
        if file.name not in _POINTING:
            continue
        said = read_json(file)
        for reference in _texts(_field_values(said, _CODE)):
            place, _, code = reference.rpartition("--")
            if "/" in code or _is_folder(place):
                raise ModelError(
                    f"{file}: {_CODE} names {quoted_name(reference)}, code in another folder;"
                    " put it"
                    f" beside {file.name}, and name it MODULE.CLASS"
                )
        for name in _texts(_field_values(said, _TOKENIZERS)):
            if "/" in name:
                raise ModelError(
                    f"{file}: {_TOKENIZERS} names {quoted_name(name)}, in another folder; put it"
                    f" beside {file.name}"
                )


def is_outside(name: str) -> bool:
    """Whether a relative name leads out of its folder.

    >>> is_outside("sub/model.safetensors"), is_outside("../model.safetensors")
    (False, True)
    """
    return Path(name).is_absolute() or ".." in Path(name).parts


def _is_folder(place: str) -> bool:
    with suppress(OSError):  # a name that is too long
        return bool(place) and Path(place).is_dir()
    return False


def _field_values(said: Any, name: str) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """The values of a field at any depth of a configuration."""
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


ADAPTER_CONFIG = "adapter_config.json"
"""What tells an adapter's folder."""
ADAPTER_WEIGHTS = {"adapter_model.safetensors", "adapter_model.bin"}
"""What an adapter's weights are called; one is enough."""

_READ_WHEN_LOADED = {
    *{".bpe", ".jinja", ".json", ".model", ".py", ".safetensors", ".spm", ".tiktoken", ".txt"},
}
_WRITTEN_BY_TRAINERS = re.compile(
    r"trainer_.*|training_args.*|args\.json|.*_results\.json|requirements\.txt|zero_to_fp32\.py"
)
_TOKENIZER = re.compile(
    r"tokenizer(_config)?\.json|tokenizer\.model|vocab\.(json|txt)|tekken\.json"
    r"|s(entence)?piece.*\.model|.*\.(tiktoken|spm)|tokenization_\w+\.py"
)
_PROCESSOR = {
    *{"added_tokens.json", "chat_template.jinja", "chat_template.json", "merges.txt"},
    *{"preprocessor_config.json", "processor_config.json", "special_tokens_map.json"},
    *{"video_preprocessor_config.json"},
}
# Folders in a checkpoint's that transformers reads: templates, and a tokenizer for every part of a
# processor whose name has the word in it (InstructBLIP's qformer_tokenizer); trusted code.
_OF_PROCESSOR = re.compile(r"additional_chat_templates|(?!tokenizer$)\w*tokenizer\w*")
_FOLDERS_READ = re.compile(rf"{_OF_PROCESSOR.pattern}|custom_generate")
_MOST_BESIDE_WEIGHTS = 256 * 2**20  # bytes; the largest tokenizers have 40 MB
_FOLDERS_ABOVE = 2  # runs/sft/v0/checkpoint-500: the run's root is one or two above
_SHARD = re.compile(r"(?P<stem>model|pytorch_model)-\d+-of-\d+\.(?P<kind>safetensors|bin)")
_WHOLE = ("model.safetensors", "pytorch_model.bin")


def loaded_files(folder: Path, gguf_file: str | None = None) -> list[Path]:
    """Every file of a checkpoint or adapter that loading reads, sorted.

    Raises:
        ModelError: If there is no such folder, a file is missing that must be there, or what lies
            under the name of one is none.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder")
    if gguf_file:
        return [_existing(folder / gguf_file), *sorted(_read_below(folder, _FOLDERS_READ))]
    read = [*_read(folder), *_read_below(folder, _FOLDERS_READ)]
    refuse_outside_files(read)
    if is_adapter(folder):
        return sorted({*read, *_adapter_weights(folder)})
    _existing(folder / "config.json")
    return sorted({*read, *_weights(folder)})


def processor_files(folder: Path) -> list[Path]:
    """Every file of a tokenizer or processor, sorted.

    Raises:
        ModelError: As ``loaded_files``, for those in folders of this one.
    """
    read = [
        _existing(file)
        for file in folder.iterdir()
        if file.is_file()
        and (_TOKENIZER.fullmatch(file.name) or file.name in _PROCESSOR or file.suffix == ".py")
    ]
    read += _read_below(folder, _OF_PROCESSOR)
    refuse_outside_files(read)
    return sorted(read)


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder has a tokenizer; False if it is unreadable."""
    try:
        return any(_TOKENIZER.fullmatch(file.name) for file in folder.iterdir())
    except OSError:
        return False


def processor_above(folder: Path) -> Path | None:
    """The nearest parent folder with a tokenizer, at most two levels up."""
    if has_tokenizer(folder):
        return None
    return next(filter(has_tokenizer, list(folder.absolute().parents)[:_FOLDERS_ABOVE]), None)


def watched_files(folder: Path) -> list[Path]:
    """Every file that identifies a watched checkpoint; without an adapter's base.

    Raises:
        ModelError: If a file is missing that must be there.
    """
    above = processor_above(folder)
    return [*loaded_files(folder), *(processor_files(above) if above else [])]


def has_image_processor(folder: Path) -> bool:
    """Whether a folder has an image processor's configuration."""
    return any((folder / f"{name}_config.json").is_file() for name in ("preprocessor", "processor"))


def is_adapter(folder: Path) -> bool:
    """Whether a folder is a PEFT adapter."""
    return (folder / ADAPTER_CONFIG).is_file()


def has_weights(names: Iterable[str]) -> bool:
    """Whether any of these names is a weight file.

    >>> has_weights(["config.json"]), has_weights(["model-00001-of-00002.safetensors"])
    (False, True)
    """
    signs = {*_WHOLE, *(f"{name}.index.json" for name in _WHOLE)}
    return any(name in signs or _SHARD.fullmatch(name) for name in names)


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ModelError: If it is none, or is no file.
        OSError: If the file disappears meanwhile.
    """
    written = read_json(file)
    if not isinstance(written, dict):
        raise ModelError(f"{file}: not a JSON object")
    return written


def content_digest(files: Iterable[Path]) -> str:
    """SHA-256 of names and bytes of files, 16 hexadecimal digits."""
    listed = list(files)
    with ThreadPoolExecutor() as threads:
        digests = list(threads.map(_file_digest, listed))
    named = zip(relative_names(listed), digests, strict=True)
    return sha256("\n".join(f"{name} {digest}" for name, digest in named).encode()).hexdigest()[:16]


def relative_names(files: Sequence[Path]) -> list[str]:
    """Names of files relative to their checkpoint.

    >>> relative_names([Path("m/config.json"), Path("m/qformer_tokenizer/vocab.txt")])
    ['config.json', 'qformer_tokenizer/vocab.txt']
    """
    folders = {file.parent for file in files}
    return [
        f"{file.parent.name}/{file.name}"
        if _FOLDERS_READ.fullmatch(file.parent.name) and file.parent.parent in folders
        else file.name
        for file in files
    ]


def _read(folder: Path) -> list[Path]:
    return [
        _existing(file, None if file.suffix == ".safetensors" else _MOST_BESIDE_WEIGHTS)
        for file in folder.iterdir()
        if file.suffix in _READ_WHEN_LOADED and not _WRITTEN_BY_TRAINERS.fullmatch(file.name)
    ]


def _read_below(folder: Path, read: re.Pattern[str]) -> list[Path]:
    """Files other than weights in subfolders that transformers reads."""
    return [
        _existing(file, _MOST_BESIDE_WEIGHTS)
        for below in folder.iterdir()
        if read.fullmatch(below.name) and below.is_dir()
        for file in _listed(below)
        if file.suffix in _READ_WHEN_LOADED - {".safetensors"}
        and not _WRITTEN_BY_TRAINERS.fullmatch(file.name)
    ]


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as why:
        raise ModelError(f"{folder}: cannot be read: {why.strerror}") from why


def _weights(folder: Path) -> list[Path]:
    """The named weights, or else the first kind present, in the order of transformers."""
    if named := named_weights(folder / "config.json"):
        first = _existing(folder / named)
        further = _shards(first) if first.suffix == ".json" else []
        return [first, *(_existing(folder / name) for name in further)]
    for whole in _WHOLE:
        index = folder / f"{whole}.index.json"
        shards = [_existing(folder / shard) for shard in _shards(index)] if lexists(index) else []
        alone = [_existing(folder / whole)] if lexists(folder / whole) else []
        if shards or alone:
            return [*alone, *shards]
    for file in sorted(folder.iterdir()):
        if shard := _SHARD.fullmatch(file.name):
            raise ModelError(f"{folder}: {shard['stem']}.{shard['kind']}.index.json is missing")
    raise ModelError(f"{folder}: no weights: neither model.safetensors nor its index is there")


def _adapter_weights(folder: Path) -> list[Path]:
    for name in sorted(ADAPTER_WEIGHTS, reverse=True):  # safetensors first, as PEFT has it
        if lexists(folder / name):
            return [_existing(folder / name)]
    raise ModelError(f"{folder}: adapter_model.safetensors is missing")


def _shards(index: Path) -> list[str]:
    """File names in the index of shards."""
    try:
        of_tensor = read_object(index).get("weight_map")
    except ModelError as why:
        raise ModelError(f"{why}; not an index of shards") from why
    if not isinstance(of_tensor, dict):
        raise ModelError(f"{index}: not an index of shards (no weight_map)")
    kind = index.name.removesuffix(".index.json").rpartition(".")[2]
    for tensor, shard in of_tensor.items():
        if not isinstance(shard, str) or not shard.endswith(f".{kind}"):
            raise ModelError(
                f"{index}: {quoted_name(tensor)} lies in {quoted_name(shard)}, no .{kind} file"
            )
        if is_outside(shard):
            raise ModelError(
                f"{index}: {quoted_name(tensor)} lies in {quoted_name(shard)}, outside of the"
                " checkpoint"
            )
    return sorted(set(of_tensor.values()))


def _existing(file: Path, most: int | None = None) -> Path:
    size = regular_file_stat(file).st_size
    if most is not None and size > most:
        raise ModelError(f"{file}: {size} bytes; no more than {most} are read of it")
    try:
        file.name.encode()
    except UnicodeEncodeError as why:
        raise ModelError(f"{file}: its name is not UTF-8; rename it") from why
    return file


def _file_digest(file: Path) -> str:
    with open_regular(file) as opened:
        return file_digest(opened, "sha256").hexdigest()
