"""Results of other harnesses, in files that their own code wrote, of four to six samples each.

squares.eval, sums.eval and grades.eval: inspect_ai 0.3.285 with its mock model. org__tiny-vlm
and dummy: lmms-eval 0.7.3. TinyVLM: tables as VLMEvalKit's ``dump`` writes them.
"""

import json
import shutil
import zipfile
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bench_assets as bench
from bench_assets.cli.main import app
from bench_assets.comparison.verdicts import compare_scores
from bench_assets.core.schema.errors import BenchError, SettingsError, SourceError
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.evaluation.suite import name_defects
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.evaluation.units import ScoredMetric, metric_units
from bench_assets.external_results.evaluation import imported_evaluation
from bench_assets.external_results.reading import read_external_results
from bench_assets.external_results.results import ExternalMetric, ExternalResults, ExternalSample
from bench_assets.external_results.suite import imported_task, mean_points
from bench_assets.workspace.materialization.opening import open_workbench
from tests.cases import read_cases

DATA = Path(__file__).parent / "data"
LMMS = DATA / "org__tiny-vlm"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def numbers(results):
    return [(metric.name, metric.category, metric.value) for metric in results.metrics]


@pytest.mark.parametrize(
    ("file", "harness", "task", "model", "printed", "points"),
    read_cases(__file__, "headlines.jsonl", tuples=True),
)
def test_headline_numbers_and_points_are_the_harness_s_own(
    file, harness, task, model, printed, points
):
    (found,) = read_external_results(DATA / file)
    assert (found.measured_by, found.task, found.model) == (harness, task, model)
    assert numbers(found) == [*printed]
    assert [sample.points for sample in found.samples] == [*points]


def test_all_tasks_of_a_results_file_are_read():
    found = read_external_results(LMMS / "20261124_070000_results.json")
    assert [results.task for results in found] == ["mini_mc", "mini_vqa"]
    assert found[0].partial == "4 of 8 samples"


def test_a_sample_has_its_prompt_images_options_and_key():
    sample = read_external_results(DATA / "squares.eval")[0].samples[1]
    assert "Which colour is square 2?\n\nA) red\nB) blue\nC) green" in sample.prompt
    assert sample.images[0].startswith(b"\x89PNG")
    assert (sample.options, sample.target) == (("red", "blue", "green"), ("B",))
    assert sample.category == "one"
    assert (sample.response, sample.answer) == ("ANSWER: B", "B")


SHEET = "xl/worksheets/sheet1.xml"
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def table(folder, kind, rows):
    """A file of VLMEvalKit; None is an empty cell, () an empty row."""
    file, (names, *others) = folder / f"M_D.{kind}", rows
    if kind == "tsv":
        cells = [["" if cell is None else str(cell) for cell in row or [None] * 7] for row in rows]
        file.write_text("".join(f"{chr(9).join(row)}\n" for row in cells))
    elif kind == "json":  # as ``DataFrame.to_dict`` has empty cells
        filled = [[nan if cell is None else cell for cell in row or [None] * 7] for row in others]
        file.write_text(json.dumps([dict(zip(names, row, strict=False)) for row in filled]))
    else:
        with zipfile.ZipFile(file, "w") as book:
            book.writestr(SHEET, sheet(rows))
    return file


def sheet(rows):
    lines = [
        "".join(
            f'<c r="{column}{n}" t="inlineStr"><is><t>{cell}</t></is></c>'
            for column, cell in zip("ABCDEFG", row, strict=False)
            if cell is not None
        )
        for n, row in enumerate(rows, 1)
    ]
    listed = "".join(f'<row r="{n}">{line}</row>' for n, line in enumerate(lines, 1))
    return f"<worksheet {MAIN}><sheetData>{listed}</sheetData></worksheet>"


KINDS = pytest.mark.parametrize("kind", ["tsv", "json", "xlsx"])
NAMES = ("index", "question", "A", "B", "hint", "prediction", "hit")
FULL = (1, "Which?", "red", "blue", "Look.", "A", 1)


