from tests.fakes.fair_exam import unfair
from tests.suites.codis.assets.test_questions import Bench


def test_no_category_can_be_passed_without_its_images(tmp_path):
    bench = Bench(tmp_path)
    bench.build()
    questions = bench.questions()
    categories = {question.category for question in questions}
    assert len(categories) == 5
    for category in categories:
        exam = [question for question in questions if question.category == category]
        assert unfair([exam]) == {}, category
