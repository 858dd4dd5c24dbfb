"""An agent: a model calls tools and reads their results until it answers, or until its turns are used up.

    python examples/agent.py "What is 12 times 7?"

Every call is of a tool that exists, with arguments of its types, so nothing that the model writes can fail to
parse.  The model of the demo is small: what it calls may be silly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import tokamata as tk

# For a model without a chat template of its own that shows tools.
TEMPLATE = """Tools:
{% for tool in tools or [] %}
{{ tool.function | tojson }}
{% endfor %}
{% for message in messages %}
{{ message.role }}: {{ message.content }}
{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{% endfor %}
{% endfor %}
{% if add_generation_prompt %}assistant: {% endif %}"""


def multiply(a: int, b: int) -> int:
    """The product of two whole numbers."""
    return a * b


def length(text: str) -> int:
    """The number of characters of a text."""
    return len(text)


def answer(
    model: Any,
    tokenizer: Any,
    question: str,
    tools: Sequence[Callable[..., Any]],
    *,
    turns: int = 3,
    max_new_tokens: int = 60,
    show: Callable[[str], object] = print,
) -> str:
    """The answer to a question: the first turn is a call, and in the last one there is none."""
    by_name = {tool.__name__: tool for tool in tools}
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for turn in range(turns):
        is_last = turn + 1 == turns
        calls: Any = tk.tool_calls(tools, tool_choice="auto" if turn else "required", parallel=turn > 0)
        writes = tk.text_without(["<tool_call>"]) if is_last else calls
        settings = {"tools": tools, "max_new_tokens": max_new_tokens}
        with tk.stream(model, tokenizer, messages, writes, **settings) as steps:
            for event in (event for step in steps for event in step.events):
                if event.pointer.endswith("/name") and "/arguments" not in event.pointer:
                    show(f"calls {event.value} …")
        parts = [steps.generation.text] if is_last else steps.generation.parse()
        called = [part for part in parts if isinstance(part, tk.ToolCall)]
        text = "".join(part for part in parts if isinstance(part, str))
        if not called:
            return text
        functions = [{"name": call.name, "arguments": call.arguments} for call in called]
        told = [{"type": "function", "function": function} for function in functions]
        messages.append({"role": "assistant", "content": text, "tool_calls": told})
        for call in called:
            result = by_name[call.name](**call.arguments)
            show(f"{call.name}({call.arguments}) = {result}")
            messages.append({"role": "tool", "name": call.name, "content": str(result)})
    raise AssertionError("the last turn has no calls")


def main(question: str) -> None:
    """Load the model of the demo, and ask it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tokamata.demo import default_model_folder

    folder = default_model_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if "tools" not in str(tokenizer.chat_template):
        tokenizer.chat_template = TEMPLATE
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    print(answer(model, tokenizer, question, [multiply, length]))


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "What is 12 times 7?")
