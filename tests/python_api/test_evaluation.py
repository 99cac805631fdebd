import asyncio
import gc
import json
import re
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
from bench_assets.core.schema.errors import (
    BenchError,
    ImageError,
    ModelError,
    SettingsError,
    UnknownNameError,
)
from bench_assets.python_api import display
from bench_assets.python_api.calls import interface
from bench_assets.python_api.display import sample_html
from bench_assets.report.site.addresses import number_page
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry import functions
from bench_resources.models.registry.resolution import resolve
from tests.cases import read_cases


def always_a(images, prompt):
    return "A"


def answer_by_colour(images, prompt):
    """Return A for a red image, and else B."""
    return "A" if images[0].getpixel((0, 0)) == (255, 0, 0) else "B"


def overall_row(run):
    """The first metric over all questions."""
    return run.metrics[run.metrics.category == "all"].iloc[0]


async def asynchronous(images, prompt):
    return "A"


class Generator:
    """Looks like a model of transformers: it is called, and has ``generate``."""

    def __call__(self, *arguments):
        return self.generate(*arguments)

    def generate(self, *arguments):
        return "A"


class Llava(Generator):
    __module__ = "transformers.models.llava.modeling_llava"


def test_importing_loads_nothing_but_the_package_and_the_standard_library():
    code = "import sys; a = {*sys.modules}; import bench_assets; print(*({*sys.modules} - a))"
    names = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    own = [name for name in names if name.partition(".")[0] not in sys.stdlib_module_names]
    assert own == ["bench_assets"]


def test_a_function_gets_images_and_prompt_and_is_scored(home):
    calls = []

    def model(images, prompt):
        calls.append((images[0].getpixel((0, 0)), prompt))
        return answer_by_colour(images, prompt)

    overall = overall_row(bench.evaluate("fridge", model=model))
    assert (overall.metric, overall.value, overall.n_scored) == ("accuracy", 1.0, 4)
    assert sorted(pixel for pixel, _ in calls) == [(0, 0, 255)] * 2 + [(255, 0, 0)] * 2
    prompts = sorted(prompt for _, prompt in calls)
    assert all(f"Which colour is square {n}?" in prompt for n, prompt in enumerate(prompts))


def test_samples_have_prompt_response_and_points(run):
    sample = run.samples.set_index("question_id").loc["fridge/1"]
    assert (sample.response, sample.answer) == ("A", "A")
    assert (sample.expected, sample.score) == ("B", 0.0)
    assert "Which colour is square 1?" in sample.prompt
    assert "[image 1]" in sample.prompt
    assert sample.images[0].open().getpixel((0, 0)) == (0, 0, 255)


def test_a_partial_run_is_marked_and_enters_no_table(home):
    run = bench.evaluate("fridge", model="random", limit=2)
    assert run.partial == "2 of 4 questions"
    assert "PARTIAL: 2 of 4 questions" in repr(run)
    with open_workbench("fridge") as workbench:
        assert workbench.tables.partitions(["fridge", "metrics"]) == []


def test_a_complete_run_is_in_the_tables_of_the_commands(run):
    with open_workbench("fridge") as workbench:
        assert run.rows == workbench.metrics("fridge", "says-a")
        workbench.refresh_leaderboard()
        (row,) = [row for row in workbench.rows("leaderboard") if row.model == "says-a"]
    assert (row.value, row.stale) == (0.5, "")


def test_a_function_without_a_name_is_not_cached(home):
    requests = []

    def model(images, prompt):
        requests.append(prompt)
        return "A"

    bench.evaluate("fridge", model=model, limit=4)
    bench.evaluate("fridge", model=model, limit=4)
    assert len(requests) == 8


def respond_abaa(counts: Counter[str]):
    """A model that responds A, B, A and A to each prompt, and counts its responses."""

    def model(images, prompt):
        counts[prompt] += 1
        return "ABAA"[counts[prompt] - 1]

    return model


