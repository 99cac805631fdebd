"""``bench.evaluate`` and its run: the tables and the cache of the commands."""

import asyncio
import gc
import json
import subprocess
import sys
import traceback
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import ExifTags, Image

import bench_assets as bench
from bench_assets.core.schema.errors import BenchError, ModelError, SettingsError, UnknownNameError
from bench_assets.python_api.calls import interface
from bench_assets.python_api.display import sample_html
from bench_assets.report.site.addresses import number_page
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry import functions
from bench_resources.models.registry.resolution import resolve


def says_a(images, prompt):
    return "A"


def says_by_colour(images, prompt):
    """B where the first pixel has no red."""
    return "AB"[images[0].getpixel((0, 0))[0] == 0]


async def awaited(images, prompt):
    return "A"


class Generator:
    def __call__(self, *arguments):
        return self.generate(*arguments)

    def generate(self, *arguments):
        return "A"


class Llava(Generator):
    __module__ = "transformers.models.llava.modeling_llava"


def test_importing_loads_nothing_but_the_package():
    code = "import sys, bench_assets; print(*(m for m in sys.modules if m.startswith('bench_a')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["bench_assets"]


def test_a_function_sees_images_and_prompt_and_is_scored(home):
    seen = []

    def model(images, prompt):
        seen.append((images[0].getpixel((0, 0)), prompt))
        return "A" if images[0].getpixel((0, 0)) == (255, 0, 0) else "B"

    run = bench.evaluate("fridge", model=model)
    whole = run.metrics[run.metrics.category == "all"].iloc[0]
    assert (whole.metric, whole.value, whole.n_scored) == ("accuracy", 1.0, 4)
    assert sorted(pixel for pixel, _ in seen) == [(0, 0, 255)] * 2 + [(255, 0, 0)] * 2
    assert "Which colour is square 0?" in min(text for _, text in seen)


def test_samples_have_prompt_response_and_points(run):
    rows = run.samples.set_index("question_id")
    one = rows.loc["fridge/1"]
    assert (one.response, one.answer, one.expected, one.score) == ("A", "A", "B", 0.0)
    assert "Which colour is square 1?" in one.prompt
    assert "[image 1]" in one.prompt
    assert one.images[0].open().getpixel((0, 0)) == (0, 0, 255)


def test_a_partial_run_is_named_so_and_enters_no_table(home):
    run = bench.evaluate("fridge", model="random", limit=2)
    assert run.partial == "2 of 4 questions"
    assert "PARTIAL: 2 of 4 questions" in repr(run)
    with open_workbench("fridge") as opened:
        assert opened.tables.partitions(["fridge", "metrics"]) == []


def test_a_whole_run_is_what_the_commands_show(run):
    with open_workbench("fridge") as opened:
        assert run.rows == opened.metrics("fridge", "says-a")
        opened.refresh_leaderboard()
        (row,) = [row for row in opened.rows("leaderboard") if row.model == "says-a"]
    assert (row.value, row.stale) == (0.5, "")


def test_a_function_without_a_name_is_asked_again(home):
    requests = []

    def model(images, prompt):
        requests.append(prompt)
        return "A"

    for _ in range(2):
        bench.evaluate("fridge", model=model, limit=4)
    assert len(requests) == 8


def test_several_responses_to_a_question_give_pass_at_k_and_are_one_cluster(home):
    """A, B, A, A to each of the questions A, B, A, B: three, one, three and one are right."""
    counts: Counter[str] = Counter()

    def model(images, prompt):
        counts[prompt] += 1
        return "ABAA"[counts[prompt] - 1]

    bench.evaluate("fridge", model=model, name="mine")
    run = bench.evaluate("fridge", model=model, name="mine", n=4)
    assert set(counts.values()) == {4}  # the first response is reused
    whole = run.metrics[run.metrics.category == "all"].set_index("metric")
    # pass@2: 1 - C(1, 2) / C(4, 2) = 1 and 1 - C(3, 2) / C(4, 2) = 0.5
    values = {"accuracy": 0.5, "avg@4": 0.5, "pass@2": 0.75, "pass@4": 1.0}
    assert whole.loc[list(values)].value.to_dict() == values
    assert whole.loc[["accuracy", "pass@2"]].n_scored.tolist() == [16, 4]
    assert set(whole.loc[list(values)].n_clusters) == {2.0}  # two images, each of two questions
    assert "|draws:4|" in whole.signature.iloc[0]
    assert "pass@4" in dict(run.results[0].facts)
    assert len(run.samples) == 16
    part = bench.evaluate("fridge", model=model, name="mine", limit=2, n=2).metrics
    assert part[part.metric == "pass@2"].value.tolist() == [1.0]