@KINDS
def test_empty_rows_and_cells_are_left_out(tmp_path, kind):
    first = (1, "Which?", "red", None, None, None, 0)  # which has no response
    (found,) = read_external_results(table(tmp_path, kind, [NAMES, first, (), (2, *FULL[1:])]))
    bare, hinted = found.samples
    assert (bare.prompt, bare.options, bare.response) == ("Which?\nA. red", ("red",), "")
    assert hinted.prompt == "Hint: Look.\nWhich?\nA. red\nB. blue"
    assert (bare.sample_id, bare.points, hinted.sample_id, hinted.points) == ("1", 0, "2", 1)


@KINDS
def test_scores_are_found_whose_first_response_was_lost(tmp_path, kind):
    table(tmp_path, kind, [NAMES[:-1], FULL[:-1], (2, *FULL[1:-1])])
    scored = tmp_path / "scored"
    scored.mkdir()
    rows = [NAMES, (*FULL[:-2], None, None), (2, *FULL[1:])]
    table(scored, kind, rows).rename(tmp_path / f"M_D_exact_matching_result.{kind}")
    (found,) = read_external_results(tmp_path / f"M_D.{kind}")
    assert [sample.points for sample in found.samples] == [None, 1]


def test_metrics_are_read_of_a_table_with_a_row_for_each_category_as_of_hallusionbench(tmp_path):
    file = table(tmp_path, "tsv", [NAMES, FULL])
    headline = "split,aAcc,fAcc,qAcc\nOverall,67.0,40.0,50.0\nVD,70.0,45.0,50.5\n2,1.0,2.0,3.0\n"
    (tmp_path / "M_D_score.csv").write_text(headline)
    (results,) = read_external_results(file)
    assert numbers(results) == [
        *(("aAcc", "all", 67.0), ("fAcc", "all", 40.0), ("qAcc", "all", 50.0)),
        *(("aAcc", "VD", 70.0), ("fAcc", "VD", 45.0), ("qAcc", "VD", 50.5)),
        *(("aAcc", "2", 1.0), ("fAcc", "2", 2.0), ("qAcc", "2", 3.0)),
    ]


@KINDS
@pytest.mark.parametrize(
    ("second", "says"),
    [
        pytest.param((None, *FULL[1:]), "no index", id="no index"),
        pytest.param(FULL, "id '1' is also in .*; keep one", id="the same index"),
    ],
)
def test_a_row_that_is_no_sample_is_named(tmp_path, kind, second, says):
    place = {"tsv": "line 3", "json": "entry 2", "xlsx": "row 3"}[kind]
    file = table(tmp_path, kind, [NAMES, FULL, second])
    with pytest.raises(SourceError, match=rf"M_D\.{kind}, {place}: {says}"):
        read_external_results(file)


@pytest.mark.parametrize(
    ("member", "content", "says"),
    [
        pytest.param(
            SHEET,
            sheet([("index", "prediction", "prediction")]),
            "duplicate column 'prediction'",
            id="two columns of one name",
        ),
        pytest.param(
            SHEET,
            sheet([NAMES]).replace("inlineStr", "s").replace("<is><t>index</t></is>", "<v>7</v>"),
            "cannot be read as an .xlsx workbook: list index out of range",
            id="a text that is not among the shared ones",
        ),
        pytest.param("xl/other.xml", "", "cannot be read as an .xlsx workbook", id="no sheet"),
    ],
)
def test_the_error_of_a_workbook_of_another_shape_names_the_file(tmp_path, member, content, says):
    with zipfile.ZipFile(tmp_path / "M_D.xlsx", "w") as book:
        book.writestr(member, content)
    with pytest.raises(SourceError, match=rf"M_D\.xlsx: {says}"):
        read_external_results(tmp_path / "M_D.xlsx")


