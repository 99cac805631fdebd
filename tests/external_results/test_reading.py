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
from bench_assets.evaluation.units import ScoredMetric, units_of_sides
from bench_assets.external_results.evaluation import imported_evaluation
from bench_assets.external_results.reading import read_external_results
from bench_assets.external_results.results import ExternalMetric, ExternalResults, ExternalSample
from bench_assets.external_results.suite import imported_task, mean_points
from bench_assets.workspace.materialization.opening import open_workbench
from tests.cases import read_cases, read_rows

DATA = Path(__file__).parent / "data"
LMMS = DATA / "org__tiny-vlm"


def metric_values(results):
    return [(metric.name, metric.category, metric.value) for metric in results.metrics]


@pytest.mark.parametrize(
    ("file", "harness", "task", "model", "expected_metrics", "expected_points"),
    read_cases(__file__, "headlines.jsonl", tuples=True),
)
def test_metrics_and_points_are_those_of_the_harness(
    file, harness, task, model, expected_metrics, expected_points
):
    (results,) = read_external_results(DATA / file)
    assert (results.measured_by, results.task, results.model) == (harness, task, model)
    assert metric_values(results) == list(expected_metrics)
    assert [sample.points for sample in results.samples] == list(expected_points)


def test_all_tasks_of_a_results_file_are_read():
    first, second = read_external_results(LMMS / "20261124_070000_results.json")
    assert (first.task, second.task) == ("mini_mc", "mini_vqa")
    assert first.partial == "4 of 8 samples"


def test_a_sample_has_its_prompt_images_options_and_key():
    (results,) = read_external_results(DATA / "squares.eval")
    _, sample, *_ = results.samples
    assert "Which colour is square 2?\n\nA) red\nB) blue\nC) green" in sample.prompt
    assert sample.images[0].startswith(b"\x89PNG")
    assert (sample.options, sample.target) == (("red", "blue", "green"), ("B",))
    assert sample.category == "one"
    assert (sample.response, sample.answer) == ("ANSWER: B", "B")


SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def write_table(folder, kind, rows):
    """Write a file of VLMEvalKit; None is an empty cell, () an empty row."""
    file = folder / f"M_D.{kind}"
    names, *_ = rows
    rows = [row or (None,) * len(names) for row in rows]
    if kind == "tsv":
        lines = ["\t".join("" if cell is None else str(cell) for cell in row) for row in rows]
        file.write_text("\n".join(lines) + "\n")
    elif kind == "json":  # as ``DataFrame.to_dict`` writes empty cells
        records = [
            {name: nan if cell is None else cell for name, cell in zip(names, row, strict=True)}
            for row in rows[1:]
        ]
        file.write_text(json.dumps(records))
    else:
        with zipfile.ZipFile(file, "w") as book:
            book.writestr(SHEET, sheet_xml(rows))
    return file


def sheet_xml(rows):
    """The XML of a sheet of a workbook; None is an empty cell."""
    row_elements = []
    for number, row in enumerate(rows, 1):
        cells = "".join(
            f'<c r="{column}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
            for column, cell in zip("ABCDEFG", row, strict=False)
            if cell is not None
        )
        row_elements.append(f'<row r="{number}">{cells}</row>')
    return f"<worksheet {NAMESPACE}><sheetData>{''.join(row_elements)}</sheetData></worksheet>"


EVERY_KIND = pytest.mark.parametrize("kind", ["tsv", "json", "xlsx"])
NAMES = ("index", "question", "A", "B", "hint", "prediction", "hit")
ROW = (1, "Which?", "red", "blue", "Look.", "A", 1)


@EVERY_KIND
def test_empty_rows_and_cells_are_left_out(tmp_path, kind):
    without_response = (1, "Which?", "red", None, None, None, 0)
    rows = [NAMES, without_response, (), (2, *ROW[1:])]
    (results,) = read_external_results(write_table(tmp_path, kind, rows))
    first, second = results.samples
    assert (first.prompt, first.options, first.response) == ("Which?\nA. red", ("red",), "")
    assert second.prompt == "Hint: Look.\nWhich?\nA. red\nB. blue"
    assert (first.sample_id, first.points, second.sample_id, second.points) == ("1", 0, "2", 1)


@EVERY_KIND
def test_points_are_read_also_if_the_first_response_has_none(tmp_path, kind):
    write_table(tmp_path, kind, [NAMES[:-1], ROW[:-1], (2, *ROW[1:-1])])
    points_folder = tmp_path / "points"
    points_folder.mkdir()
    rows = [NAMES, (*ROW[:-2], None, None), (2, *ROW[1:])]
    points_file = write_table(points_folder, kind, rows)
    points_file.rename(tmp_path / f"M_D_exact_matching_result.{kind}")
    (results,) = read_external_results(tmp_path / f"M_D.{kind}")
    assert [sample.points for sample in results.samples] == [None, 1]


