"""What MULTI's authors say goes wrong (sections 4.3 to 4.7); they count no mistakes."""

from bench_assets.annotation.responses.error_analysis import CodeBook, ErrorCode

CODE_BOOK = CodeBook(
    "section 4",
    (
        ErrorCode("image", "what the images show is not seen, or taken for something else"),
        ErrorCode("several images", "images are mixed up, or one of several is passed over"),
        ErrorCode("knowledge", "a fact or rule of the subject is not known"),
        ErrorCode("reasoning", "facts are right, a step of calculation or logic is wrong"),
        ErrorCode("incomplete", "some of several right options, blanks or parts are missing"),
        ErrorCode("form", "the right answer in a form that is not the one asked for"),
        ErrorCode("refusal", "it will not answer, or asks for an image"),
        ErrorCode("key", "the response is right, and the reference wrong"),
        ErrorCode("other", "something else: say what"),
    ),
)
