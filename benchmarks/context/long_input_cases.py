"""Forty long inputs with a question and the line that answers it, the same for the same seed."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

CHARACTERS = 80_000
"""Of the material of each input, at least."""

FIRST = (
    "Ada", "Ben", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Liam", "Mona",
    "Nils", "Olga", "Pavel", "Quinn", "Rosa", "Sven", "Tara",
)  # fmt: skip
LAST = (
    "Abel", "Berg", "Conti", "Dahl", "Engel", "Falk", "Gruber", "Holm", "Ivanov", "Jensen", "Kovacs", "Lind",
    "Moreau", "Novak", "Olsen", "Petrov", "Rossi", "Silva",
)  # fmt: skip
CITIES = (
    "Bergen", "Graz", "Porto", "Turin", "Ghent", "Malmo", "Lyon", "Aarhus", "Basel", "Cork", "Delft", "Essen",
    "Gdansk", "Haifa", "Izmir", "Kiel", "Linz", "Nantes",
)  # fmt: skip
MODULES = (
    "parser", "router", "cache", "index", "store", "worker", "queue", "ledger", "mailer", "search", "session",
    "billing", "export", "report", "config",
)  # fmt: skip
VERBS = (
    "load", "check", "merge", "render", "parse", "update", "fetch", "build", "count", "split", "write", "trace",
    "sort", "close", "scan",
)  # fmt: skip
THINGS = (
    "header", "invoice", "token", "record", "batch", "window", "profile", "page", "order", "ticket", "report",
    "label", "folder", "chart", "image",
)  # fmt: skip
TOPICS = (
    "roadmap", "hiring", "website", "garden", "newsletter", "printer", "workshop", "festival", "canteen",
    "archive", "survey", "parking",
)  # fmt: skip


class LongInput(NamedTuple):
    kind: str
    question: str
    material: str
    answer: str
    """What of the material must reach the model."""

    @property
    def message(self) -> str:
        return f"{self.question}\n\n{self.material}"


Noise = Callable[[random.Random, int], str]


def long_inputs(seed: int) -> list[LongInput]:
    """All forty; those with even and those with odd numbers have the same kinds and different questions."""
    chance = random.Random(seed)
    makers = (
        _build_logs,
        _server_logs,
        _tables,
        _json_lines,
        _pretty_json,
        _code,
        _cjk,
        _transcripts,
        _commits,
        _prose,
    )
    return [each for make in makers for each in make(chance)]


def _lines(chance: random.Random, noise: Noise, planted: Sequence[str], *, separator: str = "\n") -> str:
    """Lines of noise with these in the middle."""
    lines: list[str] = []
    size = 0
    while size < CHARACTERS:
        lines.append(noise(chance, len(lines)))
        size += len(lines[-1]) + len(separator)
    place = chance.randrange(len(lines) // 4, 3 * len(lines) // 4)
    return separator.join([*lines[:place], *planted, *lines[place:]])


def _clock(chance: random.Random, number: int) -> str:
    return (
        f"2026-03-04T{8 + number // 3600 % 12:02}:{number // 60 % 60:02}:{number % 60:02}.{chance.randrange(1000):03}Z"
    )


def _name(chance: random.Random) -> str:
    return f"{chance.choice(FIRST)} {chance.choice(LAST)}"


def _build_noise(chance: random.Random, number: int) -> str:
    job = chance.choice(
        ["build-linux", "build-macos", "test-unit", "test-web", "lint", "docs", "release", "deploy-docs"]
    )
    module, thing = chance.choice(MODULES), chance.choice(THINGS)
    text = chance.choice(
        [
            f"Compiling {module}-{thing} v0.{chance.randrange(20)}.{chance.randrange(9)}",
            f"test {module}::{chance.choice(VERBS)}_{thing} ... ok",
            f"warning: unused variable `{thing}` in src/{module}.rs:{chance.randrange(900)}",
            f"Downloaded {module}-{thing}.tar.gz ({chance.randrange(9000)} kB)",
            f"test result: ok. {chance.randrange(200)} passed; 0 failed; 0 ignored",
            f"Finished `dev` profile in {chance.randrange(90)}.{chance.randrange(99):02}s",
            f"Restored cache {chance.getrandbits(64):016x} for job {job}",
        ]
    )
    return f"{_clock(chance, number)} [{job}] {text}"


def _build_logs(chance: random.Random) -> Iterator[LongInput]:
    time = _clock(chance, 7_000)
    thing, module, verb = chance.choice(THINGS), chance.choice(MODULES), chance.choice(VERBS)
    for question, answer in (
        ("Which job failed?", f"{time} [deploy-docs] ##[error]Process completed with exit code 1."),
        (
            "Why did the macOS build break?",
            f"{time} [build-macos] ld: symbol _{verb}_{thing} not found for architecture arm64",
        ),
        ("Which test did not pass?", f"{time} [test-unit] test {module}::nested_{thing} ... FAILED"),
        (
            "How long did the optimized release take?",
            f"{time} [release] Finished `release` profile [optimized] in 14m 07s",
        ),
    ):
        yield LongInput("build log", question, _lines(chance, _build_noise, [answer]), answer)


def _server_noise(chance: random.Random, number: int) -> str:
    thing = chance.choice(THINGS)
    host = f"10.0.{chance.randrange(9)}.{chance.randrange(250)}"
    text = chance.choice(
        [
            f"INFO  http: GET /{thing}s/{chance.randrange(99999)} 200 {chance.randrange(400)}ms from {host}",
            f"INFO  auth: session of {chance.choice(FIRST).lower()}{chance.randrange(99)} renewed",
            f"DEBUG cache: {chance.getrandbits(48):012x} evicted after {chance.randrange(900)} s",
            f"WARN  http: slow response for /{thing}s, {chance.randrange(1000, 4000)}ms",
            f"INFO  billing: invoice R-{chance.randrange(99999)} sent to customer C-{chance.randrange(10000, 80000)}",
            f"WARN  mailer: delivery failed once, will retry ({chance.randrange(5)})",
            f"INFO  pool: {chance.randrange(30)} connections to database in use",
        ]
    )
    return f"{_clock(chance, number)} {text}"


def _server_logs(chance: random.Random) -> Iterator[LongInput]:
    time, user = _clock(chance, 6_000), chance.choice(LAST).lower()
    for question, answer in (
        ("Whose account was blocked?", f"{time} WARN  auth: too many attempts, blocking {user} for 30 minutes"),
        ("When did the database go down?", f"{time} CRIT  pool: lost postgres at 10.0.4.7, giving up"),
        ("Which customer got a refund?", f"{time} INFO  billing: refunded 42.10 EUR to customer C-88121"),
        ("What made the server run out of memory?", f"{time} ERROR oom: heap exhausted while rendering report 5512"),
    ):
        yield LongInput("server log", question, _lines(chance, _server_noise, [answer]), answer)


def _employee(chance: random.Random, number: int) -> str:
    department = chance.choice(["Sales", "Research", "Support"])
    salary, year = chance.randrange(300, 900), chance.randrange(2010, 2026)
    return f"{number},{_name(chance)},{department},{chance.choice(CITIES)},{salary}00,{year}-04-01"


def _order(chance: random.Random, number: int) -> str:
    status, total = chance.choice(["shipped", "packed", "delivered"]), chance.randrange(1_000, 30_000) / 100
    return f"{number},2026-02-{chance.randrange(10, 28)},{chance.choice(CITIES)},{status},{total:.2f}"


def _article(chance: random.Random, number: int) -> str:
    code, price = chance.choice("ACDEFG") + chance.choice("KLMNP"), chance.randrange(1_000, 9_000) / 100
    return f"{code}-{1000 + number}\t{chance.choice(THINGS)} {chance.choice(VERBS)}er\t{number % 90}\t{price:.2f}"


def _company(chance: random.Random, number: int) -> str:
    level, year = chance.choice(["gold", "silver", "basic"]), chance.randrange(2010, 2026)
    return f"{chance.choice(LAST)} {chance.choice(MODULES).title()} {number} Ltd;{_name(chance)};{level};{year}"


def _tables(chance: random.Random) -> Iterator[LongInput]:
    person, firm = f"Zora {chance.choice(LAST)}", f"{chance.choice(LAST)} & Zwick"
    for header, noise, question, row in (
        (
            "id,name,department,city,salary,started",
            _employee,
            f"In which city does {person} work?",
            f"4711,{person},Research,Tromso,51200,2021-04-01",
        ),
        (
            "order,date,city,status,total",
            _order,
            "Has any order been cancelled by its customer?",
            f"{chance.randrange(99999)},2026-02-11,{chance.choice(CITIES)},cancelled,18.90",
        ),
        (
            "article\tdescription\tstock\tprice",
            _article,
            "What does article BX-2290 cost?",
            "BX-2290\tfolding ruler, beech\t12\t7.40",
        ),
        ("company;contact;level;since", _company, f"Who looks after {firm}?", f"{firm};{_name(chance)};gold;2024"),
    ):
        yield LongInput("table", question, f"{header}\n{_lines(chance, noise, [row])}", row)


def _records(
    chance: random.Random, make: Callable[[random.Random, int], dict[str, Any]], one: dict[str, Any], indent: int | None
) -> tuple[str, str]:
    """A document of records with one in the middle, and that one as it stands there."""
    records = [make(chance, 0)]
    count = CHARACTERS // len(json.dumps(records[0], indent=indent))
    records += [make(chance, number) for number in range(1, count)]
    records.insert(chance.randrange(count // 4, 3 * count // 4), one)
    lines = json.dumps([one], indent=indent, ensure_ascii=False)
    return json.dumps(records, indent=indent, ensure_ascii=False), lines[1:-1].strip()


def _json_lines(chance: random.Random) -> Iterator[LongInput]:
    person = f"Zora {chance.choice(LAST)}"
    material, answer = _records(
        chance,
        lambda chance, number: {
            "id": number,
            "name": _name(chance),
            "mail": f"u{chance.randrange(9999)}@example.org",
            "city": chance.choice(CITIES),
        },
        {"id": 9001, "name": person, "mail": "z.quist@example.net", "city": "Porto"},
        None,
    )
    yield LongInput("one-line JSON", f"What is the e-mail address of {person}?", material, answer)
    material, answer = _records(
        chance,
        lambda chance, number: {
            "device": f"{chance.choice(THINGS)}-{number}",
            "state": "online",
            "load": round(chance.random(), 2),
            "room": chance.choice(CITIES),
        },
        {"device": f"{chance.choice(THINGS)}-77", "state": "offline", "load": 0, "room": "Cork"},
        None,
    )
    yield LongInput("one-line JSON", "Which device is offline?", material, answer)
    material, answer = _records(
        chance,
        lambda chance, number: {
            "city": f"{chance.choice(CITIES)} {number}",
            "inhabitants": chance.randrange(9999, 999999),
            "area": chance.randrange(900),
        },
        {"city": "Ouagadougou", "inhabitants": 2415266, "area": 219},
        None,
    )
    yield LongInput("one-line JSON", "How many people live in Ouagadougou?", material, answer)
    material, answer = _records(
        chance,
        lambda chance, number: {
            "flag": f"{chance.choice(VERBS)}_{chance.choice(THINGS)}_{number}",
            "enabled": True,
            "share": chance.randrange(100),
        },
        {"flag": f"{chance.choice(VERBS)}_{chance.choice(THINGS)}_x", "enabled": False, "share": 50},
        None,
    )
    yield LongInput("one-line JSON", "Which flag is not enabled?", material, answer)


def _package(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "name": f"{chance.choice(MODULES)}-{chance.choice(THINGS)}-{number}",
        "version": f"{chance.randrange(9)}.{chance.randrange(20)}.{chance.randrange(9)}",
        "licence": chance.choice(["MIT", "BSD-3-Clause", "Apache-2.0"]),
        "advisory": None,
        "owner": _name(chance),
    }


def _pretty_json(chance: random.Random) -> Iterator[LongInput]:
    for question, changed, key in (
        (
            "Which package has a known vulnerability?",
            {"advisory": "CVE-2026-1187: vulnerable to path traversal"},
            "name",
        ),
        ("Which version of quillbot-forge is locked?", {"name": "quillbot-forge"}, "version"),
        ("Who owns the package zebrafish?", {"name": "zebrafish"}, "owner"),
        ("Is there a package under the GPL?", {"licence": "GPL-3.0-only"}, "name"),
    ):
        one = {**_package(chance, 9_001), **changed}
        material, _ = _records(chance, _package, one, 2)
        yield LongInput("pretty JSON", question, material, f'"{key}": "{one[key]}"')


def _code_noise(chance: random.Random, number: int) -> str:
    verb, thing, module = chance.choice(VERBS), chance.choice(THINGS), chance.choice(MODULES)
    return chance.choice(
        [
            f'\n\ndef {verb}_{thing}_{number}(self, {thing}: str) -> int:\n    """{verb.title()} the {thing}."""',
            f"    {thing} = self._{module}.{verb}({thing}, limit={chance.randrange(90)})",
            f"    if {thing} is None:\n        return {chance.randrange(9)}",
            f"    for {thing} in self.{module}_{thing}s:\n        self.{verb}({thing})",
            f"    # The {module} may {verb} a {thing} twice.",
            f"    return len({thing}) + {chance.randrange(90)}",
        ]
    )


def _code(chance: random.Random) -> Iterator[LongInput]:
    for question, planted, answer in (
        ("How often is a request retried?", ["MAX_RETRIES = 7"], "MAX_RETRIES = 7"),
        (
            "Which function validates an IBAN?",
            ["def valid_iban(value: str) -> bool:", "    return mod97(value) == 1"],
            "def valid_iban(value: str) -> bool:",
        ),
        (
            "What happens when a signature is invalid?",
            [
                "    if not signature.verify(key):",
                "        self._audit.note(payload)",
                "        raise Tampered(payload.id)",
            ],
            "        raise Tampered(payload.id)",
        ),
        (
            "How is the temporary folder cleaned up?",
            [
                "def dispose(self) -> None:",
                '    """Remove the temporary folder."""',
                "    shutil.rmtree(self._scratch, ignore_errors=True)",
            ],
            "    shutil.rmtree(self._scratch, ignore_errors=True)",
        ),
    ):
        yield LongInput("code", question, _lines(chance, _code_noise, planted), answer)


def _chinese_noise(chance: random.Random, number: int) -> str:
    who, day = chance.choice("王李张刘陈杨赵黄周吴"), chance.choice("一二三四五六")
    return chance.choice(
        [
            f"{who}先生在周{day}检查了第{number}号设备",
            f"第{number}组的进度报告已经提交给{who}老师",
            f"上午的会议讨论了{chance.choice(['预算', '招聘', '网站', '食堂'])}的问题",
            f"{who}同事把文件放在{number}号柜子里",
            f"周{day}下午大家一起整理了资料室",
        ]
    )


def _japanese_noise(chance: random.Random, number: int) -> str:
    who, day = chance.choice(["田中", "佐藤", "鈴木", "高橋", "伊藤"]), chance.choice("月火水木金")
    return chance.choice(
        [
            f"{who}さんは{day}曜日に{number}番の機械を点検しました",
            f"第{number}班の報告書を{who}さんに渡しました",
            f"午前の会議では{chance.choice(['予算', '採用', '食堂', '駐車場'])}について話し合いました",
            f"資料は{number}番の棚に置いてあります",
        ]
    )


def _cjk(chance: random.Random) -> Iterator[LongInput]:
    for kind, noise, separator, question, answer in (
        ("Chinese, full stops", _chinese_noise, "。", "谁负责发布？", "新版本的发布由韩梅梅负责"),
        ("Chinese, commas", _chinese_noise, "，", "服务器的内存有多大？", "服务器现在有六十四GB内存"),
        ("Chinese, no stops", _chinese_noise, "", "哪个仓库缺货？", "苏州的仓库从昨天起缺货"),
        ("Chinese, lines", _chinese_noise, "\n", "体检改到了什么时候？", "年度体检改到五月十二日"),
        (
            "Japanese, full stops",
            _japanese_noise,
            "。",
            "締め切りはいつですか？",
            "論文の締め切りは八月三日に延びました",
        ),
        (
            "Japanese, no stops",
            _japanese_noise,
            "",
            "翻訳の担当者は誰ですか？",
            "翻訳は山本さんが担当することになりました",
        ),
    ):
        yield LongInput(kind, question, _lines(chance, noise, [answer], separator=separator), answer)


def _talk_noise(chance: random.Random, number: int) -> str:
    a, b = chance.sample(TOPICS, 2)
    text = chance.choice(
        [
            f"I think the {a} matters more than the {b} this month.",
            f"Can we come back to the {a} later?",
            f"Yes, and the {b} people said the same about the {a}.",
            f"Nobody has looked at the {a} since we talked about the {b}.",
            "Right.",
            f"Let me share my screen, the {a} is on page {number % 40}.",
        ]
    )
    return f"{chance.choice(FIRST).upper()}: {text}"


def _german_noise(chance: random.Random, number: int) -> str:
    a, b = chance.sample(["Werkstatt", "Kantine", "Webseite", "Umfrage", "Drucker", "Archiv", "Parkplatz"], 2)
    text = chance.choice(
        [
            f"Ich glaube, {a} ist wichtiger als {b}.",
            f"Zu {a} haben wir noch nichts gehört.",
            "Genau.",
            f"Und wer hat {b} auf Seite {number % 40} gesehen?",
        ]
    )
    return f"{chance.choice(FIRST).upper()}: {text}"


def _transcripts(chance: random.Random) -> Iterator[LongInput]:
    one, two = chance.sample([name.upper() for name in FIRST], 2)
    for noise, question, planted in (
        (
            _talk_noise,
            "What is the date of the launch?",
            [f"{one}: So when do we launch?", f"{two}: On the ninth of June, unless something breaks."],
        ),
        (_talk_noise, "Who will send the contract?", [f"{two}: I am going to send them the contract before Friday."]),
        (
            _talk_noise,
            "Why was the budget cut?",
            [f"{one}: The grant fell through, so we cut our budget by eighty thousand."],
        ),
        (_german_noise, "Wer kümmert sich um die Lizenzen?", [f"{two}: Das mit den Lizenzen übernehme ich."]),
    ):
        yield LongInput("transcript", question, _lines(chance, noise, planted), planted[-1])


def _commit(
    chance: random.Random, number: int, subject: str = "", change: str = "", author: str = "", day: str = ""
) -> str:
    thing, module, verb = chance.choice(THINGS), chance.choice(MODULES), chance.choice(VERBS)
    path = f"src/{module}/{verb}_{thing}.py"
    kept = [f"     {chance.choice(THINGS)} = self.{chance.choice(VERBS)}({chance.randrange(99)})" for _ in range(8)]
    kept[3] = change or f"+    {thing} = self.{verb}({chance.randrange(99)})"
    kept[4] = f"-    {thing} = {chance.randrange(99)}"
    return "\n".join(
        [
            f"commit {chance.getrandbits(160):040x}",
            f"Author: {author or _name(chance)} <dev{chance.randrange(99)}@example.org>",
            f"Date:   {day or f'{chance.randrange(1, 28)} Feb 2026'}",
            "",
            f"    {subject or f'{verb.title()} the {thing} in the {module}'}",
            "",
            f"diff --git a/{path} b/{path}",
            f"index {chance.getrandbits(28):07x}..{chance.getrandbits(28):07x} 100644",
            f"--- a/{path}",
            f"+++ b/{path}",
            f"@@ -{number},8 +{number},9 @@ class {module.title()}:",
            *kept,
        ]
    )  # fmt: skip


def _commits(chance: random.Random) -> Iterator[LongInput]:
    def history(**special: str) -> str:
        return _lines(chance, _commit, [_commit(chance, 1, **special)])

    yield LongInput(
        "git log -p",
        "What was the timeout raised to?",
        history(change="+    read_timeout = 90"),
        "+    read_timeout = 90",
    )
    author = f"Zora {chance.choice(LAST)}"
    yield LongInput(
        "git log -p",
        "Who removed the legacy importer?",
        history(subject="Remove the legacy importer", author=author),
        f"Author: {author}",
    )
    yield LongInput(
        "git log -p",
        "When was support for Windows dropped?",
        history(subject="Drop support for Windows", day="31 Jan 2026"),
        "Date:   31 Jan 2026",
    )
    yield LongInput(
        "git log -p",
        "Was a password ever committed?",
        history(change='+    password = "tr0ub4dor"'),
        '+    password = "tr0ub4dor"',
    )


def _prose_noise(chance: random.Random, _number: int) -> str:
    a, b = chance.sample(CITIES, 2)
    return chance.choice(
        [
            f"The train from {a} to {b} was late again, and we waited for {chance.randrange(9, 59)} minutes.",
            f"In {a} the old market hall was painted {chance.choice(['green', 'white', 'red'])} during the summer.",
            f"Nobody in {b} remembered who had first planted the lime trees.",
            f"Prices in {a} rose a little, while those in {b} stayed as they were.",
        ]
    )


def _spoken_noise(chance: random.Random, number: int) -> str:
    return chance.choice(
        [
            f"and then we drove to {chance.choice(CITIES).lower()} because of the weather",
            f"so my sister called about the {chance.choice(TOPICS)} again",
            f"you know it was really about the {chance.choice(THINGS)} and not about money",
            f"anyway we had {number % 9} people over for dinner",
        ]
    )


def _prose(chance: random.Random) -> Iterator[LongInput]:
    answer = "The museum of glass counted 48,210 guests in 2019, more than ever before."
    yield LongInput(
        "prose",
        "How many visitors did the glass museum have in 2019?",
        _lines(chance, _prose_noise, [answer], separator=" "),
        answer,
    )
    answer = "the doctor wants me to take forty milligrams of pantoprazole in the morning"
    yield LongInput(
        "prose without stops",
        "What does the doctor want me to take?",
        _lines(chance, _spoken_noise, [answer], separator=" "),
        answer,
    )
