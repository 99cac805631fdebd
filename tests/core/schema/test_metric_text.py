from bench_assets.core.schema.metric_text import caveats
from tests.fakes.rows import metric


def test_caveats_name_each_count_and_share_above_0():
    row = metric("m", 0.5, n_failed=2, n_no_answer=0, asked_again=0.1, named=0.025)
    assert caveats(row) == ["2 without response", "10.0 % asked again", "2.5 % only named"]
