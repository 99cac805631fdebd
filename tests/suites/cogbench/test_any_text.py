"""Laws that hold for whatever people and models write."""

from hypothesis import given
from hypothesis import strategies as st

from bench_assets.core.judging.numbered_verdicts import read_by_number
from bench_assets.suites.cogbench.construction.annotation_files import FIELDS, read_annotations
from bench_assets.suites.cogbench.dataset.reasoning import read_chain
from bench_assets.suites.cogbench.dataset.source import RawAnnotation, SourceQuestion
from bench_assets.suites.cogbench.description.scoring import read_by_position
from bench_assets.suites.cogbench.vqa.questions import read_response

VERDICTS = st.text(alphabet="0123 .[]\n:x") | st.text()


@given(response=VERDICTS, n=st.integers(0, 12))
def test_there_are_as_many_verdicts_as_points(response, n):
    assert len(read_by_number(response, n)) == n
    assert len(read_by_position(response, n)) == n


@given(verdicts=st.lists(st.booleans(), min_size=1, max_size=40))
def test_a_response_as_asked_for_is_read_as_it_is_meant(verdicts):
    response = "  ".join(f"{n}. [{verdict:d}]" for n, verdict in enumerate(verdicts, 1))
    assert read_by_number(response, len(verdicts)) == verdicts
    assert read_by_position(response, len(verdicts)) == verdicts


@given(text=st.text(alphabet="AB .+->\n") | st.text())
def test_a_chain_has_a_premise_and_a_conclusion_or_a_complaint(text):
    chain = read_chain(text)
    assert chain if isinstance(chain, str) else all((*chain.premises, chain.conclusion))


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
