"""Expressions of jinja2 about texts that are not known: fixed ones, and random ones from a small grammar.

``c`` and ``d`` are the contents of two messages.  Each expression is either followed exactly or named as not
settled; what C code does with a text is no exception.
"""

from __future__ import annotations

import random

__all__ = ["FIXED", "PROLOGUE", "drawn_expression", "drawn_template"]

PROLOGUE = "{% set c = messages[0].content %}{% set d = messages[1].content %}{% set ns = namespace(x=c) %}"

FIXED = [
    # Concatenation, and what C code joins or formats.
    *(
        "c + d",
        "'a' + c",
        "c + 'a'",
        "c ~ 1 ~ none",
        "c ~ [c]",
        "(c ~ d)",
        "[c, d] | join(', ')",
        "[c, 1] | join",
        "c * 2",
    ),
    *(
        "','.join([c, d])",
        "'%s-%s' % (c, d)",
        "'%s' % c",
        "'%d' % c",
        "'%r' % c",
        "'%5s' % c",
        "'%%%s' % c",
        "'%s' % [c]",
    ),
    *(
        "'{}'.format(c)",
        "'{0}{0}'.format(c)",
        "'{a}'.format(a=c)",
        "'{:>9}'.format(c)",
        "'{!r}'.format(c)",
        "'%s' | format(c)",
    ),
    *(
        "'{}{}'.format(c)",
        "'%s%s' % c",
        "c % 1",
        "c.format(1)",
        "''.join(c)",
        "'x' ~ c ~ 'y' | trim",
        "c | join('-')",
    ),
    # Containers.
    *(
        "[c]",
        "(c, 1)",
        "{'a': c}",
        "[c, [d]] | string",
        "[c] | tojson",
        "{'a': [c, {}]} | tojson(indent=2)",
        "{c: 1}",
        "[c][0]",
    ),
    *(
        "{'a': c}.a",
        "{'a': 1}[c]",
        "{'a': 1}.get(c)",
        "{'b': 1}.get('a', c)",
        "c in ['a', '']",
        "c in 'abc'",
        "c in {'a': 1}",
    ),
    *(
        "[c, d] | sort",
        "[c, d] | unique | list",
        "[c, d] | max",
        "[c, d] | first",
        "[c] | length",
        "[c, d] | map('trim') | join('|')",
    ),
    *(
        "[c, d] | reverse | join",
        "[c, ''] | select | list",
        "messages | map(attribute='content') | join",
        "{'a': c} | items | list",
    ),
    *(
        "messages | selectattr('content') | list | length",
        "messages | length",
        "messages | groupby('role')",
        "[c, d] | sum",
    ),
    *(
        "messages[0]",
        "messages | tojson",
        "{'a': c}.items() | list",
        "[c].index(c)",
        "[c, d].count(d)",
        "[c] == [d]",
        "[c] == [c]",
    ),
    *(
        "dict(a=c).a",
        "{'a': c} | dictsort",
        "[c, d] | batch(1) | list",
        "[[c]] | sum(start=[])",
        "(c, d) | last",
    ),
    # Questions.
    *(
        "c == d",
        "c == ''",
        "c != 'a'",
        "'a' == c",
        "c == 1",
        "1 == c",
        "c < 'b'",
        "c > d",
        "not c",
        "c and d",
        "c or 'x'",
    ),
    *(
        "'a' in c",
        "'' in c",
        "d in c",
        "c in c",
        "1 in c",
        "'a' not in c",
        "(c + 'xy' + d).count('yx') > 0",
        "'</think>' in c ~ '</th' ~ d",
    ),
    *(
        "c is string",
        "c is mapping",
        "c is iterable",
        "c is sequence",
        "c is none",
        "c is defined",
        "c is number",
        "c is true",
        "c is upper",
    ),
    *(
        "c is eq 'a'",
        "c is in ['a']",
        "c is sameas c",
        "c is boolean",
        "c is callable",
        "c is escaped",
        "(c | safe) is escaped",
    ),
    *(
        "c.startswith('a')",
        "c.startswith(('a', ' '))",
        "c.endswith('')",
        "('x' + c).startswith('x ')",
        "(c + 'yz').endswith(' yz')",
    ),
    *(
        "(c ~ d).startswith('ab')",
        "c.startswith(d)",
        "'abc'.startswith(c)",
        "c.isupper()",
        "c.isdigit()",
        "c.find('a') >= 0",
        "c.find('a') != -1",
    ),
    *(
        "c.find('a')",
        "c.index('a')",
        "c.count('a') == 2",
        "c.count('a') > 0",
        "c.count('') > 3",
        "c.rfind('a') > 1",
    ),
    *(
        "c | length",
        "c | length > 3",
        "c | length == 0",
        "3 <= c | length",
        "c | count != 2",
        "(c | length) + 1",
        "('ab' + c) | length > 2",
    ),
    *(
        "1 if c else 2",
        "c if '<think>' in c else d",
        "c == c | trim",
        "(c | trim) == ''",
        "c.strip() == ''",
        "('x' ~ c) == 'xa'",
    ),
    # Parts.
    *(
        "c.split('a')[0]",
        "c.split('a')[-1]",
        "c.split('a')[1]",
        "c.split('a')[5]",
        "c.split('a')[-3]",
        "c.split('aa')[-1]",
        "c.split()",
    ),
    *(
        "c.split()[0]",
        "c.split()[-1]",
        "c.split(none, 1)[1]",
        "c.split('a', 1)[1]",
        "c.split('a', 1)[2]",
        "c.rsplit('a', 1)[0]",
        "c.split('')",
    ),
    *(
        "c.split('a') | length",
        "c.split('a') | length > 1",
        "c.split('a') | last",
        "c.split('a') | first",
        "c.split() | first",
        "c.split('a')[1:]",
    ),
    *(
        "c.split('a') | join('b')",
        "c.split('a', 1) | join('b')",
        "c.split('a') | list",
        "'a' in c.split('b')",
        "c.split(1)",
        "c.split(sep='a')[0]",
    ),
    *(
        "c.splitlines()",
        "c.partition('a')[2]",
        "c.split('a').x",
        "c.split(d)[0]",
        "(c + 'a' + d).split('a')[-1]",
        "c.split('a')[0].split('b')[-1]",
    ),
    *(
        "c[0]",
        "c[-1]",
        "c[1]",
        "c[:2]",
        "c[1:]",
        "c[::-1]",
        "c[-2:]",
        "('ab' + c + 'cd')[1:]",
        "('ab' + c + 'cd')[:-1]",
        "('ab' + c)[:1]",
    ),
    *(
        "('ab' + c + 'cd')[2:-2]",
        "('ab' + c)[-1:]",
        "(c + 'cd')[:-3]",
        "c[d]",
        "c['x']",
        "c.x",
        "c.x is defined",
        "c[c | length]",
        "c[1:1]",
    ),
    *(
        "('ab' + c)[0]",
        "('ab' + c)[1]",
        "(c + 'ab')[-1]",
        "(c ~ d)[0]",
        "c[none]",
        "c[0:'a']",
        "c.__class__",
        "c | first",
        "c | last",
        "c | list",
    ),
    # Changes.
    *(
        "c | trim",
        "c.strip()",
        "c.lstrip()",
        "c.rstrip('\\n')",
        "c.strip('ab')",
        "c | trim('a')",
        "c.strip().rstrip()",
        "c.lstrip().rstrip()",
    ),
    *(
        "(' ' + c + ' ').strip()",
        "('x' + c + '\\n').strip()",
        "(c + d).strip()",
        "(' ' ~ c ~ d ~ ' ') | trim",
        "(c + ' ' + d).lstrip()",
        "c.strip(d)",
    ),
    *(
        "c | upper",
        "c | lower",
        "c | title",
        "c | capitalize",
        "c.title()",
        "c.swapcase()",
        "c.casefold()",
        "(c ~ 'Σ' ~ d).lower()",
        "(c ~ d) | upper",
    ),
    *(
        "c.replace('a', 'b')",
        "c.replace('', '-')",
        "c | replace('a', '')",
        "c.replace('a', d)",
        "(c ~ d).replace('ab', '')",
        "c.replace('a', 'b', 1)",
    ),
    *(
        "c | tojson",
        "c | tojson(ensure_ascii=true)",
        "(c ~ d) | tojson",
        "c | e",
        "c | safe",
        "(c | safe) + '<' + d",
        "'<' ~ (c | safe)",
        "('<' | safe) + c",
    ),
    *(
        "(c | safe).strip() ~ '<'",
        "(c | e) ~ c",
        "(c | safe) | upper",
        "'<b>' | safe ~ c",
        "c | string",
        "c | default('x')",
        "c | default('x', true)",
    ),
    *(
        "(c ~ '<' | safe) | trim",
        "((c | tojson | safe) + '\"\\n').strip()",
        "('\"' | safe) ~ c + '\"'",
        "(c | safe) * 2",
        "(c | safe)[0]",
    ),
    *(
        "c | indent",
        "c | indent(2, true)",
        "c | int",
        "c | float",
        "c | wordcount",
        "c | truncate(3)",
        "c | center(9)",
        "c.center(9)",
        "c.zfill(4)",
    ),
    *(
        "c | reverse",
        "'<' + ('a' ~ (c | e))",
        "'<' + ([c | e, d] | join)",
        "(c | e) ~ '<' + '&'",
        "c | urlencode",
        "c | hash",
        "-c",
        "c + 1",
        "1 + c",
        "c - d",
        "c + none",
        "c + [c]",
        "[c] + c",
        "c + undefined_name",
        "undefined_name + c",
    ),
    *(
        "c.removeprefix('a')",
        "c.removesuffix('a').removeprefix('b')",
        "c.encode()",
        "c.expandtabs(2)",
        "c.join(['a', 'b'])",
        "c()",
        "c.nothing()",
    ),
    *(
        "range(c)",
        "range(c | length)",
        "strftime_now(c)",
        "raise_exception(c)",
        "namespace(a=c).a",
        "ns.x",
        "cycler(c, d).next()",
        "c | nothing | default",
    ),
    *(
        "strftime_now('%Y') ~ c",
        "strftime_now('%Y') == '2026'",
        "c | attr('x')",
        "c | map('upper') | join",
        "c | select | list",
        "c | max",
        "c | sort",
    ),
]
FIXED = [one for one in FIXED if "| hash" not in one and "| nothing" not in one]  # filters that do not exist

