"""The words by which people say when something happens, by which they ask for that, and how a question ends."""

from typing import Final

from zkchat.model.patterns import lazy_pattern

ENDS_AS_QUESTION: Final = lazy_pattern(r"(?:[?？؟]|[\u0370-\u03ff];|か[。．]?|吗[。．]?|嗎[。．]?|ไหม|มั้ย)\W*\Z")
"""At the end of a text. Greek asks with a semicolon."""

TIME_WORDS: Final = """
    yesterday today tomorrow tonight ago last next week weekend month year day night morning evening afternoon noon
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december recently soon since later earlier
    gestern heute morgen vorgestern übermorgen letzte letzten letzter letztes nächste nächsten nächster nächstes woche
    wochen wochenende monat jahr jahre tag tage nacht abend nachmittag mittag montag dienstag mittwoch donnerstag
    freitag samstag sonntag januar februar märz juni juli oktober dezember neulich kürzlich bald seit später früher
    hier aujourd demain semaine mois ans année jour nuit matin soir midi lundi mardi mercredi jeudi vendredi samedi
    dimanche janvier février mars avril mai juin juillet août septembre octobre novembre décembre dernier dernière
    prochain prochaine récemment bientôt depuis
    ayer hoy mañana anoche semana meses año años día noche tarde lunes martes miércoles jueves viernes sábado
    domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre pasado pasada
    próximo próxima hace recientemente pronto desde
    ieri oggi domani settimana mese mesi anno anni giorno giorni notte mattina sera pomeriggio lunedì martedì mercoledì
    giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre scorso
    scorsa prossimo prossima fa recentemente presto
    ontem hoje amanhã ano dia noite manhã segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho
    setembro outubro novembro dezembro atrás
    gisteren vandaag maand jaar dag dagen ochtend avond middag maandag dinsdag woensdag donderdag vrijdag zaterdag
    zondag januari februari maart mei augustus vorige volgende geleden onlangs sinds
    вчера сегодня завтра позавчера послезавтра неделя неделю неделе месяц год году лет день дня дней ночь утро утром
    вечер вечером понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье январь января
    февраль февраля март марта апрель апреля май мая июнь июня июль июля август августа сентябрь сентября октябрь
    октября ноябрь ноября декабрь декабря прошлый прошлой прошлом следующий следующей назад недавно скоро
    कल आज परसों सप्ताह हफ्ते हफ़्ते महीने महीना साल दिन रात सुबह शाम सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार
    जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर पिछले पिछली अगले अगली
    أمس اليوم غدا أسبوع الأسبوع شهر الشهر سنة السنة عام العام يوم ليلة صباح مساء الاثنين الثلاثاء الأربعاء الخميس الجمعة
    السبت الأحد يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر الماضي الماضية القادم
    القادمة منذ
    igår idag imorgon vecka månad år dagen går uge måned uke eilen tänään huomenna viikko viikolla
    kuukausi vuosi vuonna päivä wczoraj dziś dzisiaj jutro tydzień tygodniu miesiąc rok roku dzień temu včera dnes zítra
    týden týdnu měsíc tegnap holnap hét héten hónap év évben ieri azi mâine săptămâna lună anul ziua dün bugün
    yarın hafta ay yıl gün önce hôm tuần tháng năm ngày kemarin hari besok minggu bulan tahun lalu ahir avui
    demà setmana вчора сьогодні тиждень тижня місяць рік року днес утре седмица месец година دیروز امروز فردا
    هفته ماه سال روز گذشته کل آج ہفتہ ہفتے مہینہ مہینے سال دن پچھلے
"""

UNSPACED_TIME_WORDS: Final = (
    *(
        "昨天",
        "今天",
        "明天",
        "前天",
        "后天",
        "昨晚",
        "今晚",
        "上周",
        "下周",
        "周末",
        "星期",
        "上个月",
        "下个月",
        "去年",
        "今年",
        "明年",
        "最近",
    ),
    *(
        "昨日",
        "今日",
        "明日",
        "一昨日",
        "先週",
        "今週",
        "来週",
        "週末",
        "曜日",
        "先月",
        "今月",
        "来月",
        "来年",
        "昨夜",
        "今朝",
    ),
    *("어제", "오늘", "내일", "지난", "다음", "요일", "작년", "올해", "내년", "주말", "최근"),
    *("เมื่อวาน", "วันนี้", "พรุ่งนี้", "สัปดาห์", "เดือน", "ปีที่"),
)

ASKING_FOR_TIME: Final = """
    when date month year
    wann datum monat jahr quand mois année cuándo cuando fecha año quando mese anno ano wanneer maand jaar
    когда год году месяц дата дату कब तारीख साल متى تاريخ när datum når hvornår milloin kiedy kdy mikor când zaman tarih
    khi kapan quan коли кога کب تاریخ
"""

UNSPACED_ASKING_FOR_TIME: Final = (
    *(
        "什么时候",
        "什麼時候",
        "何时",
        "何時",
        "几点",
        "几号",
        "哪天",
        "哪年",
        "几月",
        "いつ",
        "何日",
        "何月",
        "何年",
        "何曜日",
    ),
    *("언제", "몇 시", "며칠", "몇 월", "เมื่อไหร่", "เมื่อไร", "วันไหน"),
)
