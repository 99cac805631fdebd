"""What BLINK's authors found wrong in 140 responses of GPT-4V (section 4.3, appendix C.2)."""

from bench_assets.annotation.responses.error_analysis import CodeBook, ErrorCode

CODE_BOOK = CodeBook(
    "appendix C.2",
    (
        ErrorCode(
            "fine detail", "a small region, an edge, a circle or a box is not told apart", 0.285
        ),
        ErrorCode("place of a mark", "a circled point is taken for another place", 0.2),
        ErrorCode("spatial relation", "left and right, or up and down, are mixed up", 0.143),
        ErrorCode("reasoning", "images and question are understood, what follows is wrong", 0.129),
        ErrorCode(
            "overall impression", "atmosphere, setting or style of the whole is missed", 0.086
        ),
        ErrorCode("refusal", "it will not answer", 0.064),
        ErrorCode("grounding", "what the question names is not found in the image", 0.057),
        ErrorCode("other", "something else: say what"),
    ),
)
"""The paper's shares add up to 96.4 %."""
