import logging
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.sampling import RowSampler
from bench_resources.models.workers.local_model import Draw
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
    set_entries,
    spec_of,
)


@pytest.mark.parametrize(
    "batch_size",
    [
        pytest.param(3, id="small batches"),
        pytest.param(16, id="one batch of each kind", marks=pytest.mark.long),
    ],
)
def test_responses_are_the_same_one_by_one_and_in_batches(vlm: Path, batch_size: int) -> None:
    requests = [Request(prompt=prompt, temperature=1.0) for prompt in [*MIXED, *MIXED[::-1]]]
    engine = engine_of(vlm, batch_size=batch_size)
    one_by_one = [response for request in requests for response in responses_of(engine, [request])]
    together = responses_of(engine, requests)
    assert outputs(together) == outputs(one_by_one)
    # They depend on texts and images.
    assert len({response.text for response in together}) == len(MIXED)


def copy_with_generation_config(vlm: Path, folder: Path, **settings: object) -> Path:
    """Copy a checkpoint and set entries of its generation_config.json."""
    shutil.copytree(vlm, folder)
    set_entries(folder / "generation_config.json", **settings)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_sampling_settings_of_a_checkpoint_are_not_used(
    vlm, tmp_path, caplog, monkeypatch, temperature
):
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    published = {"do_sample": True, "temperature": 0.6, "top_p": 0.9, "top_k": 1, "max_length": 9}
    folder = copy_with_generation_config(vlm, tmp_path / "sampling", **published)
    requests = [Request(prompt=prompt, temperature=temperature) for prompt in MIXED]
    expected = outputs(responses_of(engine_of(vlm), requests))
    assert outputs(responses_of(engine_of(folder), requests)) == expected
    assert not caplog.messages  # transformers warns of settings that it does not use


def test_a_response_ends_at_its_end_token_also_in_a_batch(vlm: Path, tmp_path: Path) -> None:
    end_tokens = list(range(0, 320, 8))  # an eighth of the vocabulary
    folder = copy_with_generation_config(vlm, tmp_path / "ending", eos_token_id=end_tokens)
    engine = engine_of(folder, max_tokens=12)
    requests = [Request(prompt=Prompt.of(f"Question {n}?")) for n in range(16)]

    one_by_one = [response for request in requests for response in responses_of(engine, [request])]
    assert outputs(responses_of(engine, requests)) == outputs(one_by_one)

    lengths: dict[str, set[int | None]] = {"stop": set(), "length": set()}
    for response in one_by_one:
        lengths[response.finish_reason].add(response.completion_tokens)
    assert lengths["length"] == {12}
    assert len(lengths["stop"]) > 1


def test_samples_of_one_prompt_differ_and_are_the_same_with_the_same_seed(vlm: Path) -> None:
    prompt = Prompt.of(RED, "What colour?")
    requests = [Request(prompt=prompt, sample=n, temperature=1.0) for n in range(4)]
    first = responses_of(engine_of(vlm, seed=1), requests)
    repeated = responses_of(engine_of(vlm, seed=1), requests)
    other_seed = responses_of(engine_of(vlm, seed=2), requests)
    assert outputs(repeated) == outputs(first)
    assert len({response.text for response in first + other_seed}) == 4 + 4


@pytest.mark.parametrize(
    ("temperature", "top_p", "expected"),
    [
        pytest.param(1.0, 1.0, (0.60, 0.30, 0.10), id="temperature 1 draws as the model says"),
        pytest.param(
            0.5, 1.0, (0.36 / 0.46, 0.09 / 0.46, 0.01 / 0.46), id="temperature 0.5 squares the odds"
        ),
        pytest.param(1.0, 0.8, (2 / 3, 1 / 3, 0.0), id="top_p leaves out the unlikely"),
    ],
)
def test_tokens_are_drawn_from_the_distribution(temperature, top_p, expected):
    import torch

    n = 4000
    seeds = [str(i) for i in range(n)]
    draw = Draw(max_tokens=1, temperature=temperature, top_p=top_p, seeds=seeds)
    scores = torch.tensor([[0.6, 0.3, 0.1]]).log().expand(n, 3)
    chosen = RowSampler(draw)(torch.zeros(n, 1, dtype=torch.long), scores).argmax(1)
    counts = Counter(chosen.tolist())
    for token, p in enumerate(expected):  # within four standard deviations of a binomial
        assert abs(counts[token] / n - p) <= 4 * math.sqrt(p * (1 - p) / n)


