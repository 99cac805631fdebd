"""What BLINK's authors found wrong in 140 replies of GPT-4V (section 4.3, appendix C.2)."""

from bench_assets.people.mistakes import Code, CodeBook

CODE_BOOK = CodeBook(
    "appendix C.2",
    (
        Code("fine detail", "a small region, an edge, a circle or a box is not told apart", 0.285),
        Code("place of a mark", "a circled point is taken for another place", 0.2),
        Code("spatial relation", "left and right, or up and down, are mixed up", 0.143),
        Code("reasoning", "pictures and question are understood, what follows is wrong", 0.129),
        Code("overall impression", "atmosphere, setting or style of the whole is missed", 0.086),
        Code("refusal", "it will not answer", 0.064),
        Code("grounding", "what the question names is not found in the picture", 0.057),
        Code("other", "something else: say what"),
    ),
)
"""The paper's shares add up to 96.4 %."""