def test_a_log_that_was_interrupted_has_the_samples_until_then(tmp_path):
    begun = tmp_path / "begun.eval"
    with (
        zipfile.ZipFile(DATA / "squares.eval") as whole,
        zipfile.ZipFile(begun, "w") as part,
    ):
        header = {
            "version": 2,
            "eval": {"task": "squares", "model": "m", "dataset": {"samples": 4}},
        }
        part.writestr("_journal/start.json", json.dumps(header))
        assert "samples/1_epoch_1.json" in whole.namelist()
        sample = {"id": 1, "epoch": 1, "input": "1+1?", "target": "2", "scores": {}}
        part.writestr("samples/1_epoch_1.json", json.dumps(sample))
    (found,) = read_external_results(begun)
    assert (found.partial, found.metrics, len(found.samples)) == ("1 of 4 samples", (), 1)
    with pytest.raises(SourceError, match="no headline number"):
        bench.read_results(begun)


SAMPLE = {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        pytest.param({"samples": "one"}, ": field 'samples' is 'one'", id="no list"),
        pytest.param({"samples": [SAMPLE, "two"]}, ", sample 2: not as Insp", id="no object"),
        pytest.param({"samples": [{"id": 1, "scores": [1]}]}, ", sample 1: not as", id="scores"),
        pytest.param({"samples": [SAMPLE | {"epoch": "x"}]}, ", sample 1: not as", id="epoch"),
        pytest.param({"samples": [{"scores": {}}]}, ", sample 1: no id", id="no id"),
        pytest.param({"samples": [SAMPLE, SAMPLE]}, ", sample 2: id '1' is also", id="twice"),
        pytest.param({"results": [1]}, ", results: not as Inspect", id="results"),
        pytest.param({"eval": {"task": "t", "dataset": 3}}, ", eval: not as Inspect", id="eval"),
    ],
)
def test_a_log_of_another_shape_names_the_entry(tmp_path, changed, says):
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [SAMPLE]}
    (tmp_path / "log.json").write_text("\ufeff" + json.dumps(log))
    assert len(read_external_results(tmp_path / "log.json")[0].samples) == 1
    (tmp_path / "log.json").write_text(json.dumps(log | changed))
    with pytest.raises(SourceError, match=rf"log\.json{says}"):
        read_external_results(tmp_path / "log.json")


NO_IMAGE = {"type": "image", "image": "data:image/png;base64,AAAA"}


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        pytest.param(
            [SAMPLE | {"input": "a"}, SAMPLE | {"epoch": 2, "input": "b"}],
            "sample 1 has two different prompts",
            id="two prompts",
        ),
        pytest.param(
            [SAMPLE | {"input": [{"content": [NO_IMAGE]}]}], "sample 1: not an image", id="no image"
        ),
        pytest.param([{"id": 1}], "no headline number", id="no score"),
    ],
)
def test_what_cannot_be_imported_is_named_with_its_file(home, tmp_path, samples, says):
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(SourceError, match=rf"log\.json: .*{says}"):
        bench.read_results(tmp_path / "log.json")


def damaged(file, at, with_=b"\xff" * 8):
    data = bytearray(file.read_bytes())
    data[at : at + len(with_)] = with_
    file.write_bytes(data)


@pytest.mark.parametrize(("name", "member"), [("log.eval", "header.json"), ("M_D.xlsx", SHEET)])
def test_a_damaged_archive_is_named(tmp_path, name, member):
    file, about = tmp_path / name, {"eval": {"task": "t"}, "more": list(range(99))}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, json.dumps(about))
    whole = file.read_bytes()
    damaged(file, 30 + len(member) + 4)
    with pytest.raises(SourceError, match=rf"{name}.* while decompressing data"):
        read_external_results(file)
    file.write_bytes(whole)
    damaged(file, whole.index(b"PK\1\2"))
    with pytest.raises(SourceError, match=rf"{name}: cannot be .*Bad magic number for central"):
        read_external_results(file)


def test_a_member_with_another_checksum_is_refused(tmp_path):
    """Zstandard itself has none here; the archive does."""
    file = tmp_path / "squares.eval"
    shutil.copy(DATA / "squares.eval", file)
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo("samples/2_epoch_1.json")
        assert info.compress_type == 93
    data = file.read_bytes()
    directory = data.index(b"PK\1\2")
    damaged(file, data.index(info.CRC.to_bytes(4, "little"), directory), bytes(4))
    with pytest.raises(SourceError, match="its checksum differs"):
        read_external_results(file)


