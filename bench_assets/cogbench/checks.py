"""What must hold between CogBench's tables; blocking where wrong data must not flow on."""

import dagster as dg

from bench_assets.cogbench.stories import FunnelStep
from bench_assets.cogbench.vqa.refine import letter_balance
from bench_assets.core.rows import Question, Rejection
from resources.check_results import check_result


@dg.asset_check(
    asset=dg.AssetKey(["cogbench", "funnel"]),
    additional_ins={"questions": dg.AssetIn(["cogbench", "description", "questions"])},
    description="The published edition has the paper's pictures, entities and chains (Table 1).",
)
def chains_match_the_paper(
    funnel: list[FunnelStep], questions: list[Question]
) -> dg.AssetCheckResult:
    """Compare the steps that the paper gives numbers for."""
    editions = {question.edition for question in questions}
    problems = [
        f"{step.step}: {step.n}, the paper has {step.paper}"
        for step in funnel
        if editions == {"published"} and step.paper not in (None, step.n)
    ]
    return check_result(problems, n=len(funnel), about={"editions": sorted(editions)})


@dg.asset_check(
    asset=dg.AssetKey(["cogbench", "vqa", "rejections"]),
    additional_ins={"questions": dg.AssetIn(["cogbench", "vqa", "questions"])},
    description="Published questions are all asked: a rejection means that a file is damaged.",
)
def published_questions_are_whole(
    rejections: list[Rejection], questions: list[Question]
) -> dg.AssetCheckResult:
    """Let written questions be rejected, but no published one."""
    published = {question.edition for question in questions} <= {"published", "samples"}
    problems = [f"{row.entry}: {row.reason}" for row in rejections if published]
    return check_result(problems, n=len(questions))


@dg.asset_check(
    asset=dg.AssetKey(["cogbench", "vqa", "questions"]),
    description="No letter is right much more or less often than the others.",
)
def right_letters_are_balanced(questions: list[Question]) -> dg.AssetCheckResult:
    """Count the right letters."""
    balanced, counts = letter_balance(letter for q in questions for letter in q.answer)
    problems = [] if balanced else [f"right answers: {counts}"]
    return check_result(problems, n=len(questions), severity=dg.AssetCheckSeverity.WARN)
