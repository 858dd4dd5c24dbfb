"""The verdicts of ``tokamata guard`` as JSON: the same keys in the same order, whatever the verdicts are.

No value depends on the time or the machine, so two outputs can be compared line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokamata.guard.boundaries import Boundary
from tokamata.guard.chat_templates import ChatTemplate
from tokamata.guard.verdicts import Outcome, Verdict, Witness
from tokamata.tokenization.self_test import SelfTest

__all__ = ["as_json"]


def as_json(
    source: str,
    outcome: Outcome,
    test: SelfTest,
    found: Mapping[str, Boundary],
    template: ChatTemplate | None,
) -> dict[str, Any]:
    """All verdicts; bytes of tokens are in hexadecimal digits, since a token may end within a character.

    Args:
        source: the tokenizer's path.
        outcome: that of all verdicts together.
        test: the self-test.
        found: the verdicts by boundary.
        template: those of the chat template; ``None`` if it was not requested.
    """
    return {
        "tokenizer": source,
        "outcome": outcome,
        "self_test": {
            "passed": bool(test),
            "program": test.program,
            "texts": test.texts,
            "mismatch": None if test.mismatch is None else str(test.mismatch),
            "not_tested": test.reason or None,
        },
        "boundaries": [_boundary(text, each) for text, each in found.items()],
        "template": None if template is None else _template(template),
    }


def _boundary(text: str, each: Boundary) -> dict[str, Any]:
    return {
        "boundary": text,
        "tokens": list(each.tokens),
        "outcome": each.outcome,
        "crossed_left": _verdict(each.crossed_left),
        "crossed_right": _verdict(each.crossed_right),
        "one_token": _verdict(each.one_token),
        "from_text": _verdict(each.from_text),
        "reproduced": _verdict(each.reproduced),
    }


def _template(template: ChatTemplate) -> dict[str, Any]:
    return {
        "outcome": template.outcome,
        "roles": {
            each.role: {
                "control": _verdict(each.control),
                "apart": _verdict(each.apart),
                "unchanged": _verdict(each.unchanged),
            }
            for each in template.roles
        },
        "appending": _verdict(template.appending),
        "not_followed": list(template.unsettled),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "claim": verdict.claim,
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "witness": None if verdict.witness is None else _witness(verdict.witness),
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "text": witness.text.decode("utf-8", "replace"),
        "tokens": list(witness.tokens),
        "pieces": [piece.hex() for piece in witness.pieces],
        "position": witness.position,
        "says": witness.says,
        "replayed": witness.replayed,
    }
