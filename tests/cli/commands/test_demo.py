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


class FakeWorkbench:
    """A workbench whose suite codis cannot be built, and whose model most-frequent fails."""

    def __init__(self, events: list[Any] | None = None):
        self.events: list[Any] = [] if events is None else events  # what was done, in order
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
        self.events.append((model, tuple(suites)))

    def refresh_leaderboard(self):
        self.events.append("leaderboard")


def evaluate(bench: Any) -> list[BenchError]:
    return list(evaluate_embedded(bench))


@pytest.fixture(autouse=True)
def events(monkeypatch, request):
    """What is asked of the background process, which does nothing.

    The fixture's parameter is whether that process reports success.
    """
    events: list[Any] = []
    is_done = getattr(request, "param", False)

    @contextmanager
    def fake_evaluation(home, suites, models):
        events.append((tuple(suites), tuple(models)))

        def wait():
            events.append("waited")
            return is_done

        yield wait

    monkeypatch.setattr(demo, "background_evaluation", fake_evaluation)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return events


STEPS = ["tiny-vlm/step-2940", "tiny-vlm/step-4440", "tiny-vlm/step-6840"]
WORKING_MODELS = ["random", *STEPS, "tiny-vlm-blind"]  # of DEMO_MODELS, all but most-frequent


def test_failures_of_a_suite_and_a_model_are_returned():
    failures = evaluate(FakeWorkbench())
    assert [str(error) for error in failures] == [
        "codis: no image could be drawn",
        "most-frequent: no memory",
    ]


@pytest.mark.parametrize("suites", [("blink", "pairs"), ("cogbench",)])
def test_other_suites_are_evaluated_with_all_other_models_in_order(suites):
    """A checkpoint is compared with the one before, which is evaluated first."""
    bench = FakeWorkbench()
    evaluate(bench)
    evaluations = [event for event in bench.events if event != "leaderboard"]
    assert [model for model, asked in evaluations if asked == suites] == WORKING_MODELS


def test_tasks_of_encoders_are_evaluated_with_the_encoders():
    bench = FakeWorkbench()
    evaluate(bench)
    assert [event for event in bench.events if "retrieval" in str(event)] == [  # in _ENCODERS
        ("random", ("cogbench/retrieval",)),
        ("tiny-vlm-captions", ("cogbench/retrieval",)),
        ("random", ("pairs/retrieval",)),
        ("tiny-vlm-captions", ("pairs/retrieval",)),
    ]


def test_the_leaderboard_is_refreshed_last():
    bench = FakeWorkbench()
    evaluate(bench)
    assert bench.events[-1] == "leaderboard"


def test_the_numbers_of_one_suite_are_printed_before_the_others_are_built(capsys):
    bench: Any = FakeWorkbench()
    bench.refresh_questions = bench.events.append
    bench.metrics = lambda task, model: [
        SimpleNamespace(metric="accuracy", category=category, value=0.25)
        for category in ("all", "sheep")
    ]

    evaluate(bench)

    before_blink = bench.events[: bench.events.index("blink")]
    evaluations = [event for event in before_blink if isinstance(event, tuple)]
    assert evaluations == [(name, ("codis",)) for name in WORKING_MODELS]
    stderr = capsys.readouterr().err.splitlines()
    assert stderr == [f"{name}: codis accuracy 0.250" for name in WORKING_MODELS]


@pytest.mark.parametrize(
    ("events", "is_evaluated_again"),
    [pytest.param(False, True, id="failed"), pytest.param(True, False, id="done")],
    indirect=["events"],
)
def test_suites_of_the_background_are_evaluated_again_if_it_failed(events, is_evaluated_again):
    evaluate(FakeWorkbench(events))
    assert events[0] == (("cogbench",), DEMO_MODELS)
    waited = events.index("waited")
    evaluated = ("random", ("cogbench",))
    assert evaluated not in events[:waited]
    assert (evaluated in events[waited:]) == is_evaluated_again
