from bench_assets.annotation.responses.person_answers import PersonAnswer, person_answers_task
from bench_assets.annotation.tasks import AnnotationTask, Field
from tests.fakes.answers import answer

FIELD = Field(name="answer", kind="choice", label="Your answer")
TASK = person_answers_task(
    AnnotationTask(name="t/human", title="", instructions="", fields=(FIELD,)),
    questions="t/questions",
    needed=2,
)


def test_an_answer_is_the_letter_of_the_chosen_option() -> None:
    assert TASK.to_rows([answer("q", "p", answer="B. y")]) == [
        PersonAnswer(question_id="q", person="p", answer="B")
    ]
