"""What CODIS' authors find models to lack (sections 4.2, 5.1 and 5.2); they count no mistakes."""

from bench_assets.people.mistakes import Code, CodeBook

CODE_BOOK = CodeBook(
    "sections 4.2, 5.1 and 5.2",
    (
        Code("picture", "what the context makes important is not seen in the picture (5.1)"),
        Code("context passed over", "the answer is the one without the context (4.2)"),
        Code("context misread", "the context is used, and something else is taken out of it (4.2)"),
        Code("favourite word", "one of two opposite words is said whatever is shown (5.2)"),
        Code("reasoning", "picture and context are understood, what follows is wrong"),
        Code("refusal", "it will not answer, or says that it cannot be told"),
        Code("judge", "the reply is right, and was judged to be wrong"),
        Code("other", "something else: say what"),
    ),
)
