"""Texts that try a tokenizer: its rules, its tables and its control tokens, chosen by what they distinguish.

Problem.  A tokenizer has 262,145 tokens and 500,000 merges, and a test of it may take 0.2 s, which is time
for some 100,000 characters.

How.  Texts of five classes, in this order, so that what is seldom right comes first:

* control tokens: the names, and texts that are almost names, in the midst of others;
* the Unicode set (:mod:`.unicode_set`) and some code points more on which programs disagree, each after and
  before letters, digits, marks and structure, and before, after and within a name or a structural text;
* a corpus: prose in twenty-eight scripts and languages, code, numbers, URLs, runs of white space;
* what regexes of pre-tokenizers are about, drawn: runs of spaces, line ends, digits, apostrophes, letters;
* tokens of this vocabulary, drawn: 8,000 of them apart from each other, which shows a merge that is missing;
  overlapping, which shows merges in another order; joined, cut and joined again.

Cost: 20 ms for 2,600 texts, at any size of the vocabulary.  The texts depend on the vocabulary and the seed
alone.

Not here: the whole of Unicode, which takes seconds (`tests/canonical/test_every_code_point.py`).
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from tokamata.tokenization.unicode_set import adversaries

__all__ = ["CORPUS", "adversarial_texts", "drawn_texts"]

# A sentence or two in each of twenty-eight scripts and languages.
_PROSE = [
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
_CODE = [
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
_OTHERS = [
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
CORPUS = _PROSE + _CODE + _OTHERS

# Code points besides those of the Unicode set on which programs and versions of Unicode disagree.
_POINTS = (
    # marks, viramas and vowel signs
    "\u0303\u0316\u0323\u20e3\u09cd\u0bcd\u1039\u17d2\u093c\u0958\u0e40"
    # jamo, Hangul, kana marks
    "\u1100\u11a8\uac00\uac01\uff9e"
    # compatibility characters
    "\u2024\u33a0\u00bd\u2460\u212b\u1e9b\u2adc\ufb1d\U0001d15e\U0001f100"
    # digits and letters of other scripts, emoji
    "\u0663\u0967\u2167\u4e00\u3007\ua66e\U00010348\U0001f44d\U0001f3fd\U0001f468\U0001f1e9\u2764\U000e0067"
    # the signs that tokenizers write for spaces and bytes
    "\u2581\u0120\u010a\u00e9"
)
_AROUND = ("a{}b", " {} ", "1{}2{}", "<{}|>{}{}x", "{}", "\n{}\t", "'{}s ={}")
_STRUCTURE = ("<|im_end|>", '":', "</think>", "::=", "[/INST]", "\n\n")
_RUNS = " \n\r\t'1aZé.!-中_"
_MOST_NAMES = 48
_IN_LINE = 16  # tokens that are tested in one text, apart from each other
_LEAST_POOL = 64  # tokens of which texts are made
_MOST_SHARED = 3  # bytes of two tokens
_MOST_LONG = 64  # bytes of a token: longer ones are runs of one character


def adversarial_texts(
    tokens: Sequence[bytes | None], names: Mapping[int, str], seed: int, drawn: int
) -> list[str]:
    """The texts of one test, each once.

    Args:
        tokens: the bytes of each token, ``None`` for control tokens.
        names: the names of control tokens, by id.
        seed: of what is drawn.
        drawn: how many texts are drawn besides the fixed ones.
    """
    some = _some_names(names)
    texts = [*_of_names(some), *_of_unicode(some), *CORPUS, *drawn_texts(tokens, seed, drawn)]
    return [text for text in dict.fromkeys(texts) if text and _is_unicode(text)]


def drawn_texts(tokens: Sequence[bytes | None], seed: int, count: int) -> Iterator[str]:
    """Texts that are drawn from the tokens and from runs of characters; some are empty."""
    draw = random.Random(seed)
    alone = _each_once(tokens, draw)
    pool = _Pool(tokens, max(_LEAST_POOL, 2 * count), draw)
    for number in range(count):
        kind = number % 8
        if kind == 0:
            yield "".join(draw.choices(_RUNS, k=draw.randrange(1, 14)))
        elif kind < 3:
            yield _apart(islice(alone, _IN_LINE)) or pool.overlapping()
        elif kind < 5:
            yield pool.overlapping()
        elif kind == 5:
            yield pool.joined(draw.randrange(2, 7))
        elif kind == 6:
            yield _cut(pool.joined(1), draw) + _cut(pool.joined(1), draw)
        else:
            spaced = (pool.joined(1).strip() for _ in range(draw.randrange(1, 6)))
            yield draw.choice((" ", "\n", "1", "'s ", ", ")).join(spaced)


class _Pool:
    """Some tokens of several bytes, and which of them begin with some bytes."""

    def __init__(self, tokens: Sequence[bytes | None], size: int, draw: random.Random) -> None:
        some = tokens if len(tokens) <= size else [tokens[draw.randrange(len(tokens))] for _ in range(size)]
        known = [token for token in some if token is not None and len(token) <= _MOST_LONG]
        self._tokens = [token for token in known if len(token) > 1] or known or [b""]
        self._by_beginning: dict[bytes, list[bytes]] = {}
        for token in self._tokens:
            for size in range(1, min(len(token), _MOST_SHARED + 1)):
                self._by_beginning.setdefault(token[:size], []).append(token)
        self._draw = draw

    def joined(self, count: int) -> str:
        """So many tokens, those that are no text left out."""
        return "".join(map(_text, self._draw.choices(self._tokens, k=count)))

    def overlapping(self) -> str:
        """Tokens that share some bytes, the last of one and the first of the next: their merges compete."""
        text = self._draw.choice(self._tokens)
        for _ in range(self._draw.randrange(1, 4)):
            shared = self._draw.randrange(1, _MOST_SHARED + 1)
            followers = self._by_beginning.get(text[-shared:])
            if followers:
                text += self._draw.choice(followers)[shared:]
        return _text(text)


def _some_names(names: Mapping[int, str]) -> list[str]:
    known = sorted(names)
    step = -(-len(known) // _MOST_NAMES) or 1
    return [names[token][:_MOST_LONG] for token in known[::step]]


def _of_names(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        yield f"a {name} b{name}\u0338"
        yield f"{name[:-1]} {name[1:]}{name.swapcase()}"
        yield f"{name[:2]}\u200d{name[2:]}"


def _of_unicode(names: Iterable[str]) -> Iterator[str]:
    """The Unicode set and some points: each by letters and digits, and by a name or a structural text."""
    boundaries = [*filter(None, names), *_STRUCTURE]
    entries = [each.text for each in adversaries() if each.text is not None]
    for number, entry in enumerate(dict.fromkeys([*entries, *_POINTS])):
        yield "".join(around.replace("{}", entry) for around in _AROUND)
        boundary = boundaries[number % len(boundaries)]
        middle = len(boundary) // 2
        yield f"{entry}{boundary}{entry}{boundary[:middle]}{entry}{boundary[middle:]}"


def _each_once(tokens: Sequence[bytes | None], draw: random.Random) -> Iterator[str]:
    """The texts of all tokens, in an order that is drawn, without a list of them."""
    if (size := len(tokens)) == 0:
        return
    step = next(step for step in iter(lambda: draw.randrange(1, size + 1), 0) if math.gcd(step, size) == 1)
    start = draw.randrange(size)
    for number in range(size):
        text = _text(tokens[(start + number * step) % size])
        if text:
            yield text


def _apart(texts: Iterable[str]) -> str:
    """Texts in one line each, where they do not begin with a space: nearly all tokenizers cut them apart."""
    return "".join(text if text[0] == " " else f"\n{text}" for text in texts).strip("\n")


def _is_unicode(text: str) -> bool:
    """Whether a text has no surrogates; the names in a damaged file may have some."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cut(text: str, draw: random.Random) -> str:
    """A part of a text."""
    begin = draw.randrange(len(text) + 1)
    return text[begin:] if draw.random() < 0.5 else text[:begin]


def _text(token: bytes | None) -> str:
    """The text of a token; nothing where it is none, or a long run."""
    if token is None or len(token) > _MOST_LONG:
        return ""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return ""
