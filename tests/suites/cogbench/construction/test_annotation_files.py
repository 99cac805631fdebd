import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.suites.cogbench.construction.annotation_files import FIELDS, read_annotations
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, Chain, read_chain
from bench_assets.suites.cogbench.dataset.source import RawAnnotation, SourceQuestion
from bench_assets.suites.cogbench.description.scoring import read_by_position
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


@pytest.mark.parametrize(
    ("text", "premises", "conclusion"),
    [
        pytest.param("A. + B. -> C.", ("A.", "B."), "C.", id="as in Figure 6"),
        pytest.param("A.+ B. → C.", ("A.", "B."), "C.", id="another arrow, no blank before +"),
        pytest.param("One premise --> C.", ("One premise",), "C.", id="one premise, a long arrow"),
        pytest.param("A C++ book lies open. -> X.", ("A C++ book lies open.",), "X.", id="C++"),
        pytest.param(" + A. + -> C.", ("A.",), "C.", id="a plus too many"),
    ],
)
def test_a_chain_is_taken_apart(text, premises, conclusion):
    assert read_chain(text) == Chain(premises, conclusion)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("The boy steals.", "a conclusion only: there is no arrow", id="only B"),
        pytest.param("-> The boy steals.", "no premise before the arrow", id="no premise"),
        pytest.param("A. -> ", "no conclusion after the arrow", id="no conclusion"),
        pytest.param("A -> B -> C", "2 arrows: each chain has one conclusion, split it", id="ABC"),
    ],
)
def test_each_deviation_from_the_rules_is_named(text, complaint):
    assert read_chain(text) == complaint


VERDICTS = st.text(alphabet="0123 .[]\n:x") | st.text()


@given(response=VERDICTS, n=st.integers(0, 12))
def test_there_are_as_many_verdicts_as_points(response, n):
    assert len(read_numbered_verdicts(response, n)) == n
    assert len(read_by_position(response, n)) == n


@given(verdicts=st.lists(st.booleans(), min_size=1, max_size=40))
def test_a_response_of_the_requested_form_is_read_as_it_is_meant(verdicts):
    response = "  ".join(f"{n}. [{verdict:d}]" for n, verdict in enumerate(verdicts, 1))
    assert read_numbered_verdicts(response, len(verdicts)) == verdicts
    assert read_by_position(response, len(verdicts)) == verdicts


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
