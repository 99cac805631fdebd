"""Vocabulary of responses to questions with options (for ``sentences``).

Each pattern is a kind of token; of those that fit at a place the first one listed is taken. They
are matched in text that ``letters.normalised`` made: common widths, simplified characters, Latin
words in small letters.
"""

import re
from collections.abc import Mapping

TRADITIONAL = str.maketrans("選項錯誤確應該對題無為與擇", "选项错误确应该对题无为与择")
"""Characters of the words below that are written otherwise in Hong Kong and Taiwan."""

_END = r"(?=的?[\s,。;:!)]|的?$|的?(?:是|有)|的?说法)"

_TOKENS: Mapping[str, str] = {
    # What this clause says, or for "if" the sentence, is not meant to hold.
    "if": r"如果|假[设如]|若|要是|\bif\b(?! (?:I|we|you) (?:must|had to|have to)\b)",
    "hedge": (
        r"可能|也许|不(?:太)?确定|难以|无法|之间|以为|看似|看起来|与其|是否|不能说|不是说|很难说"
        r"|未必|不一定|似乎|以便"
        r"|不认为|[有别]人[说选认]|(?<=[A-Z])就(?:选|是[A-Z])"
        r"|\b(?:could|may|might|maybe|cannot|don't think|neither)\b"
    ),
    "cue": (r"重新|更正|综上|因此|所以|故|最终|\b(?:wait|actually|therefore|so)\b"),
    "unfit": r"不符合?|不合题意",
    "fit": r"符合(?:题意|题目要求|要求)|符合(?=[,。;!\s]|$)|最合适",
    "right": (
        r"(?:没有?|并非|不是|并无)(?:错误?|不对|不妥|问题)|无误"
        rf"|正确{_END}|(?<![绝针反])对{_END}|[√✓✔✅☑]"
        r"|(?<=[.:|])\s?(?:是|yes)(?!\w)"
        r"|\b(?:correct|right|true)\b(?! (?:option|choice)s?\b)"
    ),
    # What was just said is called wrong.
    "back": r"[这那]是?(?:错误?的?|不对的?)",
    "wrong": (
        r"不(?:是)?正确的?|不对|不妥|错误?(?!选)|有误|有问题|[×✗✘❌✕]"
        r"|(?<=[.:|])\s?(?:否|no)(?!\w)|\b(?:incorrect|wrong|false)\b"
    ),
    "pick": (
        r"(?:不能不|不得不|没有理由不)选|(?<![误错漏])选择?(?!项)|剩下"
        r"|(?:认为|应该?|其实|而|才|就)[是为]"
        r"|\b(?:choose|pick|go with)\b|\bit(?: must| should)?(?:'s| is| be)\b"
    ),
    "drop": (
        r"不(?:能|可|要|应该?)?选择?|(?:(?<![分特个])别|勿|拒绝)选择?|没有?人?选|(?:可以)?排除|除了|而非"
        r"|不(?:可?能|会|应该?)?是"
        r"|\b(?:rather than|can't be|not(?: choose)?)\b"
    ),
    "state": r"答案|正确的?选项|\banswers?\b|\b(?:correct|right) (?:option|choice)s?\b",
    "is": r"[是为有:]|\b(?:is|are|be|but)\b",
    "or": r"或者?|要么|/",
    "join": r"和|与|及|\band\b",
    "reason": r"因为|由于|其中|—|\(|\b(?:because|since)\b",
    "comma": r",",
    "ask": r"\?",
    "stop": r"[。;!\n]|\.(?=\s)",
}

FILLER = re.compile(r"(?:的|说法|\d|\s)*")
"""Words that change nothing."""

_RUN = (
    r"(?:选项 ?|\b(?:option|choice)s? +)?"
    r"(?<![A-Za-z0-9\\∠△])(?<!三角形|电流表|电压表|维生素)(?<!集合)(?<![点线图])[A-M]+(?![A-Za-z0-9=∥⊥'])"
    # Not a point, an instrument or the like, and not an article.
    r"(?!(?:[、和与,][A-M]){0,12}[两三四]?个?[点处地端极图球杯区管])"
    r"(?! (?!(?:is|are|and|because|since|but|not|rather|must)\b)[a-z])"
    r"(?: ?(?:选项|项))?(?:\s?[.:)、](?!\s*[A-Z])(?!\w*[A-Z]=))?"
)

WORDS = re.compile("|".join(f"(?P<{k}>{words})" for k, words in {"run": _RUN, **_TOKENS}.items()))
"""Every word that matters; its group is its kind, "run" for letters of options."""
