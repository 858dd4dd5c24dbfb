r"""The pre-tokenizers of llama.cpp, by the names that GGUF files give them (``tokenizer.ggml.pre``).

Each is a list of regexes that cut a text one after the other; between matches the text remains a piece.  The
regexes here match what llama.cpp's do, which differ from those of the models' own files: there are no flags,
``\p{Lu}`` means ``\p{L}`` (:mod:`tokamata.tokenization.pretokenizers.llama_cpp_classes`), and some names have
regexes of other models.

    qwen2    '[sS]|…|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|…      instead of (?i:'s|…)|…, which also matches 'ſ

Regexes are written with one alternative where llama.cpp has two that match the same.

Source: ``llama_vocab::impl::load`` and ``llm_tokenizer_bpe`` in ``src/llama-vocab.cpp``, and the functions
that stand for regexes in ``src/unicode.cpp``, as of llama-cpp-python 0.3.36, compared by
``fuzz/llama_cpp_exactness.py``.  The regexes run by ``std::regex`` are taken as GCC's library runs them, with
``wchar_t`` of 32 bits.
"""

from __future__ import annotations

from typing import NamedTuple

from tokamata.errors import UnsupportedTokenizerError

__all__ = ["NAMES", "PreTokenizer", "named_pre_tokenizer"]


class PreTokenizer(NamedTuple):
    """One of llama.cpp's pre-tokenizers.

    Attributes:
        regexes: its splits, in order.
        ignores_merges: whether a piece that is a token becomes that token, whatever the merges.
    """

    regexes: tuple[str, ...]
    ignores_merges: bool = False


_ANY_CASE = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_ENDS = r"\s+(?!\S)|\s+"
_WORD = r"\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_LINES = r"\s*[\r\n]+"
_BY_LINES = r"[^\n]+|[\n]+"
_THREE = r"\p{N}{1,3}"
_ONE = r"\p{N}"
_CONTRACTION = f"(?:{_ANY_CASE})?"
_BEFORE = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def _any_of(*parts: str) -> str:
    return "|".join(parts)


def _in(ranges: str) -> str:
    """The inside of a class of these code points, in hexadecimal."""
    ends = (points.split("-") for points in ranges.split())
    return "".join("-".join(chr(int(point, 16)) for point in both) for both in ends)


def _cl100k(numbers: str) -> str:
    return _any_of(_ANY_CASE, _LEAD + _WORD, numbers, _MARKS, _LINES, _ENDS)


def _o200k(numbers: str, letters: str, after: str) -> str:
    """Words of upper-case letters, then of lower-case ones; but only those of ASCII have a case."""
    upper, lower = f"(?:(?={letters})[^a-z])", f"(?:(?={letters})[^A-Z])"
    words = f"{_LEAD}{upper}*{lower}+{after}", f"{_LEAD}{upper}+{lower}*{after}"
    return _any_of(*words, numbers, r" ?[^\s\p{L}\p{N}]+[\r\n/]*", _LINES, _ENDS)


_GPT2 = PreTokenizer((_BEFORE,))
_DIGITS = PreTokenizer((_ONE, _BEFORE))
_LLAMA3 = PreTokenizer((_cl100k(_THREE),))
_QWEN2 = PreTokenizer((_cl100k(_ONE),))
_CJK = f"[{_in('4E00-9FA5 3040-309F 30A0-30FF')}]+"
_HAN = f"[{_in('800-9FA5 AC00-D7FF')}]+"
_ASCII_WORD = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
_MARKED_WORD = r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
_DEEPSEEK3 = PreTokenizer(
    (_THREE, _CJK, _any_of(_ASCII_WORD, _MARKED_WORD, r" ?[\p{P}\p{S}]+[\r\n]*", _LINES, _ENDS))
)
_SPARK = PreTokenizer(
    (
        _THREE,
        _CJK,
        _any_of(_ASCII_WORD, _MARKED_WORD, r" ?[\p{P}\p{S}]+", r"[\r\n]", _ENDS),
        _ONE,
    )
)
_BLOOM = PreTokenizer((rf" ?[^(\s|.,!?{_in('2026 3002 FF0C 3001 964 6D4 60C')})]+",))
# The letters with a case of which DeepSeek's first words consist.
_CASED = """
41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386 388-38A 38C
38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF 1D00-1D2B
1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4
1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113
2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139 213C-213F 2145-2149 214E 2183 2184 2C00-2C7B
2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06
FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF
1E900-1E943
"""
_DEEPSEEK_LLM = PreTokenizer(
    (
        r"[\r\n]",
        rf"\s?[{_in(_CASED)}]+",
        rf"\s?[!-/:-~{_in('FF01-FF0F FF1A-FF5E 2018-201F 3000-3002')}]+",
        r"\s+$",
        _HAN,
        r"\p{N}+",
    )
)
_GPT4O = PreTokenizer((_o200k(_THREE, r"\p{L}", _CONTRACTION),))
_YOUTU_WORDS = _any_of(
    f"[{_in('AC00-D7A3 3131-318E')}]+",
    f"[{_in('FF01 2026 201C 201D 2018 2019 2014 FF1A FF1B FF0C 3001-303F FE30-FE4F')}]+",
    f"[{_in('3105-312F')}]+",
    _CJK,
)
_LETTERS = r"[\p{L}\p{M}]+"
_YOUTU = _any_of(_LEAD + _LETTERS + _CONTRACTION, _ONE, r" ?[^\s\p{L}\p{N}]+[\r\n/]*", _LINES, _ENDS)
_KIMI_HAN = _in("4E00-9FFF 3400-4DBF 20000-2A6DF 2A700-2EBEF F900-FAFF 2F800-2FA1F")
_KIMI = PreTokenizer(
    (
        _any_of(
            f"[{_KIMI_HAN}]+",
            rf"{_LEAD}(?:(?=\p{{L}})[^{_KIMI_HAN}])+{_CONTRACTION}",
            _THREE,
            _MARKS,
            _LINES,
            _ENDS,
        ),
    )
)

