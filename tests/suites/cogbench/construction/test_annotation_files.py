import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.suites.cogbench.construction.annotation_files import FIELDS, read_annotations
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation, SourceQuestion
from bench_assets.suites.cogbench.vqa.questions import read_response

REST = "\n".join(f"[{kind.field}]: None" for kind in KINDS if kind.code not in ("event", "mental"))


def read(text):
    return read_annotations([RawAnnotation(image="a.png", annotator="ana", annotation=text)])


def written(entities="[boy]", event="None", mental="None", description="A boy."):
    return (
        f"[Entities]: {entities}\n{REST}\n[Event Reasoning]: {event}\n"
        f"[Mental State Reasoning]: {mental}\n[Description]: {description}"
    )


def test_an_annotation_in_the_form_of_figure_6_is_taken_apart():
    read_text = read(
        written(
            "[boy, red  kite]",
            event="[A. + B. -> C.]\n[D. -> E.]",
            mental="He smiles. -> He is happy.\nHe runs. -> He is free.",
            description="A boy\nflies a kite.",
        )
    )
    assert read_text.deviations == []
    assert [(item.field, item.text) for item in read_text.items] == [
        ("Entities", "boy"),
        ("Entities", "red kite"),
        ("Event Reasoning", "A. + B. -> C."),
        ("Event Reasoning", "D. -> E."),
        ("Mental State Reasoning", "He smiles. -> He is happy."),
        ("Mental State Reasoning", "He runs. -> He is free."),
        ("Description", "A boy flies a kite."),
    ]


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        pytest.param(
            written(event="[He steals.]"), "[Event Reasoning] 1", "a conclusion only", id="B"
        ),
        pytest.param(
            written(event="[A -> B]\n[A -> B -> C]"), "[Event Reasoning] 2", "2 arrows", id="A-B-C"
        ),
        pytest.param(written(event="[-> B]"), "[Event Reasoning] 1", "no premise", id="-> B"),
        pytest.param(written(event="[A ->]"), "[Event Reasoning] 1", "no conclusion", id="A ->"),
        pytest.param(written("[boy, Boy]"), "[Entities] 2", "listed twice: 'Boy'", id="twice"),
        pytest.param(written(description=""), "[Description] 1", "no description", id="silent"),
        pytest.param(
            written().replace("[Location Reasoning]: None\n", ""),
            "[Location Reasoning] 1",
            "the section is missing",
            id="a section left out",
        ),
    ],
)
def test_every_deviation_is_named_with_its_place(text, place, complaint):
    (deviation,) = read(text).deviations
    assert deviation.entry == f"annotations.json, a.png by ana, {place}"
    assert deviation.reason.startswith(complaint)


@given(bodies=st.lists(st.text(alphabet="[]AB ,+->\n") | st.text(), min_size=10, max_size=10))
def test_every_section_gives_items_or_deviations_but_never_an_error(bodies):
    text = "\n".join(f"[{field}]: {body}" for field, body in zip(FIELDS, bodies, strict=True))
    read = read_annotations([RawAnnotation(image="a.png", annotator="ana", annotation=text)])
    assert {item.field for item in read.items} <= set(FIELDS)


@given(response=st.text(alphabet="ABCD. []\nCorrect Answer:") | st.text(), n=st.integers(0, 3))
def test_a_response_of_the_writer_is_read_whole_or_complained_about(response, n):
    read = read_response(response, n_chains=n)
    assert read
    if not isinstance(read, str):
        assert all(isinstance(one, SourceQuestion) and len(one.options) == 4 for one in read)
