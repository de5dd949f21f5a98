"""Makes the PDFs of `pdfs/` and the text that each of them shows, with the layout programs that people use.

Run it in an environment of its own, because zkchat needs none of these programs:
`pip install typst reportlab fpdf2 pillow`, `apt install fonts-noto-cjk fonts-dejavu-core`, then
`python -m benchmarks.attachments.make_pdfs`. The expected text has a form feed between pages and a blank line between
paragraphs; running headers and footers are not in it.
"""

# mypy: ignore-errors
# ruff: noqa: E501

from io import BytesIO
from pathlib import Path

FOLDER = Path(__file__).parent / "pdfs"
DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
NOTO = "/usr/share/fonts/opentype/noto"

TIDES = [
    "The tide at a coast is the sum of many waves, each with a period that the sun and the moon dictate. A table of "
    "tides is made by fitting the heights of these waves to a year of observations, and by adding them up again for "
    "the days to come.",
    "Thirty-seven constituents suffice for most harbours. In shallow estuaries the friction at the bottom makes "
    "overtides, whose periods are fractions of the principal ones, and more than a hundred constituents may be needed "
    "before the difference between prediction and observation falls below ten centimetres.",
    "Weather is the largest remaining error. A storm that blows toward the coast raises the water, and a fall of the "
    "air pressure by one hectopascal lets it rise by about one centimetre; both effects were known to the pilots of "
    "the eighteenth century.",
]
GAUGES = [
    "A gauge of the older kind is a float in a well that is connected with the sea by a narrow pipe. The pipe damps "
    "the waves of the wind, so that the pen draws only the slow rise and fall. Marine growth closes such pipes within "
    "a few years, and the curve becomes flatter without anybody noticing.",
    "Radar gauges look down at the surface from a bridge or a pier. They have no parts in the water, need no "
    "calibration beyond their first week, and report every six minutes. Their weakness is ice and floating "
    "timber, which they take for water.",
    "Where two gauges stand side by side, the differences between them tell more about the instruments than about the "
    "sea. It is therefore customary to let the old instrument run for a full year beside its successor.",
]


def keep(name, data, pages):
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.pdf").write_bytes(data)
    text = "\f".join("\n\n".join(paragraphs) for paragraphs in pages)
    (FOLDER / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


def from_typst(source, fonts=()):
    import typst

    return typst.compile(source.encode(), font_paths=[*fonts], ignore_system_fonts=True)


def columns():
    title, author = "Predicting the Tide", "A. Waters and B. Shore"
    source = f"""
#set document(title: "{title}", author: "A. Waters")
#set page(width: 148mm, height: 210mm, margin: 15mm, columns: 2)
#set par(justify: true)
#set text(font: "Libertinus Serif", size: 9pt, lang: "en", hyphenate: true)
#place(top + center, scope: "parent", float: true)[#text(16pt)[{title}] #linebreak() {author}]
= Constituents
{_paragraphs(TIDES)}
= Gauges
{_paragraphs(GAUGES)}
#pagebreak()
= Errors
{_paragraphs(TIDES[::-1])}
"""
    first = [title, author, "Constituents", *TIDES, "Gauges", *GAUGES]
    keep("columns", from_typst(source), [first, ["Errors", *TIDES[::-1]]])


def lines_across():
    """Two columns whose lines were written across the page, as some word processors and scanners do it."""
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(420, 420), invariant=1)
    canvas.setFont("Times-Bold", 14)
    canvas.drawString(30, 390, "Tides and their gauges")
    canvas.setFont("Times-Roman", 10)
    left = [line for text in TIDES for line in (*wrapped(text, 38), "")]
    right = [line for text in GAUGES for line in (*wrapped(text, 38), "")]
    for number in range(max(len(left), len(right))):
        for x, lines in ((30, left), (225, right)):
            if number < len(lines):
                canvas.drawString(x, 360 - 12 * number, lines[number])
    canvas.save()
    keep("lines-across", out.getvalue(), [["Tides and their gauges", *TIDES, *GAUGES]])


def _paragraphs(texts):
    return "\n\n".join(texts)