_BY_NAMES: dict[str, PreTokenizer] = {
    "default": PreTokenizer((r"[\p{P}$+<=>^~|]+", _BEFORE, r"\p{N}+", "[0-9][0-9][0-9]")),
    "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert": _GPT2,
    "jina-v1-en jina-v2-code roberta-bpe mpt olmo jais trillion granite-docling exaone4": _GPT2,
    "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2": _DIGITS,
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": _LLAMA3._replace(
        ignores_merges=True
    ),
    "dbrx smaug-bpe chatglm-bpe": _LLAMA3,
    "glm4 glm5": _LLAMA3._replace(ignores_merges=True),
    "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan solar-open megrez grok-2": _QWEN2,
    "qwen35": PreTokenizer(
        (_any_of(_ANY_CASE, _LEAD + _LETTERS, _ONE, r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*", _LINES, _ENDS),)
    ),
    "minicpm5": PreTokenizer((_THREE, _cl100k(r"\p{N}+")), True),
    "deepseek-llm": _DEEPSEEK_LLM,
    "deepseek-coder": PreTokenizer((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN, _ONE)),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": _DEEPSEEK3,
    "spark2_5": _SPARK,
    "youtu": PreTokenizer((_YOUTU_WORDS, _YOUTU), True),
    "falcon": PreTokenizer((r"[\p{P}$+<=>^~|`]+", _BEFORE, "[0-9][0-9][0-9]")),
    "poro-chat bloom gpt3-finnish": _BLOOM,
    "viking": PreTokenizer((*_BLOOM.regexes, _ONE)),
    "tekken": PreTokenizer((_o200k(_ONE, r"\p{L}", ""),), True),
    "gpt-4o llama4 kanana2 talkie minimax-m2": _GPT4O,
    "granite-embed-multi-97m": PreTokenizer((_o200k(_THREE, r"[\p{L}\p{M}]", _CONTRACTION),), True),
    "chameleon": PreTokenizer(
        (
            "<sentinel:[0-9]+>",
            "IMGIMG[A-I]{1,4}Z",
            r"[\t\n]|    |  ",
            _ONE,
            r"[\p{P}!-/:-@\[-`{-~]",
            _BEFORE,
        )
    ),
    "bailingmoe bailingmoe2 llada-moe": PreTokenizer(
        (_any_of(_ANY_CASE, _LEAD + _WORD, _ONE, _MARKS, r"\s*[\r\n]", _ENDS),)
    ),
    "seed-coder": PreTokenizer(
        (_any_of(_ANY_CASE, _LEAD + _WORD, _ONE, r" ?[^\s\p{L}\p{N}\r\n]+", _LINES, _ENDS),)
    ),
    "ufakzeka": PreTokenizer((_any_of(_LEAD + _WORD, _ONE, _MARKS, _LINES, _ENDS),)),
    "laguna": PreTokenizer((_BY_LINES, _cl100k(_ONE))),
    "gemma4 granite-embed-multi-311m sarvam-moe": PreTokenizer((_BY_LINES,)),
    "exaone-moe": PreTokenizer(
        (
            _any_of(
                _ANY_CASE,
                _LEAD + r"(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+",
                _ONE,
                r" ?[^\s\p{L}\p{N}]+[\r\n/]?",
                r"\s*[\r\n]",
                _ENDS,
            ),
        )
    ),
    "kimi-k2": _KIMI,
}
NAMES: dict[str, PreTokenizer] = {name: found for names, found in _BY_NAMES.items() for name in names.split()}
_FROM_THE_RIGHT = "it groups digits from the right, which looks further ahead than one code point"
_REFUSED = {
    "jais-2": "it cuts white space after 512, 256 or fewer characters, which takes too many states",
    "afmoe": _FROM_THE_RIGHT,
    "tiny_aya": _FROM_THE_RIGHT,
    "cohere2moe": _FROM_THE_RIGHT,
    "superbpe": _FROM_THE_RIGHT,
    "whitespace": "it leaves out white space",
}


def named_pre_tokenizer(name: str) -> PreTokenizer:
    """The pre-tokenizer of a name; a file without one has the name ``""``.

    Raises:
        UnsupportedTokenizerError: it is not supported, or llama.cpp has none of this name.
    """
    found = NAMES.get(name or "default")
    if found is None:
        reason = _REFUSED.get(name, "llama.cpp has none of this name, as of llama-cpp-python 0.3.36")
        raise UnsupportedTokenizerError("pre-tokenizer", f"llama.cpp's {name!r:.40}: {reason}")
    return found