@pytest.mark.parametrize(
    ("results", "lines", "says"),
    [
        pytest.param({}, [{"acc": 1}], r"jsonl, line 1: no doc_id", id="no id"),
        pytest.param(
            {},
            [{"doc_id": 0, "input": "a"}, {"doc_id": 0, "input": "b"}],
            r"jsonl, line 2: doc_id 0 is also in .*line 1; keep one",
            id="an id twice",
        ),
        pytest.param({}, [{"doc_id": 0, "doc": "x"}], "jsonl, line 1: not as lmms", id="doc"),
        pytest.param({}, [[1]], "jsonl, line 1: expected an object", id="no object"),
        pytest.param({"results": [1]}, [], "json, results: not as lmms-eval", id="results"),
        pytest.param({"n-samples": [1]}, [], "json, n-samples: not as lmms-eval", id="counts"),
    ],
)
def test_samples_of_another_shape_name_the_line(tmp_path, results, lines, says):
    whole = {"results": {"t": {"acc,none": 0.5}}} | results
    (tmp_path / "x_results.json").write_text(json.dumps(whole))
    file = tmp_path / "x_samples_t.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(SourceError, match=says):
        read_external_results(file)


def test_points_of_lmms_eval_are_found_where_the_first_sample_has_none(tmp_path):
    lines = [{"doc_id": n, "acc": points} for n, points in enumerate([None, 1.0])]
    (tmp_path / "x_results.json").write_text('{"results": {"t": {"acc,none": 1.0}}}')
    file = tmp_path / "x_samples_t.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (found,) = read_external_results(file)
    assert [sample.points for sample in found.samples] == [None, 1.0]


