import pytest

from bench_assets.suites.cogbench.construction.annotation_files import read_annotations
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation

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


def test_what_is_no_annotation_at_all_lacks_every_section():
    read_text = read("你好 🎉")
    assert (read_text.items, len(read_text.deviations)) == ([], 10)
