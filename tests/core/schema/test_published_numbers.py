import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.published_numbers import read_published

PUBLISHED, _ = load_catalog().published()
NO_MODELS = {"Human", "Oracle", "Random choice", "Random Baseline", "Specialist"}


def percent(task, metric, source, category="all", condition="main"):
    """Percentages of a printed table by model."""
    cell = (task, metric, category, condition)
    return {
        row.model: 100 * row.value
        for row in PUBLISHED
        if (row.task, row.metric, row.category, row.condition) == cell
        if row.source.startswith(source)
    }


@pytest.mark.parametrize(
    ("cell", "people", "best_model"),
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
def test_people_and_the_best_model_have_the_values_of_the_text(cell, people, best_model):
    percentages = percent(*cell)
    models = [value for model, value in percentages.items() if model not in NO_MODELS]
    assert percentages["Human"] == pytest.approx(people)
    assert max(models) == pytest.approx(best_model)


@pytest.mark.parametrize(
    ("easy_category", "hard_category", "smallest_loss"),
    [
        # MULTI, 4.4: questions without an image, with one image, and with several
        pytest.param("NI", "SI", 36.8 - 28.4, id="one image is hard"),
        pytest.param("SI", "MI", 28.4 - 16.6, id="more images are harder"),
    ],
)
def test_every_model_with_vision_loses_with_more_images(
    easy_category, hard_category, smallest_loss
):
    easy = percent("multi", "score_ratio", "MULTI, ", easy_category)
    hard = percent("multi", "score_ratio", "MULTI, ", hard_category)
    vision_models = ("VisualGLM", "VisCPM", "Qwen-VL", "Gemini Vision", "GPT-4V")
    losses = [easy[model] - hard[model] for model in vision_models]
    assert min(losses) == pytest.approx(smallest_loss)


def test_a_file_with_the_byte_order_mark_of_a_spreadsheet_is_read(tmp_path):
    file = tmp_path / "published.csv"
    file.write_text(
        "\ufefftask,model,condition,metric,category,value,printed,source,note\n"
        "quiz,a,main,accuracy,all,0.5,50,Table 1,\n",
        encoding="utf-8",
    )
    assert [row.value for row in read_published(file)] == [0.5]
