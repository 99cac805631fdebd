import pytest

from bench_assets.core.schema.training_runs import checkpoint_name, parse_step


def test_a_checkpoint_without_a_number_is_no_step():
    assert parse_step("run/final@0123abcd") is None


@pytest.mark.parametrize(
    ("folders", "expected_name"),
    [
        pytest.param(["run", "step-0010"], "run/step-0010", id="as it was"),
        pytest.param(["run.v2@x+y=z", "a_b"], "run.v2@x+y=z/a_b", id="every sign of a key"),
        pytest.param(["- mein Lauf (ü) -"], "mein-Lauf-u", id="blanks, brackets and an umlaut"),
        pytest.param(["..", "a"], "a", id="no folder above"),
        pytest.param(["!!!"], "checkpoint", id="signs alone"),
    ],
)
def test_a_checkpoint_is_named_by_its_folders_without_odd_characters(folders, expected_name):
    assert checkpoint_name(folders) == expected_name


@pytest.mark.parametrize(
    "folders",
    [
        pytest.param([f"{'a' * 50}-lr{{}}-{'b' * 50}", "step-10"], id="a long folder"),
        pytest.param([f"{'a' * 36}{{}}{'b' * 50}", "step-10"], id="the first character cut"),
        pytest.param(["a" * 70, "b" * 70 + "-lr{}", "c" * 70, "step-10"], id="many long folders"),
    ],
)
def test_long_names_that_differ_in_a_number_stay_different(folders):
    names = {checkpoint_name([part.format(rate) for part in folders]) for rate in (1, 5)}
    assert len(names) == 2
    assert {step and step.step for step in map(parse_step, names)} == {10}
