"""Several devices: two processes on the CPU, which live, die and are told apart from nothing."""

import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.images.locations import ObjectImages
from bench_resources.models.transformers.engine import DataParallelEngine
from bench_resources.models.workers.port import Load
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.transformers import fragile
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    engine_of,
    identity_of,
    outputs,
    responses_of,
    spec_of,
)


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


@pytest.fixture(autouse=True)
def nobody_stays() -> Iterator[None]:
    yield
    assert not active_children()


def asks(folder: Path, load: Load, *devices: str, **fields: object) -> DataParallelEngine:
    spec = spec_of(folder, device="auto", devices=devices, **fields)
    return DataParallelEngine(spec, str(folder), ALBUM.read, load)


@pytest.mark.long
def test_two_processes_response_as_one_does_also_when_one_is_killed(
    vlm: Path, tmp_path: Path
) -> None:
    shared = ObjectImages(f"file://{tmp_path}/shared", "", str(tmp_path / "near"))
    for digest, data in ALBUM.images.items():
        shared.keep(digest, data)
    requests = [Request(prompt=prompt) for prompt in [*MIXED, *MIXED[::-1]]]
    alone = engine_of(vlm)
    expected = outputs(responses_of(alone, requests))
    spec = spec_of(vlm, device="auto", devices=["cpu", "cpu"], batch_size=2)
    with closing(DataParallelEngine(spec, str(vlm), shared.read)) as engine:
        assert (identity_of(engine), engine.decoding) == (identity_of(alone), alone.decoding)
        arriving = engine.stream(requests)
        arrived = dict([next(arriving)])
        first, second = active_children()
        assert first.pid
        os.kill(first.pid, signal.SIGKILL)
        arrived |= arriving
        assert active_children() == [second]
        assert outputs([arrived[i] for i in range(len(requests))]) == expected


@pytest.mark.long
def test_processes_draw_as_the_card_says(vlm: Path, tmp_path: Path) -> None:
    careful = tmp_path / "careful"
    shutil.copytree(vlm, careful)
    card = '{"do_sample": true, "temperature": 0.5, "top_p": 0.9, "top_k": 7}'
    (careful / "generation_config.json").write_text(card)
    requests = [Request(prompt=Prompt.of("?"))]
    with closing(asks(careful, fragile.load_telling, "cpu", decoding="card")) as engine:
        (response,) = responses_of(engine, requests)
        assert response.text == "0.5 0.9 [('top_k', 7)]"
        assert engine.decoding == engine_of(careful, decoding="card").decoding


@pytest.mark.long
def test_what_a_dead_process_leaves_goes_to_another_and_it_starts_again_later(
    vlm: Path, tmp_path: Path
) -> None:
    texts = ["a", "bb", f"once {tmp_path / 'mark'}", "ccc"]
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    with closing(asks(vlm, fragile.load, "cpu", "cpu", batch_size=2)) as engine:
        assert [r.text for r in responses_of(engine, requests)] == [t.upper() for t in texts]
        assert len(active_children()) == 1
        arriving = engine.stream(requests)
        assert isinstance(arriving, Generator)
        next(arriving)
        assert len(active_children()) == 2
        arriving.close()  # half way
        assert not active_children()


def test_all_devices_are_those_of_cuda(vlm: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there are some")
    spec = spec_of(vlm, device="auto", devices="all")
    with pytest.raises(ModelError, match="no CUDA device"):
        DataParallelEngine(spec, str(vlm), ALBUM.read)