def test_a_text_only_model_gets_no_images(tmp_path: Path) -> None:
    engine = engine_of(save_tiny_language_model(tmp_path), text_only=True)
    prompts = [Prompt.of(RED, "What colour?"), Prompt.of("What colour?"), Prompt.of("How many?")]
    with_image, without_image, other_question = outputs(
        responses_of(engine, [Request(prompt=prompt) for prompt in prompts])
    )
    assert with_image == without_image
    assert other_question != without_image


def test_importing_the_engine_imports_no_torch() -> None:
    program = (
        "import sys, bench_resources.models.transformers.engine as e;"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


Change = Callable[[Path], object]


def engine_of_changed_files(
    folder: Path, when: str = "", change: Callable[[], object] = lambda: None, **fields: object
) -> TransformersEngine:
    """An engine that echoes; files change while it loads, or after its answer to b ("asking")."""

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


def texts_while_changing(folder: Path, change: Change, when: str) -> Iterator[str]:
    """The responses to three questions, as they arrive; files change when it says."""
    engine = engine_of_changed_files(folder, when, lambda: change(folder))
    assert identity_of(engine).startswith("sha256:")
    if when == "before":
        change(folder)
    requests = [Request(prompt=Prompt.of(text)) for text in ("aaa", "b", "c")]
    for _, response in engine.stream(requests):
        yield response.text


def _overwrite_and_keep_times(folder: Path) -> None:
    weights = folder / "model.safetensors"
    stat = weights.stat()
    weights.write_bytes(safetensors(b"4321"))
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _replace_weights(folder: Path) -> None:
    (folder / "new").write_bytes(safetensors(b"4321"))
    (folder / "new").replace(folder / "model.safetensors")


def _change_code(folder: Path) -> None:
    (folder / "modeling_own.py").write_text("other = 1")


def _add_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("that was not there")


def _move_away(folder: Path) -> None:
    folder.rename(folder.with_name("before"))


def _replace_folder(folder: Path) -> None:
    _move_away(folder)
    write_checkpoint(folder, b"4321")


@pytest.mark.parametrize(("when", "kept"), [("before", []), ("loading", []), ("asking", ["AAA"])])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_overwrite_and_keep_times, id="overwritten, its old time put back"),
        pytest.param(_replace_weights, id="another file of weights in its place"),
        pytest.param(_change_code, id="other code"),
        pytest.param(_replace_folder, id="another folder in its place"),
    ],
)
def test_a_changed_checkpoint_is_refused_and_later_responses_are_dropped(
    folder, change, when, kept
):
    texts: list[str] = []
    with pytest.raises(ModelError, match=r"overwritten or replaced|no such folder"):
        texts.extend(texts_while_changing(folder, change, when))
    assert texts == kept


@pytest.mark.parametrize("when", ["before", "loading"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_add_template, id="a template that was not there"),
        pytest.param(_move_away, id="the folder gone"),
    ],
)
def test_a_checkpoint_that_changes_before_it_is_loaded_is_refused(folder, change, when):
    texts = texts_while_changing(folder, change, when)
    with pytest.raises(ModelError, match=r"overwritten or replaced|no such folder"):
        next(texts)


def _rewrite_same_bytes(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes())


def _write_logs(folder: Path) -> None:
    (folder / "train.log").write_text("step 2")
    (folder / "trainer_state.json").write_text("{}")


@pytest.mark.parametrize("when", ["before", "loading", "asking"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_rewrite_same_bytes, id="the same bytes once more"),
        pytest.param(_write_logs, id="a trainer's log"),
    ],
)
def test_a_change_of_nothing_that_is_loaded_is_allowed(folder, change, when):
    assert list(texts_while_changing(folder, change, when)) == ["AAA", "B", "C"]


@pytest.mark.parametrize(
    ("file", "data"),
    [
        pytest.param("base/model.safetensors", safetensors(b"4321"), id="the base"),
        pytest.param("run/step-1/adapter_model.safetensors", safetensors(b"4321"), id="itself"),
        pytest.param("run/tokenizer.json", b"[]", id="the processor above"),
        pytest.param("chat.jinja", b"{{ messages[0] }}", id="a chat template of its own"),
    ],
)
def test_every_folder_of_a_checkpoint_is_checksummed(tmp_path, file, data):
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
