import json
import re
from html import unescape

from bench_assets.annotation.tasks import AnnotationTask, Field, Unit
from tests.fakes.annotation_pages import Site, shown

NAMES = ('the "near" end', "<i>far</i> & away")
MARKS = AnnotationTask(
    name="quiz/marks",
    title="Mark it",
    instructions="",
    fields=(
        Field(name="ends", kind="points", label="Ends", choices=NAMES, least=2, most=2),
        Field(name="areas", kind="boxes", label="Areas", most=3, required=False),
    ),
)


def test_fields_for_marks_have_their_kind_number_and_names_for_the_script(site: Site) -> None:
    site.backend.ask(MARKS, [Unit(task=MARKS.name, unit_id="a")])
    page = shown(site, task=MARKS)
    fields = re.findall(r'data-kind="(\w+)" data-most="(\d+)" data-names="([^"]*)"', page.text)
    assert [(kind, most, json.loads(unescape(names))) for kind, most, names in fields] == [
        ("points", "2", list(NAMES)), ("boxes", "3", []),
    ]  # fmt: skip
    assert f"Click on the image: 2, in this order: {'; '.join(NAMES)}." in unescape(page.text)
    assert "Drag on the image: 1 to 3." in page.text


def test_marks_are_sent_and_shown_again_line_by_line(site: Site) -> None:
    site.backend.ask(MARKS, [Unit(task=MARKS.name, unit_id="a")])
    page, ana = shown(site, task=MARKS), site.visitor("ana")
    sent = ana.send(page, ends=" 0 0.5\r\n\r\n1 0.25 ", areas="0 0 1 1")
    assert sent.status_code == 200
    (answer,) = site.backend.answers(MARKS)
    assert answer.values == {"ends": ("0 0.5", "1 0.25"), "areas": ("0 0 1 1",)}
    assert "0 0.5\n1 0.25</textarea>" in ana.http.get(page.url.path).text
