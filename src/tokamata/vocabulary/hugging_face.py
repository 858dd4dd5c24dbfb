"""``tokenizer.json``, the file of Hugging Face's `tokenizers`, as parsed JSON.

Three sections define the tokens: ``model`` has token texts by id; ``added_tokens`` has tokens
beside the model (special ones are control tokens, the others are text); ``decoder`` defines the
bytes of a text (``hugging_face_decoder.py``).  Nothing is guessed from a token's text.  The
model's ``unk_token`` stands for unreadable text, not for its own name, so it is a control token
too.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    model = document["model"]
    texts, ids = _model_tokens(model, where)
    added = _added_tokens(document.get("added_tokens"), where)
    decoding = read_decoder(document.get("decoder"), where)
    dense, holes = _by_id(texts, ids, added, where)
    control = _control_ids(model, texts, ids, added, where)
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


@dataclass(frozen=True)
class _StartRule:
    decoding: Decoding
    texts: list[str]
    none_ids: set[int]

    def __call__(self) -> TokenBytes:
        return with_none(self.decoding.at_start(self.texts), self.none_ids)


def _model_tokens(model: dict[str, object], where: str) -> tuple[list[str], list[int]]:
    """Texts and ids of the model's own tokens, in the same order."""
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
    if isinstance(vocab, dict):
        ids = list(vocab.values())
        check_ids(ids, f"{where}: model.vocab")
        return list(vocab), ids
    for index, entry in enumerate(vocab):
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str)):
            raise VocabularyError(f"{where}: model.vocab[{index}] is {entry!r:.80}, not [token, score]")
    return [entry[0] for entry in vocab], list(range(len(vocab)))


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


def _by_id(
    texts: list[str], ids: list[int], added: list[AddedToken], where: str
) -> tuple[list[str], set[int]]:
    """The text of every id, and the ids that have none.

    Raises:
        VocabularyError: an added token contradicts the model: its id is another token's, or its
            text has another id there.  Upstream silently renumbers such tokens, so the model's
            logits and the file may disagree, and only the author knows which is right.
    """
    size = 1 + max(max(ids, default=-1), max((token.id for token in added), default=-1))
    dense = [""] * size
    for text, number in zip(texts, ids, strict=True):
        dense[number] = text
    known = set(ids)
    contents = {token.content for token in added}
    id_of = {text: number for text, number in zip(texts, ids, strict=True) if text in contents}
    for token in added:
        if id_of.get(token.content, token.id) != token.id:
            other = id_of[token.content]
            raise VocabularyError(
                f"{where}: added token {token.content!r:.80} has id {token.id}, but in model.vocab {other}"
            )
        if token.id in known and dense[token.id] != token.content:
            raise VocabularyError(
                f"{where}: id {token.id} is the added token {token.content!r:.80}, but in model.vocab it is "
                f"{dense[token.id]!r:.80}"
            )
        dense[token.id] = token.content
        known.add(token.id)
    holes = set(range(size)) - known if len(known) < size else set()
    return dense, holes


def _control_ids(
    model: dict[str, object], texts: list[str], ids: list[int], added: list[AddedToken], where: str
) -> set[int]:
    """Ids that no text produces: special added tokens, and the model's unknown token."""
    control = {token.id for token in added if token.special}
    unk_token, unk_id = model.get("unk_token"), model.get("unk_id")
    if isinstance(unk_token, str):
        # A file may name an unknown token that is not in its vocabulary.
        control.update(number for text, number in zip(texts, ids, strict=True) if text == unk_token)
    if unk_id is not None:
        if type(unk_id) is not int or not 0 <= unk_id < len(ids):
            raise VocabularyError(f"{where}: model.unk_id is {unk_id!r:.80}, which is not the id of a token")
        control.add(unk_id)
    return control
