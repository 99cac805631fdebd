"""The local engine, on models of random weights.

Responses are babble, but always the same babble.
"""

import io
import json
import logging
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ImageError, ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.sampling import RowSampler
from bench_resources.models.workers.local_model import Draw, decode
from tests.fakes.checkpoint_files import safetensors, write_adapter, write_checkpoint
from tests.fakes.tiny_checkpoint import save_tiny_language_model
from tests.resources.models.transformers.echoing import Echo
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    RED,
    engine_of,
    identity_of,
    outputs,
    responses_of,
    spec_of,
)


@pytest.mark.parametrize(
    ("size", "temperature"),
    [
        pytest.param(3, 1.0, id="small batches-sampled"),
        pytest.param(16, 1.0, id="one batch of each kind-sampled", marks=pytest.mark.long),
    ],
)
def test_responses_are_the_same_alone_and_in_batches(
    vlm: Path, size: int, temperature: float
) -> None:
    requests = [
        Request(prompt=prompt, temperature=temperature) for prompt in [*MIXED, *MIXED[::-1]]
    ]
    engine = engine_of(vlm, batch_size=size)
    alone = [response for request in requests for response in responses_of(engine, [request])]
    together = responses_of(engine, requests)
    assert outputs(together) == outputs(alone)
    assert len({response.text for response in alone}) == len(MIXED)  # they depend on text and image


@pytest.mark.long
def test_sampling_settings_of_a_checkpoint_are_not_used(
    vlm: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    folder = tmp_path / "samples"
    shutil.copytree(vlm, folder)
    settings = folder / "generation_config.json"
    published = {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "top_k": 1, "max_length": 9}
    settings.write_text(json.dumps(json.loads(settings.read_text()) | published))
    for temperature in (0.0, 1.0):
        requests = [Request(prompt=prompt, temperature=temperature) for prompt in MIXED]
        expected = outputs(responses_of(engine_of(vlm), requests))
        assert outputs(responses_of(engine_of(folder), requests)) == expected
    assert not caplog.messages


def test_a_response_ends_at_an_end_token_whoever_goes_on(vlm: Path, tmp_path: Path) -> None:
    folder = tmp_path / "short of breath"
    shutil.copytree(vlm, folder)
    settings = folder / "generation_config.json"
    ends = list(range(0, 320, 8))  # an eighth of the vocabulary
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"eos_token_id": ends}))
    engine = engine_of(folder, max_tokens=12)
    requests = [Request(prompt=Prompt.of(f"Question {n}?")) for n in range(16)]
    alone = [response for request in requests for response in responses_of(engine, [request])]
    assert outputs(responses_of(engine, requests)) == outputs(alone)
    lengths: dict[str, set[int | None]] = {"stop": set(), "length": set()}
    for response in alone:
        lengths[response.finish_reason].add(response.completion_tokens)
    assert lengths["length"] == {12}
    assert len(lengths["stop"]) > 1


def test_draws_of_one_prompt_differ_and_come_again(vlm: Path) -> None:
    requests = [Request(prompt=MIXED[2], sample=n, temperature=1.0) for n in range(4)]
    first, again = (outputs(responses_of(engine_of(vlm, seed=1), requests)) for _ in range(2))
    other_seed = outputs(responses_of(engine_of(vlm, seed=2), requests))
    assert first == again
    assert len({text for text, *_ in first + other_seed}) == 8


@pytest.mark.parametrize(
    ("temperature", "top_p", "expected"),
    [
        pytest.param(1.0, 1.0, (0.60, 0.30, 0.10), id="temperature 1 draws as the model says"),
        pytest.param(0.5, 1.0, (0.36 / 0.46, 0.09 / 0.46, 0.01 / 0.46), id="0.5 squares the odds"),
        pytest.param(1.0, 0.8, (2 / 3, 1 / 3, 0.0), id="top_p leaves out the unlikely"),
    ],
)
def test_tokens_are_drawn_from_the_distribution(
    temperature: float, top_p: float, expected: tuple[float, ...]
) -> None:
    import torch

    n = 4000
    seeds = [str(i) for i in range(n)]
    draw = Draw(max_tokens=1, temperature=temperature, top_p=top_p, seeds=seeds)
    scores = torch.tensor([[0.6, 0.3, 0.1]]).log().expand(n, 3)
    counts = Counter(
        RowSampler(draw)(torch.zeros(n, 1, dtype=torch.long), scores).argmax(1).tolist()
    )
    for token, p in enumerate(expected):
        assert abs(counts[token] / n - p) <= 4 * math.sqrt(p * (1 - p) / n)


def test_a_blind_model_gets_no_images(tmp_path: Path) -> None:
    engine = engine_of(save_tiny_language_model(tmp_path), text_only=True)
    prompts = [Prompt.of(RED, "What colour?"), Prompt.of("What colour?"), Prompt.of("How many?")]
    with_image, without, other = outputs(
        responses_of(engine, [Request(prompt=prompt) for prompt in prompts])
    )
    assert with_image == without != other


def test_a_large_image_is_shrunk_and_a_turned_one_is_set_upright() -> None:
    written = io.BytesIO()
    turned = PILImage.Exif()
    turned[0x0112] = 6  # orientation: a quarter turn
    PILImage.new("RGB", (400, 100)).save(written, "JPEG", exif=turned)
    data = written.getvalue()
    assert decode(RED, data, None).size == (100, 400)
    assert decode(RED, data, 10_000).size == (50, 200)
    with pytest.raises(ImageError, match=f"image {RED.sha256}: not an image in any known format"):
        decode(RED, b"not an image", None)


