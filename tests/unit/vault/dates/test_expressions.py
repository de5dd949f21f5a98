"""Periods as the user types them, with a fixed clock: every form and phrase in all languages with calendars."""

from datetime import UTC, date, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.note import Calendar, DayRange
from zkchat.language.words import by_code
from zkchat.notes.dates.expressions import describe_period, filter_period, of_period, period_text

MONDAY = Calendar(datetime(2026, 11, 16, 12, tzinfo=UTC))
parse_period = partial(filter_period, "on")

TABLE = """
2024-02-29 = 29 February|Feb 29
2025-01-01 to 2025-03-31 = first quarter of 2025
2025-01-01 to 2025-12-31 = a year ago|2025|vor einem Jahr|l'année dernière|el año pasado|o ano passado|去年|2025年
2025-03-01 to 2025-03-07 = in der ersten Märzwoche 2025
2025-03-01 to 2025-03-31 = march-2025|March last year|März 2025|im März letzten Jahres|en mars 2025
2025-03-01 to 2025-03-31 = en marzo de 2025|em março de 2025|2025年3月|去年三月
2025-03-01 to 2025-05-31 = spring-2025|from March to May 2025|im Frühling 2025|au printemps 2025
2025-03-01 to 2025-05-31 = wiosną 2025|wiosna 2025|in het voorjaar van 2025|lente 2025|весной 2025
2025-03-03 to 2025-03-09 = week 10 of 2025
2025-10-01 to 2025-10-07 = 去年10月的第一个星期
2025-10-01 to 2025-12-31 = last quarter of 2025
2025-11-01 to 2026-02-28 = between November and February
2026-01-01 to 2026-03-31 = Q1 2026|Q1|2026-Q1|1. Quartal 2026|premier trimestre 2026|primer trimestre de 2026
2026-01-01 to 2026-03-31 = pierwszy kwartał 2026|eerste kwartaal van 2026|первый квартал 2026
2026-01-01 to 2026-12-31 = this_year|cette année|este año|este ano|今年
2026-01-01 to 2026-12-31 = w tym roku|dit jaar|в этом году
2026-02-28 = the last day of February
2026-03-01 = 1er mars
2026-03-01 to 2026-03-10 = early March|Anfang März|début mars|a principios de marzo|no início de março|3月初|3月上旬
2026-03-01 to 2026-03-10 = na początku marca|początek marca|begin maart|в начале марта|начало марта
2026-03-01 to 2026-03-31 = 2026-03|March|last March|im März
2026-03-02 to 2026-03-08 = 2026-W10|the week of 8 March 2026|week 10|KW 10|第10週
2026-03-08 = 8 March 2026|8 March|8th of March|March 8|March 8th, 2026|Sunday, 8 March 2026|on 8 March
2026-03-08 = 2026-03-08|2026/3/8|20260308|8.3.2026|8. März 2026|am 8. März|8.3.|le 8 mars 2026|le 8 mars
2026-03-08 = 8 de marzo de 2026|el 8 de marzo|8 de março de 2026|no dia 8 de março|三月八日|3月8号|2026年3月8日|3月8日
2026-03-08 = 8 marca 2026|8 marca|w niedzielę 8 marca|8.03.2026|dnia 8 marca|8 maart 2026|op 8 maart|zondag 8 maart
2026-03-08 = 8 марта 2026|8 марта|в воскресенье 8 марта
2026-03-13 = 13/3/2026|3/13/2026
2026-05-03 to 2026-05-10 = between 3 and 10 May|3-10 May|vom 3. bis 10. Mai|zwischen dem 3. und 10. Mai
2026-05-03 to 2026-05-10 = de 3 a 10 de maio|entre 3 e 10 de maio|5月3日到10日|5月3日到5月10日|5月3日から10日まで
2026-05-03 to 2026-05-10 = od 3 do 10 maja|między 3 a 10 maja|van 3 tot 10 mei|tussen 3 en 10 mei|с 3 по 10 мая
2026-06-01 to 2026-08-31 = last summer|l'été dernier|el verano pasado
2026-06-01 to 2026-08-31 = latem|zeszłe lato|afgelopen zomer|прошлым летом|летом
2026-09-01 to 2026-09-30 = two months ago|两个月前|2か月前
2026-09-01 to 2026-09-30 = dwa miesiące temu|twee maanden geleden|два месяца назад
2026-10-01 to 2026-10-07 = first week of October 2026|first week of last month
2026-10-01 to 2026-10-31 = last-month|le mois dernier|el mes pasado|o mês passado|上个月|先月
2026-10-01 to 2026-10-31 = w zeszłym miesiącu|vorige maand|в прошлом месяце
2026-10-03 to 2026-10-04 = the first weekend of October|10月の最初の週末
2026-10-05 = the first Monday of October|am ersten Montag im Oktober|le premier lundi d'octobre
2026-10-05 = el primer lunes de octubre|a primeira segunda-feira de outubro|10月第一个星期一|10月の第1月曜日
2026-10-05 = de eerste maandag van oktober|pierwszy poniedziałek października|первый понедельник октября
2026-10-08 = on the 8th of October|the 8th of last month|am 8. letzten Monats|le 8 du mois dernier
2026-10-08 to 2026-10-14 = the second week of October|week 2 of October|la segunda semana de octubre
2026-10-21 = the 21st|二十一号
2026-10-25 to 2026-10-31 = the last week of October|die letzte Oktoberwoche|letzte Woche im Oktober
2026-10-25 to 2026-10-31 = la dernière semaine d'octobre|la última semana de octubre|a última semana de outubro
2026-10-25 to 2026-10-31 = 10月最后一周|10月の最終週|ostatni tydzień października|последняя неделя октября
2026-10-26 to 2026-11-01 = three weeks ago|vor drei Wochen|il y a trois semaines|hace tres semanas
2026-10-26 to 2026-11-01 = trzy tygodnie temu|drie weken geleden|три недели назад
2026-10-30 = three weeks ago on Friday
2026-10-31 to 2026-11-01 = the last weekend of October|am letzten Wochenende im Oktober
2026-10-31 to 2026-11-01 = le dernier week-end d'octobre|el último fin de semana de octubre|10月最后一个周末
2026-11-01 to 2026-11-30 = diesen Monat|这个月|今月
2026-11-01 to 2026-11-30 = w tym miesiącu|deze maand|в этом месяце
2026-11-02 = two weeks ago on Monday|Monday two weeks ago|Monday before last|vor zwei Wochen am Montag
2026-11-02 to 2026-11-08 = the week before last|vorletzte Woche|上上周|先々週
2026-11-02 to 2026-11-16 = 2w
2026-11-03 to 2026-11-10 = from the 3rd to the 10th|vom 3. bis zum 10.|du 3 au 10|del 3 al 10|3日から10日まで
2026-11-08 = on the 8th|am 8.|le 8|el 8|no dia 8|8号|8日
2026-11-09 = last Monday|Monday of last week|last week on Monday|Monday the 9th|letzten Montag
2026-11-09 = w zeszły poniedziałek|poniedziałek w zeszłym tygodniu|vorige maandag|maandag vorige week
2026-11-09 to 2026-11-15 = last-week|a week ago|letzte Woche|la semaine dernière|la semana pasada|semana passada
2026-11-09 to 2026-11-15 = w zeszłym tygodniu|tydzień temu|vorige week|afgelopen week|на прошлой неделе|неделю назад
2026-11-09 to 2026-11-16 = last 7 days|in den letzten 7 Tagen|les 7 derniers jours|los últimos 7 días
2026-11-09 to 2026-11-16 = ostatnie 7 dni|w ciągu ostatnich 7 dni|de afgelopen 7 dagen|последние 7 дней
2026-11-10 = mardi de la semaine dernière|el martes pasado|terça-feira passada|na terça
2026-11-10 = we wtorek|op dinsdag|во вторник
2026-11-12 = w czwartek|op donderdag|в четверг
2026-11-13 = 3 days ago|先週の金曜日
2026-11-13 to 2026-11-16 = 3d
2026-11-14 = the day before yesterday|vorgestern|avant-hier|anteayer|anteontem|前天|一昨日
2026-11-14 = przedwczoraj|eergisteren|позавчера
2026-11-14 to 2026-11-15 = last weekend|上周末|先週末
2026-11-14 to 2026-11-15 = w weekend|w zeszły weekend|vorig weekend|afgelopen weekend|на прошлых выходных
2026-11-14 to 2026-11-15 = в прошлые выходные|no fim de semana passado
2026-11-15 = yesterday|gestern|hier|ayer|ontem|昨天|昨日
2026-11-15 = wczoraj|wczoraj wieczorem|gisteren|gisteravond|вчера|вчера вечером
2026-11-16 = today|Monday|heute|am Montag|aujourd'hui|hoy|hoje|今天|周一|今日|月曜日
2026-11-16 = dziś|dzisiaj|w poniedziałek|vandaag|op maandag|сегодня|в понедельник
2026-11-16 to 2026-11-22 = this-week|cette semaine|esta semana|本周|这周|今週
2026-11-16 to 2026-11-22 = w tym tygodniu|deze week|на этой неделе
2026-11-17 = jutro|morgen|voor morgen|завтра
2026-11-18 = pojutrze|overmorgen|послезавтра
2026-11-21 to 2026-11-22 = this weekend
2026-11-23 to 2026-11-29 = next week|nächste Woche|la semaine prochaine|la próxima semana|próxima semana|来週
2026-11-23 to 2026-11-29 = w przyszłym tygodniu|volgende week|на следующей неделе
2026-12-01 to 2026-12-31 = this December
before 2026-01-01 = before 2026
before 2026-03-08 = vor dem 8. März|avant le 8 mars|antes del 8 de marzo|antes de 8 de março|3月8日之前
before 2026-03-08 = przed 8 marca|voor 8 maart|до 8 марта
before 2026-04-01 = until March
before 2026-04-01 = do marca|tot maart|tot en met maart|по март
since 2026-03-08 = seit dem 8. März|depuis le 8 mars|3月8日以降
since 2026-03-08 = od 8 marca|sinds 8 maart|с 8 марта
since 2026-03-09 = after 8 March
since 2026-03-09 = po 8 marca|na 8 maart|после 8 марта
since 2026-10-26 = since 3 weeks ago
since 2026-11-09 = since Monday|seit Montag|depuis lundi|desde el lunes|desde segunda-feira|从周一以来|月曜日から
since 2026-11-09 = od poniedziałku|sinds maandag|с понедельника
"""
"""Phrases of all languages by what they mean."""
PHRASES = [
    (text, period)
    for period, _, texts in (line.partition(" = ") for line in TABLE.strip().splitlines())
    for text in texts.split("|")
]


