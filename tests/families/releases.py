"""Tiny checkpoints with the files of real releases, which ``releases.toml`` lists.

A release has its classes, control tokens, and the settings of its files. In its configuration
``like`` names the function of ``parts`` with its sizes, and a control token stands for its id.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.families.parts import language, save_model, save_processor, tower, train_tokenizer

RELEASES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
HANDMADE = [name for name, release in RELEASES.items() if release.get("matrix", True)]
"""Architectures of chat models; the rest are encoders, and other releases of these."""
_ID = re.compile(r"\w+_token(_id|_index|_ids)")
_RANGE = re.compile(r"\{(\d+):(\d+)(?::(\w+))?\}")


def build(name: str, folder: Path) -> None:
    """Write the checkpoint of a release, with random weights."""
    import transformers

    release = RELEASES[name]
    tokenizer = _make_tokenizer(release["tokenizer"])
    if text_tokens := release.get("text_tokens"):
        tokenizer.add_tokens(text_tokens)
    if special_tokens := release.get("late_special"):  # with ids behind the vocabulary
        tokenizer.add_special_tokens({"additional_special_tokens": special_tokens})
    model_class = getattr(transformers, release["architecture"])
    save_model(
        folder,
        model_class,
        model_class.config_class(**_resolve(release["config"], tokenizer)),
        tokenizer,
        _resolve(release.get("generation", {}), tokenizer),
        also_ends=release.get("also_ends", ()),
        seed=release.get("seed", 0),
    )
    files = release.get("files", {})
    template = release.get("template")
    save_processor(folder, release["processor"], tokenizer, release["image"], template, **files)
    if qformer_settings := release.get("qformer_tokenizer"):
        _make_tokenizer(qformer_settings).save_pretrained(folder / "qformer_tokenizer")


def _make_tokenizer(settings: Mapping[str, Any]) -> Any:
    special = [token for pattern in settings["special"] for token in _expand_ranges(pattern)]
    return train_tokenizer(**{**settings, "special": special})


def _expand_ranges(pattern: str) -> Iterator[str]:
    """All tokens of a pattern: ``<row_{1:3:02}>`` gives <row_01> and <row_02>."""
    span = _RANGE.search(pattern)
    if span is None:
        yield pattern
        return
    start, stop, number_format = span.groups(default="")
    before, after = pattern[: span.start()], pattern[span.end() :]
    for number in range(int(start), int(stop)):
        yield from _expand_ranges(f"{before}{number:{number_format}}{after}")


def _resolve(settings: Mapping[str, Any], tokenizer: Any) -> dict[str, Any]:
    """Replace tokens by their ids, and fill in the sizes that ``like`` names."""
    sizes = {"language": lambda: language(tokenizer), "tower": tower}
    resolved = sizes[settings["like"]]() if "like" in settings else {}
    for name in settings.get("without", ()):
        del resolved[name]
    for name, value in settings.items():
        if isinstance(value, Mapping):
            resolved[name] = _resolve(value, tokenizer)
        elif _ID.fullmatch(name) and isinstance(value, str | list):
            resolved[name] = tokenizer.convert_tokens_to_ids(value)
        elif name not in ("like", "without"):
            resolved[name] = value
    return resolved
