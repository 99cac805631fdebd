"""The page of numbers is that of the code, and each number says what it counts."""

from tests.docs import defaults_page


def test_the_page_is_current():
    text = defaults_page.PAGE.read_text(encoding="utf-8")
    assert defaults_page.page() == text, "python -m tests.docs.defaults_page"


def test_constants_are_found_with_their_comments(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        "# in seconds\n_WAIT = 3\nSIZE = 2 * 2**20  # bytes\nSHARE: float = -0.5\n"
        '"""Of the questions."""\nNAME = "a"\nFLAG = True\nlower = 4\n'
    )
    assert list(defaults_page.constants(file)) == [
        ("_WAIT", "3", "in seconds"),
        ("SIZE", "2 * 2 ** 20", "bytes"),
        ("SHARE", "-0.5", "Of the questions."),
    ]
