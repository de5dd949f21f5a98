"""The words by which Chinese and Japanese name days and stretches of time, as `calendar_words` has those of others.

Words between bars are alternatives of a regular expression.
"""

from collections.abc import Mapping
from typing import Final

DIGITS: Final = {**dict(zip("〇一二三四五六七八九", range(10), strict=True)), "零": 0, "两": 2, "兩": 2}

RELATIVE_DAYS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("今天", "今日", "本日", "今早", "今晚", "今朝", "今夜", "きょう"), 0),
    **dict.fromkeys(("昨天", "昨日", "昨晚", "昨夜", "昨晩", "きのう", "ゆうべ"), -1),
    **dict.fromkeys(("前天", "一昨日", "おととい"), -2),
    **dict.fromkeys(("大前天", "一昨昨日"), -3),
    **dict.fromkeys(("明天", "明日", "あした"), 1),
    **dict.fromkeys(("后天", "後天", "明後日", "あさって"), 2),
}

RELATIVE_YEARS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("今年", "本年"), 0),
    **dict.fromkeys(("去年", "昨年"), -1),
    **dict.fromkeys(("前年", "一昨年", "おととし"), -2),
    **dict.fromkeys(("明年", "来年", "來年"), 1),
}

MODIFIERS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("这", "這", "本", "今"), 0),
    **dict.fromkeys(("上", "先"), -1),
    **dict.fromkeys(("上上", "先々", "先先"), -2),
    **dict.fromkeys(("下", "来", "來"), 1),
}
"""How many units on what they stand before is."""

UNITS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("天", "日", "日間"), "day"),
    **dict.fromkeys(("周", "週", "週間", "星期", "礼拜", "禮拜"), "week"),
    **dict.fromkeys(("月", "か月", "ヶ月", "カ月", "ヵ月", "箇月", "か月間", "ヶ月間"), "month"),
    **dict.fromkeys(("季度", "四半期"), "quarter"),
    **dict.fromkeys(("年", "年間"), "year"),
    **dict.fromkeys(("周末", "週末"), "weekend"),
}

WEEKDAYS: Final[Mapping[str, int]] = {
    **dict(zip("一二三四五六日", range(7), strict=True)),
    **dict(zip("月火水木金土", range(6), strict=True)),
    "天": 6,
}

EDGES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("最初", "头", "頭", "首"), 1),
    **dict.fromkeys(("最后", "最後", "最終"), -1),
}
"""Which of the weeks or days of a longer time, where no number says it."""

SEASONS: Final[Mapping[str, int]] = dict(zip("春夏秋冬", range(4), strict=True))

PARTS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("上旬", "初", "はじめ", "初め", "初头"), 0),
    **dict.fromkeys(("中旬", "半ば", "中期"), 1),
    **dict.fromkeys(("下旬", "底", "末", "终わり", "終わり"), 2),
}
"""Which third of a month or year."""

ROLLING: Final = "最近|过去|過去|近|这|這|ここ|この|直近"
AGO: Final = "之前|以前|前"
SINCE_BEFORE: Final = "自从|自從|自|从|從"
SINCE: Final = "以来|以來|以降|起|开始|開始|到现在|至今|から"
AFTER: Final = "之后|之後|以后|以後|より後|の後|過ぎ"
BEFORE: Final = "之前|以前|より前|の前"
UNTIL: Final = "まで|为止|為止"
FROM: Final = "自从|自|从|從"
TO: Final = "到|至|から|〜|～|~|-|–|—"
AND_BETWEEN: Final = "和|与|與|跟|と"
BETWEEN_END: Final = "之间|之間|间|の間|までの間|まで|間"
BEFORE_IT: Final = "在|于|於"
"""Words that only say that a time follows."""
AFTER_NUMBERED_DAY: Final = "$|\\W|に|の|は|も|何|的|我|写|寫|做|记|記|发生|發生|有|早|晚|上午|下午"
"""What may stand after 8日 or 8号 alone, where it is a day and not a stretch of days or the number of a house."""
AFTER_IT: Final = "のうちに|の間に|中に|に|の|は|で|间|間|里|裡|内|期间|の時|时|的时候|的|头|頃"
"""And that it is one, which go with it."""
