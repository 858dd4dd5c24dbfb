"""Probe texts: scripts, code, numbers, white space, marks, and what the rules of tokenizers are about.

    for text in itertools.islice(texts(seed=7, tokens=vocabulary.tokens), 1000):
        ...    # the same texts for the same seed, tokens and version of Python

The corpus comes first, and then mixtures of it, of the tokens and of code points.  They complement the
adversarial set (``unicode_set.py``), which has one trouble per text.
"""

from __future__ import annotations

import json
import random
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

__all__ = ["CORPUS", "assigned", "texts"]

# A sentence or two in each of twenty scripts and some more.
PROSE = [
    "It was late when they came to the bridge, and nobody had thought of bringing a light.",
    "Όταν έφτασαν στη γέφυρα ήταν αργά, και κανείς δεν είχε σκεφτεί να φέρει φως.",
    "Было уже поздно, когда они пришли к мосту, и никто не подумал взять с собой фонарь.",
    "כשהגיעו אל הגשר היה מאוחר, ואיש לא חשב להביא אור.",
    "كان الوقت متأخراً عندما وصلوا إلى الجسر، ولم يفكر أحد في إحضار مصباح.",
    "जब वे पुल पर पहुँचे तब देर हो चुकी थी, और किसी ने रोशनी लाने की नहीं सोची थी।",
    "তারা যখন সেতুর কাছে পৌঁছাল তখন রাত হয়ে গেছে, কেউ আলো আনার কথা ভাবেনি।",
    "ਜਦੋਂ ਉਹ ਪੁਲ ਤੇ ਪਹੁੰਚੇ ਤਾਂ ਦੇਰ ਹੋ ਗਈ ਸੀ।",
    "તેઓ પુલ પાસે આવ્યા ત્યારે મોડું થઈ ગયું હતું.",
    "அவர்கள் பாலத்திற்கு வந்தபோது நேரமாகிவிட்டது, யாரும் விளக்கு கொண்டு வரவில்லை.",
    "వారు వంతెన దగ్గరకు వచ్చేసరికి ఆలస్యమైంది.",
    "ಅವರು ಸೇತುವೆಗೆ ಬಂದಾಗ ತಡವಾಗಿತ್ತು.",
    "അവർ പാലത്തിലെത്തിയപ്പോൾ വൈകിയിരുന്നു.",
    "ඔවුන් පාලමට එන විට රෑ වී තිබුණි.",
    "เมื่อพวกเขามาถึงสะพานก็ดึกแล้ว และไม่มีใครคิดจะนำไฟมาด้วย",
    "ເມື່ອພວກເຂົາມາຮອດຂົວກໍເດິກແລ້ວ",
    "သူတို့ တံတားသို့ ရောက်သောအခါ နောက်ကျနေပြီ။",
    "როცა ხიდთან მივიდნენ, უკვე გვიანი იყო.",
    "Երբ նրանք հասան կամրջին, արդեն ուշ էր։",
    "ወደ ድልድዩ ሲደርሱ መሽቶ ነበር።",
    "នៅពេលពួកគេមកដល់ស្ពាន វាយប់ហើយ។",
    "橋に着いたときにはもう遅く、誰も明かりを持ってくることを考えていなかった。カタカナも１２３。",
    "他们走到桥边时已经很晚了，谁也没有想到带灯。",
    "그들이 다리에 도착했을 때는 이미 늦었고, 아무도 불을 가져올 생각을 하지 않았다.",
    "Khi họ đến cây cầu thì đã muộn, và không ai nghĩ đến việc mang theo đèn.",
    "Kiedy dotarli do mostu, było już późno; nikt nie pomyślał o świetle — źdźbło, łąka.",
    (
        "Quand ils arrivèrent au pont, il était tard : personne n'avait songé à prendre une "
        "lumière, œuvre naïve."
    ),
    "Köprüye vardıklarında geç olmuştu; İstanbul'da ığdır, şeker, ÇĞÖ.",
    "ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ  𝔘𝔫𝔦𝔠𝔬𝔡𝔢  𐍈𐌰𐌿𐍂𐌲  ꙮ  ﬁn ﬀ  ①②③ ½ ⅷ  ㎏",
]
CODE = [
    (
        "def f(xs: list[int]) -> int:\n    total = 0\n    for x in xs:\n\t\ttotal += x**2  # "
        "why?\n    return total\n\n\n"
    ),
    (
        "#include <vector>\r\nint main() {\r\n  std::vector<int> v{1, 2, 3};\r\n  return v[0] "
        "!= 1 && !v.empty();\r\n}\r\n"
    ),
    "const f = async (a, b) => { await g(`${a}/${b}`); return a?.b ?? [...c]; };\n",
    '<table class="x">\n  <tr><td>1</td><td>&nbsp;</td></tr>\n</table><br/><h1>T</h1>',
    "SELECT a.id, COUNT(*) FROM t AS a WHERE a.x >= 10.5e-3 AND b LIKE '%x_%' GROUP BY 1;",
    "\\begin{align} \\frac{1}{2} &= \\sum_{i=0}^{\\infty} x_i^2 \\\\ \\end{align}",
    "$ ls -la ~/src | grep '\\.py$' > out.txt 2>&1 && echo \"done\"",
    "+++ b/file.txt\n@@ -1,3 +1,4 @@\n-old\n+new\n",
]
OTHERS = [
    json.dumps(
        {"name": "Ada", "tags": ["a", "b\n", "é"], "n": [1, -2.5, 3e10, None, True], "o": {}},
        ensure_ascii=False,
    ),
    json.dumps([{"id": i, "v": "x" * i} for i in range(5)], indent=2),
    "https://www.example.com:8080/a/b_c?q=1&r=%20x#frag  mailto:a.b+c@example.org",
    "0 1 12 123 1234 12345 123456 1,234,567.89 3.14159 -0.5 1e-9 0xFF 2024-03-07T12:34:56Z ²³ १२३ ٣٤٥ １２３",
    "I'm you're he's we'll they'd I've don't IT'S YOU'LL 'tis o'clock rock'n'roll ſ'ſ K'K",
    "👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ☺️ 1️⃣ ❤️‍🔥 🧑🏿‍🚀",
    (
        "e\u0301 a\u0300\u0316 q\u0307\u0323 \u0301x é\u0316 ǖ u\u0308\u0304 각 ᄀ\u1161 "
        "\u1100\u1161\u11a8 Å \u212b"
    ),
    " \t\u00a0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\ufeff\x0b\x0c\x85 x",
    "a\nb\r\nc\rd\n\n\ne \n f\n \ng\t\n\th  \n\n  i",
    "a  b   c    d     e      f" + " " * 33 + "g" + "\t" * 9 + "h" + "\n" * 35 + "i",
    (
        "!!! ??? ... --- === *** ### ,,, ;;; ((( ))) [[[ ]]] {{{ }}} <<< >>> /// \\\\\\ ||| "
        "~~~ ``` ^^^ &&& %%% $$$ @@@"
    ),
    "aaaaaaaaaaaaaaaaaaaaaaaaaa AAAAAAAAAAAAAAAA abababababab jeho jehova  lololol hahahaha",
    "▁ ▁▁ ## Ġ Ċ </w> <0x0A> <unk> <s> [UNK] <|endoftext|> <|eot_id|> <td> <mask> �",
]
CORPUS = PROSE + CODE + OTHERS

