import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.reading import read_external_results

HEAD = "index\tquestion\tA\tB\tanswer\tprediction\n"
ROWS = "1\tWhich?\tred\tblue\tB\tThe answer is B.\n2\tWhich?\tred\tblue\tA\tI cannot say.\n"


def write_responses(folder, name):
    (folder / name).write_text(HEAD + ROWS)
    return folder / name


def read_samples(folder, text):
    (folder / "M_MMStar.tsv").write_text(text)
    (results,) = read_external_results(folder / "M_MMStar.tsv")
    return results.samples


def test_responses_without_points_are_scored_here(tmp_path):
    (results,) = read_external_results(write_responses(tmp_path, "Seer_3B_MMStar.tsv"))
    assert (results.model, results.task) == ("Seer_3B", "MMStar")
    assert results.measured_by == "VLMEvalKit (scored here)"
    assert {metric.name: metric.value for metric in results.metrics} == {"accuracy": 0.5}
    assert [sample.points for sample in results.samples] == [1.0, 0.0]
    assert [sample.answer for sample in results.samples] == ["B", ""]


def test_options_are_read_from_the_text_of_the_question(tmp_path):
    head = "index\tquestion\tanswer\tprediction\n"
    (sample,) = read_samples(tmp_path, f"{head}1\tWhich? (A) red (B) blue\tB\tblue\n")
    assert (sample.options, sample.points) == (("red", "blue"), 1.0)


def test_options_beside_an_empty_cell_keep_their_letters(tmp_path):
    (sample,) = read_samples(tmp_path, f"{HEAD}1\tWhich?\t\tblue\tB\tblue\n")
    assert (sample.prompt, sample.options) == ("Which?\nB. blue", ("", "blue"))
    assert (sample.kind, sample.points) == ("choice", 1.0)


def test_a_key_that_is_no_letter_of_an_option_is_compared_as_text(tmp_path):
    rows = "1\tWhich?\tred\tblue\tC\tC\n2\tWhich?\tred\tblue\tC\tB\n"
    samples = read_samples(tmp_path, HEAD + rows)
    assert [(sample.kind, sample.points) for sample in samples] == [("text", 1.0), ("text", 0.0)]


def test_a_file_name_with_an_unknown_task_needs_the_model(tmp_path):
    file = write_responses(tmp_path, "Seer_3B_Own_Test.tsv")
    with pytest.raises(SourceError, match="name the model"):
        read_external_results(file)
    (results,) = read_external_results(file, "Seer_3B")
    assert (results.model, results.task) == ("Seer_3B", "Own_Test")
