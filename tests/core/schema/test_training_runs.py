from bench_assets.core.schema.training_runs import parse_step


def test_a_checkpoint_without_a_number_is_no_step():
    assert parse_step("run/final@0123abcd") is None
