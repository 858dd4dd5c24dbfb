"""Looks up the control tokens of a pattern in a vocabulary.

An expression names a control token by a key (``patterns/extensions.py``): ``id:5``, ``name:<image>``, or
``image:0`` to ``image:2`` for the tokens that begin an image, make it up and end it.  A key such as
``not:["<image>", [5, 7]]`` stands for any control token but some, by names and ranges of ids.
``if text:<image>`` stands for the control token of this name, and for none if the vocabulary has a text token
of this text instead.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import tokamata._core as _core
from tokamata.errors import UnknownTokenError
from tokamata.patterns.extensions import IMAGE_FAMILIES

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["control_token_ids", "valid_utf8"]


def valid_utf8(expression: _core.Expression) -> _core.Expression:
    """The texts of an expression that are valid UTF-8 as a whole.

    All are, except where the expression takes whole tokens, whatever their bytes.
    """
    if not expression.sees_edges:
        return expression
    controls = [_core.control_token(key) for key in expression.control_tokens]
    unit = _core.union([_core.code_points([(0, 0x10FFFF)]), *controls])
    return _core.intersect([_core.repeat(unit, 0, None), expression])


def control_token_ids(keys: list[str], vocabulary: Vocabulary) -> dict[str, list[int]]:
    """The ids of control tokens, by the keys that an expression names them with.

    Raises:
        UnknownTokenError: the vocabulary lacks one, or it is a text token or a stop token.
    """
    ids = {}
    for key in keys:
        scheme, _, name = key.partition(":")
        if scheme == "not":
            ids[key] = _others(name, vocabulary)
            continue
        if scheme == "if text":
            token = _by_name(name, vocabulary)
            ids[key] = [_checked(token, name, vocabulary)] if vocabulary[token] is None else []
            continue
        if scheme == "id":
            token = int(name)
        elif scheme == "name":
            token = _by_name(name, vocabulary)
        else:
            token = _of_image(int(name), vocabulary)
        ids[key] = [_checked(token, name if scheme != "image" else "IMAGE", vocabulary)]
    return ids


def _others(names: str, vocabulary: Vocabulary) -> list[int]:
    """The control tokens that may stand in a text, without some, which are given by name or by id."""
    left_out = set(vocabulary.stop)
    for entry in json.loads(names):
        if isinstance(entry, str):
            left_out.add(_by_name(entry, vocabulary))
            continue
        low, high = entry
        if texts := [token for token in range(low, min(high + 1, len(vocabulary))) if vocabulary[token]]:
            reason = (
                f"token {texts[0]} is text, {vocabulary[texts[0]]!r:.60}; only control tokens can be left out"
            )
            raise UnknownTokenError(str(texts[0]), reason)
        left_out.update(range(low, min(high + 1, len(vocabulary))))
    return [token for token in range(len(vocabulary)) if vocabulary[token] is None and token not in left_out]


def _by_name(name: str, vocabulary: Vocabulary) -> int:
    try:
        return vocabulary.control_token(name)
    except UnknownTokenError:
        if name and (text := name.encode()) in vocabulary.tokens:
            return vocabulary.tokens.index(text)  # refused below, since it is text
        raise


def _of_image(part: int, vocabulary: Vocabulary) -> int:
    for family in IMAGE_FAMILIES:
        try:
            return [vocabulary.control_token(name) for name in family][part]
        except UnknownTokenError:
            continue
    reason = "the vocabulary has no image tokens of a known family; name them with CONTROL_TOKEN"
    raise UnknownTokenError("IMAGE", reason)


def _checked(token: int, name: str, vocabulary: Vocabulary) -> int:
    if not 0 <= token < len(vocabulary):
        raise UnknownTokenError(name, f"the vocabulary has the ids 0 to {len(vocabulary) - 1}")
    if token in vocabulary.stop:
        raise UnknownTokenError(name, "it is a stop token, which ends the text and cannot stand in it")
    if vocabulary[token] is not None:
        reason = f"token {token} is text, {vocabulary[token]!r:.60}; write that text instead"
        raise UnknownTokenError(name, reason)
    return token
