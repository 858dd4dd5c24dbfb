"""Sixty paragraphs: English, code, and other languages, whose canonical tokens every filter must allow."""

ENGLISH = (
    "The library opened at nine, but the queue had formed by half past eight; most of those who waited had "
    "brought a book of their own.",
    "Nobody could say when the clock in the tower had stopped. It showed twenty past four, and it was right "
    "twice a day, as the mayor liked to point out.",
    "To make the dough, mix 500 g of flour with 10 g of salt, 7 g of dry yeast and about 320 ml of lukewarm "
    "water. Knead it for ten minutes, then let it rest.",
    "She didn't answer at once. \"I've thought about it,\" she said at last, \"and I'm not sure that they'd "
    "agree, even if we'd asked them a year ago.\"",
    "The river rises in the hills above the village, turns south at the old mill, and reaches the sea after "
    "some 140 kilometres.",
    "In 1887 the company sold its first 2,350 machines at $19.95 each; by 1901 it had shops in Paris, "
    "Vienna, and St. Petersburg.",
    "Photosynthesis converts carbon dioxide and water into glucose and oxygen. The reaction takes place in "
    "the chloroplasts, and depends on chlorophyll.",
    "A finite automaton reads its input once, from left to right, and remembers nothing but the state that "
    "it is in; everything it knows must be encoded there.",
    "Dear Mr. O'Connor, thank you for your letter of March 3rd. We're sorry to hear that the parcel hasn't "
    "arrived, and we'll send another one today.",
    "Warning: do not open the case while the device is connected. Unplug it, wait for at least 30 seconds, "
    "and then remove the four screws (M3 x 8).",
    "Half of the audience laughed, the other half looked embarrassed; and the actor, who'd forgotten his "
    "lines for the third time that night, bowed.",
    "The committee met on Tuesday, Wednesday and Friday. It adopted 14 of the 17 proposals, rejected two, "
    "and postponed the last (no. 12b).",
    "If x is greater than y, and y is greater than z, then x is greater than z: this property is called "
    "transitivity, and not every relation has it.",
    "Sailors used to say that a red sky at night promised fair weather. Meteorologists have since explained "
    "why that's often, though not always, true.",
    "Her antidisestablishmentarianism was, she claimed, purely hypothetical; the "
    "floccinaucinihilipilification of her opponents was not.",
    "On a clear day you can see three countries from the summit. On most days you can't see your own boots.",
    "The patient was given 2.5 mg twice daily for 14 days. No adverse effects were observed, and blood "
    "pressure fell from 165/100 to 130/85 mmHg.",
    "It rained. It rained on the roofs, on the empty squares, on the posters for last week's concert... and "
    "when it stopped at last, it began to snow.",
    "Chapter 7\n\nIn which our hero loses his hat, finds a friend, and learns the meaning of the word "
    '"quarantine".',
    "Ingredients:\n- 2 large onions\n- 1 tbsp olive oil\n- 400 g tomatoes\n- a pinch of sugar\n\nChop the "
    "onions finely.",
    "Q: How many commits does it take to change a light bulb?\nA: Three. One changes it, one reverts the "
    "change, and one re-lands it with a test.",
    "Visit https://www.example.org/archive/2019/05/index.html?page=2&sort=asc or write to "
    "info@example.org for more information.",
    'The words "colour", "flavour" and "neighbour" lose a letter on their way across the Atlantic, as '
    '"aluminium" loses a syllable.',
    "Version 2.0.0-rc.1 (2024-02-29): fixes #1234, #1240 and #1251; drops support for Python 3.8; adds the "
    "--dry-run flag.",
    "He counted: one, two, three, 4, 5, 6, 7890, 12345678. Then he lost count, and began again from zero.",
    "THE FOLLOWING TERMS APPLY TO ALL ORDERS. Goods remain the property of the seller until they have been "
    "paid for in full.",
    "Two roads led to the station: the long one past the cemetery, which he preferred, and the short one, "
    "which everybody else took.",
    "Mathematicians call such a function well-defined, one-to-one, and onto; engineers call it a lookup "
    "table; users don't call it anything at all.",
    "   An indented line, with trailing spaces.   \n\n\nAnd then, after an empty line or two, the rest of "
    "the paragraph.",
    "The cheapest, fastest, and most reliable components of a computer system are those that aren't there.",
)

