"""A home of two benchmarks: an audit doubts questions of one; the other was not audited."""

from dataclasses import replace
from pathlib import Path

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.suite import Suite
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.codis_release import image
from tests.fakes.quiz import TASK, quiz
from tests.report.fair import HOSTILE, RIGHT_TO_LEFT, blind_quiz, build_report, write_metrics

OTHER_TASK = replace(TASK, name="other", title="another quiz")
CATALOG = Catalog(
    suites=(
        Suite(name="quiz", tasks=(blind_quiz(),), assets=list),
        Suite(name="other", tasks=(OTHER_TASK,), assets=list),
    )
)


def audit_rows(image_digest: str) -> list[AuditRow]:
    """An audit's rows: two failed checks that name quiz/2, one passed, and one skipped."""
    return [
        AuditRow(
            task="quiz", check="solved_blind", question="Is any question solved without its image?",
            passed=True, sentence="None of 6 is.", n=6, about=("quiz/1",),
            evidence=("Nobody sees it.",), weight=(0.1,),
        ),
        AuditRow(
            task="quiz", check="fit", question="Do the questions measure one thing?", passed=True,
            sentence="Not looked at: two models; it takes three.", n=0,
            skipped="two models; it takes three",
        ),
        AuditRow(
            task="quiz", check="wrong_keys", question="Is any right answer wrong?", passed=False,
            sentence=f"2 of 6 questions: {HOSTILE}", n=6, about=("quiz/5", "quiz/2"),
            evidence=(f"all say {HOSTILE}", f"all say {RIGHT_TO_LEFT}"), weight=(0.9, 0.8),
        ),
        AuditRow(
            task="quiz", check="duplicates", question="Is anything there twice?", passed=False,
            sentence="A question and an image are.", n=12, about=("quiz/2", image_digest, "m"),
            evidence=("asked as quiz/3 is", "shown by 2 questions", "a model"),
            weight=(1.0, 0.5, 0.1),
        ),
    ]  # fmt: skip


def build_doubtful_home(folder: Path) -> Path:
    """Build the home and its report; return the report's first page."""
    tables = TableFiles(folder=str(folder / "tables"))
    image_store = ImageStore(folder=str(folder / "images"))
    image_digest = image_store.put(image(7, 64), "seven.png").sha256
    questions = [replace(question, images=(image_digest,)) for question in quiz(6, categories=3)]
    tables.write(["quiz", "questions"], questions, Question)
    tables.write(["quiz", "audit"], audit_rows(image_digest), AuditRow)
    tables.write(["other", "questions"], quiz(2), Question)
    for model in ("run/step-100", "run/step-900"):
        write_metrics(tables, model, 0.5)
    return build_report(folder, tables, CATALOG)