def test_several_responses_to_each_question_give_pass_at_k(home):
    """A, B, A, A to each of the questions A, B, A, B: three, one, three and one are right."""
    run = bench.evaluate("fridge", model=respond_abaa(Counter()), n=4)
    overall = run.metrics[run.metrics.category == "all"].set_index("metric")
    # pass@2: 1 - C(1, 2) / C(4, 2) = 1 and 1 - C(3, 2) / C(4, 2) = 0.5
    values = {"accuracy": 0.5, "avg@4": 0.5, "pass@2": 0.75, "pass@4": 1.0}
    assert overall.loc[list(values)].value.to_dict() == values
    assert overall.loc[["accuracy", "pass@2"]].n_scored.tolist() == [16, 4]
    assert set(overall.loc[list(values)].n_clusters) == {2.0}  # two images, each of two questions
    assert "|draws:4|" in overall.signature["accuracy"]


def test_each_of_several_responses_is_a_sample(home):
    run = bench.evaluate("fridge", model=respond_abaa(Counter()), n=4)
    assert run.samples.response.tolist() == [*"ABAA"] * 4  # to each of four questions


def test_further_responses_to_a_question_are_added_to_cached_ones(home):
    counts: Counter[str] = Counter()
    model = respond_abaa(counts)
    bench.evaluate("fridge", model=model, name="mine", limit=2)
    run = bench.evaluate("fridge", model=model, name="mine", limit=2, n=4)
    assert list(counts.values()) == [4, 4]
    assert run.samples.response.tolist() == [*"ABAA"] * 2


def test_a_seed_makes_a_model_with_its_own_name(home):
    assert bench.evaluate("fridge", model="random", seed=7).model == "random+seed=7"


def test_decoding_arguments_change_the_section_of_a_model(home):
    with (home / "bench.toml").open("a") as settings:
        settings.write('[models.served]\nkind = "server"\nmodel = "m"\n')
        settings.write('base_url = "http://127.0.0.1:9/v1"\n')
    decoding: dict[str, Any] = {"temperature": 0.7, "max_tokens": 9, "n": 2}
    with pytest.raises(ModelError, match="refused"):
        bench.evaluate("fridge", model="served", **decoding)
    resolved = resolve("served,temperature=0.7,max_tokens=9,n=2", load_settings(home))
    assert resolved.name == "served+max_tokens=9+n=2+temperature=0.7"
    section = load_settings(home).models_of_file["served"]
    assert resolved.spec == section.model_copy(update=decoding)


def test_a_reader_gets_each_unread_response_once_and_without_the_image(home):
    requests = []

    def read(images, prompt):
        requests.append((len(images), prompt.count("the warmer of the two")))
        return "A"

    def vague(images, prompt):
        return "I would rather call it the warmer of the two."

    run = bench.evaluate("fridge", model=vague, name="vague", reader=read)
    assert (overall_row(run).value, set(run.samples.answer)) == (0.5, {"A"})
    assert set(requests) == {(0, 1)}
    n_requests = len(requests)
    bench.evaluate("fridge", model=vague, name="vague", reader=read)
    assert len(requests) == n_requests


def test_changed_code_under_the_same_name_is_not_cached(home):
    assert bench.evaluate("fridge", model=lambda i, p: "A", name="m").metrics.value[0] == 0.5
    run = bench.evaluate("fridge", model=lambda i, p: "none of them", name="m")
    assert set(run.samples.response) == {"none of them"}


def test_ctrl_c_keeps_the_responses_so_far(home, capsys):
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
    assert len(requests) == 5  # two stored, one interrupted, and the last two


