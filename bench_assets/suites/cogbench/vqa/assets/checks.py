"""What must hold of CogBench's questions; blocking where wrong data must not flow on."""

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.cogbench.vqa.refinement import letter_balance

_HERE = AssetFolder("cogbench/vqa")


@dg.asset_check(
    asset=_HERE.key("rejections"),
    additional_ins=_HERE.ins("questions"),
    description="Published questions are all asked: a rejection means that a file is damaged.",
)
def published_questions_are_whole(
    rejections: list[Rejection], questions: list[Question]
) -> dg.AssetCheckResult:
    """Let written questions be rejected, but no published one."""
    published = {question.edition for question in questions} <= {"published", "own"}
    problems = [f"{row.entry}: {row.reason}" for row in rejections if published]
    holds = (
        f"No published question was rejected; there are {len(questions)}."
        if published
        else "Not asked for: these questions were written here, and some may be rejected."
    )
    return check_result(problems, n=len(questions), of="question", holds=holds)


@dg.asset_check(
    asset=_HERE.key("questions"),
    description="No letter is right much more or less often than the others.",
)
def right_letters_are_balanced(questions: list[Question]) -> dg.AssetCheckResult:
    """Count the right letters."""
    balanced, counts = letter_balance(letter for q in questions for letter in q.answer)
    problems = [] if balanced else [f"right answers: {counts}"]
    warn = dg.AssetCheckSeverity.WARN
    shown = ", ".join(f"{letter} {n}" for letter, n in counts.items())
    holds = f"Right answers by letter: {shown}; none stands out, or they are too few to tell."
    return check_result(problems, n=len(questions), of="question", holds=holds, severity=warn)
