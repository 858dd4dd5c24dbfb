"""Reads calls of tools by SGLang's parsers, in a process of its own: SGLang patches transformers.

Lines of standard input are JSON: the name of a parser, the tool, and a text.  For each, a line of standard
output has the arguments of the call, or what went wrong.

SGLang is installed without its dependencies.  Those of its modules that need an accelerator are imported with
it, and never called here, so that empty modules stand in for the packages that they need.
"""

from __future__ import annotations

import importlib.machinery
import json
import logging
import sys
import types
from typing import Any, ClassVar

_MISSING = ("triton", "triton.language", "IPython", "IPython.display")


class _Empty(types.ModuleType):
    """A module with every name; its decorators return what they decorate."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Empty(name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return arguments[0] if arguments and callable(arguments[0]) else self


def main() -> None:
    """As the module says."""
    logging.disable(logging.CRITICAL)
    for name in _MISSING:
        module = _Empty(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        sys.modules[name] = module
    output, sys.stdout = sys.stdout, sys.stderr
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    for line in sys.stdin:
        parser, function, text = json.loads(line)
        detector = FunctionCallParser.ToolCallParserEnum[parser]()
        try:
            found = detector.detect_and_parse(text, [Tool(type="function", function=function)])
            arguments = json.loads(found.calls[0].parameters) if found.calls else "no call"
        except Exception as error:  # what a parser raises is reported as its answer
            arguments = repr(error)
        print(json.dumps(arguments), file=output, flush=True)


if __name__ == "__main__":
    main()
