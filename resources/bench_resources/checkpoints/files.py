"""Files that loading a checkpoint reads, their digests, and positions of tensors in them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import file_digest, sha256
from math import prod
from os import fsencode
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from bench_assets.core.schema.errors import ModelError

_LONGEST = 120  # characters of a value that a message shows
_WEIGHTS = "transformers_weights"
ADAPTER_CONFIG = "adapter_config.json"
"""File that marks a folder as a PEFT adapter."""
LAYERS = "modules.json"
"""File in which a sentence-transformers model lists its layers, and their folders."""

_READ_WHEN_LOADED = {
    *{".bpe", ".jinja", ".json", ".model", ".py", ".safetensors", ".spm", ".tiktoken", ".txt"}
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
# Subfolders that transformers reads: chat templates, tokenizers of the parts of a processor
# (InstructBLIP's qformer_tokenizer), and trusted code.
_PROCESSOR_FOLDERS = re.compile(r"additional_chat_templates|(?!tokenizer$)\w*tokenizer\w*")
_READ_FOLDERS = re.compile(rf"{_PROCESSOR_FOLDERS.pattern}|custom_generate")
_FOLDERS_ABOVE = 2  # folders between a checkpoint and its run: runs/sft/v0/checkpoint-500
_SHARD = re.compile(r"(?P<stem>model|pytorch_model)-\d+-of-\d+\.(?P<kind>safetensors|bin)")
_UNSHARDED = ("model.safetensors", "pytorch_model.bin")
_GGUF_SHARD = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<n>\d{5})\.gguf")


def loaded_files(folder: Path, gguf_file: str | None = None) -> list[Path]:
    """Every file of a checkpoint or adapter that loading reads: sorted, but GGUF files first.

    Raises:
        ModelError: If the folder or a required file is missing, or a file of JSON is invalid.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder")
    if gguf_file:
        return [*_gguf_files(folder, gguf_file), *sorted(_files_below(folder, _READ_FOLDERS))]
    files = [*_top_level_files(folder), *_files_below(folder, _READ_FOLDERS)]
    if is_adapter(folder):
        return sorted({*files, *_adapter_weights(folder)})
    layer_files = _layer_files(folder)
    if not layer_files or (folder / "config.json").is_file():  # else its transformer is a layer
        _require_file(folder / "config.json")
        files += _weights(folder)
    return sorted({*files, *layer_files})


def processor_files(folder: Path) -> list[Path]:
    """Every file of a tokenizer or processor, sorted."""
    files = [
        file
        for file in folder.iterdir()
        if file.is_file()
        and (_TOKENIZER.fullmatch(file.name) or file.name in _PROCESSOR or file.suffix == ".py")
    ]
    return sorted([*files, *_files_below(folder, _PROCESSOR_FOLDERS)])


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder has a tokenizer; False if it is unreadable."""
    try:
        return any(_TOKENIZER.fullmatch(file.name) for file in folder.iterdir())
    except OSError:
        return False


def processor_above(folder: Path) -> Path | None:
    """The nearest parent folder with a tokenizer, at most two levels up.

    None if there is none, or the folder itself has a tokenizer.
    """
    if has_tokenizer(folder):
        return None
    return next(filter(has_tokenizer, list(folder.absolute().parents)[:_FOLDERS_ABOVE]), None)


def watched_files(folder: Path) -> list[Path]:
    """Every file that identifies a watched checkpoint, without an adapter's base.

    Raises:
        ModelError: If the folder or a required file is missing.
    """
    processor_folder = processor_above(folder)
    shared_files = processor_files(processor_folder) if processor_folder else []
    return [*loaded_files(folder), *shared_files]


def has_image_processor(folder: Path) -> bool:
    """Whether a folder has an image processor's configuration."""
    return any((folder / f"{name}_config.json").is_file() for name in ("preprocessor", "processor"))


def is_adapter(folder: Path) -> bool:
    """Whether a folder is a PEFT adapter."""
    return (folder / ADAPTER_CONFIG).is_file()


def has_weights(names: Iterable[str]) -> bool:
    """Whether any of these names is a weight file, or an index of such files.

    >>> has_weights(["config.json"]), has_weights(["model-00001-of-00002.safetensors"])
    (False, True)
    """
    weight_files = {*_UNSHARDED, *(f"{name}.index.json" for name in _UNSHARDED)}
    return any(name in weight_files or _SHARD.fullmatch(name) for name in names)


