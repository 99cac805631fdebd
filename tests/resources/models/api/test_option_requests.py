"""Options of a model behind vLLM's API, in a process of its own: as of the same model in ours."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.elicitation import Elicitation
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.images.store import open_image_store
from bench_resources.models.api.engine import ServerEngine
from bench_resources.models.registry.elicited_model import ElicitedModel
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.stores import response_file
from tests.fakes.vllm_server import MODEL

pytestmark = pytest.mark.long  # its server loads torch in another process


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.fakes.vllm_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A home with the questions of BLINK's mini edition."""
    home = str(tmp_path_factory.mktemp("home"))
    with Workbench(load_settings(Path(home)), ["blink"]) as opened:
        opened.refresh_questions("blink")
        yield opened


@pytest.fixture(scope="module")
def ten(bench: Workbench) -> list[Question]:
    (task,) = bench.catalog.tasks_of("blink")
    return list(bench.questions(task))[::19][:10]


def served(
    bench: Workbench, ten: list[Question], served_as: str, how: str, file: Path
) -> list[Prediction]:
    address, name = served_as.split()
    spec = ServerSpec(kind="server", base_url=address, model=name, timeout=60)
    engine = ServerEngine(spec, open_image_store(bench.settings).read, base_delay=0.01)
    model = CachingModel("m", engine, response_file(file))
    (task,) = bench.catalog.tasks_of("blink")
    return pipeline.predict(task, ten, ElicitedModel(model, "m", Elicitation.parse(how)))


@pytest.mark.parametrize(
    ("how", "way"),
    [
        ("likelihood", "prompt_logprobs"),
        pytest.param("likelihood-texts", "prompt_logprobs"),
        pytest.param("likelihood-unconditional", "prompt_logprobs"),
        pytest.param("constrained", "structured_outputs"),
    ],
)
def test_ten_questions_have_the_numbers_of_the_model_in_this_process(
    bench: Workbench, ten: list[Question], address: str, tmp_path: Path, how: str, way: str
):
    (task,) = bench.catalog.tasks_of("blink")
    with bench.models() as models, models.open(f"{MODEL}+{how}") as model:
        local = pipeline.predict(task, ten, model)
    behind = served(bench, ten, f"{address} m", how, tmp_path / "r.sqlite")
    assert {(row.error, row.note.partition("; ")[0]) for row in behind} == {
        ("", f"options by {way}")
    }
    assert [row.text for row in behind] == [row.text for row in local]
    for ours, theirs in zip(local, behind, strict=True):
        assert theirs.logprobs == pytest.approx(ours.logprobs, abs=2e-4)


@pytest.mark.parametrize("how", ["likelihood", "constrained"])
def test_fields_that_are_ignored_with_a_200_are_noticed_by_what_comes_back(
    bench: Workbench, ten: list[Question], address: str, tmp_path: Path, how: str
):
    name = "m-prompt_logprobs-logprobs-structured_outputs"
    with pytest.raises(ModelError) as refused:
        served(bench, ten, f"{address} {name}", how, tmp_path / "r.sqlite")
    assert str(refused.value).startswith(f"{name}: the server does not support {how} (")
    assert not list(response_file(tmp_path / "r.sqlite").rows())