def frame_names(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize(
    ("arguments", "error_type"),
    [
        pytest.param({"model": "randm"}, UnknownNameError, id="a name"),
        pytest.param({"modell": "random"}, TypeError, id="an argument"),
    ],
)
def test_a_notebook_shows_an_error_up_to_the_line_of_the_caller(
    home, monkeypatch, arguments, error_type
):
    shell = FakeShell()
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    with pytest.raises(error_type) as raised:
        bench.evaluate("fridge", **arguments)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    render = vars(raised.value)["_render_traceback_"]  # which IPython calls
    this_test = "test_a_notebook_shows_an_error_up_to_the_line_of_the_caller"
    assert render() == [error_type.__name__, this_test]


class FakeShell:
    """The shell of a notebook, which lists an error and the names of its frames."""

    def __init__(self):
        self.InteractiveTB = self

    def structured_traceback(self, error_type, error, frames):
        return [error_type.__name__, *(frame.name for frame in traceback.extract_tb(frames))]


def test_a_type_error_of_the_package_keeps_its_frames(home):
    @interface
    def fail():
        always_a()  # type: ignore[call-arg]

    with pytest.raises(TypeError) as raised:
        fail()
    assert frame_names(raised.value)[1:] == ["call", "fail"]


@pytest.mark.parametrize("limit", [2, 0], ids=["limited", "whole"])
def test_an_error_of_a_users_function_keeps_its_frames(home, limit):
    class UserError(Exception):
        pass

    def look_up(prompt):
        raise UserError("no such key")

    def model(images, prompt):
        return look_up(prompt)

    with pytest.raises(BenchError, match="requests failed: UserError: no such") as raised:
        bench.evaluate("fridge", model=model, limit=limit)
    assert frame_names(raised.value)[1:] == ["call"]
    assert isinstance(raised.value.__cause__, UserError)
    assert frame_names(raised.value.__cause__) == ["model", "look_up"]


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        *read_cases(__file__, "invalid_arguments.jsonl"),
        pytest.param({"model": always_a, "seed": 1}, "seed: not avail", id="a function's seed"),
        pytest.param({"model": always_a, "n": 0}, "n: expected a count", id="n=0"),
        pytest.param({"model": always_a, "name": "random"}, "Choose", id="taken"),
    ],
)
def test_invalid_arguments_are_refused(home, arguments, expected_message):
    with pytest.raises(BenchError, match=expected_message):
        bench.evaluate(**{"suites": "fridge", **arguments})


def test_wrong_samples_are_shown_with_prompt_and_response(run, capsys):
    run.show(wrong=True)
    output = capsys.readouterr().out
    assert re.findall(r"fridge/\d", output) == ["fridge/1", "fridge/3"]
    assert "response: A" in output
    assert "score: 0 of 1" in output


def test_right_samples_of_a_category_are_shown(run, capsys):
    run.show(category="one", wrong=False)
    assert "fridge/0 " in capsys.readouterr().out