def test_importing_the_engine_imports_no_torch() -> None:
    program = (
        "import sys, bench_resources.models.transformers.engine as e;"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# What is loaded is what was named: checkpoints that change between digest, load and response.


Change = Callable[[Path], object]


def engine_of_changed_files(
    folder: Path, when: str = "", change: Callable[[], object] = bool, **fields: object
) -> TransformersEngine:
    """An engine that echoes; something happens while it is loaded, or after the answer to b."""

    def change_after_b(texts: list[str]) -> None:
        if texts == ["b"]:
            change()

    def load(spec: TransformersSpec, checkpoint: Checkpoint) -> Echo:
        echo = Echo()
        if when == "loading":
            change()
        if when == "asking":
            echo.at_answer = change_after_b
        return echo

    spec = spec_of(folder, text_only=True, batch_size=1, **fields)
    return TransformersEngine(spec, str(folder), ALBUM.read, load)


def arriving(
    folder: Path, change: Callable[[], object], when: str, arrived: list[str]
) -> list[str]:
    """Ask three questions, before or while something happens; what was said so far."""
    engine = engine_of_changed_files(folder, when, change)
    assert identity_of(engine).startswith("sha256:")
    if when == "before":
        change()
    requests = [Request(prompt=Prompt.of(text)) for text in ("aaa", "b", "c")]
    arrived.extend(response.text for _, response in engine.stream(requests))
    return arrived


def _overwritten_with_its_old_times(folder: Path) -> None:
    was = (folder / "model.safetensors").stat()
    (folder / "model.safetensors").write_bytes(safetensors(b"4321"))
    os.utime(folder / "model.safetensors", ns=(was.st_atime_ns, was.st_mtime_ns))


def _with_another_file_in_place(folder: Path) -> None:
    (folder / "new").write_bytes(safetensors(b"4321"))
    (folder / "new").replace(folder / "model.safetensors")


def _with_other_code(folder: Path) -> None:
    (folder / "modeling_own.py").write_text("other = 1")


def _with_another_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("that was not there")


def _gone(folder: Path) -> None:
    folder.rename(folder.with_name("before"))


def _in_place_of_another(folder: Path) -> None:
    _gone(folder)
    write_checkpoint(folder, b"4321")


CHANGES: dict[str, Change] = {
    "overwritten, its old time put back": _overwritten_with_its_old_times,
    "another file of weights in its place": _with_another_file_in_place,
    "other code": _with_other_code,
    "another folder in its place": _in_place_of_another,
}
BEFORE_IT_IS_LOADED: dict[str, Change] = {
    "a template that was not there": _with_another_template,
    "the folder gone": _gone,
}
CASES = [
    pytest.param(change, when, id=f"{name}, {when}")
    for changes, times in (
        (CHANGES, ("before", "loading", "asking")),
        (BEFORE_IT_IS_LOADED, ("before", "loading")),
    )
    for name, change in changes.items()
    for when in times
]


@pytest.mark.parametrize(("change", "when"), CASES)
def test_what_changes_is_refused_and_keeps_no_response_made_since(
    folder: Path, change: Change, when: str
) -> None:
    arrived: list[str] = []
    with pytest.raises(ModelError, match=r"overwritten or replaced|no such folder"):
        arriving(folder, lambda: change(folder), when, arrived)
    assert arrived == (["AAA"] if when == "asking" else [])


def _copied_over_itself(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes())


def _with_a_log(folder: Path) -> None:
    (folder / "train.log").write_text("step 2")
    (folder / "trainer_state.json").write_text("{}")


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_copied_over_itself, id="the same bytes once more"),
        pytest.param(_with_a_log, id="a trainer's log"),
    ],
)
def test_what_changes_nothing_that_is_loaded_is_no_change(
    folder: Path, change: Change, when: str
) -> None:
    assert arriving(folder, lambda: change(folder), when, []) == ["AAA", "B", "C"]


@pytest.mark.parametrize(
    ("file", "data"),
    [
        pytest.param("base/model.safetensors", safetensors(b"4321"), id="the base"),
        pytest.param("run/step-1/adapter_model.safetensors", safetensors(b"4321"), id="adapter"),
        pytest.param("run/tokenizer.json", b"[]", id="the processor above"),
        pytest.param("chat.jinja", b"{{ messages[0] }}", id="a chat template of its own"),
    ],
)
def test_every_folder_of_a_checkpoint_is_checksummed(
    tmp_path: Path, file: str, data: bytes
) -> None:
    write_checkpoint(tmp_path / "base")
    folder = write_adapter(tmp_path / "run" / "step-1", base=str(tmp_path / "base"))
    (tmp_path / "run" / "tokenizer.json").write_text("{}")
    (tmp_path / "chat.jinja").write_text("{{ messages }}")
    engine = engine_of_changed_files(folder, chat_template=str(tmp_path / "chat.jinja"))
    assert identity_of(engine).count("sha256:") == 3
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ModelError, match=rf"{Path(file).name}: changed since"):
        list(engine.stream([Request(prompt=Prompt.of("a"))]))


def test_a_gguf_file_is_checksummed(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF1")
    engine = engine_of_changed_files(tmp_path, gguf_file="m.gguf")
    engine.prepare()
    (tmp_path / "m.gguf").write_bytes(b"GGUF2")
    with pytest.raises(ModelError, match=r"m\.gguf: changed since"):
        list(engine.stream([Request(prompt=Prompt.of("a"))]))
