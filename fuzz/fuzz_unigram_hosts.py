"""Lattices take the segmentation that Hugging Face's `tokenizers` and SentencePiece take, bit for bit.

    python -m fuzz.fuzz_unigram_hosts --seconds 3600 --seed 1
    python -m fuzz.fuzz_unigram_hosts --texts 100000 FILE.model FILE.json

Without files: random models of both hosts, and random texts for each.  With files: for each that many texts,
some made of the model's own pieces.  A ``.model`` is compared with SentencePiece, after SentencePiece's own
normalizer, and its scores with Hugging Face's model as well; a ``.json`` with the model of `tokenizers`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz import timed
from tests.support.tokenizers.unigram_models import random_hugging_face, random_sentence_piece, random_text
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.lattice import Lattice, UnigramModel

_TEXTS_OF_A_MODEL = 30


@dataclass
class Tally(timed.Tally):
    """Random models, and texts; how many of these were long enough for SentencePiece's sums to be reset."""

    models: int = 0
    texts: int = 0
    reset: int = 0


def run(seconds: float, seed: int) -> Tally:
    """Compare random models."""
    tally = Tally()
    for turn in timed.turns(seconds):
        draw = random.Random(f"{seed} {turn}")
        judged = draw.choice([random_hugging_face, random_sentence_piece])(draw)
        tally.models += 1
        with timed.naming(f"--seed {seed}, turn {turn}", judged.made_of):
            for number in range(_TEXTS_OF_A_MODEL):
                text = random_text(draw, judged, 400 if number == 0 else 40)
                lattice = Lattice(judged.model, text)
                best = lattice.best()
                assert list(best.ids) == judged.encode(text), (text, best.ids, judged.encode(text))
                assert next(lattice.n_best()) == best, text
                tally.texts += 1
                tally.reset += bool(lattice._host_best.resets)
    return tally


def compare_file(path: Path, texts: int, seed: int) -> str:
    """Compare a model file; what was compared."""
    from tokenizers import Tokenizer, models

    def same(text: str) -> str:
        return text

    normalize: Callable[[str], str] = same
    if path.suffix == ".json":
        model = UnigramModel.from_tokenizer_json(path)
        sides = [(model, hugging_face(Tokenizer.from_file(str(path)).model))]
    else:
        from sentencepiece import SentencePieceProcessor

        own = SentencePieceProcessor(model_file=str(path))
        model, normalize = UnigramModel.from_sentence_piece(path), own.normalize
        vocab = [(own.id_to_piece(token), own.get_score(token)) for token in range(own.vocab_size())]
        sides = [
            (model, own.encode),
            (
                UnigramModel.hugging_face(vocab, own.unk_id()),
                hugging_face(models.Unigram(vocab, own.unk_id(), False)),
            ),
        ]
    draw, different = random.Random(seed), [0, 0]
    for _ in range(texts):
        text = drawn_text(draw, model)
        for side, (side_model, encode) in enumerate(sides):
            # SentencePiece normalizes by itself; what the model is given is the normalized text.
            normal = normalize(text)
            theirs = encode(text if side == 0 else normal)
            ours = list(Lattice(side_model, normal).best().ids)
            if ours != theirs:
                different[side] += 1
                print(f"{path.name}: {text!r}\n  ours {ours}\n  theirs {theirs}")
    return f"{path.name}: {texts:,} texts, different {different[: len(sides)]}"


def hugging_face(model: object) -> Callable[[str], list[int]]:
    """The model's own step, without the rest of the pipeline."""
    from tokenizers import Tokenizer

    own = Tokenizer(model)
    return lambda text: list(own.encode(text, add_special_tokens=False).ids)


def drawn_text(draw: random.Random, model: UnigramModel) -> str:
    """A text of the model's pieces, of a corpus, or of any characters."""
    choice = draw.random()
    if choice < 0.35:
        return "".join(draw.choices(model.pieces, k=draw.randrange(1, 12)))
    if choice < 0.6:
        text = draw.choice(CORPUS)
        at = draw.randrange(len(text))
        return text[at : at + draw.randrange(1, 60)].replace(" ", draw.choice(" ▁"))
    if choice < 0.8:
        return "".join(draw.choices('aeiounst01"[]{}:, ▁', k=draw.randrange(1, 40)))
    blocks = [(32, 127), (0xA0, 0x500), (0x3040, 0x3100), (0x4E00, 0x9FFF), (0x1F300, 0x1F700)]
    return "".join(chr(draw.randrange(*draw.choice(blocks))) for _ in range(draw.randrange(1, 30)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for file in arguments.files:
        start = time.process_time()
        print(compare_file(file, arguments.texts, arguments.seed), f"({time.process_time() - start:.0f} s)")
    if not arguments.files:
        print(f"{run(arguments.seconds, arguments.seed)}; nothing failed")