_LONGEST = 512  # bytes of a token that is mixed in: programs may take long for long texts

_SPACES = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u3000",
    "\u2028",
    " \n",
    "\n ",
    "   ",
    "\x0b",
    "\u200b",
    "",
]


@cache
def assigned() -> list[str]:
    """Every code point that Python's version of Unicode assigns, without surrogates and private ones."""
    return [
        chr(point)
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")
    ]


@cache
def _marks() -> list[str]:
    return [character for character in assigned() if unicodedata.category(character).startswith("M")]


def texts(seed: int, tokens: Sequence[bytes | None]) -> Iterator[str]:
    """An endless stream of texts: the corpus, then random mixtures of it, of tokens and of code points.

    Args:
        seed: for the mixtures.
        tokens: the bytes of the tokens that are mixed in; ``None``, bytes that are no UTF-8, and those of
            more than 512 bytes are left out.
    """
    draw = random.Random(seed)
    yield from CORPUS
    pieces = [piece for text in CORPUS for piece in text.split(" ")]
    spelled = [token.decode() for token in tokens if token and len(token) <= _LONGEST and _is_utf8(token)]
    spelled = spelled or ["a"]  # there may be no such token
    words = [_apart(text) for text in CORPUS]
    while True:
        kind = draw.randrange(10)
        size = draw.randrange(1, 24)
        if kind == 0:
            yield draw.choice(_SPACES).join(draw.choices(pieces, k=size))
        elif kind == 1:
            yield "".join(draw.choice(pieces) + draw.choice(_SPACES) for _ in range(size))
        elif kind == 2:
            yield "".join(draw.choices(spelled, k=size))
        elif kind == 3:
            text = draw.choice(CORPUS)
            begin = draw.randrange(len(text))
            yield text[begin : begin + draw.randrange(1, 60)]
        elif kind == 4:
            yield "".join(draw.choices(assigned(), k=size))
        elif kind == 5:
            yield "".join(
                draw.choice("aeoucnAOK ") + draw.choice(_marks()) * draw.randrange(3) for _ in range(size)
            )
        elif kind == 6:
            yield "".join(draw.choices(" \n\r\t'1aZé.!-中", k=size))
        elif kind == 7:
            text = draw.choice(CORPUS)
            cut = draw.randrange(len(text))
            yield text[:cut] + draw.choice(_SPACES + pieces + _marks()[:200]) + text[cut:]
        elif kind == 8:
            some = draw.choice(words)
            begin = draw.randrange(len(some))
            yield " ".join([*some[begin : begin + size], *draw.choice(words)[:size]])
        else:
            yield "".join(draw.choice(spelled) + draw.choice(["", " ", "'s", "1", "\n"]) for _ in range(size))


def _apart(text: str) -> list[str]:
    """Words and other code points, as a tokenizer of words leaves them: in lower case and without accents."""
    plain = unicodedata.normalize("NFD", text.lower())
    return re.findall(r"\w+|[^\w\s]", "".join(c for c in plain if unicodedata.category(c) != "Mn"))


def _is_utf8(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True