def test_metrics_are_read_from_a_table_with_a_row_per_category(tmp_path):
    file = write_table(tmp_path, "tsv", [NAMES, ROW])
    headline = "split,aAcc,fAcc\nOverall,67.0,40.0\nVD,70.0,45.0\n2,1.0,2.0\n"
    (tmp_path / "M_D_score.csv").write_text(headline)
    (results,) = read_external_results(file)  # a table as of HallusionBench
    assert metric_values(results) == [
        ("aAcc", "all", 67.0),
        ("fAcc", "all", 40.0),
        ("aAcc", "VD", 70.0),
        ("fAcc", "VD", 45.0),
        ("aAcc", "2", 1.0),
        ("fAcc", "2", 2.0),
    ]


@pytest.mark.parametrize(
    ("kind", "location"), [("tsv", "line 3"), ("json", "entry 2"), ("xlsx", "row 3")]
)
@pytest.mark.parametrize(
    ("second", "expected_message"),
    [
        pytest.param((None, *ROW[1:]), "no index", id="no index"),
        pytest.param(ROW, "id '1' is also in .*; keep one", id="the same index"),
    ],
)
def test_an_unusable_row_is_named(tmp_path, kind, location, second, expected_message):
    file = write_table(tmp_path, kind, [NAMES, ROW, second])
    with pytest.raises(SourceError, match=rf"M_D\.{kind}, {location}: {expected_message}"):
        read_external_results(file)


@pytest.mark.parametrize(
    ("member", "content", "expected_message"),
    [
        pytest.param(
            SHEET,
            sheet_xml([("index", "prediction", "prediction")]),
            "duplicate column 'prediction'",
            id="two columns of one name",
        ),
        pytest.param(
            SHEET,
            sheet_xml([NAMES])
            .replace("inlineStr", "s")
            .replace("<is><t>index</t></is>", "<v>7</v>"),
            "cannot be read as an .xlsx workbook: list index out of range",
            id="a text that is not among the shared ones",
        ),
        pytest.param("xl/other.xml", "", "cannot be read as an .xlsx workbook", id="no sheet"),
    ],
)
def test_an_unusable_workbook_is_named(tmp_path, member, content, expected_message):
    with zipfile.ZipFile(tmp_path / "M_D.xlsx", "w") as book:
        book.writestr(member, content)
    with pytest.raises(SourceError, match=rf"M_D\.xlsx: {expected_message}"):
        read_external_results(tmp_path / "M_D.xlsx")


def test_an_interrupted_log_has_the_samples_until_then(tmp_path):
    log = tmp_path / "interrupted.eval"
    header = {"version": 2, "eval": {"task": "squares", "model": "m", "dataset": {"samples": 4}}}
    sample = {"id": 1, "epoch": 1, "input": "1+1?", "target": "2", "scores": {}}
    with zipfile.ZipFile(log, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample))
    (results,) = read_external_results(log)
    assert (results.partial, results.metrics, len(results.samples)) == ("1 of 4 samples", (), 1)


SAMPLE = {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}


@pytest.mark.parametrize(
    ("changed_fields", "expected_message"),
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
def test_the_error_of_an_unusable_log_names_the_entry(tmp_path, changed_fields, expected_message):
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [SAMPLE]}
    (tmp_path / "log.json").write_text("\ufeff" + json.dumps(log))
    (results,) = read_external_results(tmp_path / "log.json")
    assert len(results.samples) == 1
    (tmp_path / "log.json").write_text(json.dumps(log | changed_fields))
    with pytest.raises(SourceError, match=rf"log\.json{expected_message}"):
        read_external_results(tmp_path / "log.json")


NO_IMAGE = {"type": "image", "image": "data:image/png;base64,AAAA"}


@pytest.mark.parametrize(
    ("samples", "expected_message"),
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
def test_the_error_of_unusable_samples_names_the_log(home, tmp_path, samples, expected_message):
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.raises(SourceError, match=rf"log\.json: .*{expected_message}"):
        bench.read_results(tmp_path / "log.json")


def overwrite(file, offset, replacement=b"\xff" * 8):
    data = bytearray(file.read_bytes())
    data[offset : offset + len(replacement)] = replacement
    file.write_bytes(data)


def write_archive(file, member, content):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)


