"""VLMEvalKit's responses without scores, and whose they are."""

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.reading import read_external_results

HEAD = "index\tquestion\tA\tB\tanswer\tprediction\n"
ROWS = "1\tWhich?\tred\tblue\tB\tThe answer is B.\n2\tWhich?\tred\tblue\tA\tI cannot say.\n"


def write(folder, name):
    (folder / name).write_text(HEAD + ROWS)
    return folder / name


def test_responses_without_scores_are_scored_here(tmp_path):
    (found,) = read_external_results(write(tmp_path, "Seer_3B_MMStar.tsv"))
    assert (found.model, found.task, found.measured_by) == (
        "Seer_3B",
        "MMStar",
        "VLMEvalKit (scored here)",
    )
    assert [(one.name, one.value) for one in found.metrics] == [("accuracy", 0.5)]
    assert [(one.points, one.answer) for one in found.samples] == [(1.0, "B"), (0.0, "")]


def test_options_in_the_question_are_found(tmp_path):
    file = tmp_path / "M_MMStar.tsv"
    file.write_text("index\tquestion\tanswer\tprediction\n1\tWhich? (A) red (B) blue\tB\tblue\n")
    (sample,) = read_external_results(file)[0].samples
    assert (sample.options, sample.points) == (("red", "blue"), 1.0)


def test_a_name_that_could_be_split_anywhere_asks_for_the_model(tmp_path):
    file = write(tmp_path, "Seer_3B_Own_Test.tsv")
    with pytest.raises(SourceError, match="name the model"):
        read_external_results(file)
    (found,) = read_external_results(file, "Seer_3B")
    assert (found.model, found.task) == ("Seer_3B", "Own_Test")
