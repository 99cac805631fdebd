"""The question table's Great Expectations suite."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from bench_assets.core.markdown import as_text
from bench_assets.core.rows import AnswerKind, Question

if TYPE_CHECKING:
    import pandas as pd


class Validated(NamedTuple):
    """What a validation found."""

    passed: bool  # whether every expectation holds
    sentence: str
    table: str  # Markdown, with a line for each expectation


def validate_questions(questions: Sequence[Question]) -> Validated:
    """Validate a question table in an ephemeral context.

    Returns:
        What was found.
    """
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = (
        context.data_sources.add_pandas("memory")
        .add_dataframe_asset("questions")
        .add_batch_definition_whole_dataframe("all")
        .get_batch({"dataframe": _frame(questions)})
    )
    columns = ["question_id", "task", "edition", "kind", "text", "n_answers"]
    suite = gx.ExpectationSuite(
        name="questions",
        expectations=[
            gx.expectations.ExpectTableRowCountToBeBetween(min_value=1),
            *(gx.expectations.ExpectColumnValuesToNotBeNull(column=name) for name in columns),
            gx.expectations.ExpectColumnValuesToBeUnique(column="question_id"),
            gx.expectations.ExpectColumnValuesToBeInSet(
                column="kind", value_set=list(get_args(AnswerKind))
            ),
            gx.expectations.ExpectColumnValueLengthsToBeBetween(column="text", min_value=1),
            gx.expectations.ExpectColumnValuesToBeBetween(column="n_answers", min_value=1),
            gx.expectations.ExpectColumnUniqueValueCountToBeBetween(column="task", max_value=1),
            gx.expectations.ExpectColumnUniqueValueCountToBeBetween(column="edition", max_value=1),
        ],
    )
    result = batch.validate(suite)
    lines = ["| expectation | column | holds | unexpected |", "|---|---|---|---|"]
    lines += [
        f"| {one.expectation_config.type} | {one.expectation_config.kwargs.get('column', '')}"
        f" | {'yes' if one.success else 'NO'} | {_unexpected(one)} |"
        for one in result.results
    ]
    failed = [one.expectation_config for one in result.results if not one.success]
    said = f"{len(result.results) - len(failed)} of {len(result.results)} expectations hold"
    named = [f"{one.type} of {one.kwargs.get('column', 'the table')}" for one in failed]
    sentence = f"{said}; not: {', '.join(named)}." if failed else f"{said}."
    return Validated(bool(result.success), sentence, "\n".join(lines))


def _unexpected(one: Any) -> str:  # noqa: ANN401
    return as_text(str(one.result.get("partial_unexpected_list", "")))


def _frame(questions: Sequence[Question]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(
        {
            "question_id": [question.question_id for question in questions],
            "task": [question.task for question in questions],
            "edition": [question.edition for question in questions],
            "kind": [question.kind for question in questions],
            "text": [question.text for question in questions],
            "n_answers": [len(question.answer) for question in questions],
        }
    )