def parsed(text: str, calendar: Calendar = MONDAY) -> str | None:
    period = parse_period(text, calendar)
    return period_text(period) if period else None


def on(day: str, first_weekday: int = 0) -> Calendar:
    return Calendar(datetime.fromisoformat(f"{day}T12:00:00+00:00"), first_weekday)


@pytest.mark.parametrize("period", dict.fromkeys(period for _, period in PHRASES))
def test_phrases_name_days(period: str) -> None:
    assert parsed(period) == period
    for text in (text for text, meant in PHRASES if meant == period):
        assert (parsed(text), parsed(text.upper())) == (period, period), text


@pytest.mark.parametrize(
    "text",
    [
        "", "8.3", "2026-02-30", "2026-W54", "31 June", "3/8/2026", "every Monday", "0 days ago", "Q5", "x" * 100,
        "9" * 50, "今", "13月", "32日", "after 9999-12-31", "before 0001-01-01", "the 32nd",
        "the fifth Monday of February 2026", "sixth week of March", "last week of the holidays", "8日間",
    ],
)  # fmt: skip
def test_what_names_no_days_is_no_period(text: str) -> None:
    assert parsed(text) is None


@pytest.mark.parametrize("language", by_code("calendar", spaced=True))
def test_every_month_and_weekday_of_a_language_is_known(language: str) -> None:
    months = [parsed(f"{name} 2025") for name in by_code("months")[language].split()]
    assert [month and month[:7] for month in months] == [f"2025-{number:02}" for number in range(1, 13)]
    weekdays = [parse_period(name, MONDAY) for name in by_code("weekdays")[language].split()]
    assert [each and each.first and each.first.weekday() for each in weekdays] == [*range(7)]


