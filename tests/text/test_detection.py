"""Detection of the language of captions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from captious.text.languages import LANGUAGES, function_words, language_of, main_language, related

CAPTIONS = {
    "ar": ("كلب أسود يقفز في الماء", "رجل يقف بجانب سيارة على الطريق"),
    "ca": ("Un gos negre salta a l'aigua del llac", "Dos nens juguen a futbol al parc"),
    "cs": ("Černý pes skáče do vody na pláži", "Dvě děti hrají fotbal v parku"),
    "da": ("En sort hund hopper i vandet og leger", "To børn spiller fodbold i en park"),
    "de": ("Ein schwarzer Hund springt ins Wasser", "Zwei Kinder spielen Fußball im Park"),
    "en": ("a dog jumps into the water", "Two children play football in a park"),
    "es": ("Un perro negro salta sobre el agua", "Dos niños juegan al fútbol en el parque"),
    "et": ("Must koer hüppab vette järve ääres", "Kaks last mängivad pargis jalgpalli ja jooksevad"),
    "eu": ("Txakur beltz bat uretara jauzi egiten ari da", "Bi haur futbolean jokatzen ari dira parkean"),
    "fi": ("Musta koira hyppää veteen järven rannalla", "Kaksi lasta pelaa jalkapalloa puistossa"),
    "fil": ("Isang itim na aso ang tumatalon sa tubig", "Dalawang bata ang naglalaro ng bola sa parke"),
    "fr": ("Un chien noir saute dans l'eau", "Deux enfants jouent au football dans le parc"),
    "ga": ("Tá madra dubh ag léim isteach san uisce", "Beirt pháistí ag imirt peile sa pháirc"),
    "gl": ("Un can negro salta na auga do lago", "Dous nenos xogan ao fútbol no parque"),
    "hi": ("कुत्ता पानी में कूद रहा है", "एक आदमी सड़क पर चल रहा है"),
    "hr": ("Crni pas skače u vodu kraj djevojke", "Dvoje djece igra nogomet u parku"),
    "hu": ("Egy fekete kutya ugrik a vízbe", "Két gyerek focizik a parkban"),
    "id": ("Seekor anjing hitam melompat ke dalam air", "Dua anak bermain sepak bola di taman"),
    "is": ("Svartur hundur stekkur út í vatnið", "Tvö börn spila fótbolta í garðinum"),
    "it": ("Un cane nero salta nell'acqua del lago", "Due bambini giocano a calcio nel parco"),
    "ja": ("黒い犬が水に飛び込んでいる", "犬がカメラを見る"),
    "ko": ("검은 개가 물속으로 뛰어든다", "두 아이가 공원에서 축구를 한다"),
    "lt": ("Juodas šuo šoka į vandenį prie ežero", "Du vaikai žaidžia futbolą parke"),
    "lv": ("Melns suns lec ūdenī pie ezera", "Divi bērni spēlē futbolu parkā"),
    "mi": ("He kurī pango e peke ana ki te wai", "E rua ngā tamariki e tākaro ana i te pāka"),
    "nl": ("Een zwarte hond springt in het water", "Twee kinderen spelen voetbal in het park"),
    "no": ("En svart hund hopper ut i vannet ved en gutt", "To barn spiller fotball foran noen mennesker"),
    "pl": ("Czarny pies skacze do wody", "Dwoje dzieci gra w piłkę nożną w parku"),
    "pt": ("Um cachorro preto pula na água", "Duas crianças jogam futebol no parque"),
    "ro": ("Un câine negru sare în apă", "Doi copii joacă fotbal în parc"),
    "ru": ("собака бежит по пляжу", "Двое детей играют в футбол в парке"),
    "sk": ("Čierny pes skáče do vody vedľa muža", "Dve deti hrajú futbal v parku, ktorý je pri dome"),
    "sl": ("Črn pes skače v vodo na plaži", "Dva otroka igrata nogomet v parku"),
    "sv": ("En svart hund hoppar i vattnet framför några barn", "Två barn spelar fotboll i parken"),
    "sw": ("Mbwa mweusi anaruka ndani ya maji", "tramu ya njano inapita juu ya daraja la zamani"),
    "th": ("แมวสองตัวนอนบนโซฟา", "หมาวิ่งบนชายหาด"),
    "tr": ("Siyah bir köpek suya atlıyor", "İki çocuk parkta futbol oynuyor"),
    "uk": ("Чорний собака стрибає у воду озера", "Двоє дітей грають у футбол у парку"),
    "vi": ("Một con chó đen nhảy xuống nước", "Hai đứa trẻ chơi bóng đá trong công viên"),
    "zh": ("一只狗在草地上跑", "两个孩子在公园里踢足球"),
}


@pytest.mark.parametrize("code", CAPTIONS)
def test_two_captions_tell_their_language_and_one_that_or_a_close_relative(code: str) -> None:
    found = [language_of(text) for text in CAPTIONS[code]]
    assert all(language and related(language, code) for language in found), found
    assert related(main_language(CAPTIONS[code]), code)


def test_words_are_of_known_languages_and_most_are_of_few() -> None:
    words = function_words()
    assert {code for codes in words.values() for code in codes} <= {*LANGUAGES}
    assert sum(len(codes) <= 3 for codes in words.values()) > 0.9 * len(words)


@pytest.mark.parametrize("text", ["", "42", "!!", "Tokyo", "xyzzy plugh"])
def test_too_little_is_no_language(text: str) -> None:
    assert language_of(text) == ""
    assert main_language([text]) == ""


@pytest.mark.parametrize("text", ["spaghetti alla carbonara", "bruschetta al pomodoro", "pain au chocolat"])
def test_one_word_of_few_is_no_verdict(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    ("text", "likely", "language"),
    [
        ("In einem kleinen Bus sitzen", "de", "de"),
        ("hund laufen", "de", "de"),
        ("hund laufen", "da", "da"),
        ("a man in a red shirt", "de", "en"),
        ("un chien court", "de", "fr"),
    ],
)
def test_captions_are_in_the_likely_language_unless_another_is_clear(text: str, likely: str, language: str) -> None:
    assert language_of(text, likely) == language


def test_german_captions_are_hardly_ever_foreign_among_german_ones(shared_data: Path) -> None:
    with gzip.open(shared_data / "multi30k" / "val.1.de.gz", "rt", encoding="utf-8") as file:
        found = [language_of(line, "de") for line in file]
    assert sum(code not in ("", "de") for code in found) <= 1


def test_german_and_english_captions_of_six_words_are_told_apart(shared_data: Path) -> None:
    for code in ("de", "en"):
        with gzip.open(shared_data / "multi30k" / f"val.1.{code}.gz", "rt", encoding="utf-8") as file:
            found = [language_of(line) for line in file if len(line.split()) >= 6]
        assert found.count(code) > 0.99 * len(found)
    with gzip.open(shared_data / "coco" / "karpathy_test_refs.json.gz") as file:
        captions = [text for texts in json.load(file).values() for text in texts]
    with gzip.open(shared_data / "aloha" / "nocaps-val-foil.json.gz") as file:
        captions += [text for row in json.load(file) for text in (*row["references"], row["baseline"], row["foil"])]
    assert [text for text in captions if language_of(text) not in ("en", "")] == []
