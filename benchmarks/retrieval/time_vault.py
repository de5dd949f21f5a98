"""A vault of three years of daily notes, meetings, zettel and undated pages, the same each time, with questions.

Every question has a subject or a person of its own, of which notes of many days speak: only their dates tell which one
is meant.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"
TODAY = date(2026, 11, 16)
DAYS = 3 * 365
SEED = 20261116
OTHERS = 8
"""Notes of other days that speak of the same subject."""

SUBJECTS = {
    "en": "compost greenhouse sourdough bicycle telescope piano cellar kayak beehive pottery roof camera chess violin "
    "fence lantern stove harp orchard",
    "de": "Gewächshaus Sauerteig Fahrrad Teleskop Klavier Keller Bienenstock Töpferei Dach Schach Geige Zaun Brunnen "
    "Ofen Treppe Regal Schuppen",
    "fr": "terreau serre levain vélo clavecin cave barque ruche poterie toit échecs clôture puits bougeoir accordéon",
    "es": "abono invernadero masa guitarra sótano canoa colmena alfarería tejado ajedrez tambor valla pozo farol",
    "pt": "adubo horta fermento patinete cavaquinho porão jangada apiário telhado xadrez sanfona cerca lamparina fogão",
    "zh": "堆肥 温室 面团 自行车 望远镜 钢琴 地窖 皮划艇 蜂箱 陶艺 屋顶 相机 象棋",
    "ja": "コンポスト ビニールハウス パン種 自転車 天体観測 ピアノ 地下室 カヤック 養蜂箱 焼き物 屋根裏 将棋 垣根",
}
PEOPLE = {
    "en": "Ann Walter Edith Rupert Nell",
    "de": "Jürgen Silke Heike Otto Gisela",
    "fr": "Margaux Théo Solène Bastien",
    "es": "Paco Lucía Rocío Benito",
    "pt": "Inês Duarte Beatriz Nuno",
    "zh": "小王 李雷 韩梅 老赵",
    "ja": "田中 佐藤 鈴木 山本",
}
SENTENCES = {
    "en": "Worked on the {t} for an hour.|Bought something for the {t}.|The {t} was trouble again."
    "|Talked about the {t}.|Learned a trick for the {t}.",
    "de": "Eine Stunde an {t} gearbeitet.|Etwas für {t} gekauft.|Wieder Ärger mit {t}.|Über {t} gesprochen."
    "|{t} gelernt.",
    "fr": "Travaillé une heure sur {t}.|Acheté quelque chose pour {t}.|Encore des ennuis avec {t}.|Parlé de {t}.",
    "es": "Trabajé una hora en {t}.|Compré algo para {t}.|Otra vez problemas con {t}.|Hablé de {t}.",
    "pt": "Trabalhei uma hora em {t}.|Comprei algo para {t}.|De novo problemas com {t}.|Falei de {t}.",
    "zh": "今天在{t}上花了一个小时。|给{t}买了些东西。|{t}又出了问题。|谈到了{t}。",
    "ja": "{t}に一時間かけた。|{t}のために買い物をした。|{t}でまた問題があった。|{t}の話をした。",
}
MEETINGS = {
    "en": "Meeting with {p}|We discussed the budget and decided to wait.",
    "de": "Treffen mit {p}|Besprechung des Budgets; wir haben beschlossen zu warten.",
    "fr": "Réunion avec {p}|Nous avons parlé du budget et décidé d'attendre.",
    "es": "Reunión con {p}|Hablamos del presupuesto y decidimos esperar.",
    "pt": "Reunião com {p}|Discutimos o orçamento e decidimos esperar.",
    "zh": "和{p}的会议|讨论了预算，决定再等等。",
    "ja": "{p}さんとの会議|予算を話し合い、待つことを決めた。打ち合わせの記録。",
}
PAGES = {
    "en": "All about the {t}: how the {t} works, what the {t} needs, notes on the {t} of last week, March, spring.",
    "de": "Alles über {t}: wie {t} funktioniert, was letzte Woche und im März mit {t} zu tun ist.",
    "fr": "Tout sur {t} : comment marche {t}, notes de la semaine dernière et de mars sur {t}.",
    "es": "Todo sobre {t}: cómo funciona, notas de la semana pasada y de marzo sobre {t}.",
    "pt": "Tudo sobre {t}: como funciona, notas da semana passada e de março sobre {t}.",
    "zh": "关于{t}的一切：{t}怎么用，上周和三月的{t}笔记。",
    "ja": "{t}のすべて：{t}の使い方、先週と三月の{t}のメモ。",
}
SMALL_TALK = "Rain in the morning.|Slept badly.|Long walk.|Soup for dinner.|Read until late.|Quiet day.|Cleaned up."


@dataclass(frozen=True)
class TimeQuestion:
    half: str
    language: str
    kind: str
    text: str
    answers: frozenset[str]
    """The notes of which any may come first."""


@dataclass
class TimeVault:
    notes: dict[str, str] = field(default_factory=dict)
    questions: list[TimeQuestion] = field(default_factory=list)


def rows(name: str) -> Iterator[list[str]]:
    for line in (QUERIES / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def time_vault() -> TimeVault:
    """The vault and the questions of queries/time.tsv."""
    return _Maker().made()


class _Maker:
    def __init__(self) -> None:
        self._chance = random.Random(SEED)
        self._days = [TODAY - timedelta(days=number) for number in range(DAYS)]
        self._lines: dict[date, list[str]] = {day: [] for day in self._days}
        self._vault = TimeVault()
        self._subjects = {language: iter(words.split()) for language, words in SUBJECTS.items()}
        self._people = {language: iter(words.split()) for language, words in PEOPLE.items()}

    def made(self) -> TimeVault:
        for half, language, kind, first, last, text in rows("time.tsv"):
            answers, asked = self._planted(language, kind, first, last, text)
            self._vault.questions.append(TimeQuestion(half, language, kind, asked, frozenset(answers)))
        talk = SMALL_TALK.split("|")
        for day, said in self._lines.items():
            lines = [*said, *self._chance.sample(talk, 2)]
            self._chance.shuffle(lines)
            self._vault.notes[_daily(day)] = "".join(f"{line}\n\n" for line in lines)
        return self._vault

    def _planted(self, language: str, kind: str, first: str, last: str, text: str) -> tuple[Sequence[str], str]:
        """The notes that answer, and the question with its subject."""
        inside = [day for day in self._days if first == "-" or first <= day.isoformat() <= last]
        if kind in {"day", "week"}:
            return [_daily(day) for day in inside], text
        outside = [day for day in self._days if first == "-" or day not in inside]
        others = self._chance.sample(outside, OTHERS)
        write: Callable[[date], str]
        if kind.endswith("meeting"):
            person = next(self._people[language])
            write, asked = partial(self._meeting, language, person), text.replace("{p}", person)
        else:
            subject = next(self._subjects[language])
            write, asked = partial(self._mention, language, subject), text.replace("{t}", subject)
            page = PAGES[language].replace("{t}", subject)
            self._vault.notes[f"Pages/{subject}.md"] = f"# {subject}\n\n{page}\n"
        paths = {day: write(day) for day in others}
        if kind.startswith("newest"):
            return [paths[max(paths)]], asked
        if kind.startswith("oldest"):
            return [paths[min(paths)]], asked
        return [write(self._chance.choice(inside))], asked

    def _mention(self, language: str, subject: str, day: date) -> str:
        """A sentence on the subject in a daily note, a zettel, or a page with a date in its frontmatter."""
        sentence = self._chance.choice(SENTENCES[language].split("|")).replace("{t}", subject)
        where = self._chance.random()
        if where < 0.6:
            self._lines[day].append(sentence)
            return _daily(day)
        if where < 0.8:
            path = f"Zettel/{day:%Y%m%d}{self._chance.randrange(8, 22):02}30 {subject}.md"
            self._vault.notes[path] = f"{sentence}\n"
            return path
        path = f"Projects/{subject} {len(self._vault.notes)}.md"
        key = self._chance.choice(["date", "created"])
        self._vault.notes[path] = f"---\n{key}: {day}\n---\n{sentence}\n"
        return path

    def _meeting(self, language: str, person: str, day: date) -> str:
        title, said = MEETINGS[language].replace("{p}", person).split("|")
        if self._chance.random() < 0.5:
            path = f"Meetings/{day} {person}.md"
            self._vault.notes[path] = f"# {title}\n\n{said}\n"
        else:
            path = f"Meetings/{person} {len(self._vault.notes)}.md"
            self._vault.notes[path] = f"---\ndate: {day}\n---\n# {title}\n\n{said}\n"
        return path


def _daily(day: date) -> str:
    return f"Daily/{day}.md"
