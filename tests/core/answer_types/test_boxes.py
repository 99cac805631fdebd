import pytest

from bench_assets.core.answer_types.boxes import iou


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        pytest.param((4, 0, 8, 4), 0.0, id="side by side"),
        pytest.param((5, 5, 5, 5), 0.0, id="a point"),
        pytest.param((2, 2, 6, 6), 4 / 28, id="a quarter of each"),
        pytest.param((1, 1, 3, 3), 4 / 16, id="one in the other"),
    ],
)
def test_iou_is_intersection_over_union(box, expected):
    assert iou((0, 0, 4, 4), box) == expected