def test_decoding_is_an_argument_and_makes_a_model_of_its_own(home):
    with (home / "bench.toml").open("a") as settings:
        settings.write('[models.served]\nkind = "server"\nmodel = "m"\n')
        settings.write('base_url = "http://127.0.0.1:9/v1"\n')
    assert bench.evaluate("fridge", model="random", seed=7).model == "random+seed=7"
    with pytest.raises(ModelError, match="refused"):
        bench.evaluate("fridge", model="served", temperature=0.7, max_tokens=9, n=2)
    chosen = load_settings(home).models_of_file["served"]
    resolved = resolve("served,temperature=0.7,max_tokens=9,n=2", load_settings(home))
    assert resolved.name == "served+max_tokens=9+n=2+temperature=0.7"
    changed = {"temperature": 0.7, "max_tokens": 9, "n": 2}
    assert resolved.spec == chosen.model_copy(update=changed)


def test_a_function_reads_once_and_without_the_image_what_no_rule_reads(home):
    requests = []

    def read(images, prompt):
        requests.append((len(images), prompt.count("the warmer of the two")))
        return "A"

    def vague(images, prompt):
        return "I would rather call it the warmer of the two."

    run = bench.evaluate("fridge", model=vague, name="vague", reader=read)
    whole = run.metrics[run.metrics.category == "all"].iloc[0]
    assert (whole.value, set(run.samples.answer)) == (0.5, {"A"})
    assert set(requests) == {(0, 1)}
    n_requests = len(requests)
    bench.evaluate("fridge", model=vague, name="vague", reader=read)
    assert len(requests) == n_requests


def test_other_code_under_the_same_name_is_called_again(home):
    assert bench.evaluate("fridge", model=lambda i, p: "A", name="m").metrics.value[0] == 0.5
    run = bench.evaluate("fridge", model=lambda i, p: "none of them", name="m")
    assert set(run.samples.response) == {"none of them"}


def test_ctrl_c_keeps_what_was_answered(home, capsys):
    requests = []

    def model(images, prompt):
        requests.append(prompt)
        if len(requests) == 3:
            raise KeyboardInterrupt
        return "A"

    with pytest.raises(KeyboardInterrupt):
        bench.evaluate("fridge", model=model, name="mine", limit=4)
    assert "stored so far: 2 responses" in capsys.readouterr().err
    bench.evaluate("fridge", model=model, name="mine", limit=4)
    assert len(requests) == 5


def traceback_of(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        pytest.param({"model": "randm"}, UnknownNameError, id="a name"),
        pytest.param({"modell": "random"}, TypeError, id="an argument"),
    ],
)
def test_a_notebook_shows_an_error_up_to_the_line_of_the_caller(home, monkeypatch, arguments, kind):
    class Shell:
        InteractiveTB: Any

        def structured_traceback(self, kind, error, frames):
            return [kind.__name__, *(frame.name for frame in traceback.extract_tb(frames))]

    shell = Shell()
    shell.InteractiveTB = shell
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    with pytest.raises(kind) as raised:
        bench.evaluate("fridge", **arguments)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    render = vars(raised.value)["_render_traceback_"]  # which IPython calls
    assert render() == [
        kind.__name__,
        "test_a_notebook_shows_an_error_up_to_the_line_of_the_caller",
    ]


def test_a_type_error_of_our_own_keeps_its_frames(home):
    @interface
    def fail():
        says_a()  # type: ignore[call-arg]

    with pytest.raises(TypeError) as raised:
        fail()
    assert traceback_of(raised.value)[1:] == ["call", "fail"]


@pytest.mark.parametrize("limit", [2, 0], ids=["limited", "whole"])
def test_an_error_of_an_own_function_keeps_the_frames_of_that_function(home, limit):
    class OwnError(Exception):
        pass

    def look_up(prompt):
        raise OwnError("no such entry")

    def model(images, prompt):
        return look_up(prompt)

    with pytest.raises(BenchError, match="requests failed: OwnError: no such") as raised:
        bench.evaluate("fridge", model=model, limit=limit)
    assert traceback_of(raised.value)[1:] == ["call"]
    assert isinstance(raised.value.__cause__, OwnError)
    assert traceback_of(raised.value.__cause__) == ["model", "look_up"]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        pytest.param({"model": "randm"}, UnknownNameError, "did you mean 'random'", id="a model"),
        pytest.param({"model": "runs/none"}, ModelError, "no such folder", id="a folder"),
        pytest.param({"model": "random", "suites": []}, SettingsError, "got none", id="no suite"),
        pytest.param({"model": 7}, SettingsError, "expected a path, a name or a function", id="7"),
        pytest.param({"model": "random", "name": "x"}, SettingsError, "only a Python", id="a name"),
        pytest.param({"model": says_a, "seed": 1}, SettingsError, "seed: not avail", id="a seed"),
        pytest.param({"model": says_a, "n": 0}, SettingsError, "n: expected a count", id="none"),
        pytest.param({"model": "random", "top_p": 1}, SettingsError, "top_p", id="decoding"),
        pytest.param({"model": "random", "limit": -1}, SettingsError, "limit: exp", id="below 0"),
        pytest.param({"model": "random", "limit": "4"}, SettingsError, "limit: exp", id="a text"),
        pytest.param({"model": says_a, "name": "random"}, SettingsError, "Choose", id="taken"),
        pytest.param(
            {"model": "random", "condition": "mian"}, UnknownNameError, "main", id="a condition"
        ),
        pytest.param(
            {"model": "random", "suites": ["fridge", "codis"], "judge": "rules"},
            SettingsError,
            "need exactly one suite",
            id="a judge of several suites",
        ),
    ],
)
def test_what_cannot_be_evaluated_says_why(home, arguments, error, says):
    with pytest.raises(error, match=says):
        bench.evaluate(**{"suites": "fridge", **arguments})


