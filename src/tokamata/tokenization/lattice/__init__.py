"""The lattice of a text under a Unigram model: best and n-best segmentations, probabilities, samples.

    from tokamata.tokenization.lattice import Lattice, UnigramModel

    model = UnigramModel.from_tokenizer_json("tokenizer.json")
    Lattice(model, "▁Hello").best().ids

The arithmetic and the ties are those of Hugging Face's `tokenizers` or of SentencePiece, bit for bit
(:mod:`.hosts`).  ``docs/lattice.md`` walks through it.  The source of forced spans is section 3.5 of Xu,
*Verifiable Structured Generation in LLMs*, cited as 004.
"""

from __future__ import annotations

from tokamata.tokenization.lattice.forced_spans import occurrences
from tokamata.tokenization.lattice.hosts import Host
from tokamata.tokenization.lattice.lattices import Arc, Lattice, Segmentation
from tokamata.tokenization.lattice.unigram import UnigramModel

__all__ = ["Arc", "Host", "Lattice", "Segmentation", "UnigramModel", "occurrences"]