CODE = (
    "def fibonacci(n: int) -> int:\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    "
    "return a\n",
    "import os\nimport sys\nfrom pathlib import Path\n\nif __name__ == '__main__':\n    "
    "print(Path(sys.argv[1]).resolve())\n    sys.exit(0)\n",
    "class Stack(Generic[T]):\n    def __init__(self) -> None:\n        self._items: list[T] = []\n\n    def "
    "push(self, item: T) -> None:\n        self._items.append(item)\n",
    "for (size_t i = 0; i < values.size(); ++i) {\n  sum += values[i] * weights[i];\n  if (sum > kLimit) "
    "break;\n}\n",
    '#include <stdio.h>\n\nint main(void)\n{\n\tprintf("%d %s\\n", 42, "hello");\n\treturn 0;\n}\n',
    "template <typename T>\nconstexpr T max(const T& a, const T& b) noexcept {\n  return a < b ? b : a;\n}\n",
    'fn main() {\n    let words: Vec<&str> = "a b c".split_whitespace().collect();\n    '
    'println!("{:?}", words);\n}\n',
    "const total = items\n  .filter((item) => item.price > 0)\n  .map(({ price, count }) => price * count)\n"
    "  .reduce((a, b) => a + b, 0);\n",
    "public static void main(String[] args) throws IOException {\n    Map<String, List<Integer>> index = new "
    "HashMap<>();\n    System.out.println(index);\n}\n",
    "SELECT u.name, COUNT(o.id) AS orders\nFROM users u\nLEFT JOIN orders o ON o.user_id = u.id\nWHERE "
    "u.created_at >= '2023-01-01'\nGROUP BY u.name\nHAVING COUNT(o.id) > 5;\n",
    '{"id": 17, "name": "Ada Lovelace", "tags": ["math", "poetry"], "active": true, "score": '
    '-1.5e-3, "next": null}',
    '[\n  {\n    "type": "Feature",\n    "geometry": {"coordinates": [13.3777, 52.5163]}\n  }\n]\n',
    '<!DOCTYPE html>\n<html lang="en">\n<head><title>Test</title></head>\n<body>\n<p class="lead">Hello, '
    "<b>world</b>!</p>\n</body>\n</html>\n",
    'version: "3.8"\nservices:\n  web:\n    image: nginx:1.25\n    ports:\n      - "8080:80"\n    '
    'environment:\n      DEBUG: "false"\n',
    "#!/bin/sh\nset -eu\nfor file in *.txt; do\n\twc -l \"$file\" | awk '{ print $1 }'\ndone 2>/dev/null\n",
    "CFLAGS := -O2 -Wall -Wextra\n\nall: main.o util.o\n\t$(CC) $(CFLAGS) -o app $^\n\n.PHONY: clean\nclean:"
    "\n\trm -f *.o app\n",
    "\\begin{theorem}\nFor all $n \\ge 1$, $\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$.\n\\end{theorem}\n",
    "let rec map f = function\n  | [] -> []\n  | x :: xs -> f x :: map f xs\n",
    'diff --git a/setup.py b/setup.py\n@@ -10,7 +10,7 @@\n-    version="0.1.0",\n+    version="0.2.0",\n',
    'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    1 / 0\n'
    "ZeroDivisionError: division by zero\n",
)

OTHERS = (
    "Als wir am Bahnhof ankamen, war der letzte Zug schon abgefahren; wir mussten also zu Fuß über die "
    "Brücke gehen, und es wurde früh Morgen.",
    "L'été dernier, nous avons passé quinze jours à la campagne : il n'y avait ni téléphone, ni électricité, "
    "et personne ne s'en est plaint.",
    "El niño preguntó cuántas estrellas había en el cielo. «Más de las que puedes contar», respondió su "
    "abuela, «y menos de las que quisiéramos».",
    "Старый маяк давно не работал, но каждую весну смотритель поднимался по лестнице и протирал стёкла.",
    "Η θάλασσα ήταν ήρεμη εκείνο το πρωί, και τα καράβια φαίνονταν σαν να στέκονταν στον αέρα.",
    "昨日は雨が降っていたので、一日中家で本を読んでいました。夕方になって、やっと空が晴れました。",
    "图书馆九点开门,但八点半就已经排起了长队。大多数人都带着自己的书。",
    "도서관은 아홉 시에 문을 열지만 여덟 시 반이면 벌써 줄이 길게 늘어서 있다.",
    "كانت المكتبة تفتح أبوابها في التاسعة، لكن الناس كانوا ينتظرون أمامها منذ الثامنة.",
    "पुस्तकालय नौ बजे खुलता था, पर आठ बजे से ही लोग उसके सामने खड़े हो जाते थे।",
)

PARAGRAPHS = (*ENGLISH, *CODE, *OTHERS)