EVERY_ARCHIVE = pytest.mark.parametrize(
    ("name", "member"), [("log.eval", "header.json"), ("M_D.xlsx", SHEET)]
)
LOG = json.dumps({"eval": {"task": "t"}, "more": list(range(99))})


@EVERY_ARCHIVE
def test_an_archive_with_a_damaged_member_is_named(tmp_path, name, member):
    file = tmp_path / name
    write_archive(file, member, LOG)
    overwrite(file, 30 + len(member) + 4)  # in the data, behind a header of 30 bytes and a name
    with pytest.raises(SourceError, match=rf"{name}.* while decompressing data"):
        read_external_results(file)


@EVERY_ARCHIVE
def test_an_archive_with_a_damaged_directory_is_named(tmp_path, name, member):
    file = tmp_path / name
    write_archive(file, member, LOG)
    overwrite(file, file.read_bytes().index(b"PK\1\2"))
    with pytest.raises(SourceError, match=rf"{name}: cannot be .*Bad magic number for central"):
        read_external_results(file)


def test_a_member_with_another_checksum_is_refused(tmp_path):
    """The checksum is that of the archive; Zstandard data has none here."""
    file = tmp_path / "squares.eval"
    shutil.copy(DATA / "squares.eval", file)
    with zipfile.ZipFile(file) as archive:
        member = archive.getinfo("samples/2_epoch_1.json")
    assert member.compress_type == 93  # Zstandard
    data = file.read_bytes()
    directory = data.index(b"PK\1\2")
    overwrite(file, data.index(member.CRC.to_bytes(4, "little"), directory), bytes(4))
    with pytest.raises(SourceError, match="its checksum differs"):
        read_external_results(file)


@pytest.mark.parametrize(
    ("results", "lines", "expected_message"), read_cases(__file__, "unusable_samples.jsonl")
)
def test_the_error_of_unusable_samples_of_lmms_eval_names_the_line(
    tmp_path, results, lines, expected_message
):
    file = write_lmms(tmp_path, {"results": {"t": {"acc,none": 0.5}}} | results, lines)
    with pytest.raises(SourceError, match=expected_message):
        read_external_results(file)


def write_lmms(folder, results, samples):
    """Write files of lmms-eval; returns that of the samples."""
    (folder / "x_results.json").write_text(json.dumps(results))
    file = folder / "x_samples_t.jsonl"
    file.write_text("".join(f"{json.dumps(sample)}\n" for sample in samples))
    return file


def test_points_of_lmms_eval_are_read_also_if_the_first_sample_has_none(tmp_path):
    samples = [{"doc_id": 0, "acc": None}, {"doc_id": 1, "acc": 1.0}]
    file = write_lmms(tmp_path, {"results": {"t": {"acc,none": 1.0}}}, samples)
    (results,) = read_external_results(file)
    assert [sample.points for sample in results.samples] == [None, 1.0]


def test_a_log_without_results_has_the_mean_of_its_scored_samples(tmp_path):
    """Sample 1 is right in the first epoch and has no score in the second, 2 is right, 3 wrong."""
    file = tmp_path / "ended.eval"
    evaluation = {"task": "t", "model": "m", "dataset": {"samples": 3}}
    samples = [
        {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}},
        {"id": 2, "epoch": 1, "scores": {"match": {"value": "C"}}},
        {"id": 3, "epoch": 1, "scores": {"match": {"value": "I"}}},
        {"id": 1, "epoch": 2, "scores": {}},
    ]
    with zipfile.ZipFile(file, "w") as log:
        log.writestr("header.json", json.dumps({"status": "error", "eval": evaluation}))
        for number, sample in enumerate(samples):
            log.writestr(f"samples/{number}.json", json.dumps(sample))
    (results,) = read_external_results(file)
    assert metric_values(results) == [("mean", "all", 2 / 3)]
    assert results.partial == "status error"


@pytest.mark.parametrize(("value", "points"), read_rows(__file__, "inspect_scores.jsonl"))
def test_scores_become_points_as_by_inspect_s_value_to_float(tmp_path, value, points):
    """Inspect counts values that it cannot convert as 0; here they have no points."""
    sample = {"id": 1, "scores": {"match": {"value": value}}}
    log = {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [sample]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (results,) = read_external_results(tmp_path / "log.json")
    assert [sample.points for sample in results.samples] == [points]


@pytest.mark.parametrize(
    ("name", "content", "expected_message"), read_cases(__file__, "other_files.jsonl")
)
def test_another_file_is_refused_with_what_was_expected(tmp_path, name, content, expected_message):
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=expected_message):
        read_external_results(tmp_path / name)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        read_external_results(tmp_path / "none.eval")


