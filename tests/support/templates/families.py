"""Small chat templates in the manner of public models; written for these tests."""

from __future__ import annotations

__all__ = ["FAMILIES"]

CHATML = """\
{% for message in messages %}
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

CHATML_DEFAULT_SYSTEM = """\
{% if messages[0].role != 'system' %}<|im_start|>system
You are helpful.<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.content is string %}{% set text = message.content %}
{%- else %}
{%- set parts = message.content | selectattr('type', 'equalto', 'text') %}
{%- set text = parts | map(attribute='text') | join('\\n') %}
{%- endif %}
<|im_start|>{{ message.role }}
{{ text }}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

GEMMA = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set first_prefix = '' -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception('Roles must alternate') }}
    {%- endif -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{ '<start_of_turn>' + role + '\\n' + (first_prefix if loop.first else '') }}
    {{- message['content'] | trim }}
    {{- '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}"""

LLAMA = """\
{{- bos_token }}
{%- if not date_string is defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = '' %}
{%- endif %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday: ' ~ date_string ~ '\\n\\n' }}
{%- if tools is not none %}
    {%- for tool in tools %}{{ tool | tojson(indent=4) }}{{ '\\n\\n' }}{%- endfor %}
{%- endif %}
{{- system ~ '<|eot_id|>' }}
{%- for message in messages %}
    {%- if message.tool_calls is defined %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
        {{- '{"name": "' + call.name + '", "parameters": ' }}
        {{- call.arguments | tojson }}
        {{- '}<|eot_id|>' }}
    {%- elif message.role in ['tool', 'ipython'] %}
        {{- '<|start_header_id|>ipython<|end_header_id|>\\n\\n' ~ (message.content | tojson) ~ '<|eot_id|>' }}
    {%- else %}
        {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
        {{- message.content | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"""

QWEN = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(searching=true, last_query=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = messages|length - 1 - loop.index0 %}
    {%- if ns.searching and message.role == 'user' and not (
        message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.searching = false %}
        {%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {%- set content = message.content or '' %}
        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\\n') %}
            {%- set reasoning = reasoning.split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if loop.index0 > ns.last_query and (loop.last or reasoning) %}
            {{- '<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- content }}
        {%- endif %}
        {%- for call in message.tool_calls or [] %}
            {{- '<tool_call>\\n{"name": "' ~ call.function.name ~ '", "arguments": ' }}
            {%- set given = call.function.arguments %}
            {{- given if given is string else given | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{%- endif %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

DEEPSEEK = """\
{%- set ns = namespace(system='', is_first=true) -%}
{%- for message in messages -%}
    {%- if message['role'] == 'system' -%}
        {%- set ns.system = ns.system + ('' if ns.is_first else '\\n\\n') + message['content'] -%}
        {%- set ns.is_first = false -%}
    {%- endif -%}
{%- endfor -%}
{{ bos_token }}{{ ns.system }}
{%- for message in messages -%}
    {%- if message['role'] == 'user' -%}{{ '<|User|>' + message['content'] }}{%- endif -%}
    {%- if message['role'] == 'assistant' -%}
        {%- set content = message['content'] -%}
        {%- if '</think>' in content -%}{%- set content = content.split('</think>')[-1] -%}{%- endif -%}
        {{ '<|Assistant|>' + content + eos_token }}
    {%- endif -%}
{%- endfor -%}
{% if add_generation_prompt %}{{ '<|Assistant|><think>\\n' }}{% endif %}"""

MISTRAL = """\
{%- if messages[0]["role"] == "system" -%}
    {%- set system = messages[0]["content"] -%}{%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{{ bos_token }}
{%- for message in loop_messages -%}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("After the optional system message, roles must alternate") }}
    {%- endif -%}
    {%- if message["role"] == "user" -%}
        {%- if loop.last and system is defined -%}
            {{ "[INST] " + system + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else -%}
            {{ "[INST] " + message["content"] + "[/INST]" }}
        {%- endif -%}
    {%- elif message["role"] == "assistant" -%}
        {{ " " + message["content"] | trim + eos_token }}
    {%- endif -%}
{%- endfor -%}"""

GENERATION = """\
{% macro turn(role, text) %}[{{ role }}]{{ caller() if caller else text }}[end]{% endmacro %}
{% for m in messages %}
{% if m.role == 'assistant' %}{% generation %}{{ turn(m.role, m.content) }}{% endgeneration %}
{% else %}{% set shown %}{{ m.content | upper }}{% endset %}{{ turn(m.role, shown | trim) }}{% endif %}
{% if not loop.last %}{{ '\\n' }}{% endif %}
{% endfor %}"""

FAMILIES = {
    "chatml": CHATML,
    "chatml with a default": CHATML_DEFAULT_SYSTEM,
    "gemma": GEMMA,
    "llama": LLAMA,
    "qwen": QWEN,
    "deepseek": DEEPSEEK,
    "mistral": MISTRAL,
    "generation": GENERATION,
}