LIGATURES = [
    "The chief officer found the affidavit in a file of the first floor office, flanked by five flags. It was "
    "difficult to fit the offprint into the coffer; a sufficient effort baffled the staff.",
    "Fjords, fluffy waffles, and a rifle: the typesetter draws each pair as one sign, and a search for finance, "
    "conflict or shuffle must still find the word.",
]


def ligatures():
    source = f"""
#set page(width: 120mm, height: 80mm, margin: 12mm)
#set par(justify: true)
#set text(font: "New Computer Modern", size: 11pt, lang: "en")
{_paragraphs(LIGATURES)}
"""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    keep("ligatures", from_typst(source), [LIGATURES])
    # The same with the signs U+FB00 to U+FB04 in the text itself, as older programs write them.
    pdfmetrics.registerFont(TTFont("DejaVu", DEJAVU))
    out = BytesIO()
    canvas = Canvas(out, pagesize=(340, 230), invariant=1)
    canvas.setFont("DejaVu", 10)
    y = 200
    for text in LIGATURES:
        for line in wrapped(text, 52):
            drawn = line
            for plain, sign in (
                ("ffi", "\ufb03"),
                ("ffl", "\ufb04"),
                ("ff", "\ufb00"),
                ("fi", "\ufb01"),
                ("fl", "\ufb02"),
            ):
                drawn = drawn.replace(plain, sign)
            canvas.drawString(20, y, drawn)
            y -= 13
        y -= 13
    canvas.save()
    keep("ligature-signs", out.getvalue(), [LIGATURES])


def wrapped(text, width):
    import textwrap

    return textwrap.wrap(text, width, break_on_hyphens=False)


GERMAN = [
    "Die Rechtschreibreform veränderte die Silbentrennung, und Schriftsetzerinnen mussten sich umgewöhnen. In schmalen "
    "Spalten entstehen besonders viele Trennstriche, weil zusammengesetzte Hauptwörter wie Donaudampfschifffahrt, "
    "Wissenschaftsgeschichte oder Arbeitszeitverkürzung selten in eine Zeile passen.",
    "Ein Suchprogramm, das Zeilenenden nicht zusammenfügt, findet weder die Wissenschaftsgeschichte noch die "
    "Arbeitszeitverkürzung. Umgekehrt dürfen die Nord-Süd-Verbindung und das E-Mail-Programm ihre Bindestriche nicht "
    "verlieren, auch wenn die Zeile gerade dort endet.",
]


def hyphenation():
    source = f"""
#set page(width: 62mm, height: 190mm, margin: 8mm)
#set par(justify: true)
#set text(font: "Libertinus Serif", size: 10pt, lang: "de", hyphenate: true)
{_paragraphs(GERMAN)}
"""
    keep("hyphenation", from_typst(source), [GERMAN])


CHINESE = [
    "卡片笔记法要求每张卡片只写一个想法，并且用自己的话来写。卡片之间的链接比文件夹更重要，因为思想不是树而是网。",
    "尼克拉斯·卢曼在三十年间写下了九万张卡片，出版了五十多本书。他说：不写，就不能思考。",
]
JAPANESE = [
    "カード式のノートでは、一枚のカードに一つの考えだけを書く。カードとカードのつながりが、フォルダーよりも大切である。",
    "ルーマンは三十年間に九万枚のカードを書き、五十冊以上の本（例えば『社会システム理論』）を出版した。",
]


def chinese_japanese():
    def page(texts, lang, font):
        body = _paragraphs(texts)
        return f'#text(font: "{font}", lang: "{lang}")[\n{body}\n]'

    source = f"""
#set page(width: 100mm, height: 80mm, margin: 12mm)
#set text(size: 10pt)
#set par(justify: true)
{page(CHINESE, "zh", "Noto Serif CJK SC")}
#pagebreak()
{page(JAPANESE, "ja", "Noto Serif CJK JP")}
"""
    keep("chinese-japanese", from_typst(source, [NOTO]), [CHINESE, JAPANESE])


