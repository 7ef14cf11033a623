"""Character tables of Unicode 14.0.0, written by `tests/assets/make_unicode_tables.py`.

A table is code point ranges, each `gap` or `gap,length` in hexadecimal: the gap from the last
range's end to this one's start, and how many more points it holds.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "14.0.0"

#: General categories L, M, N and Pc.
WORD: Final = (
    "30,9 8,19 5 2,19 30 8,1 2 4,1 2,2 2,16 2,1e 2,1c9 5,b f,4 8 2 12,74 2,1 3,3 2 7 2,2 2 2,13 "
    "2,52 2,8a 2,ac 2,25 3 7,28 9,2c 2 2,1 2,1 2 9,1a 5,3 1e,a 6,49 5,65 2,7 3,9 2,12 3 11,3a "
    "3,64 f,35 5 3 3,2d 13,1b 5,a 6,17 2,5 a,49 2,80 3,9 2,12 2,7 3,1 3,15 2,6 2 4,3 3,8 3,1 "
    "3,3 9 5,1 2,4 3,b 3,5 3 2 3,2 2,5 5,1 3,15 2,6 2,1 2,1 2,1 3 2,4 5,1 3,2 4 8,3 2 8,f c,2 "
    "2,8 2,2 2,15 2,6 2,1 2,4 3,9 2,2 2,2 3 10,3 3,9 a,6 2,2 2,7 3,1 3,15 2,6 2,1 2,4 3,8 3,1 "
    "3,2 8,2 5,1 2,4 3,9 2,6 b,1 2,5 4,2 2,3 4,1 2 2,1 4,1 4,2 4,b 5,4 4,2 2,3 3 7 f,c e,c 2,2 "
    "2,16 2,f 3,8 2,2 2,3 8,1 2,2 3 3,3 3,9 9,6 2,3 2,7 2,2 2,16 2,9 2,4 3,8 2,2 2,3 8,1 7,1 "
    "2,3 3,9 2,1 e,c 2,2 2,32 2,2 2,4 6,f 3,12 2,5 2,2 2,11 4,17 2,8 2 3,6 4 5,5 2 2,7 7,9 3,1 "
    "e,39 6,e 2,9 28,1 2 2,4 2,17 2 2,16 3,4 2 2,5 3,9 3,3 21 18,1 7,13 2 2 2 5,9 2,23 5,13 "
    "2,11 2,23 a 3a,49 7,4d 3,25 2 6 3,2a 2,14c 2,3 3,6 2 2,3 3,28 2,3 3,20 2,3 3,6 2 2,3 3,e "
    "2,38 2,3 3,42 3,2 a,13 4,f 11,55 3,5 4,26b 3,10 2,19 6,4a 4,a 8,15 a,15 c,13 d,c 2,2 2,1 "
    "d,53 4 5,1 3,9 7,9 12,2 2,a 7,58 8,2a 6,45 b,1e 2,b 5,b b,27 3,4 c,2b 5,19 7,a 26,1b 5,3e "
    "2,1c 3,a 7,9 e 9,1e 32,4c 4,9 12,8 d,73 d,37 9,9 4,30 3,8 8,2a 3,2 11,2 2,26 6,215 3,5 "
    "3,25 3,5 3,7 2 2 2 2,1e 3,34 2,6 2 4,2 2,6 4,3 3,5 5,c 6,2 2,6 43,1 14 1c,1 3,5 6,a 7,c "
    "34,20 12 5 3,9 2 4,4 7 2 2 2,3 2,a 3,3 6,4 5 2,39 2d7,3b 4f,15 277,1d 46d,e4 7,8 a 3,25 2 "
    "6 3,37 8 10,17 a,6 2,6 2,6 2,6 2,6 2,6 2,6 2,6 2,1f 30 1d6,2 1a,e 2,4 3,4 5,55 3,1 3,2 "
    "2,59 2,3 6,2a 2,5d 4,3 b,1f 31,f 21,9 1f,7 2,e 21,9 28,e 141,19bf 41,568c 44,2d 3,10c 4,1b "
    "15,32 2,9 2,72 26,8 3,66 3,3f 6,1 2 2,4 19,35 5 4,5 b,33 d,45 b,9 7,17 4 2,30 3,23 d,1c "
    "4,40 f,a 7,1e 2,36 a,d 3,9 7,16 4,48 19,2 3,f 3,4 b,5 3,5 3,5 a,6 2,6 2,2a 2,d 7,7a 2,1 "
    "3,9 7,2ba3 d,16 5,30 2105,16d 3,69 27,6 d,4 6,b 2,c 2,4 2 2,1 2,1 2,6b 22,16a 13,3f 3,35 "
    "29,b 5,f 11,f 4,1 19,2 21,4 2,86 14,9 8,19 5 2,19 c,58 4,5 3,5 3,5 3,2 24,b 2,19 2,12 2,1 "
    "2,e 3,d 23,7a d,2c d,38 12,1 72 83,1c 4,30 10,1b 5,23 a,1d 6,2a 6,1d 3,23 5,7 2,4 2b,9d "
    "3,9 7,23 5,23 5,27 9,33 d,a 2,e 2,6 2,1 2,a 2,e 2,6 2,1 44,136 a,15 b,7 19,5 2,29 2,8 46,5 "
    "3 2,2b 2,1 4 3,16 3,1e 3,25 9,8 31,12 2,1 6,20 5,19 47,37 5,13 3,31 2,1 6,7 2,2 2,1c 3,2 "
    "5,9 18,1e 2,1f 21,7 2,1d 5,4 11,35 b,15 3,1a 6,19 18,6 51,48 38,32 e,32 8,2d 9,9 127,1e "
    "2,29 2,1 4,1 4f,27 9,24 1c,15 2b,1b 15,16 a,46 c,23 a,3b 8 e,18 8,9 7,34 2,9 5,3 9,23 3 "
    "a,44 5,3 2,c 2 5,13 c,11 2,24 7 42,6 2 2,3 2,e 2,9 8,3a 6,9 7,3 2,7 3,1 3,15 2,6 2,1 2,4 "
    "2,9 3,1 3,2 3 7 6,6 3,6 4,4 8c,4a 6,9 5,3 1f,45 2 9,9 a7,35 3,8 18,5 23,40 4 c,9 27,38 8,9 "
    "37,1a 3,e 5,b 5,6 ba,3a 66,52 d,7 3 3,7 2,1 2,1d 2,1 3,8 d,9 47,7 3,2d 3,7 2,1 1c,3e 9 "
    "9,49 4 13,48 108,8 2,2c 2,8 10,1c 6,1d 3,15 2,d 4a,6 2,1 2,2b 4 2,1 2,8 9,9 7,5 2,1 2,24 "
    "2,1 2,5 8,9 137,16 ba 10,14 2c,399 67,6e 12,c3 a4d,60 10,42e fd2,246 21ba,238 8,1e 2,9 "
    "7,4e 2,9 7,1d 3,4 c,36 a,3 d,9 2,6 2,14 6,12 2b1,56 6a,4a 5,38 8,10 41,1 2,1 c,1 f,17f7 "
    "9,4d5 2b,8 22e8,3 2,6 2,1 2,122 2e,2 12,3 9,18b 905,6a 6,c 4,8 8,9 4,1 1262,2d 3,16 21f,4 "
    "4,5 9,7 3,6 1f,3 95,2 9c,13 6d,18 88,54 2,46 2,1 3 3,1 3,3 2,b 2 2,6 2,40 2,3 3,7 2,6 2,1b "
    "2,3 2,4 2 4,6 2,153 3,18 2,18 2,1e 2,18 2,1e 2,18 2,1e 2,18 2,1e 2,18 2,7 3,31 201,36 5,31 "
    "9 f 17,4 2,e 451,1e e2,6 2,10 3,6 2,1 2,4 d6,2c 4,d 3,9 5 142,1e 12,39 4e7,6 2,3 2,1 2,e "
    "2,c4 3,f 2a,4b 5,9 318,3a 2,2 2,3 4d,2c 2,e c3,3 2,1a 2,1 2 3 2,9 2,3 2 2 7 5 2 2 2,2 2,1 "
    "2 3 2 2 2 2 2,1 2 3,3 2,6 2,3 2,3 2 2,9 2,10 6,2 2,4 2,10 245,c ae4,9 407,a6df 21,1038 "
    "8,dd 3,1681 f,1d30 c20,21d 5e3,134a aedb6,ef"
)

#: General category Nd.
DIGIT: Final = (
    "30,9 627,9 87,9 c7,9 19d,9 77,9 77,9 77,9 77,9 77,9 77,9 77,9 77,9 77,9 61,9 77,9 47,9 "
    "117,9 47,9 747,9 27,9 12d,9 81,9 a7,9 7,9 b7,9 57,9 87,9 7,9 89c7,9 2a7,9 27,9 c7,9 17,9 "
    "57,9 197,9 5317,9 587,9 887,9 32d,9 81,9 3d,9 91,9 117,9 157,9 77,9 177,9 67,9 67,9 1a7,9 "
    "67,9 2f7,9 f7,9 47,9 4cb7,9 57,9 87,9 6c75,31 941,9 1a7,9 657,9 1297,9"
)

#: White_Space.
SPACE: Final = "9,4 13 65 1b 15e0 980,a 1e,1 6 30 fa1"

#: `script:table` for letters, joined by `;`.
SCRIPTS: Final = (
    "Adlam:1e900,43 8;Ahom:11700,1a 26,6;Anatolian Hieroglyph:14400,246;Arabic:620,2a 24,1 2,62 "
    "2 10,1 8,1 b,2 3 51,2f f1,17 2,5 12,29 f287,61 22,16a 13,3f 3,35 29,b 75,4 2,86 ef04,3 "
    "2,1a 2,1 2 3 2,9 2,3 2 2 7 5 2 2 2,2 2,1 2 3 2 2 2 2 2,1 2 3,3 2,6 2,3 2,3 2 2,9 2,10 6,2 "
    "2,4 2,10;Armenian:531,25 3 7,28 f58b,4;Avestan:10b00,35;Balinese:1b05,2e "
    "12,7;Bamum:a6a0,45 c11b,238;Bassa Vah:16ad0,1d;Batak:1bc0,25;Bengali:980 5,7 3,1 3,15 2,6 "
    "2 4,3 4 11 e,1 2,2 f,1 b;Bhaiksuki:11c00,8 2,24 12;Bopomofo:3105,2a 71,1f;Brahmi:11003,34 "
    "3a,1 3;Buginese:1a00,16;Buhid:1740,11;Canadian Syllabics:1401,26b 3,10 231,45 "
    "101bb,f;Carian:102a0,30;Caucasian Albanian:10530,33;Chakma:11103,23 1e 3;Cham:aa00,28 18,2 "
    "2,7;Cherokee:13a0,55 3,5 9773,4f;Chorasmian:10fb0,14;Coptic:3e2,d 2891,64 7,3 "
    "4,1;Cuneiform:12000,399 e7,c3;Cypriot:10800,5 3 2,2b 2,1 4 "
    "3;Cypro-Minoan:12f90,60;Cyrillic:400,81 9,a5 1751,8 a3 4d 88c8,2e "
    "11,1e;Deseret:10400,4f;Devanagari:904,35 4 13 8,9 10,e 9f73,5 4 2,1;Dives Akuru:11900,6 3 "
    "3,7 2,1 2,17 10 2;Dogra:11800,2b;Duployan:1bc00,6a 6,c 4,8 8,9;Egyptian "
    "Hieroglyph:13000,42e;Elbasan:10500,27;Elymaic:10fe0,16;Ethiopic:1200,48 2,3 3,6 2 2,3 3,28 "
    "2,3 3,20 2,3 3,6 2 2,3 3,e 2,38 2,3 3,42 26,f 19f1,16 a,6 2,6 2,6 2,6 2,6 2,6 2,6 2,6 "
    "7d23,5 3,5 3,5 a,6 2,6 13cb2,6 2,3 2,1 2,e;Georgian:10a0,25 2 6 3,2a 2,3 b91,2a 3,2 "
    "1041,25 2 6;Glagolitic:2c00,5f;Gothic:10330,10 2,7;Grantha:11305,7 3,1 3,15 2,6 2,1 2,4 4 "
    "13 d,4;Greek:370,4 2,1 3,3 2 7 2,2 2 2,13 2,3e f,5 2,8 1927,4 3c,4 196,15 3,5 3,25 3,5 3,7 "
    "2 2 2 2,1e 3,34 2,6 2 4,2 2,6 4,3 3,5 5,c 6,2 2,6 12a 8a3f;Gujarati:a85,8 2,2 2,15 2,6 2,1 "
    "2,4 4 13 10,1 18;Gunjala Gondi:11d60,5 2,1 2,1f f;Gurmukhi:a05,5 5,1 3,15 2,6 2,1 2,1 2,1 "
    "20,3 2 14,2;Han:3005,1 3fa,19bf 41,51ff 5901,16d 3,69 10527,a6df 21,1038 8,dd 3,1681 "
    "f,1d30 c20,21d 5e3,134a;Hangul:1100,ff 1f32,5d 77d2,1c 284,2ba3 d,16 5,30 27a5,1e 4,5 3,5 "
    "3,5 3,2;Hanifi Rohingya:10d00,23;Hanunoo:1720,11;Hatran:108e0,12 2,1;Hebrew:5d0,1a 5,3 "
    "f52b 2,9 2,c 2,4 2 2,1 2,1 2,9;Hiragana:3041,55 7,2 17f62,11e 31,2;Imperial "
    "Aramaic:10840,15;Inscriptional Pahlavi:10b60,12;Inscriptional "
    "Parthian:10b40,15;Javanese:a984,2e 1d;Kaithi:11083,2c;Kannada:c80 5,7 2,2 2,16 2,9 2,4 4 "
    "20,1 2,1 10,1;Katakana:30a1,59 3,2 f1,f cd67,9 2,2e b051,3 2,6 2,1 2 120,2 42,3;Kayah "
    "Li:a90a,1b;Kharoshthi:10a00 10,3 2,2 2,1c;Khitan Small Script:18b00,1d5;Khmer:1780,33 24 "
    "5;Khojki:11200,11 2,18;Khudawadi:112b0,2e;Lao:e81,1 2 2,4 2,17 2 2,9 2,1 a 3,4 2 "
    "16,3;Latin:41,19 7,19 30 10 6,16 2,1e 2,1b7 1a51,25 3d,3 6,c 2,21 66,ff 172 e 11,c 8e,1 59 "
    "adc,1c 2,1 7aa3,4d 2,16 4,3f 6,1 2 2,4 1c,2 3,5 331,2a 6,4 2,2 4f98,6 41b,19 7,19 "
    "dfa6,1e;Lepcha:1c00,23 2a,2;Limbu:1900,1e;Linear A:10600,136 a,15 b,7;Linear B:10000,b "
    "2,19 2,12 2,1 2,e 3,d 23,7a;Lisu:a4d0,2d "
    "7ab3;Lycian:10280,1c;Lydian:10920,19;Mahajani:11150,22 4;Makasar:11ee0,12;Malayalam:d04,8 "
    "2,2 2,28 3 11 6,2 9,2 19,5;Mandaic:840,18;Manichaean:10ac0,7 2,1b;Marchen:11c72,1d;Masaram "
    "Gondi:11d00,6 2,1 2,25 16;Medefaidrin:16e40,3f;Meetei Mayek:aae0,a 8,2 cc,22;Mende "
    "Kikakui:1e800,c4;Meroitic Cursive:109a0,17 7,1;Meroitic "
    "Hieroglyphic:10980,1f;Miao:16f00,4a 6 43,c;Modi:11600,2f 15;Mongolian:1820,58 8,4 3,21 "
    "2;Mro:16a40,1e;Multani:11280,6 2 2,3 2,e 2,9;Myanmar:1000,2a 15 11,5 5,3 4 4,1 8,2 5,c d "
    "9952,4 2,9 b,4 62,16 4 4,1;Nabataean:10880,1e;Nandinagari:119a0,7 3,26 11 2;New Tai "
    "Lue:1980,2b 5,19;Newa:11400,34 13,3 15,2;Nko:7ca,20 a,1 5;Nushu:16fe1 418f,18b;Nyiakeng "
    "Puachue Hmong:1e100,2c b,6 11;Ogham:1681,19;Ol Chiki:1c5a,23;Old Hungarian:10c80,32 "
    "e,32;Old Italic:10300,1f e,2;Old North Arabian:10a80,1c;Old Permic:10350,25;Old "
    "Persian:103a0,23 5,7;Old Sogdian:10f00,1c b;Old South Arabian:10a60,1c;Old "
    "Turkic:10c00,48;Old Uyghur:10f70,11;Oriya:b05,7 3,1 3,15 2,6 2,1 2,4 4 1f,1 2,2 "
    "10;Osage:104b0,23 5,23;Osmanya:10480,1d;Pahawh Hmong:16b00,2f 11,3 20,14 "
    "6,12;Palmyrene:10860,16;Pau Cin Hau:11ac0,38;Phags-Pa:a840,33;Phoenician:10900,15;Psalter "
    "Pahlavi:10b80,11;Rejang:a930,16;Runic:16a0,4a 7,7;Samaritan:800,15 5 a "
    "4;Saurashtra:a882,31;Sharada:11183,2f f,3 16 2;Shavian:10450,2f;Siddham:11580,2e "
    "2a,3;Sinhala:d85,11 4,17 2,8 2 3,6;Sogdian:10f30,15;Sora Sompeng:110d0,18;Soyombo:11a50 "
    "c,2d 14;Sundanese:1b83,1d e,1 b,5;Syloti Nagri:a800,1 2,2 2,3 2,16;Syriac:710 2,1d 1e,2 "
    "111,a;Tagalog:1700,11 e;Tagbanwa:1760,c 2,2;Tai Le:1950,1d 3,4;Tai Tham:1a20,34 53;Tai "
    "Viet:aa80,2f 2 4,1 3,4 3 2 19,2;Takri:11680,2a e;Tamil:b83 2,5 4,2 2,3 4,1 2 2,1 4,1 4,2 "
    "4,b 17;Tangsa:16a70,4e;Tangut:16fe0 20,17f7 9,2ff 201,8;Telugu:c05,7 2,2 2,16 2,f 4 1b,2 3 "
    "3,1;Thaana:780,25 c;Thai:e01,2f 2,1 d,6;Tibetan:f00 40,7 2,23 1c,4;Tifinagh:2d30,37 "
    "8;Tirhuta:11480,2f 15,1 2;Toto:1e290,1d;Ugaritic:10380,1d;Vai:a500,10c 4,f "
    "b,1;Vithkuqi:10570,a 2,e 2,6 2,1 2,a 2,e 2,6 2,1;Wancho:1e2c0,2b;Warang Citi:118a0,3f "
    "20;Yezidi:10e80,29 7,1;Yi:a000,48c;Zanabazar Square:11a00 b,27 8"
)


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
