"""The imports of src/tokamata: no circles, and each room imports only those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "tokamata"

# The rooms, files and folders, from the ground up: each imports only those before it.
ROOMS = [
    *("version", "errors", "resources", "calls", "display"),
    *("patterns", "vocabulary", "values", "repair"),
    *("automata", "tokenization", "matching", "constraints"),
    *("validators", "guard"),
    *("decoding", "integrations", "demo", "audit", "compat", "cli", "__main__"),
]
# The same within folders.
INNER_ROOMS = {
    "errors": [
        *("showing", "base", "arguments", "installation", "saving", "stops"),
        *("patterns", "schemas", "templates", "constraints", "machines"),
        *("vocabularies", "tokenizations", "decoding", "texts"),
    ],
    "resources": ["logs", "limits", "later", "bounded_steps", "locks", "kept_files", "memo"],
    "calls": ["schema_places", "arguments", "keywords", "recipes", "equal_calls"],
    "display": ["texts", "html", "progress"],
    "values": [
        *("control_names", "control_tokens", "markers", "groups", "variadic", "parts", "forms"),
        *("derivations", "json_events", "tagged", "events", "partial_values", "growing_values"),
        *("growing_thoughts", "denotation"),
    ],
    "matching": [
        *("masks", "mask_reports", "process_rewards", "explanation", "thoughts"),
        *("written_recipes", "kept_compiled", "compositions", "matchers", "load_compiled", "batches"),
    ],
    "constraints": [
        *("typical_texts", "blame", "constraint"),
        *("json_options", "json_constraints", "type_constraints", "given"),
        *("text_constraints", "extension_constraints", "grammar_automata", "grammar_rules"),
        *("grammar_constraints", "tagged_constraints"),
        *("form_members", "tool_constraints", "trigger_constraints"),
        *("structural_tags", "tool_formats", "tool_calls", "reasoning"),
    ],
    "repair": [
        *("byte_patterns", "bounded_patterns", "words", "costs", "dialects", "default_costs"),
        "unimodularity",
        *("programs", "contents", "losses", "depths", "json_losses", "edits", "differences"),
        *("results", "repair_bounds", "rewards"),
        *("searching", "graphs", "names", "cheapest_first", "unfolding", "spelling_bounds"),
        *("raised_costs", "coupled_certificates", "couplings", "distinct"),
        *("tokens", "stream_words", "stream_finders", "streams"),
    ],
    "patterns": [
        *("unicode", "regex", "extensions", "phrase_trie", "free_text"),
        *("grammars", "json_schema", "python_types", "tagged"),
    ],
    "patterns.grammars": ["rules", "lexer", "files", "parsing", "kept_rules", "stages", "diagnosis"],
    "audit": [
        *("apart", "engines", "walks", "judging", "declared_order", "styles", "spelling", "findings"),
        *("sides", "auditing"),
    ],
    "compat": [
        *("options", "json_spans", "made_up", "actions", "schema_values", "searches", "strict"),
        *("under_schema", "json_repair"),
    ],
    "guard.templates": [
        *("steps", "pieces", "decisions", "texts", "json_texts", "shapes"),
        *("unknowns", "jinja_formats", "jinja_filters", "jinja_environment", "jinja_loops", "jinja_subset"),
        *("jinja_any_length", "jinja_runs"),
        *("jinja_conversations", "jinja_widening", "reading", "languages"),
    ],
    "tokenization": [
        *("papers", "pretokenizers", "pipelines", "lattice", "kept_tables"),
        *("added_kinds", "continued_texts", "tables", "canonical"),
        *("unicode_set", "adversarial_texts", "adapters", "running", "kept_verdicts", "self_test"),
    ],
    "tokenization.lattice": [
        *("hosts", "piece_trie", "unigram", "graph", "viterbi", "n_best", "sums", "sampling"),
        *("forced_spans", "products", "lattices"),
    ],
    "guard": [
        *("verdicts", "probe_texts", "manifests", "manifest"),
        *("guarded_spans", "self_test", "rewritings", "preimages", "normalization"),
        *("byte_languages", "edge_machines", "token_edges", "boundaries", "word_seams"),
        *("seams", "encoding"),
        *("templates", "template_sources", "slot_texts", "slot_seams", "tried_conversations"),
        *("appended_turns", "chat_templates"),
    ],
}
# Files that know fewer rooms than those below their own.
KNOWN_ROOMS = {
    "resources.locks": set(),
    "resources.logs": set(),
    "resources.memo": set(),
    "calls.arguments": {"errors"},
    "calls.keywords": {"errors"},
    "calls.recipes": {"errors"},
    "calls.schema_places": {"errors"},
    "display.texts": set(),
    "display.html": set(),
    "display.progress": set(),
    "matching.explanation": {"display"},
    "matching.mask_reports": set(),
    "matching.masks": {"errors", "calls"},
    "matching.process_rewards": {"errors", "calls"},
    "matching.written_recipes": {"errors", "resources", "calls", "patterns"},
    "constraints.typical_texts": set(),
    "constraints.blame": {"errors", "resources", "calls", "values"},
    "constraints.json_options": {"resources", "calls", "patterns"},
    "constraints.form_members": {"errors", "patterns"},
    "constraints.tool_formats": set(),
}
CORE = "tokamata._core"  # compiled
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imported(module: str, path: Path) -> Iterator[str]:
    """The modules of tokamata that a module imports anywhere, in functions and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in MODULES or name == CORE else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