def read_object(file: Path) -> dict[str, Any]:
    """Read a JSON object; ``Infinity`` is accepted, because Mamba's configurations have it.

    Raises:
        ModelError: If the file is not a JSON object.
        OSError: If it cannot be read.
    """
    try:
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: not JSON: {shorten(error)}") from error
    if not isinstance(value, dict):
        raise ModelError(f"{file}: not a JSON object")
    return value


def shorten(value: object) -> str:
    """A value from a file as text of at most 120 characters, for messages."""
    text = str(value)
    return f"{text[:_LONGEST]}..." if len(text) > _LONGEST else text


def content_digest(files: Iterable[Path]) -> str:
    """SHA-256 of names and bytes of files in this order, 16 hexadecimal digits."""
    listed = list(files)
    with ThreadPoolExecutor() as threads:
        digests = list(threads.map(_file_digest, listed))
    digests_by_name = zip(relative_names(listed), digests, strict=True)
    return sha256(fsencode("\n".join(map(" ".join, digests_by_name)))).hexdigest()[:16]


def relative_names(files: Sequence[Path]) -> list[str]:
    """Names of files relative to their checkpoint.

    >>> relative_names([Path("m/config.json"), Path("m/qformer_tokenizer/vocab.txt")])
    ['config.json', 'qformer_tokenizer/vocab.txt']
    """
    folders = {file.parent for file in files}
    return [
        f"{file.parent.name}/{file.name}"
        if _READ_FOLDERS.fullmatch(file.parent.name) and file.parent.parent in folders
        else file.name
        for file in files
    ]


def _top_level_files(folder: Path) -> list[Path]:
    return [
        _require_file(file)
        for file in folder.iterdir()
        if file.suffix in _READ_WHEN_LOADED
        and not (_WRITTEN_BY_TRAINERS.fullmatch(file.name) or file.is_dir())
    ]


def _files_below(folder: Path, names: re.Pattern[str]) -> list[Path]:
    """Files other than weights in the subfolders whose names match a pattern."""
    subfolders = (path for path in folder.iterdir() if names.fullmatch(path.name) and path.is_dir())
    return [
        file
        for subfolder in subfolders
        for file in _top_level_files(subfolder)
        if file.suffix != ".safetensors"
    ]


def _layer_files(folder: Path) -> list[Path]:
    """Files of the layers with weights of a sentence-transformers model, such as 2_Dense."""
    if not (folder / LAYERS).is_file():
        return []
    layers = {file.parent for file in folder.glob("[0-9]*_*/*") if has_weights([file.name])}
    suffixes = {*_READ_WHEN_LOADED, ".bin"}
    return [file for layer in layers for file in layer.iterdir() if file.suffix in suffixes]


def _weights(folder: Path) -> list[Path]:
    """The weights that the configuration names, or else the first format that is there."""
    if name := _named_weights(folder / "config.json"):
        file = _require_file(folder / name)
        shard_names = _shards(file) if file.suffix == ".json" else []
        return [file, *(_require_file(folder / shard) for shard in shard_names)]
    for name in _UNSHARDED:  # in the order of transformers
        index = folder / f"{name}.index.json"
        shard_names = _shards(index) if index.exists() else []
        shards = [_require_file(folder / shard) for shard in shard_names]
        unsharded = [folder / name] if (folder / name).is_file() else []
        if shards or unsharded:
            return [*unsharded, *shards]
    for file in sorted(folder.iterdir()):
        if shard := _SHARD.fullmatch(file.name):
            raise ModelError(f"{folder}: {shard['stem']}.{shard['kind']}.index.json is missing")
    raise ModelError(f"{folder}: no weights (expected model.safetensors or its index)")


def _gguf_files(folder: Path, name: str) -> list[Path]:
    """A GGUF file, or all shards of one that is split, of which ``name`` is the first."""
    if not (shard := _GGUF_SHARD.fullmatch(name)):
        return [_require_file(folder / name)]
    numbers = range(1, int(shard["n"]) + 1)
    names = [f"{shard['stem']}-{number:05}-of-{shard['n']}.gguf" for number in numbers]
    return [_require_file(folder / name) for name in names]