_LITERALS = [
    "''",
    "' '",
    "'a'",
    "'ab'",
    "'\\n'",
    "' a '",
    "'</think>'",
    "'<think>\\n'",
    "'x\\u00a0'",
    "'b' ~ '\\n'",
]
_FILTERS = ["upper", "lower", "string", "tojson", "title", "capitalize", "first", "e", "safe"]


def _text(chooser: random.Random, depth: int) -> str:
    """An expression that is a text, mostly."""
    if depth == 0:
        return chooser.choice(["c", "d", "ns.x", *chooser.sample(_LITERALS, 2)])
    inner = _text(chooser, depth - 1)
    needle = chooser.choice(_LITERALS)
    number = chooser.choice([0, 1, -1, 2, -2])
    return chooser.choice(
        [
            f"({inner} + {_text(chooser, depth - 1)})",
            f"({inner} ~ {needle})",
            f"({needle} ~ {inner} ~ {_text(chooser, depth - 1)})",
            f"({inner} | trim)",
            f"{inner}.{chooser.choice(['strip', 'lstrip', 'rstrip'])}({chooser.choice(['', needle])})",
            f"{inner}.split({needle})[{number}]",
            f"{inner}.rsplit({needle}, 1)[{number}]",
            f"({inner} | replace({needle}, {chooser.choice(_LITERALS)}))",
            f"{inner}.replace({needle}, '-')",
            f"({inner} | {chooser.choice(_FILTERS)})",
            f"{inner}[{chooser.choice(['', 1, 2, -3])}:{chooser.choice(['', 3, -1])}]",
            f"({inner} if {_question(chooser, depth - 1)} else {_text(chooser, depth - 1)})",
            f"([{inner}, {needle}] | join({chooser.choice(_LITERALS)}))",
            f"('%s|%s' % ({inner}, {needle}))",
        ]
    )


