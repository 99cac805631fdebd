import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.suites.cogbench.construction.annotation_files import FIELDS, parse_annotations
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation, SourceQuestion
from bench_assets.suites.cogbench.vqa.questions import read_response
from tests.cases import read_cases

OTHER_SECTIONS = "\n".join(
    f"[{kind.field}]: None" for kind in KINDS if kind.code not in ("event", "mental")
)


def read_annotation(text):
    return parse_annotations([RawAnnotation(image="a.png", annotator="ana", annotation=text)])


def annotation_text(entities="[boy]", event="None", mental="None", description="A boy."):
    """An annotation in the form of figure 6 of the paper."""
    return (
        f"[Entities]: {entities}\n{OTHER_SECTIONS}\n[Event Reasoning]: {event}\n"
        f"[Mental State Reasoning]: {mental}\n[Description]: {description}"
    )


def test_an_annotation_in_the_form_of_figure_6_is_split_into_items():
    annotation = read_annotation(
        annotation_text(
            "[boy, red  kite]",
            event="[A. + B. -> C.]\n[D. -> E.]",
            mental="He smiles. -> He is happy.\nHe runs. -> He is free.",
            description="A boy\nflies a kite.",
        )
    )
    assert annotation.rejections == []
    assert [(item.field, item.text) for item in annotation.rows] == [
        ("Entities", "boy"),
        ("Entities", "red kite"),
        ("Event Reasoning", "A. + B. -> C."),
        ("Event Reasoning", "D. -> E."),
        ("Mental State Reasoning", "He smiles. -> He is happy."),
        ("Mental State Reasoning", "He runs. -> He is free."),
        ("Description", "A boy flies a kite."),
    ]


@pytest.mark.parametrize(
    ("sections", "line", "complaint"), read_cases(__file__, "deviations.jsonl")
)
def test_an_item_that_breaks_a_rule_is_rejected_with_its_section_and_line(
    sections, line, complaint
):
    (rejection,) = read_annotation(annotation_text(**sections)).rejections
    assert rejection.entry == f"annotations.json, a.png by ana, {line}"
    assert rejection.reason.startswith(complaint)


def test_a_section_that_is_missing_is_rejected():
    text = annotation_text().replace("[Location Reasoning]: None\n", "")
    (rejection,) = read_annotation(text).rejections
    assert rejection.entry == "annotations.json, a.png by ana, [Location Reasoning] 1"
    assert rejection.reason == "the section is missing; write None if there is nothing"


BODIES = st.text(alphabet="[]AB ,+->\n") | st.text()


@given(bodies=st.fixed_dictionaries(dict.fromkeys(FIELDS, BODIES)))
def test_any_text_in_the_sections_is_read_without_an_error(bodies):
    text = "\n".join(f"[{field}]: {body}" for field, body in bodies.items())
    assert {item.field for item in read_annotation(text).rows} <= set(FIELDS)


@given(
    response=st.text(alphabet="ABCD. []\nCorrect Answer:") | st.text(), n_chains=st.integers(0, 3)
)
def test_any_response_of_the_writer_gives_questions_or_a_complaint(response, n_chains):
    questions_or_complaint = read_response(response, n_chains=n_chains)
    assert questions_or_complaint
    assert isinstance(questions_or_complaint, str) or all(
        isinstance(question, SourceQuestion) and len(question.options) == 4
        for question in questions_or_complaint
    )
