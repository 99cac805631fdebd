"""Tiny checkpoints with the files of real releases, which ``releases.toml`` lists.

A release has its classes, control tokens, and the settings of its files. In its configuration
``like`` stands for the sizes of ``parts``, and a control token for its id.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.families.parts import language, save_model, save_processor, tokenizer, tower

RELEASES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
HANDMADE = [name for name, release in RELEASES.items() if release.get("matrix", True)]
"""Architectures of chat models; what else is there are encoders, and other releases of these."""
_ID = re.compile(r"\w+_token(_id|_index|_ids)")
_RANGE = re.compile(r"\{(\d+):(\d+)(?::(\w+))?\}")


def build(name: str, folder: Path) -> None:
    """Write the checkpoint of a release, with random weights."""
    import transformers

    release = RELEASES[name]
    words = _tokenizer(release["tokenizer"])
    if text := release.get("text_tokens"):
        words.add_tokens(text)
    if special := release.get("late_special"):  # behind the vocabulary
        words.add_special_tokens({"additional_special_tokens": special})
    kind = getattr(transformers, release["architecture"])
    save_model(
        folder,
        kind,
        kind.config_class(**_resolved(release["config"], words)),
        words,
        _resolved(release.get("generation", {}), words),
        also_ends=release.get("also_ends", ()),
        seed=release.get("seed", 0),
    )
    files = release.get("files", {})
    template = release.get("template")
    save_processor(folder, release["processor"], words, release["image"], template, **files)
    if of_queries := release.get("qformer_tokenizer"):
        _tokenizer(of_queries).save_pretrained(folder / "qformer_tokenizer")


def _tokenizer(settings: Mapping[str, Any]) -> Any:
    special = [token for written in settings["special"] for token in _tokens(written)]
    return tokenizer(**{**settings, "special": special})


def _tokens(written: str) -> Iterator[str]:
    """All tokens of one with ranges: ``<row_{1:3}>`` is <row_1> and <row_2>."""
    if not (found := _RANGE.search(written)):
        yield written
        return
    for number in range(int(found[1]), int(found[2])):
        shown = f"{number:{found[3] or ''}}"
        yield from _tokens(f"{written[: found.start()]}{shown}{written[found.end() :]}")


def _resolved(settings: Mapping[str, Any], words: Any) -> dict[str, Any]:
    """Replace tokens by ids, and add the sizes that settings are like."""
    sizes = {"language": lambda: language(words), "tower": tower}
    resolved = sizes[settings["like"]]() if "like" in settings else {}
    for name in settings.get("without", ()):
        del resolved[name]
    for name, value in settings.items():
        if isinstance(value, Mapping):
            resolved[name] = _resolved(value, words)
        elif _ID.fullmatch(name) and isinstance(value, str | list):
            resolved[name] = words.convert_tokens_to_ids(value)
        elif name not in ("like", "without"):
            resolved[name] = value
    return resolved
