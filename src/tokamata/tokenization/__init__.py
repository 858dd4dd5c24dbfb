"""Canonical tokenization as automata: the token sequences that a tokenizer itself produces.

    from tokamata.automata import Acceptor
    from tokamata.tokenization import direct_merge, in_tokens, merge_list, promote

    vocabulary = [b"a", b"b", b"ab", b"abab"]
    merges = merge_list([(b"a", b"b"), (b"ab", b"ab")], vocabulary)
    pattern = Acceptor.from_strings(["ababab"])
    promote(pattern, vocabulary)                               # all spellings of the text
    direct_merge(in_tokens(pattern, vocabulary), merges)       # only the tokenizer's own

:mod:`.papers` has the constructions of Cognetta and Okazaki (*Tokenization as Finite-State Transduction*,
cited as 000), Tran-Thien (*Fast, High-Fidelity LLM Decoding with Regex Constraints*, cited as 001) and the
detectors of Xu (*Verifiable Structured Generation in LLMs*, cited as 004), in plain Python on
:mod:`tokamata.automata`, one per file, with algorithms that check them.  They model a tokenizer without its
normalizer and pre-tokenizer.  ``docs/tokenization.md`` walks through them.

:mod:`.lattice` has the segmentations of a text by a Unigram model, with their scores, as both hosts have
them; ``docs/lattice.md`` walks through it.

The other modules serve the engine, for whole tokenizers: :mod:`.pipelines` read their files,
:mod:`.pretokenizers` make automata of their regexes, :mod:`.tables` makes the tables of the engine, which
:mod:`.kept_tables` keeps on disk, and :mod:`.canonical` combines them.  :mod:`.self_test` tests them against
the tokenizer's own program (:mod:`.running`) on :mod:`.adversarial_texts`; :mod:`.kept_verdicts` keeps what
was passed.
"""

from __future__ import annotations

from tokamata.tokenization.papers.bpe import encode_by_priority, encode_in_order, encode_one_at_a_time
from tokamata.tokenization.papers.bpe_promotion import promote_bpe, promotions
from tokamata.tokenization.papers.bpe_training import train
from tokamata.tokenization.papers.cartesian_merge import CartesianMerge
from tokamata.tokenization.papers.characters import in_tokens
from tokamata.tokenization.papers.detectors import Detection, detect_crossing
from tokamata.tokenization.papers.direct_merge import direct_merge
from tokamata.tokenization.papers.failure import FailureTransducer, compose_failing
from tokamata.tokenization.papers.failure_trie import FailureTrie, failure_trie
from tokamata.tokenization.papers.lexicon import lexicon, promote
from tokamata.tokenization.papers.maxmatch import maxmatch
from tokamata.tokenization.papers.maxmatch_transducer import maxmatch_transducer, promote_maxmatch
from tokamata.tokenization.papers.merge_gadget import gadget
from tokamata.tokenization.papers.merge_graph import MergeGraph
from tokamata.tokenization.papers.merges import Merge, apply, first_improper, merge_list, spellings
from tokamata.tokenization.papers.neighbours import neighbours
from tokamata.tokenization.papers.pair_rule import PairRule
from tokamata.tokenization.papers.rank_merges import rank_merges
from tokamata.tokenization.papers.schedules import Schedules
from tokamata.tokenization.papers.shared_rows import MergedPattern, merge_shared
from tokamata.tokenization.papers.tokenizer_automaton import TokenizerAutomaton, tokenizer_automaton
from tokamata.tokenization.papers.two_neighbours import Crossing, TwoNeighbours

__all__ = [
    "CartesianMerge",
    "Crossing",
    "Detection",
    "FailureTransducer",
    "FailureTrie",
    "Merge",
    "MergeGraph",
    "MergedPattern",
    "PairRule",
    "Schedules",
    "TokenizerAutomaton",
    "TwoNeighbours",
    "apply",
    "compose_failing",
    "detect_crossing",
    "direct_merge",
    "encode_by_priority",
    "encode_in_order",
    "encode_one_at_a_time",
    "failure_trie",
    "first_improper",
    "gadget",
    "in_tokens",
    "lexicon",
    "maxmatch",
    "maxmatch_transducer",
    "merge_list",
    "merge_shared",
    "neighbours",
    "promote",
    "promote_bpe",
    "promote_maxmatch",
    "promotions",
    "rank_merges",
    "spellings",
    "tokenizer_automaton",
    "train",
]
