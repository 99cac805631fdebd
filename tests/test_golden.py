"""What ``make golden`` runs: every test that compares with a golden file, by its mark."""


def test_who_compares_with_a_golden_file_is_marked(request, golden):
    assert request.node.get_closest_marker("golden")


def test_who_does_not_is_not_marked(request):
    assert not request.node.get_closest_marker("golden")
