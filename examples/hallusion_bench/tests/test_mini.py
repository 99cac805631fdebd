"""The mini edition: in the authors' format, whole, and not to be passed without looking."""

from collections import Counter, defaultdict
from hashlib import sha256

import pytest

from bench_assets.core.schema.rows import StoredImage
from bench_assets.evaluation import pipeline
from hallusion_bench.mini.edition import write
from hallusion_bench.questions import to_questions
from hallusion_bench.select import select
from hallusion_bench.source import find_release, image_files, read_asked
from hallusion_bench.task import TASK
from tests.fair_exam import ImageFiles, unfair
from tests.rows import prediction


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    """The questions of five mini editions, and the file of each figure."""
    files, exams = ImageFiles(), []
    for seed in range(5):
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        write(folder, seed)
        release = find_release(folder)
        asked, stored = read_asked(release), {}
        for name, file in image_files(release, asked).items():
            data = file.read_bytes()
            digest = sha256(data).hexdigest()
            files[digest] = data
            stored[name] = StoredImage(
                name=name, sha256=digest, format="PNG", width=1, height=1, n_bytes=len(data)
            )
        found = select(asked, stored)
        assert found.rejections == []
        exams.append(to_questions(found.asked, stored, "mini"))
    return exams, files


def measured(questions, says):
    said = [prediction(question_id=q.question_id, text=says(q)) for q in questions]
    scores = pipeline.score(TASK, questions, said, pipeline.judge(TASK, questions, said, None))
    rows = pipeline.summarise(TASK, questions, said, scores)
    return {row.metric: row.value for row in rows if row.category == "all"}


@pytest.mark.long
def test_the_same_seed_writes_the_same_bytes_once(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name)
    one, two = (
        {file.relative_to(tmp_path / name): file.read_bytes() for file in files}
        for name in ("one", "two")
        for files in [(tmp_path / name).rglob("*.*")]
    )
    assert one == two
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "one").rglob("*.*")}
    write(tmp_path / "one")
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_every_topic_has_originals_and_edited_figures_and_vs_asks_without_one(editions):
    for questions in editions[0]:
        assert Counter(q.category for q in questions) == {
            "VD/illusion": 24,
            "VD/ocr": 16,
            "VD/video": 16,
            "VS/chart": 24,
            "VS/table": 24,
            "VS/map": 18,
        }
        shown = Counter((q.category[:2], q.labels["visual_input"]) for q in questions)
        assert shown == {
            ("VD", "1"): 28,
            ("VD", "2"): 28,
            ("VS", "0"): 22,
            ("VS", "1"): 22,
            ("VS", "2"): 22,
        }
        assert len({image for q in questions for image in q.images}) == 50


def test_half_of_the_answers_are_yes_about_every_figure_and_in_every_topic(editions):
    for questions in editions[0]:
        by: dict[str, list[str]] = defaultdict(list)
        for question in questions:
            by[question.labels["figure"]].append(question.answer[0])
        assert all(sorted(answers) == ["no", "yes"] for answers in by.values())


def test_no_pair_is_right_by_one_answer_for_all_its_figures(editions):
    for questions in editions[0]:
        by: dict[str, set[str]] = defaultdict(set)
        for question in questions:
            if question.images:
                by[question.group_id].add(question.answer[0])
        assert all(answers == {"yes", "no"} for answers in by.values())


def test_nothing_but_the_figure_tells_the_answer(editions):
    exams, files = editions
    shown = [[question for question in exam if question.images] for exam in exams]
    assert unfair(shown, files.size, files.open) == {}
    for topic in {question.category for question in shown[0]}:
        of_topic = [[q for q in exam if q.category == topic] for exam in shown]
        assert unfair(of_topic, files.size, files.open) == {}, topic


@pytest.mark.parametrize(
    ("says", "q_acc", "a_acc"),
    [
        pytest.param(lambda q: q.answer[0], 1, 1, id="who looks"),
        pytest.param(lambda _: "Yes.", 0, 0.5, id="always yes"),
        pytest.param(lambda _: "No.", 0, 0.5, id="always no"),
        pytest.param(lambda _: "Hard to say.", 0, 22 / 122, id="who never knows"),
    ],
)
def test_only_who_looks_has_pairs_right(editions, says, q_acc, a_acc):
    found = measured(editions[0][0], says)
    assert (found["q_acc"], found["a_acc"]) == (q_acc, pytest.approx(a_acc))


def test_who_knows_the_world_and_does_not_look_has_no_pair_right_and_is_told_why(editions):
    """Says of every figure what is true without one, or of the original: language, or either."""
    questions = editions[0][0]
    known = {q.group_id: q.answer[0] for q in questions if q.labels["figure_id"] == "0"}
    found = measured(questions, lambda q: known[q.group_id])
    assert (found["q_acc"], found["easy_acc"], found["hard_acc"]) == (0, 1, 0)
    assert found["language_hallucination"] == pytest.approx(22 / 50)  # VS
    assert found["mixed"] == pytest.approx(28 / 50)  # VD