def test_wrong_samples_are_shown_with_prompt_and_response(run, capsys):
    run.show(wrong=True)
    shown = capsys.readouterr().out
    assert [name for name in ("0", "1", "2", "3") if f"fridge/{name} " in shown] == ["1", "3"]
    assert "response: A" in shown
    assert "score: 0 of 1" in shown
    run.show(category="one", wrong=False)
    assert "fridge/0 " in capsys.readouterr().out


def test_samples_of_a_slice_are_shown_and_a_question_worth_nothing_is_not_right(home, capsys):
    lines = [
        {"id": str(n), "question": f"Is it {n}?", "answer": "yes", "level": level}
        for n, level in enumerate(["easy", "hard"])
    ]
    (home / "levels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with (home / "bench.toml").open("a") as settings:
        settings.write('[benchmarks.levels]\nfile = "levels.jsonl"\nslices = ["level"]\n')
    run = bench.evaluate("levels", model=lambda images, prompt: "Yes.")
    assert "level hard" in set(run.metrics.category)
    run.show(category="level hard")
    shown = capsys.readouterr().out
    assert "levels/1" in shown
    assert "levels/0" not in shown
    (one,) = run.evaluations
    scores = [replace(score, points=0.0, max_points=0.0) for score in one.scores]
    replace(run, evaluations=(replace(one, scores=scores),)).show(wrong=False)
    assert capsys.readouterr().out == "no sample\n"


def test_a_notebook_sees_intervals_links_and_images(run):
    table = run._repr_html_()
    assert table.count("<svg viewBox=") == 1
    assert number_page("fridge", "says-a", "main") in table
    assert "#/number/" not in bench.evaluate("fridge", model=says_a, limit=2)._repr_html_()
    sample: Any
    (sample,) = run.samples.head(1).to_dict("records")
    assert 'src="data:image/png;base64,' in sample_html(sample)


def test_a_plot_has_a_bar_for_each_category_beside_chance_and_the_best_constant(run, tmp_path):
    plot = run.plot()
    assert plot.n_rows == 3
    assert plot.svg.count("stroke-dasharray") == 3  # chance, 1 of 2 options, in each row
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
    with pytest.raises(UnknownNameError, match="accuracy"):
        run.plot("acuracy")


def test_runs_are_compared_by_the_engine_of_the_report(run):
    found = bench.compare(run, bench.evaluate("fridge", model=says_by_colour))
    (whole,) = [row for row in found.rows if row.category == "all"]
    assert (whole.before, whole.after, whole.gained) == (0.5, 1.0, ("fridge/1", "fridge/3"))
    assert found.sentence.startswith("undecided on 1 of 1")
    assert "fridge/1" in found.frame.gained[0]
    assert found.plot().n_rows == 3
    assert (found.fails(), found.fails("undecided")) == (False, True)
    assert "| undecided |" in found.markdown()
    assert 'failures="1"' in found.junit("undecided")


def test_a_category_selects_questions_of_all_suites_that_have_it(home):
    run = bench.evaluate(["codis", "fridge"], model="random", categories=["one"])
    assert [(one.task.name, one.partial) for one in run.evaluations] == [
        ("fridge", "2 of 4 questions of one")
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'one'"):
        bench.evaluate(["codis", "fridge"], model="random", categories=["one", "onne"])


def test_questions_are_rows_and_a_frame(home):
    questions = bench.load("fridge")
    assert [one.answer for one in questions] == [("A",), ("B",), ("A",), ("B",)]
    assert questions.frame().category.tolist() == ["one", "one", "two", "two"]
    assert questions.images(questions[0])[0].open().size == (32, 32)
    assert len(questions[:2]) == 2
    load: Any = bench.load  # a list, as evaluate takes one
    assert len(load(["fridge"])) == 4
    with pytest.raises(SettingsError, match="suite: expected one, got fridge, codis"):
        load(["fridge", "codis"])


def test_prompts_are_answered_in_order_and_cached(home):
    requests = []

    def echo(images, prompt):
        requests.append(prompt)
        return f"{len(images)} {prompt}"

    file = home / "fridge" / "red.png"
    prompts = ["text alone", [file, "one"], [file, "between", file.read_bytes(), "two"]]
    texts = [one.text for one in bench.generate(echo, prompts, name="echo")]
    assert texts == ["0 text alone", "1 one", "2 between\ntwo"]
    assert [one.text for one in bench.generate(echo, prompts[1:], name="echo")] == texts[1:]
    assert len(requests) == 3


def test_a_pil_image_is_shown_as_its_file_would_be(home, tmp_path):
    def pixel(images, prompt):
        return f"{images[0].size} {images[0].getpixel((0, 0))}"

    clear = Image.new("RGBA", (2, 2), (0, 0, 0, 0))
    deep = Image.new("I;16", (2, 2), 2**15)  # a medium grey
    turned = Image.new("RGB", (4, 2), "red")
    turned.getexif()[ExifTags.Base.Orientation] = 6
    for number, image in enumerate((clear, deep, turned)):
        file = tmp_path / f"{number}.png"
        image.save(file, exif=image.getexif())
        with Image.open(file) as opened:
            in_memory, on_disk = bench.generate(pixel, [[opened], [file]])
        assert in_memory.text == on_disk.text
    assert on_disk.text.startswith("(2, 4)")


@pytest.mark.parametrize(
    ("prompts", "says"),
    [
        pytest.param("one text", "expected a list of prompts", id="no list"),
        pytest.param([[3]], "expected texts and images", id="a number"),
    ],
)
def test_what_is_no_prompt_says_what_was_expected(home, prompts, says):
    with pytest.raises(SettingsError, match=says):
        bench.generate("random", prompts)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        pytest.param(lambda prompt: "A", "got lambda: too many positional", id="one argument"),
        pytest.param(lambda: "A", "got lambda: too many positional", id="no argument"),
        pytest.param(awaited, "which is asynchronous", id="asynchronous"),
        pytest.param(Llava(), "Pass the folder or hub id", id="a model of transformers"),
        pytest.param(lambda images, prompt, k: "A", "missing a required argument: 'k'", id="three"),
    ],
)
def test_a_function_of_other_arguments_is_refused_before_questions_are_built(home, model, says):
    with pytest.raises(SettingsError, match=says):
        bench.evaluate("no suite of this name", model=model)


