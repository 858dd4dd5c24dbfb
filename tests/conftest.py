"""What all tests share: reproducible hypothesis runs, and small vocabularies."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import tokamata as tk
from tests.support.patterns.javascript import JavaScript, running
from tests.support.skips import Skips
from tests.support.vocabularies import BYTES
from tokamata.matching import compositions

settings.register_profile(
    "default",
    deadline=None,  # the machine is shared; timing is never asserted
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")


def pytest_configure(config: pytest.Config) -> None:
    """Unexpected skips fail the run."""
    config.pluginmanager.register(Skips())


def pytest_collection_finish() -> None:
    """The garbage collector skips the collected tests, which stay: a search of them takes a second."""
    gc.freeze()


@pytest.fixture(scope="session")
def byte_vocabulary() -> tk.Vocabulary:
    """Every byte, some words, two ids for one of them, a control token, an empty one, two stops."""
    tokens = [*BYTES, b"ab", b"abc", b"2024", b"-0", b"20", b"24-", "é".encode(), "漢字".encode()]
    tokens += [b'"}', b'{"', b"ab", None, b"", b"\xe6\xbc", b"\xa2a", b"</s>", b"<eos>"]
    return tk.Vocabulary.load(tokens, stop=[len(tokens) - 2, len(tokens) - 1], width=len(tokens) + 11)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """The small tokenizer that tests of hosts run with."""
    from tests.support.models.small_models import small_tokenizer  # here: most tests do without torch

    return small_tokenizer()


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> Any:
    """Logits wider than the tokenizer, as where they are padded to a round number."""
    from tests.support.models.small_models import small_model

    return small_model(len(tokenizer) + 37)


@pytest.fixture(scope="session")
def model_folder(model: Any, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model and its tokenizer, as ``save_pretrained`` writes them."""
    folder = tmp_path_factory.mktemp("model")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def gemma_folder() -> Iterator[Path]:
    """Gemma 3 270M, converted in some 5 s into a cache folder of the tests' own; 240 MB of packages."""
    pytest.importorskip("gguf", reason="gguf is an extra")
    from tokamata.demo import default_model

    try:
        metadata.version(default_model.DEFAULT_PACKAGE)
    except metadata.PackageNotFoundError:
        pytest.skip(f"the package {default_model.DEFAULT_PACKAGE} is not installed")
    with tempfile.TemporaryDirectory() as cache:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TOKAMATA_CACHE", cache)
            folder = default_model.default_model_folder()
        yield folder


@pytest.fixture
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment says of colours and widths is forgotten."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    """A JavaScript engine; tests that need one are skipped where there is none."""
    yield from running()


@pytest.fixture(autouse=True)
def _states_apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each constraint that a test compiles has states of its own, so that two can be compared.

    Tests with the marker ``shared_states`` are about equal constraints, which share them.
    """
    tk.forget_constraints()
    if request.node.get_closest_marker("shared_states") is None:
        monkeypatch.setattr(compositions.COMPOSED, "get", lambda key: None)
        monkeypatch.setattr(compositions.COMPOSED, "keep", lambda key, value: value)
        monkeypatch.setattr(compositions, "_in_use", _Nothing())


class _Nothing(dict[object, object]):
    """Keeps nothing."""

    def __setitem__(self, key: object, value: object) -> None:
        """Forgets it."""
