"""Beside a judged number stands what the judge has said already; nobody is asked for it."""

import json

import pytest

from bench_assets.evaluation.blind_baselines import baseline_messages
from bench_assets.workspace.evaluate.subset import QuestionSubset, evaluate_suite_subsets
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.chat_server import ChatServer
from tests.suites.codis.raw import entry, write_release

MODELS = """
[suites.codis]
judge = "judge"
[sources]
codis = "../codis"
"""
MODEL = '[models.{name}]\nkind = "server"\nbase_url = "{url}"\nmodel = "{name}"\n'


def response(body):
    """One model says one thing, one another word each time; right is the former."""
    sent = json.dumps(body["messages"])
    if body["model"] == "judge":
        return "right" if "Rolling" in sent else "wrong"
    return "Rolling." if body["model"] == "constant" else f"Word {len(sent)}."


@pytest.fixture
def bench(tmp_path):
    write_release(
        tmp_path / "codis",
        [
            entry(),
            entry(id="001", question="Open or shut?"),
            entry(id="002", question="What is it doing now?"),
        ],
    )
    (home := tmp_path / "home").mkdir()
    with ChatServer(response) as server:
        named = (MODEL.format(name=one, url=server.base_url) for one in ("judge", "constant", "m"))
        (home / "bench.toml").write_text(MODELS + "".join(named))
        with Workbench(load_settings(home), ["codis"]) as opened:
            opened.refresh_questions("codis")
            opened.server = server
            yield opened


def number(rows):
    return next(row for row in rows if (row.metric, row.category) == ("acc_q", "all"))


def test_another_models_judged_response_is_the_constant_of_the_whole_and_of_a_part(bench):
    bench.evaluate(["codis"], "constant")
    one = number(bench.metrics("codis", "constant"))
    assert (one.value, one.constant, one.shuffled) == (1.0, 1.0, 1.0)
    assert one.baselines == "constant: best of 1 that the judge had judged on all questions"

    bench.evaluate(["codis"], "m")
    bench.server.forget()
    found = number(bench.metrics("codis", "m"))
    assert (found.value, found.constant, found.shuffled) == (0.0, 1.0, None)
    assert "no shuffled: " in found.baselines
    asking = (bench, ["codis"], [("m", "main")], QuestionSubset(limit=2))
    ((_, (part,), _),) = evaluate_suite_subsets(*asking)
    assert (number(part.metrics).constant, number(part.metrics).n_scored) == (1.0, 2)
    assert bench.server.n_requests == 0


def test_where_nothing_fits_it_is_said_and_what_helps(bench):
    bench.evaluate(["codis"], "m")
    (sentence,) = baseline_messages(bench.metrics("codis", "m"))
    assert sentence.startswith(
        "codis, m, main: no constant: no response was judged on all questions"
    )
    assert "evaluate most-frequent" in sentence