def test_an_audit_of_runs_lists_what_applies_and_fails_of_nothing_that_a_run_lacks(run):
    found = bench.audit(run)
    shown = repr(found)
    assert [row.check for row in found.failed if row.skipped] == []
    assert "no table yet" not in shown
    assert "skipped" not in shown
    assert "\nDo not apply (reasons in .frame): " in shown
    assert "judge_agreement" in shown


def test_no_warning_of_dagster_within_an_event_loop(home, recwarn):
    async def cell():
        return bench.load("fridge")

    assert len(asyncio.run(cell())) == 4
    gc.collect()
    assert [str(one.message) for one in recwarn if "asyncgens" in str(one.message)] == []


def test_rejections_of_a_first_build_stop_nothing(home):
    """Nor if the rows are a list of JSON, which is read for its images before."""
    rows = [
        {"id": n, "question": "?", "image": "red.png", "options": ["red", "blue"], "answer": answer}
        for n, answer in enumerate(["red", "purple"])
    ]
    (home / "fridge" / "rows.json").write_text(json.dumps(rows))
    with (home / "bench.toml").open("a") as toml:
        toml.write('[benchmarks.photos]\nfile = "fridge/rows.json"\n')
    run = bench.evaluate("photos", model="random")
    assert run.metrics.n_rejected.tolist() == [1]


def test_every_name_that_is_offered_is_there():
    assert [name for name in bench.__all__ if not hasattr(bench, name)] == []
    assert set(bench.__all__) <= set(dir(bench))
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        bench.evalute  # noqa: B018


def test_a_model_that_is_a_function_elsewhere_says_how_to_ask_it(home):
    bench.evaluate("fridge", model=says_a, name="gone")
    functions._functions.pop("gone")
    with pytest.raises(ModelError, match="this process does not have the Python function"):
        bench.evaluate("fridge", model="gone", limit=2)


def test_what_is_no_run_is_not_compared_or_audited(run):
    anything: Any = bench
    for call in (lambda: anything.compare(run, 3), lambda: anything.compare("codis", run)):
        with pytest.raises(SettingsError, match=r"expected the result of bench\.evaluate"):
            call()
    with pytest.raises(SettingsError, match="results: expected the result of"):
        anything.audit(3)
    with pytest.raises(SettingsError, match="n: expected a count, got -1"):
        run.show(-1)