def test_samples_of_a_slice_are_shown(home, capsys):
    rows = [
        {"id": "0", "question": "Is it 0?", "answer": "yes", "level": "easy"},
        {"id": "1", "question": "Is it 1?", "answer": "yes", "level": "hard"},
    ]
    (home / "levels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with (home / "bench.toml").open("a") as settings:
        settings.write('[benchmarks.levels]\nfile = "levels.jsonl"\nslices = ["level"]\n')
    run = bench.evaluate("levels", model=lambda images, prompt: "Yes.")
    assert "level hard" in set(run.metrics.category)
    run.show(category="level hard")
    output = capsys.readouterr().out
    assert "levels/1" in output
    assert "levels/0" not in output


def test_a_question_worth_no_points_is_not_shown_as_right(run, capsys):
    (evaluation,) = run.evaluations
    scores = [replace(score, points=0.0, max_points=0.0) for score in evaluation.scores]
    replace(run, evaluations=(replace(evaluation, scores=scores),)).show(wrong=False)
    assert capsys.readouterr().out == "no sample\n"


def test_a_notebook_shows_intervals_and_links_to_the_report(run):
    table = run._repr_html_()
    assert table.count("<svg viewBox=") == 1
    assert number_page("fridge", "says-a", "main") in table
    assert "#/number/" not in bench.evaluate("fridge", model=always_a, limit=2)._repr_html_()


def test_a_notebook_shows_the_images_of_a_sample(run):
    sample: Any
    (sample,) = run.samples.head(1).assign(is_right=True).to_dict("records")
    assert 'src="data:image/png;base64,' in sample_html(sample)


@pytest.mark.parametrize(("points", "is_right"), [(0.5, True), (0.4, False)])
def test_a_sample_is_shown_as_right_from_the_points_of_its_task(run, monkeypatch, points, is_right):
    """A box, for example, is right from an IoU of 0.5."""
    (evaluation,) = run.evaluations
    scores = [replace(score, points=points) for score in evaluation.scores]
    task = replace(evaluation.task, right_from=0.5)
    shown: list[Any] = []
    monkeypatch.setattr(display, "show_samples", shown.extend)
    replace(run, evaluations=(replace(evaluation, task=task, scores=scores),)).show(1)
    assert [sample["is_right"] for sample in shown] == [is_right]


def test_a_plot_has_a_row_for_all_questions_and_each_category(run, tmp_path):
    plot = run.plot()
    assert plot.n_rows == 3  # all, one and two
    assert plot.svg.count("stroke-dasharray") == 3  # chance, 1 of 2 options, in each row
    plot.save(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")


def test_a_plot_of_an_unknown_metric_names_the_known_ones(run):
    with pytest.raises(UnknownNameError, match="accuracy"):
        run.plot("acuracy")


@pytest.fixture
def comparison(run):
    """The run that always returns A, compared with one that is right."""
    return bench.compare(run, bench.evaluate("fridge", model=answer_by_colour))


def test_two_runs_are_compared_by_question(comparison):
    (overall,) = [row for row in comparison.rows if row.category == "all"]
    assert (overall.before, overall.after) == (0.5, 1.0)
    assert overall.gained == comparison.frame.gained[0] == ("fridge/1", "fridge/3")
    assert comparison.plot().n_rows == 3  # all, one and two


def test_an_undecided_comparison_fails_a_gate_on_demand_only(comparison):
    assert comparison.sentence.startswith("undecided on 1 of 1")
    assert (comparison.fails(), comparison.fails("undecided")) == (False, True)
    assert "| undecided |" in comparison.markdown()
    assert 'failures="1"' in comparison.junit("undecided")


def test_a_category_selects_questions_of_all_suites_that_have_it(home):
    run = bench.evaluate(["codis", "fridge"], model="random", categories=["one"])
    (evaluation,) = run.evaluations
    assert (evaluation.task.name, evaluation.partial) == ("fridge", "2 of 4 questions of one")


def test_an_unknown_category_is_refused(home):
    with pytest.raises(UnknownNameError, match="did you mean 'one'"):
        bench.evaluate(["codis", "fridge"], model="random", categories=["one", "onne"])


def test_questions_are_rows_and_a_frame(home):
    questions = bench.load("fridge")
    answers = [("A",), ("B",), ("A",), ("B",)]
    assert [question.answer for question in questions] == answers
    assert questions.frame().answer.tolist() == answers


def test_a_slice_of_questions_has_their_images(home):
    sliced = bench.load("fridge")[1:3]
    assert [question.question_id for question in sliced] == ["fridge/1", "fridge/2"]
    (image,) = sliced.images(sliced[0])
    assert image.open().getpixel((0, 0)) == (0, 0, 255)


def test_questions_are_loaded_by_a_list_of_one_suite(home):
    load: Any = bench.load
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
    texts = [response.text for response in bench.generate(echo, prompts, name="echo")]
    assert texts == ["0 text alone", "1 one", "2 between\ntwo"]
    cached_responses = bench.generate(echo, prompts[1:], name="echo")
    assert [response.text for response in cached_responses] == texts[1:]
    assert len(requests) == 3


def turned_image():
    """An image of 4 x 2 px that is to be shown upright, as 2 x 4 px."""
    image = Image.new("RGB", (4, 2), "red")
    image.getexif()[ExifTags.Base.Orientation] = 6
    return image


@pytest.mark.parametrize(
    ("image", "expected_size"),
    [
        pytest.param(Image.new("RGBA", (2, 2), (0, 0, 0, 0)), "(2, 2)", id="transparent"),
        pytest.param(Image.new("I;16", (2, 2), 2**15), "(2, 2)", id="a grey of 16 bits"),
        pytest.param(turned_image(), "(2, 4)", id="turned"),
    ],
)
def test_an_image_in_memory_is_shown_as_its_file_would_be(home, tmp_path, image, expected_size):
    def size_and_pixel(images, prompt):
        return f"{images[0].size} {images[0].getpixel((0, 0))}"

    file = tmp_path / "image.png"
    image.save(file, exif=image.getexif())
    with Image.open(file) as opened_image:
        in_memory, on_disk = bench.generate(size_and_pixel, [[opened_image], [file]])
    assert in_memory.text == on_disk.text
    assert on_disk.text.startswith(expected_size)


@pytest.mark.parametrize(
    ("prompts", "expected_message"),
    [
        pytest.param("one text", "expected a list of prompts", id="no list"),
        pytest.param(3, "expected a list of prompts, got int", id="a number for the list"),
        pytest.param(["one", 3], r"prompts\[1\]: expected texts.*got int", id="a number"),
        pytest.param(
            [["one", 3]], r"prompts\[0\]: expected texts.*got int", id="a number in a list"
        ),
        pytest.param([{"role": "user"}], r"prompts\[0\]: .*got dict", id="a turn of a chat API"),
    ],
)
def test_invalid_prompts_are_refused(home, prompts, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        bench.generate("random", prompts)


@pytest.mark.parametrize("image", [b"no image", Image.new("RGB", (0, 5))], ids=["bytes", "empty"])
def test_an_unusable_image_is_named_by_its_prompt(home, image):
    with pytest.raises(ImageError, match=r"^prompts\[1\]: "):
        bench.generate("random", ["?", [image]])


@pytest.mark.parametrize(
    ("model", "expected_message"),
    [
        pytest.param(lambda prompt: "A", "got lambda: too many positional", id="one argument"),
        pytest.param(lambda: "A", "got lambda: too many positional", id="no argument"),
        pytest.param(asynchronous, "which is asynchronous", id="asynchronous"),
        pytest.param(Llava(), "Pass the folder or hub id", id="a model of transformers"),
        pytest.param(lambda images, prompt, k: "A", "missing a required argument: 'k'", id="three"),
    ],
)
def test_an_unsuitable_function_is_refused_before_suites_are_read(home, model, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        bench.evaluate("no suite of this name", model=model)


def test_an_audit_of_a_run_lists_checks_that_do_not_apply_without_failing_them(run):
    audit = bench.audit(run)
    text = repr(audit)
    assert [row.check for row in audit.failed if row.skipped] == []
    assert "no table yet" not in text
    assert "skipped" not in text
    _, _, inapplicable = text.partition("\nDo not apply (reasons in .frame): ")
    assert "judge_agreement" in inapplicable


def test_dagster_does_not_warn_within_an_event_loop(home, recwarn):
    async def cell():
        return bench.load("fridge")

    assert len(asyncio.run(cell())) == 4
    gc.collect()
    messages = [str(warning.message) for warning in recwarn]
    assert [message for message in messages if "asyncgens" in message] == []


def test_rejections_of_a_first_build_do_not_stop_the_evaluation(home):
    """The rows are a list in JSON, which is read for its images before the build."""
    rows = [
        {"id": n, "question": "?", "image": "red.png", "options": ["red", "blue"], "answer": answer}
        for n, answer in enumerate(["red", "purple"])
    ]
    (home / "fridge" / "rows.json").write_text(json.dumps(rows))
    with (home / "bench.toml").open("a") as toml:
        toml.write('[benchmarks.photos]\nfile = "fridge/rows.json"\n')
    run = bench.evaluate("photos", model="random")
    assert run.metrics.n_rejected.tolist() == [1]


def test_every_public_name_can_be_imported_and_is_listed():
    assert [name for name in bench.__all__ if not hasattr(bench, name)] == []
    assert set(bench.__all__) <= set(dir(bench))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        bench.evalute  # noqa: B018


def test_a_function_of_another_process_is_an_error(home):
    bench.evaluate("fridge", model=always_a, name="gone")
    functions._functions.pop("gone")
    with pytest.raises(ModelError, match="this process does not have the Python function"):
        bench.evaluate("fridge", model="gone", limit=2)


@pytest.mark.parametrize("position", [0, 1])
def test_a_comparison_takes_only_runs(run, position):
    arguments: list[Any] = [run, run]
    arguments[position] = "codis"
    with pytest.raises(SettingsError, match=r"expected the result of bench\.evaluate"):
        bench.compare(*arguments)


def test_an_audit_takes_only_runs():
    not_a_run: Any = 3
    with pytest.raises(SettingsError, match="results: expected the result of"):
        bench.audit(not_a_run)


def test_a_negative_number_of_samples_is_refused(run):
    with pytest.raises(SettingsError, match="n: expected a count, got -1"):
        run.show(-1)
