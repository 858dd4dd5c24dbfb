"""All requests of an engine: the vocabulary, and what is prepared for them."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tokamata.calls.arguments import checked_number
from tokamata.errors import ArgumentError, NoStopTokenError, shown_argument
from tokamata.integrations.vllm.constraints import constraint_of
from tokamata.integrations.vllm.grammar import TokamataGrammar
from tokamata.integrations.vllm.reading import check_reading
from tokamata.integrations.vllm.warm_up import VALUE, warm_up
from tokamata.matching.matchers import CompiledConstraint
from tokamata.resources.limits import CancelToken
from tokamata.resources.locks import Lock
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

__all__ = ["TokamataBackend"]

_MOST_VOCABULARIES = 4  # with further stop tokens; tens of megabytes each
_DEADLINE = "mask_deadline_seconds"
_PREPARE_SECONDS = 0.05
_PREPARE_SECONDS_IN_TURN = 0.005  # where others wait; the first masks are those that are needed first


class TokamataBackend:
    """vLLM's ``StructuredOutputBackend``: makes the grammar of each request.

    vLLM compiles grammars in a pool of threads, so methods may be called from several threads.

    Args:
        vllm_config: vLLM's configuration, of which ``additional_config["tokamata"]`` is read: a dict whose
            only key is ``"mask_deadline_seconds"``, the time for the rows of a call.
        tokenizer: the model's, as transformers has it.
        vocab_size: the number of logits of the model, as a rule more than the tokenizer has ids.

    Raises:
        ArgumentError: the additional configuration has another form.
        VocabularyError: the bytes of the tokenizer's tokens are not known, or its ``decode`` reads them
            differently.
    """

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self.vllm_config = vllm_config
        self._deadline_seconds = _deadline(getattr(vllm_config, "additional_config", None))
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._lock = Lock()
        self._vocabulary = self._loaded(())
        check_reading(self._vocabulary, tokenizer)
        self._with_stops: dict[tuple[int, ...], Vocabulary] = {}
        self._preparing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokamata-prepare")
        self._waiting = 0  # constraints to be prepared
        self._cancel = CancelToken()
        self._preparing.submit(self._warm_up)

    def compile_grammar(
        self, request_type: Any, grammar_spec: str, stop_token_ids: Collection[int] | None = None
    ) -> TokamataGrammar:
        """The grammar of a request.

        A constraint that was not compiled before begins to compute its first masks in a thread of its own,
        while the model reads the prompt.

        Args:
            request_type: a member of vLLM's ``StructuredOutputOptions``.
            grammar_spec: as for :func:`.constraint_of`.
            stop_token_ids: the request's stop tokens; those of the tokenizer, if there are none.

        Raises:
            NoStopTokenError: neither the request nor the tokenizer has a stop token.
            TokamataError: as :func:`.constraint_of` and :meth:`tokamata.Constraint.compile`.
        """
        kind = request_type.name.lower()
        stop = tuple(sorted({token for token in stop_token_ids or () if 0 <= token < self.vocab_size}))
        stop = stop or self._vocabulary.stop
        if not stop:
            raise NoStopTokenError(
                "neither the request nor the tokenizer has a stop token, so a text could not end; "
                "pass stop_token_ids in SamplingParams"
            )
        spelled = tuple(token for token in stop if self._vocabulary[token])
        compiled = constraint_of(kind, grammar_spec).compile(self._vocabulary_with(spelled))
        if compiled._is_first:
            with self._lock:
                self._waiting += 1
            self._preparing.submit(self._prepare, compiled)
        return TokamataGrammar(compiled, stop, self._deadline_seconds)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """All tokens allowed: ``int32[max_num_seqs, ceil(vocab_size / 32)]``."""
        import torch

        return torch.full((max_num_seqs, (self.vocab_size + 31) // 32), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Stop the work; what was compiled goes with the vocabulary."""
        self._cancel.cancel()
        self._preparing.shutdown(wait=True, cancel_futures=True)
        self._with_stops.clear()

    def _warm_up(self) -> None:
        """If it fails, the first requests compute what they need."""
        warm_up(self._vocabulary, self.tokenizer.encode(VALUE, add_special_tokens=False), self._cancel)

    def _prepare(self, compiled: CompiledConstraint[Any]) -> None:
        with self._lock:
            self._waiting -= 1
            seconds = _PREPARE_SECONDS if self._waiting == 0 else _PREPARE_SECONDS_IN_TURN
        compiled.prepare(seconds=seconds, cancel=self._cancel)

    def _vocabulary_with(self, spelled: tuple[int, ...]) -> Vocabulary:
        """The vocabulary in which these tokens, which have text, end the text instead of adding to it."""
        if not spelled:
            return self._vocabulary
        with self._lock:
            if spelled not in self._with_stops:
                while len(self._with_stops) >= _MOST_VOCABULARIES:
                    del self._with_stops[next(iter(self._with_stops))]
                self._with_stops[spelled] = self._loaded(spelled)
            return self._with_stops[spelled]

    def _loaded(self, spelled: tuple[int, ...]) -> Vocabulary:
        stop = [*self._vocabulary.stop, *spelled] if spelled else None
        made = Vocabulary.load(self.tokenizer, stop=stop, width=self.vocab_size)
        made.core  # noqa: B018  (makes the trie now; the first request would wait for it)
        return made


def _deadline(additional: Any) -> float | None:
    given = additional.get("tokamata", {}) if isinstance(additional, dict) else {}
    if not isinstance(given, dict) or not set(given) <= {_DEADLINE}:
        wanted = f'a dict with the key "{_DEADLINE}"'
        raise ArgumentError('additional_config["tokamata"]', shown_argument(given), wanted)
    return None if given.get(_DEADLINE) is None else float(checked_number(_DEADLINE, given[_DEADLINE], 0))
