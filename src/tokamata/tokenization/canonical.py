"""The engine's form of a vocabulary's tokenizer, for canonical tokenization."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import is_not
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

import tokamata._core as _core
from tokamata.errors import UnsupportedTokenizerError
from tokamata.resources.locks import Lock
from tokamata.tokenization import kept_tables
from tokamata.tokenization.added_kinds import DEAD_GUESS
from tokamata.tokenization.pipelines import ranks, sentence_piece
from tokamata.tokenization.pipelines.gguf import normalizer_from_gguf, pipeline_from_gguf
from tokamata.tokenization.pipelines.json_floats import read_float
from tokamata.tokenization.pipelines.pipeline import (
    Normalizer,
    Pipeline,
    contradictions_refused,
    first_shared,
)
from tokamata.tokenization.pipelines.sentence_piece_model import read_model
from tokamata.tokenization.pipelines.tokenizer_json import (
    normalizer_from_tokenizer_json,
    pipeline_from_tokenizer_json,
    program_of_normalizer,
)
from tokamata.tokenization.pipelines.unigram_scores import NO_PIECE
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, Engine, HuggingFaceEngine, TiktokenEngine
from tokamata.tokenization.pretokenizers.llama_cpp_classes import LlamaCppEngine
from tokamata.tokenization.tables import DEAD_CLASS, Tables, make_tables
from tokamata.vocabulary.tiktoken_ranks import Ranks
from tokamata.vocabulary.token_table import PipelineSource, collection_paused

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary


class _Made(NamedTuple):
    """What is kept of a vocabulary's tokenizer.

    Attributes:
        tokenization: the engine's form.
        key: the name of its tables, which stay on disk alone: they have ten megabytes.
        added: see :func:`added_names`.
        is_decided_by_neighbours: see there.
        mark: see :func:`word_mark`.
        has_words: whether the model is one of words.
        unguarded: see :func:`why_unguarded`.
    """

    tokenization: _core.Tokenization
    key: str
    added: dict[str, int]
    is_decided_by_neighbours: bool
    mark: bytes
    has_words: bool
    unguarded: str


_lock = Lock()
_made: WeakKeyDictionary[Vocabulary, _Made] = WeakKeyDictionary()


def tokenization_of(vocabulary: Vocabulary) -> _core.Tokenization:
    """The engine's form of a vocabulary's tokenizer, which is not tested (:mod:`.self_test`).

    It is made once, and its tables are kept on disk.

    Raises:
        UnsupportedTokenizerError: the vocabulary has no pipeline, or one that is not supported.
        MissingExtraError: the package that runs the tokenizer's regexes is not installed.
        VocabularyError: the tokenizer contradicts itself, or its file has changed.
    """
    return _made_of(vocabulary).tokenization


def keyed_tokenization(vocabulary: Vocabulary) -> tuple[_core.Tokenization, str]:
    """The engine's form, and the name of its tables, which is a hash of everything that they depend on.

    Raises as :func:`tokenization_of` does.
    """
    made = _made_of(vocabulary)
    return made.tokenization, made.key


def text_tokenization_of(vocabulary: Vocabulary) -> _core.Tokenization:
    """The same tokenizer where it reads the names of control tokens as ordinary text; it is not kept here.

    Raises as :func:`tokenization_of` does; and UnsupportedTokenizerError if another added token may share
    characters with the name of a control token: programs find the name first, and leave it as text.
    """
    tables = _text_tables_of(vocabulary)
    with contradictions_refused():
        return _core.Tokenization(vocabulary.core, tables)


def _text_tables_of(vocabulary: Vocabulary) -> Tables:
    """The tables where names of control tokens are ordinary text."""
    tables = _tables_of(vocabulary)
    if "scores" in tables:
        what = "names of control tokens are ordinary text here, and a Unigram model has them as pieces"
        raise UnsupportedTokenizerError("model", what)
    if tables["added_lone"].any():
        what = "names of control tokens are ordinary text here, and single_word depends on what is cut out"
        raise UnsupportedTokenizerError("added tokens", what)
    is_text = [vocabulary.tokens[token] is not None for token in tables["added_tokens"].tolist()]
    texts = [text for text, keeps in zip(tables["added_texts"], is_text, strict=True) if keeps]
    names = [text for text, keeps in zip(tables["added_texts"], is_text, strict=True) if not keeps]
    # A text with a name in it would be found in place of a control token that a template writes.
    if shared := first_shared(names, texts) or (first_shared(texts, names) or ())[::-1]:
        name, text = (each.decode("utf-8", "replace") for each in shared)
        what = f"{text!r:.40} may share characters with the name {name!r:.40}, which is ordinary text here"
        raise UnsupportedTokenizerError("added tokens", what)
    if "roles" in tables:
        _check_looked_up(vocabulary, tables)
    chosen = np.array(is_text, dtype=bool)
    tokens, kinds = tables["added_tokens"][chosen], tables["added_kinds"][chosen]
    kept = np.isin(tables["forbidden_tokens"], tokens)
    forbidden = [text for text, keeps in zip(tables["forbidden_texts"], kept, strict=True) if keeps]
    lone = tables["added_lone"][chosen]
    added = {"added_tokens": tokens, "added_kinds": kinds, "added_texts": texts, "added_lone": lone}
    return {**tables, **added, "forbidden_texts": forbidden}


def _check_looked_up(vocabulary: Vocabulary, tables: Tables) -> None:
    """Refuses control tokens whose names may begin a word: a model of words looks them up as others."""
    classes = _class_of_each(tables)
    symbols, targets = tables["class_symbols"], tables["targets"].reshape(-1, tables["symbols"])
    for token, name in zip(tables["added_tokens"].tolist(), tables["added_texts"], strict=True):
        if vocabulary.tokens[token] is not None:
            continue
        guess = int(tables["control_starts"][0])
        for character in " " + name.decode():
            cls = classes[ord(character)]
            guess = DEAD_GUESS if cls == DEAD_CLASS else int(targets[guess, symbols[cls]])
            if guess == DEAD_GUESS:
                break
        else:
            what = f"the name {name.decode()!r:.40} is ordinary text here, and the model finds it in words"
            raise UnsupportedTokenizerError("added tokens", what)


def _class_of_each(tables: Tables) -> npt.NDArray[np.uint16]:
    """The class of each code point."""
    classes: npt.NDArray[np.uint16] = tables["range_classes"]
    return np.repeat(classes, np.diff(tables["range_firsts"], append=CODE_POINTS))


class WordLetters(NamedTuple):
    """What is known of the borders between words.

    Attributes:
        kinds: the code points that words consist of, by kind: two neighbours of one kind are in one word, and
            others are not.
        apart: the code points that are in no word with a neighbour, whatever text stands before and after.
    """

    kinds: tuple[tuple[int, ...], ...]
    apart: frozenset[int]


def word_letters(vocabulary: Vocabulary) -> WordLetters | None:
    """The letters of words; ``None`` if the model is not one of words.

    Raises as :func:`tokenization_of` does.
    """
    if not _made_of(vocabulary).has_words:
        return None
    tables = _tables_of(vocabulary)
    classes = _class_of_each(tables)
    live = np.flatnonzero(classes != DEAD_CLASS)
    own = classes[live]
    symbols = tables["class_symbols"][own]
    is_alone = tables["symbol_alone"][symbols] != 0
    kinds = np.where(is_alone, 0, tables["symbol_kinds"][symbols])
    # A normal form may join a sign with a mark that follows, but nothing with white space.  And only white
    # space is in no name of an added token, whatever letters the name is made of.
    has_form = tables["composes"].any() or tables["class_combining"].any()
    if has_form or tables["has_late_names"]:
        is_alone &= False
    apart = frozenset(live[is_alone].tolist()) | frozenset(tables["separators"].tolist())
    names = np.unique(kinds[kinds != 0])
    return WordLetters(tuple(tuple(live[kinds == name].tolist()) for name in names), apart)


def word_mark(vocabulary: Vocabulary) -> bytes:
    """The mark of tokens that continue words, if a word can begin with it; otherwise ``b""``.

    Raises as :func:`tokenization_of` does.
    """
    return _made_of(vocabulary).mark


def tokenization_after_mark(vocabulary: Vocabulary, names_are_text: bool) -> _core.Tokenization:
    """The tokenizer for what follows a mark at the start of a text.

    No space may follow it, nor an added token, nor the end.  It is not kept here.

    Raises as :func:`tokenization_of` and :func:`text_tokenization_of` do.
    """
    tables = _text_tables_of(vocabulary) if names_are_text else _tables_of(vocabulary)
    targets = tables["targets"].reshape(-1, tables["symbols"])
    after_mark = targets[tables["text_starts"][0]].copy()
    space = np.flatnonzero(tables["range_firsts"] <= 0x20)[-1]
    after_mark[tables["class_symbols"][tables["range_classes"][space]]] = DEAD_GUESS
    changed = {
        "targets": np.vstack([targets, after_mark]).reshape(-1),
        "end_offsets": np.append(tables["end_offsets"], tables["end_offsets"][-1:]),
        "may_end": np.append(tables["may_end"], np.zeros(1, dtype=np.uint8)),
        "text_starts": np.array([len(targets)], dtype=np.uint16),
    }
    with contradictions_refused():
        return _core.Tokenization(vocabulary.core, {**tables, **changed})


def added_names(vocabulary: Vocabulary) -> dict[str, int]:
    """The added tokens that the tokenizer reads in a text, control tokens among them, by their texts.

    Raises as :func:`tokenization_of` does.
    """
    return _made_of(vocabulary).added


def why_unguarded(vocabulary: Vocabulary) -> str:
    """Why the tables do not say enough of texts that are not canonical for proofs; ``""`` if they do.

    Raises as :func:`tokenization_of` does.
    """
    return _made_of(vocabulary).unguarded


def is_decided_by_neighbours(vocabulary: Vocabulary) -> bool:
    """Whether a pre-token is written right if each two neighbours are: by merges, and by nothing else.

    Raises as :func:`tokenization_of` does.
    """
    return _made_of(vocabulary).is_decided_by_neighbours


def may_write(vocabulary: Vocabulary, token: int) -> bool:
    """Whether the model itself may write the token of an added token, where its name is ordinary text.

    It may if merges make the token, if a whole pre-token becomes it or begins with it, or if it is the token
    of unknown characters or words.

    Raises as :func:`tokenization_of` does.
    """
    tables = _tables_of(vocabulary)
    if "roles" in tables:
        return token in tables["looked_up"]
    if "in_model" in tables and not tables["in_model"][token]:
        return False
    return bool(_merged(tables, [token])) or _is_unknown(vocabulary, token)


def merged_ones(vocabulary: Vocabulary, tokens: Sequence[int]) -> list[int]:
    """Those of some tokens that merges make, or that a whole pre-token becomes.

    Raises as :func:`tokenization_of` does.
    """
    tables = _tables_of(vocabulary)
    return [] if "roles" in tables else _merged(tables, tokens)


def _merged(tables: Tables, tokens: Sequence[int]) -> list[int]:
    each = np.array(tokens, dtype=np.int64)
    if "scores" in tables:
        pieces: list[int] = each[tables["scores"][each] != NO_PIECE].tolist()
        return pieces
    is_made = np.isin(each, tables["tour"]) | bool(tables["ignore_merges"])
    found: list[int] = each[is_made & (tables["in_model"][each] != 0)].tolist()
    return found


# A token of the vocabulary may have this name, but then a number follows.
_UNKNOWN = re.compile(rb'"unk_token"\s*:\s*("(?:[^"\\]|\\.)*")')
_BYTES_OF_UTF8 = {bytes([byte]) for byte in (*range(0xC0), *range(0xC2, 0xF5))}


def _is_unknown(vocabulary: Vocabulary, token: int) -> bool:
    """Whether a token is written for characters that have no tokens."""
    source = _source(vocabulary)
    if source.family == "gguf":
        return False  # llama.cpp writes bytes, or nothing
    named = {json.loads(text) for text in _UNKNOWN.findall(source.content())}
    return vocabulary.name(token) in named and not set(vocabulary.tokens) >= _BYTES_OF_UTF8


def _made_of(vocabulary: Vocabulary) -> _Made:
    with _lock:
        if vocabulary not in _made:
            _made[vocabulary] = _making(vocabulary)
        return _made[vocabulary]


def _tables_of(vocabulary: Vocabulary) -> Tables:
    tables = kept_tables.load(_made_of(vocabulary).key)
    return _made_tables(vocabulary, _source(vocabulary).content()) if tables is None else tables


def _making(vocabulary: Vocabulary) -> _Made:
    source = _source(vocabulary)
    content = source.content()
    # Stop tokens and the width may have removed tokens.
    texts = bytes(map(is_not, vocabulary.tokens, repeat(None)))
    engine = _ENGINES[source.family]()
    family = source.family.encode() + (b" as written" if source.is_written else b"")
    key = kept_tables.key_of([family, engine.name.encode(), content, texts])
    tables = kept_tables.load(key)
    if tables is not None:
        try:
            return _with_facts(_core.Tokenization(vocabulary.core, tables), key, tables)
        except (ValueError, TypeError, LookupError, RuntimeError, MemoryError):
            pass  # a damaged file counts as absent
    tables = _made_tables(vocabulary, content)
    kept_tables.keep(key, tables)
    with contradictions_refused():
        return _with_facts(_core.Tokenization(vocabulary.core, tables), key, tables)


def _with_facts(tokenization: _core.Tokenization, key: str, tables: Tables) -> _Made:
    named = zip(tables["added_texts"], tables["added_tokens"].tolist(), strict=True)
    added = {text.decode(): token for text, token in named if text}
    has_merges = "tour" in tables
    is_decided = has_merges and not (bool(tables["ignore_merges"]) and len(tables["unmade"]) > 0)
    mark, has_words = bytes(tables.get("mark", b"")), "roles" in tables
    unguarded = np.asarray(tables["unguarded"]).tobytes().decode("utf-8", "replace")
    return _Made(tokenization, key, added, is_decided, mark, has_words, unguarded)


def _made_tables(vocabulary: Vocabulary, content: bytes) -> Tables:
    source = _source(vocabulary)
    return make_tables(_pipeline(source, content, list(vocabulary.tokens)), vocabulary)


def normalizer_of(vocabulary: Vocabulary) -> Normalizer:
    """The normalizer of a vocabulary's tokenizer, without the tables of the other parts.

    Raises:
        UnsupportedTokenizerError: the vocabulary has no pipeline, or its normalizer is not supported.
        MissingExtraError: the package that runs the normalizer is not installed.
        VocabularyError: the tokenizer contradicts itself, or its file has changed.
    """
    source = _source(vocabulary)
    if source.family == "sentencepiece":
        return sentence_piece.sentence_piece_normalizer(read_model(source.content()))
    if source.family == "tokenizer.json":
        return normalizer_from_tokenizer_json(_sections(source))
    if source.family == "gguf":
        return normalizer_from_gguf(source.content())
    return Normalizer()  # tiktoken and tekken normalize nothing


def running_normalizer(vocabulary: Vocabulary) -> Callable[[str], str] | None:
    """The normalizer of a vocabulary's tokenizer as its own program; ``None`` if there is no such program.

    Raises:
        MissingExtraError: the package that runs the normalizer is not installed.
        VocabularyError: the tokenizer's file has changed.
    """
    source = vocabulary.pipeline
    if source is None or source.family != "tokenizer.json":
        return None
    return program_of_normalizer(_sections(source))


def _source(vocabulary: Vocabulary) -> PipelineSource:
    if vocabulary.pipeline is None:
        raise UnsupportedTokenizerError(
            "pipeline",
            "the source of the vocabulary defines the tokens, but not how a text is cut into them; "
            "load the tokenizer itself",
        )
    return vocabulary.pipeline


_ENGINES: dict[str, Callable[[], Engine]] = {
    "tokenizer.json": HuggingFaceEngine,
    "tiktoken": TiktokenEngine,
    "tekken": TiktokenEngine,
    "sentencepiece": sentence_piece.NoEngine,
    "gguf": LlamaCppEngine,
}


def _pipeline(source: PipelineSource, content: bytes, tokens: list[bytes | None]) -> Pipeline:
    family = source.family
    if family == "sentencepiece":
        return sentence_piece.pipeline_from_sentence_piece(content, tokens)
    if family == "gguf":
        return pipeline_from_gguf(content, tokens)
    if family == "tiktoken":
        return ranks.pipeline_from_encoding(Ranks.parse(content), tokens)
    document = _document(content, source.is_written)
    if family == "tekken":
        return ranks.pipeline_from_tekken(document, tokens)
    return pipeline_from_tokenizer_json(document, tokens)


def _sections(source: PipelineSource) -> dict[str, Any]:
    """The sections of a ``tokenizer.json`` that say how a text is normalized."""
    if source.sections is not None:
        return source.sections()
    sections: dict[str, Any] = _document(source.content(), source.is_written)
    return sections


def _document(content: bytes, is_written: bool) -> Any:
    with collection_paused():
        return json.loads(content.decode("utf-8-sig"), parse_float=None if is_written else read_float)