def test_imported_results_are_a_run(home):
    run = bench.read_results(DATA / "squares.eval")
    metric = run.metrics.iloc[0]
    assert (metric.value, metric.n_scored, metric.constant) == (0.75, 4, 0.5)
    (image,) = run.samples.images.iloc[0]
    assert image.open().size == (8, 8)
    assert repr(run).splitlines()[0].endswith(", imported from Inspect AI 0.3.285")


def test_imported_results_can_be_audited(home):
    checks = bench.audit(bench.read_results(DATA / "squares.eval")).frame.set_index("check")
    assert not checks.loc["blank_images"].passed  # each is of one colour
    assert checks.loc["contradicting_keys"].passed


def copy_vqa_samples(folder, value=None, *, model="org/tiny-vlm", higher_is_better=True):
    """Copy samples of lmms-eval with results of another ``value``, model or direction."""
    shutil.copytree(LMMS, folder, dirs_exist_ok=True)
    file = folder / "20261124_070000_results.json"
    results = json.loads(file.read_text())
    results["model_name"] = model
    results["higher_is_better"] = {"mini_vqa": {"exact_match": higher_is_better}}
    if value is not None:
        results["results"]["mini_vqa"]["exact_match,none"] = value
    file.write_text(json.dumps(results))
    return folder / "20261124_070000_samples_mini_vqa.jsonl"


def test_a_metric_that_is_no_mean_of_the_points_has_no_interval(home, tmp_path):
    run = bench.read_results(copy_vqa_samples(tmp_path / "lmms", 0.91))
    assert run.metrics.value.tolist() == [0.91]
    assert run.metrics.low.isna().all()


def test_two_imported_models_can_be_compared(home, tmp_path):
    file = copy_vqa_samples(tmp_path / "lmms", 0.0, model="worse")
    file.write_text(file.read_text().replace('"exact_match": 1.0', '"exact_match": 0.0'))
    good, bad = bench.read_results(LMMS / file.name), bench.read_results(file)
    (comparison,) = bench.compare(bad, good).rows
    assert (comparison.before, comparison.after, comparison.n) == (0.0, pytest.approx(2 / 3), 3)


@pytest.mark.parametrize("lower", [False, True])
def test_models_are_compared_on_the_scale_of_the_harness(lower):
    """Points 0, 2, 4, 4 against 0, 2, 4, 5: means 2.5 and 2.75."""
    before = evaluation_of(results_of_points(0, 2, 4, 4, lower=lower))
    after = evaluation_of(results_of_points(0, 2, 4, 5, lower=lower))
    (comparison,) = compare_scores(before.task, before.questions, before.scores, after.scores)
    assert (comparison.before, comparison.after, comparison.change) == (2.5, 2.75, 0.25)


def kind_of_units(*points):
    """The kind of the units that a model with these points brings to a comparison."""
    results = results_of_points(*points, lower=False)
    evaluation = evaluation_of(results)
    scored = list(map(ScoredQuestion, evaluation.questions, evaluation.scores))
    metric = ScoredMetric(scored, sum(points) / len(points))
    adds = imported_task(results).as_task().adds.get("x")
    kind, _ = units_of_sides(mean_points, [metric], cluster_questions(evaluation.questions), adds)
    return kind


def test_the_kind_of_units_does_not_depend_on_the_maximum_of_the_points():
    """The report's page pairs units of equal kind, to which each model brings its own alone."""
    assert kind_of_units(0, 0.5, 1, 1) == kind_of_units(0, 2, 4, 5)


def results_of_points(*points, lower):
    """Results whose headline metric is the mean of these points."""
    headline = ExternalMetric(name="x", value=sum(points) / len(points), lower_is_better=lower)
    samples = [
        ExternalSample(sample_id=str(n), prompt="?", response="", target=("a",), points=value)
        for n, value in enumerate(points)
    ]
    return ExternalResults(
        harness="h", task="t", model="m", metrics=(headline,), samples=tuple(samples)
    )


def evaluation_of(results):
    return imported_evaluation(results, imported_task(results), lambda _: "")


def leaderboard_rows(task):
    """The current rows of a task on the leaderboard, by model."""
    with open_workbench() as workbench:
        workbench.refresh_leaderboard()
        return {row.model: row for row in workbench.rows("leaderboard") if row.task == task}


def test_imported_results_are_on_the_leaderboard_with_their_harness(home):
    bench.read_results(DATA / "squares.eval", store=True)
    bench.read_results(DATA / "squares.eval", store=True, model="other")
    rows = leaderboard_rows("inspect_ai_squares")
    assert rows.keys() == {"mockllm/model", "other"}
    assert {(row.value, row.source, row.stale) for row in rows.values()} == {
        (0.75, "imported from Inspect AI 0.3.285", "")
    }


