"""Write `runtime/unicode_tables.py` from this interpreter's `unicodedata` (version 14.0.0).

Run it with CPython 3.11: `python tests/assets/make_unicode_tables.py > OUTPUT`. The tables are
frozen so that every interpreter judges a text alike. `unicodedata` has no script property: a
letter's script is the one its character name begins with, after words such as FULLWIDTH; a letter
whose name begins with none is Common, as are all that are no letters.
"""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Iterable

# The scripts of Unicode 14 as their character names spell them.
SCRIPTS = """
ADLAM;AHOM;ANATOLIAN HIEROGLYPH;ARABIC;ARMENIAN;AVESTAN;BALINESE;BAMUM;BASSA VAH;BATAK;BENGALI;
BHAIKSUKI;BOPOMOFO;BRAHMI;BUGINESE;BUHID;CANADIAN SYLLABICS;CARIAN;CAUCASIAN ALBANIAN;CHAKMA;CHAM;
CHEROKEE;CHORASMIAN;COPTIC;CUNEIFORM;CYPRIOT;CYPRO-MINOAN;CYRILLIC;DESERET;DEVANAGARI;DIVES AKURU;
DOGRA;DUPLOYAN;EGYPTIAN HIEROGLYPH;ELBASAN;ELYMAIC;ETHIOPIC;GEORGIAN;GLAGOLITIC;GOTHIC;GRANTHA;
GREEK;GUJARATI;GUNJALA GONDI;GURMUKHI;HANGUL;HANIFI ROHINGYA;HANUNOO;HATRAN;HEBREW;HIRAGANA;
IMPERIAL ARAMAIC;INSCRIPTIONAL PAHLAVI;INSCRIPTIONAL PARTHIAN;JAVANESE;KAITHI;KANNADA;KATAKANA;
KAYAH LI;KHAROSHTHI;KHITAN SMALL SCRIPT;KHMER;KHOJKI;KHUDAWADI;LAO;LATIN;LEPCHA;LIMBU;LINEAR A;
LINEAR B;LISU;LYCIAN;LYDIAN;MAHAJANI;MAKASAR;MALAYALAM;MANDAIC;MANICHAEAN;MARCHEN;MASARAM GONDI;
MEDEFAIDRIN;MEETEI MAYEK;MENDE KIKAKUI;MEROITIC CURSIVE;MEROITIC HIEROGLYPHIC;MIAO;MODI;MONGOLIAN;
MRO;MULTANI;MYANMAR;NABATAEAN;NANDINAGARI;NEWA;NEW TAI LUE;NKO;NUSHU;NYIAKENG PUACHUE HMONG;OGHAM;
OLD HUNGARIAN;OLD ITALIC;OLD NORTH ARABIAN;OLD PERMIC;OLD PERSIAN;OLD SOGDIAN;OLD SOUTH ARABIAN;
OLD TURKIC;OLD UYGHUR;OL CHIKI;ORIYA;OSAGE;OSMANYA;PAHAWH HMONG;PALMYRENE;PAU CIN HAU;PHAGS-PA;
PHOENICIAN;PSALTER PAHLAVI;REJANG;RUNIC;SAMARITAN;SAURASHTRA;SHARADA;SHAVIAN;SIDDHAM;SINHALA;
SOGDIAN;SORA SOMPENG;SOYOMBO;SUNDANESE;SYLOTI NAGRI;SYRIAC;TAGALOG;TAGBANWA;TAI LE;TAI THAM;
TAI VIET;TAKRI;TAMIL;TANGSA;TANGUT;TELUGU;THAANA;THAI;TIBETAN;TIFINAGH;TIRHUTA;TOTO;UGARITIC;VAI;
VITHKUQI;WANCHO;WARANG CITI;YEZIDI;YI;ZANABAZAR SQUARE
"""
NAMES = sorted((name.strip() for name in SCRIPTS.split(";")), key=len, reverse=True)
ALIASES = {
    "CJK UNIFIED IDEOGRAPH": "Han", "CJK COMPATIBILITY IDEOGRAPH": "Han",
    "IDEOGRAPHIC ITERATION MARK": "Han", "IDEOGRAPHIC CLOSING MARK": "Han",
    "HENTAIGANA": "Hiragana", "FEMININE ORDINAL": "Latin", "MASCULINE ORDINAL": "Latin",
    "KELVIN SIGN": "Latin", "ANGSTROM SIGN": "Latin", "OHM SIGN": "Greek",
}  # fmt: skip
STYLES = ("FULLWIDTH ", "HALFWIDTH ", "SUPERSCRIPT ", "SUBSCRIPT ", "MODIFIER LETTER ")
# White_Space of PropList.txt, which `unicodedata` does not have.
WHITE_SPACE = (
    (0x9, 0xD), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip


HEAD = '''"""Character tables of Unicode 14.0.0, written by `tests/assets/make_unicode_tables.py`.

A table is code point ranges, each `gap` or `gap,length` in hexadecimal: the gap from the last
range's end to this one's start, and how many more points it holds.
"""

from __future__ import annotations

from typing import Final
'''
DECODER = '''
def decoded(table: str) -> list[tuple[int, int]]:
    """The inclusive code point ranges of a table, in order."""
    out: list[tuple[int, int]] = []
    last = 0
    for item in table.split():
        gap, _, more = item.partition(",")
        low = last + int(gap, 16)
        last = low + (int(more, 16) if more else 0)
        out.append((low, last))
    return out
'''


def script(char: str) -> str | None:
    """The script of a letter as Unicode spells it (`Old Italic`), or None for Common."""
    if not unicodedata.category(char).startswith("L"):
        return None
    name = unicodedata.name(char, "")
    if not name:  # CPython names no ideograph of Tangut; every other letter has a name
        return "Tangut"
    for style in STYLES:
        name = name.removeprefix(style)
    for prefix, known in ALIASES.items():
        if name.startswith(prefix):
            return known
    found = next((known for known in NAMES if name.startswith(known + " ")), None)
    return None if found is None else found.title()


def ranges(points: Iterable[int]) -> list[tuple[int, int]]:
    """Sorted code points as inclusive ranges."""
    out: list[tuple[int, int]] = []
    for point in points:
        if out and out[-1][1] == point - 1:
            out[-1] = (out[-1][0], point)
        else:
            out.append((point, point))
    return out


def encoded(pairs: Iterable[tuple[int, int]]) -> str:
    """`gap,length` a range in hexadecimal; a gap of 1 and a length of 0 are left out."""
    words, last = [], 0
    for low, high in pairs:
        words.append(f"{low - last:x}" + (f",{high - low:x}" if high > low else ""))
        last = high
    return " ".join(words)


def constant(name: str, about: str, text: str) -> str:
    """One assignment of a long text, wrapped."""
    if len(text) < 80:
        return f'#: {about}\n{name}: Final = "{text}"\n'
    lines = textwrap.wrap(text, 90, break_on_hyphens=False)
    body = "\n".join(f'    "{line} "' for line in lines[:-1])
    body += ("\n" if body else "") + f'    "{lines[-1]}"'
    return f"#: {about}\n{name}: Final = (\n{body}\n)\n"


def tables() -> str:
    """The text of the module."""
    chars = [chr(point) for point in range(sys.maxunicode + 1)]
    kinds = [unicodedata.category(char) for char in chars]
    word = [n for n, kind in enumerate(kinds) if kind[0] in "LMN" or kind == "Pc"]
    digits = [n for n, kind in enumerate(kinds) if kind == "Nd"]
    scripts: dict[str, list[int]] = {}
    for n, char in enumerate(chars):
        name = script(char)
        if name is not None:
            scripts.setdefault(name, []).append(n)
    by_script = ";".join(f"{name}:{encoded(ranges(scripts[name]))}" for name in sorted(scripts))
    parts = [
        HEAD,
        f'VERSION: Final = "{unicodedata.unidata_version}"\n',
        constant("WORD", "General categories L, M, N and Pc.", encoded(ranges(word))),
        constant("DIGIT", "General category Nd.", encoded(ranges(digits))),
        constant("SPACE", "White_Space.", encoded(WHITE_SPACE)),
        constant("SCRIPTS", "`script:table` for letters, joined by `;`.", by_script),
    ]
    return "\n".join(parts) + "\n" + DECODER


if __name__ == "__main__":
    sys.stdout.write(tables())