def _named_weights(config: Path) -> str | None:
    """The weight file or index that a configuration names; None if it names none."""
    name = read_object(config).get(_WEIGHTS)
    if name is None:
        return None
    if not isinstance(name, str) or not name.endswith((".safetensors", ".safetensors.index.json")):
        raise ModelError(
            f"{config}: {_WEIGHTS} is {name!r:.{_LONGEST}}, neither a .safetensors file nor an"
            " index of such files"
        )
    return _require_inside(name, f"{config}: {_WEIGHTS}")


def _adapter_weights(folder: Path) -> list[Path]:
    for name in ("adapter_model.safetensors", "adapter_model.bin"):  # in the order of PEFT
        if (folder / name).is_file():
            return [folder / name]
    if (folder / "adapters.safetensors").is_file():
        raise ModelError(
            f"{folder}: an adapter of MLX. Fuse it with mlx_lm.fuse, and use the result"
        )
    raise ModelError(f"{folder}: adapter_model.safetensors is missing")


def _shards(index: Path) -> list[str]:
    weight_map = read_object(index).get("weight_map")
    if not isinstance(weight_map, dict):
        raise ModelError(f"{index}: not an index of shards (no weight_map)")
    extension = index.name.removesuffix(".index.json").rpartition(".")[2]
    for tensor, shard in weight_map.items():
        if not isinstance(shard, str) or not shard.endswith(f".{extension}"):
            raise ModelError(
                f"{index}: tensor {shorten(tensor)}: expected a .{extension} file, got"
                f" {shard!r:.{_LONGEST}}"
            )
        _require_inside(shard, f"{index}: tensor {shorten(tensor)}")
    return sorted(set(weight_map.values()))


def _require_inside(name: str, where: str) -> str:
    """Refuse a path outside the checkpoint, which no digest of the folder would cover."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ModelError(f"{where}: {shorten(name)} is outside the checkpoint")
    return name


def _require_file(file: Path) -> Path:
    if not file.is_file():
        raise ModelError(f"{file.parent}: {file.name} is missing")
    return file


def _file_digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


_LENGTH = 8  # bytes at the start of a safetensors file: the size of its header


@dataclass(frozen=True, slots=True, order=True)
class TensorSpan:
    """Position of one tensor in a safetensors file."""

    start: int  # bytes from the file's beginning
    end: int
    name: str
    dtype: str  # as safetensors calls it
    row_size: int = 0  # bytes; 0 for a vector or a scalar


def tensor_spans(file: Path) -> list[TensorSpan]:
    """Positions of the tensors of a safetensors file, in the order of the file.

    Raises:
        ModelError: If safetensors refuses the header, or the file was cut short.
        OSError: If it cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np"):
            pass  # validates header, offsets and length
        with file.open("rb") as stream:
            header_size = int.from_bytes(stream.read(_LENGTH), "little")
            header = json.loads(stream.read(header_size))
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ModelError(f"{file}: half-written or corrupt: {shorten(error)}") from error
    header.pop("__metadata__", None)
    start = _LENGTH + header_size
    spans = []
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        span = TensorSpan(
            start=start + begin,
            end=start + end,
            name=name,
            dtype=tensor["dtype"],
            row_size=_row_size(tensor),
        )
        spans.append(span)
    return sorted(spans)


def _row_size(tensor: Mapping[str, Any]) -> int:
    """Bytes of a row of a tensor; 0 for a vector or a scalar."""
    (begin, end), shape = tensor["data_offsets"], tensor["shape"]
    return (end - begin) // prod(shape[:-1]) if len(shape) > 1 and end > begin else 0


def refuse_truncated_archive(file: Path) -> None:
    """Refuse an empty or truncated file of torch, which is a zip archive since torch 1.6.

    Raises:
        ModelError: If it is empty or truncated.
        OSError: If it cannot be read.
    """
    with file.open("rb") as stream:
        magic = stream.read(4)
    if not magic or (magic == b"PK\x03\x04" and not is_zipfile(file)):
        raise ModelError(f"{file}: {file.stat().st_size} bytes; half-written or corrupt")