def _question(chooser: random.Random, depth: int) -> str:
    inner = _text(chooser, max(depth, 0))
    needle = chooser.choice(_LITERALS)
    return chooser.choice(
        [
            f"{needle} in {inner}",
            f"{inner} == {needle}",
            f"{inner}.startswith({needle})",
            f"{inner}.endswith({needle})",
            f"{inner}",
            f"({inner} | length) > {chooser.randrange(4)}",
            f"{inner}.split({needle}) | length > {chooser.randrange(3)}",
            f"not {inner}",
            f"{inner} in [{needle}, {chooser.choice(_LITERALS)}]",
        ]
    )


def drawn_expression(chooser: random.Random) -> str:
    """A random expression."""
    return _text(chooser, chooser.choice([1, 2, 2, 3]))


def drawn_template(chooser: random.Random) -> str:
    """A template with some random expressions, under a random condition, some of them kept in a namespace."""
    parts = [PROLOGUE]
    for _ in range(chooser.randrange(1, 3)):
        parts.append(
            chooser.choice(
                [
                    "{{% set ns.x = {0} %}}",
                    "{{{{ {0} }}}}|",
                    "{{% if {1} %}}{{{{ {0} }}}}{{% endif %}}",
                    "{{% for m in messages %}}{{% set c = m.content %}}{{{{ {0} }}}}{{% endfor %}}",
                    "{{% set y %}}{{{{ {0} }}}} {{% endset %}}{{{{ y | trim }}}}",
                    "{{% macro f(c) %}} {{{{ {0} }}}}{{% endmacro %}}{{{{ f(d) ~ f(c) }}}}",
                ]
            ).format(drawn_expression(chooser), _question(chooser, 1))
        )
    return "".join(parts) + "{{ ns.x }}"
