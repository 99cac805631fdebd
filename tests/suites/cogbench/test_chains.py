import pytest

from bench_assets.suites.cogbench.dataset.reasoning import KINDS, Chain, find_kind, read_chain


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


def test_a_chain_is_written_as_it_is_read():
    assert str(read_chain("A.+B. => C.")) == "A. + B. -> C."


def test_every_name_of_every_kind_is_known():
    for kind in KINDS:
        assert {find_kind(name) for name in (kind.name, kind.field, kind.code)} == {kind}
    assert find_kind("Next event") == find_kind("NEXT_MOMENT_EVENT")
    assert find_kind("weather") is None
