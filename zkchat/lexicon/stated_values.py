"""Words that say what something is like: colours, and the verbs of sentences that tell a state."""

from typing import Final

COLOURS: Final = """
    red green blue yellow orange purple violet pink brown black white grey gray beige turquoise silver golden
    rot rote roter rotes grün grüne grüner grünes blau blaue blauer blaues gelb gelbe gelber gelbes lila violett rosa
    braun braune brauner braunes schwarz schwarze schwarzer schwarzes weiß weiße weißer weißes grau graue grauer graues
    türkis silbern golden
    rouge rouges vert verte verts vertes bleu bleue bleus bleues jaune jaunes violette brun brune bruns brunes marron
    noir noire noirs noires blanc blanche blancs blanches gris grise grises rose roses
    rojo roja rojos rojas verde verdes azul azules amarillo amarilla amarillos amarillas naranja morado morada marrón
    marrones negro negra negros negras blanco blanca blancos blancas grises
    vermelho vermelha vermelhos vermelhas azuis amarelo amarela amarelos amarelas laranja roxo roxa marrom preto preta
    pretos pretas branco branca brancos brancas cinza cinzento cinzenta cinzentos cinzentas
"""
COLOUR_NOUNS: Final = "colour color farbe couleur cor"
UNSPACED_COLOURS: Final = r"[红紅橙黄黃绿綠緑蓝藍紫黑白灰棕粉青褐茶赤]色|[赤青緑黒白](?=です|だ|[。！，、]|$)"
UNSPACED_COLOUR_NOUNS: Final = "颜 顏 色"

STATE_VERBS: Final = """
    is are stands stand lies lie hangs hang lives live
    ist sind liegt liegen steht stehen hängt hängen wohnt wohnen
    est sont trouve trouvent
    es son está están
    é são fica ficam estão
"""
"""In the present: what is said of the past may have been so and be otherwise another time."""

PLACE_WORDS: Final = {
    "en": "in on at under behind beside near of from",
    "de": "in im an am auf unter hinter neben bei beim aus",
    "fr": "dans sur sous derrière chez en à au de",
    "es": "en sobre bajo tras de",
    "pt": "em no na nos nas sob sobre de",
}
"""Before what may be another word where all else of a sentence is the same, by language."""