def cid_fonts():
    """CJK without an embedded font: the reader has to know the encoding by its name."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(340, 230), invariant=1)
    for name, texts in (("STSong-Light", CHINESE), ("HeiseiMin-W3", JAPANESE)):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        canvas.setFont(name, 12)
        y = 200
        for text in texts:
            for at in range(0, len(text), 24):
                canvas.drawString(20, y, text[at : at + 24])
                y -= 16
            y -= 16
        canvas.showPage()
    canvas.save()
    keep("cid-fonts", out.getvalue(), [CHINESE, JAPANESE])


ACCENTS = [
    "Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy. Árvíztűrő tükörfúrógép.",
    "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë au delà des îles.",
    "Tôi có thể ăn thủy tinh mà không hại gì. Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Съешь ещё этих мягких французских булок.",
]


def accents():
    from fpdf import FPDF

    pdf = FPDF(format="A5")
    pdf.set_creation_date(_day())
    pdf.add_font("DejaVu", "", DEJAVU)
    pdf.set_font("DejaVu", size=11)
    pdf.add_page()
    for text in ACCENTS:
        pdf.multi_cell(0, 6, text, align="L")
        pdf.ln(8)
    keep("accents", bytes(pdf.output()), [ACCENTS])


def _day():
    from datetime import UTC, datetime

    return datetime(2026, 3, 8, tzinfo=UTC)


ROWS = [
    ("Harbour", "Mean range", "Highest tide", "Since"),
    ("Brest", "4.4 m", "8.3 m", "1711"),
    ("Liverpool", "6.5 m", "10.4 m", "1768"),
    ("Cuxhaven", "2.9 m", "9.8 m", "1843"),
    ("Saint John", "6.7 m", "9.0 m", "1894"),
]


def table():
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A5
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

    out = BytesIO()
    style = getSampleStyleSheet()
    cells = Table(ROWS)
    cells.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey)]))
    before = "The longest series of the four harbours is that of Brest."
    after = "Ranges are those of spring tides."
    SimpleDocTemplate(out, pagesize=A5, invariant=1).build(
        [Paragraph(before, style["BodyText"]), Spacer(1, 12), cells, Spacer(1, 12), Paragraph(after, style["BodyText"])]
    )
    keep("table", out.getvalue(), [[before, "\n".join(" ".join(row) for row in ROWS), after]])


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def report():
    """Sixty pages with running headers, page numbers and an outline."""
    from reportlab.lib.pagesizes import A5
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=A5, invariant=1)
    canvas.setTitle("Annual Report of the Harbour Office")
    pages = []
    for number in range(1, 61):
        chapter = (number - 1) // 5
        canvas.setFont("Times-Italic", 9)
        canvas.drawString(
            40, 560, f"Harbour Office, Annual Report 1911{'' if number % 2 else '   Chapter ' + NUMBERS[chapter]}"
        )
        canvas.drawCentredString(210, 25, f"Page {number} of 60")
        canvas.setFont("Times-Roman", 11)
        paragraphs = []
        if number % 5 == 1:
            paragraphs.append(f"Chapter {NUMBERS[chapter]}")
            canvas.bookmarkPage(f"c{chapter}")
            canvas.addOutlineEntry(f"Chapter {NUMBERS[chapter]}", f"c{chapter}", 0)
        paragraphs.append(
            f"On day {number} of the survey the water stood {100 + 7 * number % 83} centimetres above the datum of the lock."
        )
        paragraphs.append(TIDES[number % 3] if number % 2 else GAUGES[number % 3])
        y = 520
        for paragraph in paragraphs:
            for line in wrapped(paragraph, 62):
                canvas.drawString(40, y, line)
                y -= 14
            y -= 10
        canvas.showPage()
        pages.append(paragraphs)
    canvas.save()
    keep("report", out.getvalue(), pages)


def rotated():
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(300, 400), invariant=1)
    pages = []
    for rotation in (90, 270):
        canvas.setPageRotation(rotation)
        canvas.saveState()
        if rotation == 90:  # the text runs upwards on the sheet, and level once the page is turned
            canvas.translate(300, 0)
            canvas.rotate(90)
        else:
            canvas.translate(0, 400)
            canvas.rotate(-90)
        canvas.setFont("Helvetica", 11)
        paragraphs = [TIDES[2], GAUGES[1]]
        y = 270
        for paragraph in paragraphs:
            for line in wrapped(paragraph, 64):
                canvas.drawString(20, y, line)
                y -= 14
            y -= 14
        canvas.restoreState()
        canvas.showPage()
        pages.append(paragraphs)
    canvas.save()
    keep("rotated", out.getvalue(), pages)


def form():
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(340, 230), invariant=1)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(20, 190, "Request for a berth")
    canvas.drawString(20, 160, "Name of the ship:")
    canvas.acroForm.textfield(
        name="ship", value="Albatross of Bergen", x=130, y=152, width=180, height=20, borderWidth=0
    )
    canvas.drawString(20, 120, "Draught in metres:")
    canvas.acroForm.textfield(name="draught", value="6.40", x=130, y=112, width=180, height=20, borderWidth=0)
    canvas.textAnnotation("The master asks for a tug.", Rect=[20, 60, 40, 80])
    canvas.drawString(20, 80, "Berths are given in the order of requests.")
    canvas.save()
    texts = [
        "Request for a berth",
        "Name of the ship: Albatross of Bergen\nDraught in metres: 6.40",
        "Berths are given in the order of requests.",
        "The master asks for a tug.",
    ]
    keep("form", out.getvalue(), [texts])


def scanned():
    from fpdf import FPDF
    from PIL import Image, ImageDraw

    image = Image.new("1", (400, 300), 1)
    ImageDraw.Draw(image).text((20, 20), "A scanned page has no text.", fill=0)
    pdf = FPDF(format=(100, 80))
    pdf.set_creation_date(_day())
    pdf.add_page()
    pdf.image(image, x=5, y=5, w=90)
    pdf.add_page()
    pdf.set_font("Helvetica", size=11)
    text = "The second page of this document was typed, and can be read."
    pdf.multi_cell(0, 6, text)
    keep("scanned", bytes(pdf.output()), [[], [text]])


def spaceless():
    """Words without spaces between them, moved apart and kerned as TeX does it."""
    from reportlab.pdfbase.pdfmetrics import stringWidth
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(340, 400), invariant=1)
    y = 370
    for text in (*TIDES, GAUGES[0]):
        lines = wrapped(text, 58)
        for line in lines:
            words = line.split()
            gaps = len(words) - 1
            free = 300 - sum(stringWidth(word, "Times-Roman", 11) for word in words)
            gap = free / gaps if gaps and line is not lines[-1] else 2.75
            parts = f"{-gap / 11 * 1000:.0f}".join(f"({_kerned(word)})" for word in words)
            canvas._code.append(f"BT /F2 11 Tf 1 0 0 1 20 {y} Tm [{parts}] TJ ET")
            y -= 13
        y -= 6
    canvas.setFont("Times-Roman", 11)  # so that the font is in the resources
    canvas.save()
    keep("spaceless", out.getvalue(), [[*TIDES, GAUGES[0]]])


def _kerned(word):
    """A kern of a few thousandths within words of four letters or more."""
    word = word.replace("(", "\\(").replace(")", "\\)")
    return f"{word[:1]})-15({word[1:3]})20({word[3:]}" if len(word) > 3 else word


def encrypted():
    """Without its password nothing of it can be read, so there is no text beside it."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    out = BytesIO()
    canvas = Canvas(out, pagesize=(200, 100), encrypt=StandardEncryption("user", "owner"), invariant=1)
    canvas.drawString(20, 50, "Nobody reads this.")
    canvas.save()
    (FOLDER / "encrypted.pdf").write_bytes(out.getvalue())


if __name__ == "__main__":
    for make in (
        columns,
        lines_across,
        ligatures,
        hyphenation,
        chinese_japanese,
        cid_fonts,
        accents,
        table,
        report,
        rotated,
        form,
        scanned,
        spaceless,
        encrypted,
    ):
        make()