def test_a_log_that_ended_without_results_has_the_mean_of_its_scored_samples(tmp_path):
    ended = tmp_path / "ended.eval"
    with zipfile.ZipFile(ended, "w") as log:
        about = {"task": "t", "model": "m", "dataset": {"samples": 3}}
        log.writestr("header.json", json.dumps({"status": "error", "eval": about}))
        for n, score in enumerate(["C", "C", "I", None], 1):
            scores = {"match": {"value": score}} if score else {}
            log.writestr(
                f"samples/{n}.json",
                json.dumps({"id": n % 3, "epoch": n // 4 + 1, "scores": scores}),
            )
    (found,) = read_external_results(ended)
    assert (numbers(found), found.partial) == ([("mean", "all", 2 / 3)], "status error")


@pytest.mark.parametrize(
    ("value", "points"),
    [
        *(("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0)),
        *(("yes", 1.0), ("Yes", 1.0), ("TRUE", 1.0), ("No", 0.0), ("false", 0.0), ("False", 0.0)),
        *((True, 1.0), (False, 0.0), ("0.25", 0.25), (3, 3.0)),
        *(("c", None), ("refused", None), ("inf", None), (None, None)),
    ],
)
def test_values_of_scores_are_numbers_as_inspect_s_value_to_float_has_them(tmp_path, value, points):
    """What it cannot convert, it warns of and counts as 0; no points are safer."""
    sample = {"id": 1, "scores": {"match": {"value": value}}}
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [sample]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (found,) = read_external_results(tmp_path / "log.json")
    assert [sample.points for sample in found.samples] == [points]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        pytest.param("log.eval", b"PK nothing", "not JSON", id="a log that is none"),
        pytest.param("log.json", b'{"version": 2, "eval": {"task": 1', "not JSON", id="cut short"),
        pytest.param("x_samples_t.jsonl", b"{}", "no x_results.json beside", id="no headline file"),
        pytest.param("x_results.json", b"{}", "--log_samples", id="no samples beside"),
        pytest.param("M_D.tsv", b"a\tb\n1\t2\n", "a log of Inspect AI", id="another table"),
        pytest.param("package.json", b'{"name": "x"}', "a log of Inspect AI", id="another JSON"),
        pytest.param("M_D.xlsx", b"no zip", "as an .xlsx workbook", id="no workbook"),
        pytest.param("notes.txt", b"", "a log of Inspect AI", id="something else"),
    ],
)
def test_a_file_that_is_none_of_the_three_says_what_was_expected(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=says):
        read_external_results(tmp_path / name)
    with pytest.raises(SourceError, match="no such file"):
        read_external_results(tmp_path / "none.eval")


def test_results_are_a_run_that_is_shown_and_audited(home):
    run = bench.read_results(DATA / "squares.eval")
    row = run.metrics.iloc[0]
    assert (row.value, row.n_scored, row.constant) == (0.75, 4, 0.5)
    assert run.samples.images[0][0].open().size == (8, 8)
    assert repr(run).splitlines()[0].endswith(", imported from Inspect AI 0.3.285")
    audited = bench.audit(run).frame.set_index("check")
    assert not audited.loc["blank_images"].passed  # each is of one colour
    assert audited.loc["contradicting_keys"].passed


def renamed(folder, value=None, *, model="org/tiny-vlm", higher=True):
    """Samples of lmms-eval beside a file that prints another number, or one of errors."""
    shutil.copytree(LMMS, folder, dirs_exist_ok=True)
    file = folder / "20261124_070000_results.json"
    whole = json.loads(file.read_text()) | {"model_name": model}
    whole["higher_is_better"] = {"mini_vqa": {"exact_match": higher}}
    if value is not None:
        whole["results"]["mini_vqa"]["exact_match,none"] = value
    file.write_text(json.dumps(whole))
    return folder / "20261124_070000_samples_mini_vqa.jsonl"


def test_a_printed_number_that_is_no_mean_of_the_points_stands_without_an_interval(home, tmp_path):
    run = bench.read_results(renamed(tmp_path / "lmms", 0.91))
    assert run.metrics.value.tolist() == [0.91]
    assert run.metrics.low.isna().all()


def test_two_models_of_another_harness_are_compared_by_our_engine(home, tmp_path):
    file = renamed(tmp_path / "lmms", 0.0, model="worse")
    file.write_text(file.read_text().replace('"exact_match": 1.0', '"exact_match": 0.0'))
    good, bad = bench.read_results(LMMS / file.name), bench.read_results(file)
    (line,) = bench.compare(bad, good).rows
    assert (line.before, line.after, line.n) == (0.0, pytest.approx(2 / 3), 3)


@pytest.mark.parametrize("lower", [False, True])
def test_models_are_compared_on_the_scale_of_the_harness_whatever_their_best_sample(lower):
    """Points 0, 2, 4, 4 against 0, 2, 4, 5: means 2.5 and 2.75."""
    before, after = (
        imported_evaluation(results, imported_task(results), lambda _: "")
        for results in (of_points(0, 2, 4, 4, lower=lower), of_points(0, 2, 4, 5, lower=lower))
    )
    (found,) = compare_scores(before.task, before.questions, before.scores, after.scores)
    assert (found.before, found.after, found.change) == (2.5, 2.75, 0.25)


def test_units_of_models_with_other_maxima_are_of_one_kind():
    """So that the report's page pairs them, to which each model brings its units alone."""
    kinds = set()
    for points in ((0, 0.5, 1, 1), (0, 2, 4, 5)):
        results = of_points(*points, lower=False)
        imported = imported_task(results)
        evaluation = imported_evaluation(results, imported, lambda _: "")
        scored = list(map(ScoredQuestion, evaluation.questions, evaluation.scores))
        side, adds = ScoredMetric(scored, sum(points) / 4), imported.as_task().adds.get("x")
        kinds.add(metric_units(mean_points, side, cluster_questions(evaluation.questions), adds)[0])
    assert len(kinds) == 1


def of_points(*points, lower):
    """Results of a harness whose headline is the mean of these points."""
    headline = ExternalMetric(name="x", value=sum(points) / 4, lower_is_better=lower)
    samples = [
        ExternalSample(sample_id=str(n), prompt="?", response="", target=("a",), points=value)
        for n, value in enumerate(points)
    ]
    return ExternalResults(
        harness="h", task="t", model="m", metrics=(headline,), samples=tuple(samples)
    )


def test_imported_results_are_on_the_leaderboard_as_theirs(home):
    for model in ("", "other"):  # of a task that is there
        bench.read_results(DATA / "squares.eval", store=True, model=model)
    with open_workbench() as opened:
        opened.refresh_leaderboard()
        rows = [r for r in opened.rows("leaderboard") if r.task == "inspect_ai_squares"]
        assert sorted((r.model, r.value, r.source, r.stale) for r in rows) == [
            (model, 0.75, "imported from Inspect AI 0.3.285", "")
            for model in ("mockllm/model", "other")
        ]
        assert "inspect_ai_squares" not in opened.catalog.evaluable.names
    found = bench.audit("inspect_ai_squares")
    assert [row.check for row in found.failed] == ["blank_images"]


def test_what_was_imported_is_not_evaluated_here(home):
    bench.read_results(DATA / "squares.eval", store=True)
    with pytest.raises(SettingsError, match="imported from Inspect AI"):
        bench.evaluate("inspect_ai_squares", model="random", limit=2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param({"name": "codis"}, "is the name of a suite", id="a suite of ours"),
        pytest.param({"name": "no name"}, "expected letters", id="no name of a suite"),
    ],
)
def test_a_name_that_cannot_be_given_says_why(home, arguments, says):
    with pytest.raises(BenchError, match=says):
        bench.read_results(DATA / "squares.eval", store=True, **arguments)


def test_the_command_imports_at_the_place_where_it_is_looked_for(home):
    done = CliRunner().invoke(app, ["import", str(DATA / "squares.eval")])
    assert done.exit_code == 0, done.output
    assert "inspect_ai_squares" in done.stdout
    shown = CliRunner().invoke(app, ["leaderboard"])
    assert "0.750°^" in shown.stdout
    assert "^ imported: measured by another harness" in shown.output
    run = bench.read_results(DATA / "squares.eval")
    sample = run.samples.iloc[0]
    explained = CliRunner().invoke(app, ["explain", sample.question_id, "--model", run.model])
    assert f"## Raw response\n{sample.response}\n" in explained.stdout


@pytest.mark.parametrize(
    ("name", "member"),
    [("log.eval", "header.json"), ("M_D.xlsx", SHEET)],
)
def test_a_file_that_would_be_far_larger_unpacked_is_refused_unread(tmp_path, name, member):
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, "{}")
    stated = (2).to_bytes(4, "little") + len(member).to_bytes(2, "little")
    large = (2**30 + 1).to_bytes(4, "little") + len(member).to_bytes(2, "little")
    data = (tmp_path / name).read_bytes()
    assert data.count(stated) == 2  # before the content, and in the directory
    (tmp_path / name).write_bytes(data.replace(stated, large))
    with pytest.raises(SourceError, match="1073741825 bytes, more than the 1073741824 allowed"):
        read_external_results(tmp_path / name)