@pytest.mark.parametrize(
    ("first_weekday", "day", "this", "last"),
    [
        (0, "2026-11-15", "2026-11-09 to 2026-11-15", "2026-11-02 to 2026-11-08"),
        (5, "2026-11-15", "2026-11-14 to 2026-11-20", "2026-11-07 to 2026-11-13"),
    ],
)
def test_weeks_begin_on_the_day_that_is_set(first_weekday: int, day: str, this: str, last: str) -> None:
    assert parsed("this week", on(day, first_weekday)) == parsed("今週", on(day, first_weekday)) == this
    assert parsed("last week", on(day, first_weekday)) == parsed("上周", on(day, first_weekday)) == last
    assert parsed("2026-W46", on(day, first_weekday)) == "2026-11-09 to 2026-11-15", "weeks with a number are ISO's"


@pytest.mark.parametrize(
    ("day", "text", "period"),
    [
        ("2026-01-01", "yesterday", "2025-12-31"),
        ("2026-01-01", "2 January", "2025-01-02"),
        ("2026-01-01", "2026-W01", "2025-12-29 to 2026-01-04"),
        ("2024-02-29", "a year ago", "2023-01-01 to 2023-12-31"),
        ("2024-02-29", "since a year ago", "since 2023-02-28"),
        ("2024-02-28", "29 February", "2020-02-29"),
        ("2026-03-31", "since one month ago", "since 2026-02-28"),
        ("2026-03-10", "last March", "2025-03-01 to 2025-03-31"),
        ("2026-11-18", "this Monday", "2026-11-16"),
        ("2026-11-15", "this weekend", "2026-11-14 to 2026-11-15"),
        ("2026-10-25", "the last week of October", "2026-10-25 to 2026-10-31"),
        ("2026-03-20", "end of March", "2025-03-21 to 2025-03-31"),
        ("2024-03-01", "the fifth week of February", "2024-02-29"),
        ("2026-01-01", "the last Monday of last month", "2025-12-29"),
        ("2026-03-01", "the 31st", "2026-01-31"),
        ("2025-03-01", "le 29", "2025-01-29"),
        ("2026-01-02", "from the 30th to the 2nd", "2025-12-30 to 2026-01-02"),
    ],
)
def test_ends_of_years_and_leap_days(day: str, text: str, period: str) -> None:
    assert parsed(text, on(day)) == period


