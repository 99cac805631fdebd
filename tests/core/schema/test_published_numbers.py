"""Published numbers: what the papers say of them, a test for each kind of sentence, by pencil."""

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.published_numbers import read_published

PUBLISHED, _ = load_catalog().published()
NO_MODELS = {"Human", "Oracle", "Random choice", "Random Baseline", "Specialist"}


def percent(task, metric, source, category="all", condition="main"):
    """Percent of each row of a printed table."""
    cell = (task, metric, category, condition)
    return {
        row.model: 100 * row.value
        for row in PUBLISHED
        if (row.task, row.metric, row.category, row.condition) == cell
        if row.source.startswith(source)
    }


@pytest.mark.parametrize(
    ("cell", "people", "best"),
    [
        pytest.param(("codis", "acc_p", "CODIS, Table 3"), 86.2, 32.3, id="CODIS, abstract"),
        pytest.param(("blink", "accuracy", "BLINK, Table 1 (test)"), 95.70, 51.26, id="BLINK"),
        pytest.param(("cogbench/vqa", "accuracy", "CogBench, Table 5"), 95, 77, id="CogBench, 3.4"),
        pytest.param(
            ("journeybench/mcot", "accuracy", "JourneyBench, leaderboard"), 84, 62.18, id="4.3"
        ),
        pytest.param(
            ("journeybench/multi_image_vqa", "accuracy", "JourneyBench, Table 3"), 78.90, 56.39,
            id="JourneyBench, Table 3",
        ),
    ],
)  # fmt: skip
def test_every_model_is_below_people(cell, people, best):
    printed = percent(*cell)
    models = [value for model, value in printed.items() if model not in NO_MODELS]
    assert (printed["Human"], max(models)) == pytest.approx((people, best))


@pytest.mark.parametrize(
    ("more", "less", "least"),
    [
        pytest.param(
            {"category": "NI"}, {"category": "SI"}, 36.8 - 28.4, id="MULTI, 4.4: one image is hard"
        ),
        pytest.param(
            {"category": "SI"}, {"category": "MI"}, 28.4 - 16.6, id="MULTI, 4.4: more are harder"
        ),
    ],
)
def test_a_part_is_harder_for_every_model_with_vision(more, less, least):
    easy, hard = (percent("multi", "score_ratio", "MULTI, ", **part) for part in (more, less))
    seeing = ("VisualGLM", "VisCPM", "Qwen-VL", "Gemini Vision", "GPT-4V")
    assert min(easy[model] - hard[model] for model in seeing) == pytest.approx(least)


def test_a_file_that_a_spreadsheet_began_with_a_mark_is_read(tmp_path):
    file = tmp_path / "published.csv"
    file.write_text(
        "\ufefftask,model,condition,metric,category,value,printed,source,note\n"
        "quiz,a,main,accuracy,all,0.5,50,Table 1,\n",
        encoding="utf-8",
    )
    assert [row.value for row in read_published(file)] == [0.5]
