"""What the study of canonical tokenization lets a model write: constraints that people use, with prompts.

The prompts are written for a model that goes on with a text, not for one that follows instructions.  None
ends in a space; where the text goes on in the same line, its pattern begins with the space.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StudyCase:
    """A constraint, and what the model is given to go on from.

    Attributes:
        name: what tables call it.
        pattern: the regex of the text.
        prompts: what stands before the text, each by itself.
        budget: the most tokens of a text.
    """

    name: str
    pattern: str
    prompts: tuple[str, ...]
    budget: int


ANYTHING = "no pattern"

CASES = (
    StudyCase(
        ANYTHING,
        r"(?s:.*)",
        (
            "The history of the bicycle began",
            "To bake a good loaf of bread, you",
            "Dear Ms. Novak,\nthank you for your letter of",
            "def fibonacci(n):\n",
        ),
        40,
    ),
    StudyCase(
        "JSON object",
        r'\{"name": "[A-Z][^"\\\n]{1,30}", "born": [12][0-9]{3}, "country": "[A-Z][a-z]{2,15}", '
        r'"tags": \["[a-z ]{2,15}"(, "[a-z ]{2,15}"){1,2}\]\}',
        (
            "A famous physicist as a JSON object:\n",
            "A painter, described in JSON:",
            'People in our database, one a line.\n{"name": "Ada Lovelace", "born": 1815, '
            '"country": "England", "tags": ["mathematics", "poetry"]}\n',
            "Reply with JSON only.\nWho wrote Don Quixote?\n",
        ),
        128,
    ),
    StudyCase(
        "JSON without spaces",
        r'\{"id":[1-9][0-9]{0,6},"email":"[a-z.]{3,16}@[a-z]{3,12}\.(com|org|net)","active":(true|false),'
        r'"note":"[^"\\\n]{1,40}"\}',
        (
            "The first user of the system as compact JSON:\n",
            "GET /users/17 HTTP/1.1\n\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n",
            "INFO response body=",
            'users.jsonl\n{"id":3,"email":"jo@mail.com","active":true,"note":"new customer"}\n',
        ),
        56,
    ),
    StudyCase(
        "multiple choice",
        r" (very positive|positive|neutral|negative|very negative|mixed|unclear)\.",
        (
            "Review: The battery lasts two days and the screen is superb. The sentiment is",
            "Review: It broke after a week and nobody answered my mails. The sentiment is",
            "Review: Fine for the price, though the handle is a bit loose. The sentiment of this review is",
            "Review: I have not opened the parcel yet. The sentiment of the customer is",
        ),
        8,
    ),
    StudyCase(
        "ISO date-time",
        r" [0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\+[0-2][0-9]:[0-5][0-9]|Z)",
        (
            "The first man landed on the moon on",
            "Last-Modified:",
            "The meeting begins at",
            "created_at:",
        ),
        32,
    ),
    StudyCase(
        "e-mail and phone",
        r" [a-z]{2,10}(\.[a-z]{2,12})?@[a-z]{3,14}\.(com|org|net|edu), "
        r"\+1 \([2-9][0-9]{2}\) [0-9]{3}-[0-9]{4}",
        (
            "Contact:",
            "You can reach our sales department at",
            "John Miller, Department of Physics,",
            "For questions about your order:",
        ),
        40,
    ),
    StudyCase(
        "URL",
        r" https://(www\.)?[a-z]{3,16}\.(com|org|net)(/[a-z0-9-]{2,14}){1,3}",
        (
            "Read the documentation at",
            "Source:",
            "The newspaper's article is at",
            "curl",
        ),
        32,
    ),
    StudyCase(
        "IPv4 address",
        r" ((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(:[0-9]{2,5})?",
        (
            "The server listens on",
            "ping:",
            "Connection refused from",
            "nameserver",
        ),
        24,
    ),
    StudyCase(
        "UUID",
        r" [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        (
            "Request id:",
            "The order number is",
            "A random UUID:",
            "session =",
        ),
        40,
    ),
    StudyCase(
        "price with commas",
        r" \$[1-9][0-9]{0,2}(,[0-9]{3}){1,3}(\.[0-9]{2})?",
        (
            "The house was sold for",
            "The company's revenue last year was",
            "Total amount due:",
            "The painting was insured for",
        ),
        24,
    ),
    StudyCase(
        "list of identifiers",
        r" [a-z]{2,12}(_[a-z]{2,12}){1,2}(, [a-z]{2,12}(_[a-z]{2,12}){1,2}){2}",
        (
            "from utilities import",
            "The columns of the table are",
            "Arguments:",
            "The function returns the three values",
        ),
        36,
    ),
    StudyCase(
        "SQL",
        r"SELECT [a-z_]{2,12}(, [a-z_]{2,12}){0,2} FROM [a-z_]{3,12} WHERE [a-z_]{2,12} (=|<|>) [0-9]{1,4}"
        r"( ORDER BY [a-z_]{2,12})?;",
        (
            "-- The names of all customers from a city\n",
            "Write an SQL query for the most expensive products.\n",
            "```sql\n",
            "The query that runs every night:\n",
        ),
        40,
    ),
    StudyCase(
        "form with wide gaps",
        r"Name  :   [A-Z][a-z]{2,10} [A-Z][a-z]{2,12}   \|  Year  :   [12][0-9]{3}   \|  "
        r"City  :   [A-Z][a-z]{2,14}",
        (
            "A card of the library's catalogue of authors\n",
            "Nobel laureates\n",
            "The winner of the race:\n",
            "Patient record\n",
        ),
        36,
    ),
    StudyCase(
        "bullets",
        r"- [A-Z][a-z ]{5,30}\n- [A-Z][a-z ]{5,30}\n- [A-Z][a-z ]{5,30}\n",
        (
            "Things to pack for a trip:\n",
            "# Why exercise is good for you\n\n",
            "Ingredients:\n",
            "The three largest planets:\n",
        ),
        36,
    ),
    StudyCase(
        "sentence of 60 letters",
        r" [A-Z][a-z ,]{58}\.",
        (
            "The weather report for tomorrow, in one sentence:",
            "My summary of the book:",
            "He looked at the sea and was silent for a while.",
            "What is a volcano?",
        ),
        40,
    ),
    StudyCase(
        "text in quotes",
        r' "[^"\\\n]{20,120}"',
        (
            "Albert Einstein once said:",
            "The headline of today's newspaper:",
            "She turned to him and whispered,",
            "The motto of our school is",
        ),
        40,
    ),
    StudyCase(
        "German",
        r" [A-ZÄÖÜ][A-ZÄÖÜa-zäöüß ,-]{30,100}\.",
        (
            "Der Wetterbericht für morgen:",
            "Was ist ein Vulkan?",
            "Die Stadt Wien ist bekannt für ihre Kaffeehäuser.",
            "Sehr geehrte Damen und Herren, vielen Dank für Ihre Bestellung.",
        ),
        40,
    ),
    StudyCase(
        "Japanese",
        r"[ぁ-んァ-ヶー一-龠、]{10,40}。",
        (
            "明日の天気予報:",
            "東京は日本の首都です。",
            "火山とは何ですか?\n",
            "昔々、あるところに",
        ),
        32,
    ),
)