IMPORTS = {
    module: {name for name in imported(module, path) if name in MODULES} - {module}
    for module, path in MODULES.items()
}


def rooms_of(module: str) -> list[str]:
    return module.split(".")[1:]


def test_no_module_imports_itself_over_others() -> None:
    try:
        list(TopologicalSorter(IMPORTS).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")


def test_every_room_is_named() -> None:
    rooms = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert rooms - {"__init__"} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down(room: str) -> None:
    for module, names in IMPORTS.items():
        if rooms_of(module)[:1] != [room]:
            continue
        for name in names:
            if name != "tokamata":
                assert ROOMS.index(rooms_of(name)[0]) <= ROOMS.index(room), f"{module} imports {name}"


@pytest.mark.parametrize("folder", INNER_ROOMS)
def test_imports_within_a_folder_point_down(folder: str) -> None:
    floors, home = INNER_ROOMS[folder], folder.split(".")
    depth = len(home)
    for module, names in IMPORTS.items():
        for name in names:
            mine, theirs = rooms_of(module), rooms_of(name)
            if mine[:depth] == theirs[:depth] == home and len(mine) > depth and len(theirs) > depth:
                assert floors.index(theirs[depth]) <= floors.index(mine[depth]), f"{module} imports {name}"


@pytest.mark.parametrize("file", KNOWN_ROOMS)
def test_some_files_know_few_rooms(file: str) -> None:
    rooms = {rooms_of(name)[0] for name in IMPORTS[f"tokamata.{file}"]}
    assert rooms <= KNOWN_ROOMS[file] | {file.partition(".")[0]}


def test_only_the_command_line_imports_the_demo() -> None:
    """Where no model is given; what imports the demo otherwise would need its extra."""
    importing = {
        module for module, names in IMPORTS.items() if any("demo" in rooms_of(name) for name in names)
    }
    assert {rooms_of(module)[0] for module in importing} == {"demo", "cli"}


@pytest.mark.parametrize("folder", INNER_ROOMS)
def test_every_inner_room_is_named(folder: str) -> None:
    home = PACKAGE.joinpath(*folder.split("."))
    rooms = {path.stem for path in home.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert rooms - {"__init__"} == set(INNER_ROOMS[folder])


def test_circles_are_found() -> None:
    with pytest.raises(CycleError):
        list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