def test_error_rates_of_lmms_eval_are_ranked_lowest_first(home, tmp_path):
    for model, value in (("good", 0.1), ("bad", 0.4)):
        bench.read_results(renamed(tmp_path, value, model=model, higher=False), store=True)
    with open_workbench() as opened:
        opened.refresh_leaderboard()
        rows = [r for r in opened.rows("leaderboard") if r.task == "lmms_eval_mini_vqa"]
    assert [(r.model, r.constant) for r in rows] == [("good", None), ("bad", None)]


def test_a_sample_without_errors_is_right(home, tmp_path):
    """Errors 1, 0 and 1: of three samples the second is right."""
    run = bench.read_results(renamed(tmp_path / "lmms", higher=False))
    assert run.metrics.value[0] == pytest.approx(2 / 3)
    assert run.metrics.low[0] < 2 / 3 < run.metrics.high[0]
    assert [score.points for score in run.evaluations[0].scores] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "task", ["red_audit", "inspect_evals/mmmu_multiple_choice_of_the_validation_split_zero_shot"]
)
def test_a_task_whose_name_no_suite_can_have_has_another_name_here(task):
    (found,) = read_external_results(DATA / "squares.eval")
    name = replace(found, task=task).suite
    assert name_defects(name) == []
    assert name.startswith(f"inspect_ai_{task.replace('/', '_')}"[:20])
