"""The default model: its conversion on a small GGUF file, its cache, and once for real."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.margins import CLEAR, margins
from tests.support.paths import SHARED
from tokamata.demo import default_model, gemma_gguf
from tokamata.integrations import models
from tokamata.resources import kept_files

gguf = pytest.importorskip("gguf", reason="gguf is an extra")

TENSORS = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GEMMA3, 2)
PIECES = [
    *("<pad>", "<eos>", "<bos>", "<unk>"),
    *(f"<0x{byte:02X}>" for byte in range(256)),
    *("\n", "\n\n", "  ", "▁", "t", "h", "e", "▁t", "he", "▁the", "the"),
]
TYPES = [3] * 4 + [6] * 256 + [4, 4, 4] + [1] * 8


def small_gemma() -> Any:
    """A random Gemma 3 of two layers."""
    torch.manual_seed(0)
    config = transformers.Gemma3TextConfig(
        vocab_size=len(PIECES),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        query_pre_attn_scalar=256,  # GGUF leaves it out: it is 256 in the real one, and for transformers
        max_position_embeddings=64,
        sliding_window=16,
        rms_norm_eps=1e-6,
        bos_token_id=2,
        eos_token_id=1,
        pad_token_id=0,
    )
    model = transformers.Gemma3ForCausalLM(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            # Values that survive the way through bfloat16, and norm scales that 1 + w leaves exact.
            weight.copy_((torch.randn_like(weight) / 8 if "norm" in name else weight).mul(64).round() / 64)
    return model


def write_gguf(
    path: Path, model: Any, architecture: str = "gemma3", leave_out: str = "", feed_forward: int = 64
) -> Path:
    """Write ``model`` as llama.cpp's converter does: norm scales with 1 added."""
    writer = gguf.GGUFWriter(path, architecture)
    config = model.config
    if leave_out != "context_length":
        writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(config.head_dim)
    writer.add_sliding_window(config.sliding_window)
    writer.add_rope_freq_base(1e6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(PIECES)
    writer.add_token_scores([-1000.0] * 263 + [-float(i) for i in range(8)])
    writer.add_token_types(TYPES)
    for name, token in (("pad", 0), ("eos", 1), ("bos", 2), ("unk", 3)):
        getattr(writer, f"add_{name}_token_id")(token)
    for name, weight in model.model.named_parameters():
        if name != leave_out:
            values = weight.detach().numpy() + np.float32("norm" in name)
            writer.add_tensor(TENSORS.get_name(f"model.{name}", try_suffixes=(".weight",)), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def convert(source: Path, folder: Path) -> Path:
    folder.mkdir()
    gemma_gguf.convert(source, folder, models.no_progress)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("gguf")
    model = small_gemma()
    source = write_gguf(folder / "model.gguf", model)
    return SimpleNamespace(model=model, source=source, folder=convert(source, folder / "converted"))


def test_a_converted_model_is_the_model(small: SimpleNamespace) -> None:
    assert models.load_model(small.folder)[0].dtype == torch.bfloat16
    model = transformers.AutoModelForCausalLM.from_pretrained(small.folder, dtype=torch.float32)
    ids = torch.tensor([[2, 260, 264, 270, 5, 99] * 5])  # longer than the sliding window
    torch.testing.assert_close(model(ids).logits, small.model(ids).logits, atol=1e-4, rtol=1e-4)


def test_a_converted_tokenizer(small: SimpleNamespace) -> None:
    tokenizer = models.load_tokenizer(small.folder)
    pieces = tokenizer.convert_ids_to_tokens(tokenizer("the the  the\n\n\ne<eos>é")["input_ids"])
    assert pieces == ["<bos>", "the", "▁the", "▁▁", "the", "\n\n", "\n", "e", "<eos>", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer("the  é the", add_special_tokens=False)["input_ids"]) == "the  é the"
    vocabulary = tk.Vocabulary.load(small.folder)
    assert vocabulary.stop == (1,)
    assert [vocabulary[token] for token in (0, 1, 4, 260, 262, 269)] == [
        None,
        None,
        b"\0",
        b"\n",
        b"  ",
        b" the",
    ]
    assert gemma_gguf.is_whole(small.folder)


def test_other_files_are_refused(small: SimpleNamespace, tmp_path: Path) -> None:
    other = write_gguf(tmp_path / "other.gguf", small.model, architecture="llama")
    with pytest.raises(tk.VocabularyError, match="'llama'; only b'gemma3'"):
        convert(other, tmp_path / "other")
    lacking = write_gguf(tmp_path / "lacking.gguf", small.model, leave_out="context_length")
    with pytest.raises(tk.VocabularyError, match=r"lacks the field 'gemma3.context_length'"):
        convert(lacking, tmp_path / "lacking")
    name = "layers.1.mlp.up_proj.weight"
    lacking = write_gguf(tmp_path / "weightless.gguf", small.model, leave_out=name)
    with pytest.raises(tk.VocabularyError, match=rf"lacks 1 of the weights .* model\.{name}"):
        convert(lacking, tmp_path / "weightless")
    wider = write_gguf(tmp_path / "wider.gguf", small.model, feed_forward=65)
    with pytest.raises(tk.VocabularyError, match=r"ffn_gate.weight has the shape .64, 32.*65, 32"):
        convert(wider, tmp_path / "wider")
    for size in (0, 3, 200, 5000, -1000):
        cut = tmp_path / f"cut{size}.gguf"
        cut.write_bytes(small.source.read_bytes()[:size])
        with pytest.raises(tk.VocabularyError):
            convert(cut, tmp_path / f"cut{size}")


@pytest.fixture
def packaged(small: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The small model as if the package carried it, and a cache folder of the test's own."""
    calls: list[Path] = []

    def assemble(target: Path) -> Path:
        calls.append(target)
        shutil.copyfile(small.source, target)
        return target

    monkeypatch.setattr(default_model.metadata, "version", lambda name: "9.9.9")
    module = default_model.DEFAULT_PACKAGE.replace("-", "_")
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(assemble=assemble))  # type: ignore[arg-type]
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path))
    return SimpleNamespace(calls=calls, parent=tmp_path / "models")


