"""``tokenizer.json``, the file of Hugging Face's `tokenizers`, as parsed JSON.

Three sections define the tokens: ``model`` has token texts by id; ``added_tokens`` has tokens
beside the model (special ones are control tokens, the others are text); ``decoder`` defines the
bytes of a text (``hugging_face_decoder.py``).  Nothing is guessed from a token's text.  The
model's ``unk_token`` stands for unreadable text, not for its own name, so it is a control token
too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tokamata.errors import VocabularyError
from tokamata.vocabulary.hugging_face_decoder import Decoding, read_decoder
from tokamata.vocabulary.token_table import MAX_TOKENS, TokenBytes, TokenTable, check_ids, with_none

# Whether the model's `vocab` is a list of [text, score] with the id as its index, or a map from text to id.
_VOCAB_IS_LIST = {"BPE": False, "WordPiece": False, "WordLevel": False, "Unigram": True}


@dataclass(frozen=True)
class AddedToken:
    """One entry of ``added_tokens``."""

    id: int
    content: str
    special: bool


@dataclass(frozen=True)
class ModelTokens:
    """The tokens of a model, without the added ones.

    Attributes:
        texts: their texts.
        ids: their ids, in the same order; a ``range`` if these are 0, 1, 2 and so on.
        id_of: the id of a text, ``None`` if it is no token; of several ids the last.
        unk_token: the text of the token for unreadable text, if the model names it so.
        unk_id: its id, if the model names it so.
    """

    texts: list[str]
    ids: Sequence[int]
    id_of: Callable[[str], int | None]
    unk_token: object = None
    unk_id: object = None


def table_from_tokenizer_json(document: object, where: str) -> TokenTable:
    """The tokens of a parsed ``tokenizer.json``.

    Args:
        document: the parsed file.
        where: its name in errors, as a rule a path.

    Raises:
        VocabularyError: for a document of another shape, contradictory ids, or an unknown decoder.
    """
    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise VocabularyError(
            f"{where}: no section 'model', so this is not the tokenizer.json of Hugging Face's tokenizers; "
            "pass the folder with tokenizer.json, or convert the tokenizer with its save_pretrained"
        )
    model = _model_tokens(document["model"], where)
    return table_of_model(model, document.get("added_tokens"), document.get("decoder"), where)


def table_of_model(model: ModelTokens, added_tokens: object, decoder: object, where: str) -> TokenTable:
    """The tokens of a model, with the sections ``added_tokens`` and ``decoder`` of its ``tokenizer.json``.

    Raises:
        VocabularyError: as :func:`table_from_tokenizer_json` does.
    """
    added = _added_tokens(added_tokens, where)
    decoding = read_decoder(decoder, where)
    dense, holes = _by_id(model, added, where)
    control = _control_ids(model, added, where)
    none_ids = holes | control
    try:
        tokens = with_none(decoding.mid_text(dense), none_ids)
    except UnicodeEncodeError as error:
        raise VocabularyError(
            f"{where}: the token text {error.object!r:.80} has a lone surrogate, which is not valid; "
            "the file is damaged"
        ) from None
    return TokenTable(
        tokens=tokens,
        names={token: dense[token] for token in sorted(control)},
        start_rule=_StartRule(decoding, dense, none_ids) if decoding.has_start_rule else None,
    )


def normalizing_sections(document: dict[str, Any]) -> dict[str, Any]:
    """The sections of a parsed ``tokenizer.json`` that say how a text is normalized and cut.

    They are small: the tokens and merges of the model are left out.
    """
    model = {
        name: document["model"][name]
        for name in ("type", "max_input_chars_per_word")
        if name in document["model"]
    }
    return {
        "normalizer": document.get("normalizer"),
        "pre_tokenizer": document.get("pre_tokenizer"),
        "model": model,
    }


@dataclass(frozen=True)
class _StartRule:
    decoding: Decoding
    texts: list[str]
    none_ids: set[int]

    def __call__(self) -> TokenBytes:
        return with_none(self.decoding.at_start(self.texts), self.none_ids)


def _model_tokens(model: dict[str, Any], where: str) -> ModelTokens:
    name, vocab = model.get("type"), model.get("vocab")
    # Files older than the field "type" are distinguished by the shape of the vocabulary, as upstream does.
    if name is not None and (not isinstance(name, str) or name not in _VOCAB_IS_LIST):
        raise VocabularyError(
            f"{where}: model type {name!r:.80} is not known; known are {', '.join(_VOCAB_IS_LIST)}"
        )
    is_list = _VOCAB_IS_LIST[name] if name is not None else isinstance(vocab, list)
    if not isinstance(vocab, list if is_list else dict):
        raise VocabularyError(
            f"{where}: model.vocab must be a {'list' if is_list else 'map from token to id'}, "
            f"not {type(vocab).__name__}; the file is damaged"
        )
    if len(vocab) > MAX_TOKENS:
        raise VocabularyError(f"{where}: model.vocab has {len(vocab):,} entries; {MAX_TOKENS:,} are allowed")
    unknown = model.get("unk_token"), model.get("unk_id")
    if isinstance(vocab, dict):
        ids: Sequence[int] = list(vocab.values())
        check_ids(ids, f"{where}: model.vocab")
        in_order = range(len(ids))
        return ModelTokens(list(vocab), in_order if ids == list(in_order) else ids, vocab.get, *unknown)
    for index, entry in enumerate(vocab):
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)):
            raise VocabularyError(f"{where}: model.vocab[{index}] is {entry!r:.80}, not [token, score]")
    texts = [entry[0] for entry in vocab]
    id_of = dict(zip(texts, range(len(texts)), strict=True)).get
    return ModelTokens(texts, range(len(texts)), id_of, *unknown)


def _added_tokens(section: object, where: str) -> list[AddedToken]:
    if section is None:
        return []
    if not isinstance(section, list):
        raise VocabularyError(f"{where}: added_tokens must be a list, not {type(section).__name__}")
    added = []
    for index, entry in enumerate(section):
        fields = entry if isinstance(entry, dict) else {}
        number, content, special = fields.get("id"), fields.get("content"), fields.get("special")
        if not (isinstance(content, str) and isinstance(special, bool)):
            raise VocabularyError(f"{where}: added_tokens[{index}] is malformed: {entry!r:.120}")
        added.append(AddedToken(number, content, special))  # type: ignore[arg-type]  # checked next
    check_ids([token.id for token in added], f"{where}: added_tokens")
    if len({token.content for token in added}) != len(added):
        raise VocabularyError(f"{where}: added_tokens gives two ids to one token; remove one of them")
    return added


def _by_id(model: ModelTokens, added: list[AddedToken], where: str) -> tuple[list[str], set[int]]:
    """The text of every id, and the ids that have none.

    Raises:
        VocabularyError: an added token contradicts the model: its id is another token's, or its
            text has another id there.  Upstream silently renumbers such tokens, so the model's
            logits and the file may disagree, and only the author knows which is right.
    """
    texts, ids = model.texts, model.ids
    last = ids[-1] if isinstance(ids, range) and ids else max(ids, default=-1)
    size = 1 + max(last, max((token.id for token in added), default=-1))
    if isinstance(ids, range):
        dense = [*texts, *[""] * (size - len(texts))]
        is_known = bytearray(b"\1" * len(texts) + bytes(size - len(texts)))
    else:
        dense, is_known = [""] * size, bytearray(size)
        for text, number in zip(texts, ids, strict=True):
            dense[number] = text
            is_known[number] = True
    for token in added:
        other = model.id_of(token.content)
        if other is not None and other != token.id:
            raise VocabularyError(
                f"{where}: added token {token.content!r:.80} has id {token.id}, but in model.vocab {other}"
            )
        if is_known[token.id] and dense[token.id] != token.content:
            raise VocabularyError(
                f"{where}: id {token.id} is the added token {token.content!r:.80}, but in model.vocab it is "
                f"{dense[token.id]!r:.80}"
            )
        dense[token.id] = token.content
        is_known[token.id] = True
    return dense, {token for token, known in enumerate(is_known) if not known} if 0 in is_known else set()


def _control_ids(model: ModelTokens, added: list[AddedToken], where: str) -> set[int]:
    """Ids that no text produces: special added tokens, and the model's unknown token."""
    control = {token.id for token in added if token.special}
    # A file may name an unknown token that is not in its vocabulary.
    if isinstance(model.unk_token, str) and (token := model.id_of(model.unk_token)) is not None:
        control.add(token)
    if model.unk_id is not None:
        if type(model.unk_id) is not int or not 0 <= model.unk_id < len(model.ids):
            raise VocabularyError(
                f"{where}: model.unk_id is {model.unk_id!r:.80}, which is not the id of a token"
            )
        control.add(model.unk_id)
    return control
