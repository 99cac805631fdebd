"""What goes wrong in the main job ends nothing else, and is told at its end."""

from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from bench_assets.cli.commands import demo
from bench_assets.cli.commands.demo import evaluate_embedded
from bench_assets.core.schema.errors import BenchError, ModelError, SourceError
from bench_resources.config.sections.models import DEMO_MODELS

TASKS = [
    SimpleNamespace(name="blink", suite="blink", asked_of="model", conditions=()),
    SimpleNamespace(
        name="codis", suite="codis", asked_of="model", conditions=(), primary_metric="accuracy"
    ),
    SimpleNamespace(name="cogbench/vqa", suite="cogbench", asked_of="model", conditions=()),
    SimpleNamespace(name="cogbench/retrieval", suite="cogbench", asked_of="encoder", conditions=()),
    SimpleNamespace(name="pairs/retrieval", suite="pairs", asked_of="encoder", conditions=()),
]


class Bench:
    """Stands for a home in which one suite cannot be built and one model not be asked."""

    def __init__(self):
        self.commands: list[Any] = []
        self.tables = SimpleNamespace(exists=lambda key: True)
        self.catalog = SimpleNamespace(
            names=("blink", "codis", "cogbench", "pairs"),
            tasks=TASKS,
            tasks_of=lambda name: [task for task in TASKS if name in (task.suite, task.name)],
        )
        self.catalog.evaluable = self.catalog
        self.settings = SimpleNamespace(home=None)

    def refresh_questions(self, suite):
        if suite == "codis":
            raise SourceError("codis: no image could be drawn")

    def evaluate(self, suites, model):
        if model == "most-frequent":
            raise ModelError("most-frequent: no memory")
        self.commands.append((model, tuple(suites)))

    def refresh_leaderboard(self):
        self.commands.append("leaderboard")


def evaluate(bench: Any) -> list[BenchError]:
    return list(evaluate_embedded(bench))


@pytest.fixture(autouse=True)
def meanwhile(monkeypatch, request):
    """What another process is asked for; it does nothing, and says whether it did all."""
    requests: list[Any] = []
    is_done = getattr(request, "param", False)

    @contextmanager
    def noted(home, suites, models):
        requests.append((tuple(suites), tuple(models)))

        def wait():
            requests.append("waited")
            return is_done

        yield wait

    monkeypatch.setattr(demo, "background_evaluation", noted)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return requests


def test_a_suite_and_a_model_that_fail_end_none_of_the_others():
    bench = Bench()
    failures = evaluate(bench)
    assert [str(why) for why in failures] == [
        "codis: no image could be drawn",
        "most-frequent: no memory",
    ]
    evaluated = [one for one in bench.commands if one != "leaderboard"]
    for suites in (
        ("blink", "pairs"),
        ("cogbench",),
    ):  # in order: a checkpoint after the one before
        models = [name for name, of in evaluated if of == suites]
        assert models == [name for name in DEMO_MODELS if name != "most-frequent"]
    assert [one for one in evaluated if one[1][0].endswith("retrieval")] == [
        (encoder, (f"{suite}/retrieval",))
        for suite in ("cogbench", "pairs")
        for encoder in ("random", "tiny-vlm-captions")
    ]
    assert bench.commands[-1] == "leaderboard"


def test_the_numbers_of_one_suite_are_printed_before_the_others_are_built(capsys):
    bench: Any = Bench()
    bench.refresh_questions = bench.commands.append
    bench.metrics = lambda task, model: [
        SimpleNamespace(metric="accuracy", category=category, value=0.25)
        for category in ("all", "sheep")
    ]
    assert evaluate(bench)  # most-frequent
    first = [
        one for one in bench.commands[: bench.commands.index("blink")] if isinstance(one, tuple)
    ]
    assert first == [(name, ("codis",)) for name in DEMO_MODELS if name != "most-frequent"]
    stderr = capsys.readouterr().err.splitlines()
    assert stderr == [f"{name}: codis accuracy 0.250" for name, _ in first]


@pytest.mark.parametrize("meanwhile", [False, True], indirect=True, ids=["failed", "done"])
def test_suites_of_another_process_are_evaluated_here_if_it_failed(meanwhile, request):
    bench = Bench()
    bench.commands = meanwhile
    evaluate(bench)
    assert meanwhile[0] == (("cogbench",), DEMO_MODELS)
    waited = meanwhile.index("waited")
    assert all("cogbench" not in suites for _, suites in meanwhile[1:waited])
    is_done = request.node.callspec.params["meanwhile"]
    assert (("random", ("cogbench",)) in meanwhile[waited:]) != is_done