def test_nothing_is_drawn_over_the_display(
    packaged: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    from tqdm.auto import tqdm

    logging = transformers.utils.logging
    logging.set_verbosity_warning()
    original = tqdm.__init__
    models.load_model(default_model.default_model_folder())
    assert capfd.readouterr() == ("", "")
    assert logging.get_verbosity() == logging.WARNING
    assert tqdm.__init__ is original


def test_the_conversion_is_kept(packaged: SimpleNamespace) -> None:
    folder = default_model.default_model_folder()
    assert "9.9.9" in folder.name
    assert default_model.default_model_folder() == folder
    assert len(packaged.calls) == 1
    assert list(packaged.parent.iterdir()) == [folder]  # nothing left beside it


@pytest.mark.parametrize("damage", ["truncate", "remove", "manifest"])
def test_a_broken_folder_is_never_used(packaged: SimpleNamespace, damage: str) -> None:
    folder = default_model.default_model_folder()
    if damage == "truncate":
        (folder / "model.safetensors").write_bytes(b"half")
    else:
        (folder / ("config.json" if damage == "remove" else gemma_gguf.MANIFEST)).unlink()
    assert default_model.default_model_folder() == folder
    assert len(packaged.calls) == 2
    assert gemma_gguf.is_whole(folder)
    assert list(packaged.parent.iterdir()) == [folder]


def test_trims_of_the_cache_folder_leave_the_model(
    packaged: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is larger than the bound on derived files; tables that are kept do not push it out."""
    monkeypatch.setattr(kept_files, "_MOST_BYTES", 1000)
    folder = default_model.default_model_folder()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    kind = kept_files.folder_of("tokens")
    assert kind is not None
    for number in range(5):
        kept_files.write(kind / str(number), lambda file: file.write(b"x" * 600))
    assert len(list(kind.iterdir())) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert default_model.default_model_folder() == folder
    assert len(packaged.calls) == 1


def test_where_nothing_is_kept_the_model_is_temporary(
    packaged: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    folder = default_model.default_model_folder()
    assert gemma_gguf.is_whole(folder)
    assert default_model.default_model_folder() == folder
    assert len(packaged.calls) == 1
    assert not packaged.parent.exists()


def test_a_cache_folder_that_cannot_be_written_to(
    packaged: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path / "file"))
    with pytest.raises(models.ModelError, match="TOKAMATA_CACHE"):
        default_model.default_model_folder()


LOADING = """
import os, socket, sys
from pathlib import Path

before = dict(os.environ)
def refuse(*arguments, **options):
    raise SystemExit(f"the network was used: {arguments}")
socket.getaddrinfo = socket.socket.connect = refuse
from tokamata.integrations import models
model, tokenizer = models.load_model(Path(sys.argv[1]))
changed = {name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)}
import huggingface_hub.constants
print(sorted(name for name in changed if name.startswith(("HF_", "OMP_", "TRANSFORMERS_"))),
      huggingface_hub.constants.HF_HUB_OFFLINE)
"""


@pytest.mark.slow
def test_loading_neither_uses_the_network_nor_changes_the_environment(small: SimpleNamespace) -> None:
    """Other code in the process may want to reach the hub."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "OMP_"))}
    result = subprocess.run(
        [sys.executable, "-c", LOADING, small.folder],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (result.stdout, result.returncode) == ("[] False\n", 0), result.stderr


def test_an_interrupted_conversion_leaves_nothing(
    packaged: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(default_model, "convert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            default_model.default_model_folder()
    assert list(packaged.parent.iterdir()) == []


def test_the_slower_of_two_processes_takes_what_the_faster_made(
    packaged: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The faster one finishes while the slower one still converts."""
    original, depth = default_model.convert, []

    def slow(*arguments: Any) -> None:
        if not depth:
            depth.append(1)
            default_model.default_model_folder()
        original(*arguments)

    monkeypatch.setattr(default_model, "convert", slow)
    folder = default_model.default_model_folder()
    assert len(packaged.calls) == 2
    assert gemma_gguf.is_whole(folder)
    assert list(packaged.parent.iterdir()) == [folder]


def test_what_a_killed_process_left_is_removed_in_time(packaged: SimpleNamespace) -> None:
    old, new = packaged.parent / ".work-old", packaged.parent / ".work-new"
    for work in (old, new):
        work.mkdir(parents=True)
    os.utime(old, (0, 0))
    default_model.default_model_folder()
    assert not old.exists()
    assert new.exists()


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(default_model.metadata, "version", missing)
    with pytest.raises(tk.MissingExtraError, match=r"tokamata\[demo\]"):
        default_model.default_model_folder()


# The real model: about 5 s to convert, 5 s to load, 3 s of writing.


@pytest.mark.slow
def test_gemma_writes_what_a_pattern_allows(gemma_folder: Path) -> None:
    model, tokenizer = models.load_model(gemma_folder)
    assert len(tokenizer) == model.config.vocab_size == 262144
    pattern = r"(Mars|Venus|the Moon) in [0-9]{4}\."
    prompt = "Neil Armstrong walked on "
    with margins() as found:
        result = tk.generate(model, tokenizer, prompt, tk.regex(pattern), greedy=True)
    assert result.finish_reason == "complete"
    # It knows: without a constraint it would say so too, and the pattern leaves it the choice.
    assert result.text == "the Moon in 1969."
    assert min(found) >= CLEAR, result.text
    free = tk.generate(model, tokenizer, "The capital of France is", None, greedy=True, max_new_tokens=4)
    assert free.finish_reason == "length"


@pytest.mark.slow
def test_gemma_tokenizes_as_the_original_does(gemma_folder: Path) -> None:
    original = SHARED / "tokenizers" / "gemma-3.json.gz"
    if not original.exists():
        pytest.skip("the published tokenizer.json is not on this machine")
    from tokenizers import Tokenizer

    files = (
        (gemma_folder / "tokenizer.json").read_text("utf-8"),
        gzip.decompress(original.read_bytes()).decode(),
    )
    # The merge of two tabs, which is next to one without tabs, stands on its other side.
    merges = [
        [tuple(m) for m in json.loads(file)["model"]["merges"] if tuple(m) != ("\t", "\t")] for file in files
    ]
    assert merges[0] == merges[1]
    ours, theirs = map(Tokenizer.from_str, files)
    pieces = [
        "a",
        "the",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "é",
        "日本",
        "😀",
        "<b>",
        "</td>",
        "▁",
        "<bos>",
        "{",
        '"',
        "\r",
    ]
    choose = random.Random(0)
    texts = ["".join(choose.choices(pieces, k=choose.randint(1, 14))) for _ in range(2000)]
    for text in [*texts, Path(__file__).read_text("utf-8")]:
        assert ours.encode(text).ids == theirs.encode(text).ids, text
