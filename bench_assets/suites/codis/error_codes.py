"""What CODIS' authors find models to lack (sections 4.2, 5.1 and 5.2); they count no mistakes."""

from bench_assets.annotation.responses.error_analysis import CodeBook, ErrorCode

CODE_BOOK = CodeBook(
    "sections 4.2, 5.1 and 5.2",
    (
        ErrorCode("image", "what the context makes important is not seen in the image (5.1)"),
        ErrorCode("context passed over", "the answer is the one without the context (4.2)"),
        ErrorCode(
            "context misread", "the context is used, and something else is taken out of it (4.2)"
        ),
        ErrorCode("favourite word", "one of two opposite words is said whatever is shown (5.2)"),
        ErrorCode("reasoning", "image and context are understood, what follows is wrong"),
        ErrorCode("refusal", "it will not answer, or says that it cannot be told"),
        ErrorCode("judge", "the response is right, and was judged to be wrong"),
        ErrorCode("other", "something else: say what"),
    ),
)