def test_a_stored_import_can_be_audited(home):
    bench.read_results(DATA / "squares.eval", store=True)
    failed = bench.audit("inspect_ai_squares").failed
    assert [row.check for row in failed] == ["blank_images"]


def test_an_imported_task_cannot_be_evaluated(home):
    bench.read_results(DATA / "squares.eval", store=True)
    with pytest.raises(SettingsError, match="imported from Inspect AI"):
        bench.evaluate("inspect_ai_squares", model="random", limit=2)


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        pytest.param({"name": "codis"}, "is the name of a suite", id="a suite of ours"),
        pytest.param({"name": "no name"}, "expected letters", id="no name of a suite"),
    ],
)
def test_a_name_that_no_suite_can_have_is_refused(home, arguments, expected_message):
    with pytest.raises(BenchError, match=expected_message):
        bench.read_results(DATA / "squares.eval", store=True, **arguments)


def test_the_command_import_puts_results_on_the_leaderboard(home):
    result = CliRunner().invoke(app, ["import", str(DATA / "squares.eval")])
    assert result.exit_code == 0, result.output
    assert "inspect_ai_squares" in result.stdout
    leaderboard = CliRunner().invoke(app, ["leaderboard"])
    assert "0.750°^" in leaderboard.stdout
    assert "^ imported: measured by another harness" in leaderboard.output


def test_files_that_would_replace_each_other_are_refused(home, tmp_path):
    first, other = copy_vqa_samples(tmp_path / "first"), copy_vqa_samples(tmp_path / "other")
    other.write_text(other.read_text().replace("green", "blue"))
    result = CliRunner().invoke(app, ["import", str(first), str(other), "--model", "m"])
    assert result.exit_code == 1
    assert "two files have different responses of m" in result.stderr


def test_a_file_that_is_given_twice_is_imported_once(home, tmp_path):
    file = str(copy_vqa_samples(tmp_path))
    assert CliRunner().invoke(app, ["import", file, file]).exit_code == 0
    assert len(leaderboard_rows("lmms_eval_mini_vqa")) == 1


def test_an_imported_sample_can_be_explained(home):
    run = bench.read_results(DATA / "squares.eval", store=True)
    sample = run.samples.iloc[0]
    explained = CliRunner().invoke(app, ["explain", sample.question_id, "--model", run.model])
    assert f"## Raw response\n{sample.response}\n" in explained.stdout


@EVERY_ARCHIVE
def test_an_archive_with_a_huge_member_is_refused(tmp_path, name, member):
    """The member claims more than 1 GiB, in its header and in the directory."""
    file = tmp_path / name
    write_archive(file, member, "{}")
    name_length = len(member).to_bytes(2, "little")  # follows the size in both places
    data, size = file.read_bytes(), (2).to_bytes(4, "little") + name_length
    assert data.count(size) == 2
    huge_size = (2**30 + 1).to_bytes(4, "little") + name_length
    file.write_bytes(data.replace(size, huge_size))
    with pytest.raises(SourceError, match="1073741825 bytes, more than the 1073741824 allowed"):
        read_external_results(file)


def test_error_rates_of_lmms_eval_are_ranked_lowest_first(home, tmp_path):
    for model, error_rate in (("bad", 0.4), ("good", 0.1)):
        file = copy_vqa_samples(tmp_path, error_rate, model=model, higher_is_better=False)
        bench.read_results(file, store=True)
    rows = leaderboard_rows("lmms_eval_mini_vqa")
    assert list(rows) == ["good", "bad"]


def test_points_of_an_error_rate_are_one_without_an_error(home, tmp_path):
    """Errors 1, 0 and 1: of three samples the second is right."""
    run = bench.read_results(copy_vqa_samples(tmp_path / "lmms", higher_is_better=False))
    assert run.metrics.value[0] == pytest.approx(2 / 3)
    assert run.metrics.low[0] < 2 / 3 < run.metrics.high[0]
    assert [score.points for score in run.evaluations[0].scores] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("task", "start"),
    [
        ("red_audit", "inspect_ai_red_audit_"),
        ("inspect_evals/mmmu_" + "a" * 80, "inspect_ai_inspect_evals_mmmu_a"),
    ],
)
def test_a_task_with_a_name_that_no_suite_can_have_is_renamed(task, start):
    (results,) = read_external_results(DATA / "squares.eval")
    name = replace(results, task=task).suite
    assert name_defects(name) == []
    assert name.startswith(start)