@pytest.mark.parametrize(
    ("zone", "at", "today", "yesterday"),
    [
        ("Pacific/Auckland", "2026-04-04T13:30:00+00:00", "2026-04-05", "2026-04-04"),
        ("America/Los_Angeles", "2026-03-08T07:30:00+00:00", "2026-03-07", "2026-03-06"),
    ],
)
def test_days_are_those_of_the_zone(zone: str, at: str, today: str, yesterday: str) -> None:
    calendar = Calendar(datetime.fromisoformat(at).astimezone(ZoneInfo(zone)))
    assert (parsed("today", calendar), parsed("yesterday", calendar)) == (today, yesterday)


@pytest.mark.parametrize(
    ("field", "value", "period"),
    [
        ("on", "2026-03-08", DayRange(date(2026, 3, 8), date(2026, 3, 9))),
        ("during", "march", DayRange(date(2026, 3, 1), date(2026, 4, 1))),
        ("after", "2026-03-08", DayRange(first=date(2026, 3, 8))),
        ("before", "2026-03-08", DayRange(end=date(2026, 3, 8))),
        ("before", "0001-01-01", None),
        ("after", "before 2026", None),
        ("on", "8", None),
    ],
)
def test_a_filter_lets_days_through(field: str, value: str, period: DayRange | None) -> None:
    assert filter_period(field, value, MONDAY) == period


@pytest.mark.parametrize(
    ("text", "described", "after_notes"),
    [
        ("today", "today (2026-11-16)", "of 2026-11-16"),
        ("since yesterday", "since yesterday (2026-11-15)", "from 2026-11-15 or later"),
        ("last Friday", "on Friday (2026-11-13)", "of 2026-11-13"),
        ("8 March", "on 2026-03-08", "of 2026-03-08"),
        ("this week", "this week (since Monday 2026-11-16)", "of 2026-11-16 to 2026-11-22"),
        ("last 7 days", "in the last 7 days (since 2026-11-09)", "of 2026-11-09 to 2026-11-16"),
        ("March", "from 2026-03-01 to 2026-03-31", "of 2026-03-01 to 2026-03-31"),
        ("before 2026", "before 2026-01-01", "from before 2026-01-01"),
    ],
)
def test_a_period_is_described_for_people(text: str, described: str, after_notes: str) -> None:
    period = parse_period(text, MONDAY)
    assert period
    assert (describe_period(period, MONDAY), of_period(period)) == (described, after_notes)


days = st.dates()
calendars = st.builds(Calendar, st.datetimes(timezones=st.just(UTC)), st.integers(0, 6))


@settings(max_examples=50)
@given(st.none() | days, st.none() | days, calendars)
def test_what_is_shown_parses_back(first: date | None, end: date | None, calendar: Calendar) -> None:
    if (first or end) and not (first and end and first >= end) and end != date.min:
        period = DayRange(first, end)
        assert parse_period(period_text(period), calendar) == period


words = st.sampled_from(
    [text for text, _ in PHRASES] + ["week 53", "3 April", "9999-12-31", "0001-01-01", "9999 days ago"]
)


@settings(max_examples=50)
@given(words, calendars)
def test_a_range_begins_before_it_ends_on_any_day(text: str, calendar: Calendar) -> None:
    period = parse_period(text, calendar)
    if period:
        assert period.first is None or period.end is None or period.first < period.end
        assert period.first or period.end
        assert describe_period(period, calendar)


@pytest.mark.parametrize(
    ("text", "since", "on"),
    [
        ("monday", "2026-11-09", "2026-11-16"),
        ("last monday", "2026-11-09", "2026-11-09"),
        ("since monday", "2026-11-09", "since 2026-11-09"),
        ("a month ago", "2026-10-16", "2026-10-01 to 2026-10-31"),
    ],
)
def test_a_time_as_an_option_begins_where_it_does_after_since(text: str, since: str, on: str) -> None:
    assert filter_period("after", text, MONDAY) == DayRange(date.fromisoformat(since))
    period = filter_period("on", text, MONDAY)
    assert period
    assert period_text(period) == on
