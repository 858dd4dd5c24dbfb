"""The tokens that end a text, by the rules of llama.cpp.

llama.cpp stops at more tokens than a GGUF file declares: at the ends of sequence, turn and message, at three
tokens of fill-in-the-middle, and at every token with one of the texts below, whatever its type.  A
fill-in-the-middle token is the declared one, or else one with a certain text.  Models that end a message with
another token than a turn are exceptions.  For Gemma 3, which declares token 1 alone:

    1 <eos>, 106 <end_of_turn>, 212 </s> (the end of HTML's element s there, but llama.cpp goes by the text)

Source: ``llama_vocab::impl::load`` in llama.cpp's ``src/llama-vocab.cpp``, as of llama-cpp-python 0.3.36.
Other versions know other texts; those of a ``llama_cpp.Llama`` are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["DECLARED", "ENDS", "FILL_IN", "end_of_generation"]

ENDS = frozenset(
    {
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),
        *("<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]"),
        *("<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>"),
        *("<｜end▁of▁sentence｜>", "[e~["),
    }
)
FILL_IN = {
    "fim_pad_token_id": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_rep_token_id": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep_token_id": ("<|file_sep|>",),
}
# The keys of a GGUF file, after "tokenizer.ggml.".
DECLARED = ("eos_token_id", "eot_token_id", "eom_token_id", *FILL_IN)
# What ends a sequence if the file does not declare it.
_DEFAULT_END = {"llama": 2, "gpt2": 11, "t5": 1}


def end_of_generation(family: str, texts: Sequence[bytes], declared: Mapping[str, int]) -> tuple[int, ...]:
    """The ids of the tokens that end a text, in order.

    Args:
        family: ``tokenizer.ggml.model``.
        texts: the text of each token.
        declared: the ids that the file declares, by the keys of ``DECLARED``.
    """
    watched = ENDS.union(*FILL_IN.values(), ("<|plamo:eos|>",))
    wanted = {text.encode() for text in watched}
    ids: dict[str, int] = {}
    for token, text in enumerate(texts):
        if text in wanted:
            ids.setdefault(text.decode(), token)
    found = {token for text, token in ids.items() if text in ENDS}
    found.update(declared.values())
    for key, names in FILL_IN.items():
        if key not in declared:
            found.update([ids[name] for name in names if name in ids][:1])
    default = _DEFAULT_END.get(family)
    if "eos_token_id" not in declared and default is not None and default < len(texts):
        found.add(default)

    def ends(text: str) -> bool:
        return ids.get(text) in found

    # In these vocabularies "<|end|>" ends a message within an answer, and "</s>" is ordinary text.
    if (ends("<|return|>") or ends("<|flush|>")) and (ends("<|call|>") or ends("<|calls|>")):
        found.discard(ids.get("<|end|>", -1))
    if ends("<|tool_response>") or ends("<|plamo:eos|>"):
        found.discard(ids.get("</s>", -1))
    return tuple(sorted(found))
