"""The metric concur: its scores, what changes them, and explanations."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import captious
from captious.errors import CaptiousError, UnknownNameError
from captious.files import sections
from captious.learned import plain_captions
from captious.learned.caption_features import KnownWords
from captious.learned.caption_weights import FEATURES, CaptionWeights
from captious.learned.concur import Concur
from captious.text import PTB
from captious.text.stems import word_forms
from captious.text.stop_words import NLTK_STOP_WORDS
from tests.oracles import concur_score as oracle
from tests.parity.real_captions import read_json, read_lines
from tests.support.corpora import Corpus, corpora, table

WEIGHTS = CaptionWeights.load()
WORDS = oracle.Words(WEIGHTS)
ENGLISH_WORDS = replace(PTB, form=word_forms("en"))
REFERENCES = ["a dog runs across the grass", "a brown dog is running in a field", "the dog plays outside"]


def score(candidate: str, *references: str) -> float:
    return float(Concur().scores(table([candidate], [[*(references or REFERENCES)]]))[0, 0])


def tokens(caption: str) -> list[str]:
    return ENGLISH_WORDS(caption)


def expected(candidates: list[list[str]], references: list[list[list[str]]]) -> list[object]:
    return [oracle.score(*pair, WEIGHTS, WORDS) for pair in zip(candidates, references, strict=True)]


@settings(max_examples=25, deadline=None)
@given(corpus=corpora())
def test_concur_equals_the_oracle(corpus: Corpus) -> None:
    captions = corpus.table()
    candidates = [[*map(str.lower, candidate)] for candidate in corpus.candidates]
    np.testing.assert_allclose(Concur().scores(captions), expected(candidates, corpus.references), rtol=0, atol=1e-5)


def test_concur_equals_the_oracle_on_real_captions(shared_data: Path) -> None:
    rows = read_lines(shared_data / "flickr8k" / "expert.jsonl.gz")[:60]
    captions = table([row["candidate"] for row in rows], [row["refs"] for row in rows])
    candidates = [tokens(row["candidate"]) for row in rows]
    references = [[*map(tokens, row["refs"])] for row in rows]
    np.testing.assert_allclose(Concur().scores(captions), expected(candidates, references), rtol=0, atol=1e-5)


def test_concur_beats_cider_d_on_flickr8k_expert_and_pascal_50s(shared_data: Path) -> None:
    judgment = captious.judge(["flickr8k-expert", "pascal-50s"], ["concur", "cider-d"], data=shared_data, resamples=1)
    for benchmark in ("flickr8k-expert", "pascal-50s"):
        assert judgment[benchmark]["concur"].value > judgment[benchmark]["cider-d"].value + 0.03


@pytest.mark.parametrize(
    "worse",
    [
        "grass dog the runs a across",
        "a dog runs across the",
        "a cat runs across the grass",
        "a train stands in a station",
        "dog dog dog dog dog",
        "",
    ],
)
def test_worse_captions_score_lower(worse: str) -> None:
    assert score(worse) < score("a dog runs across the grass")


def test_paraphrases_score_higher_than_other_content() -> None:
    references = ["a man rides a motorcycle", "someone on a motorbike"]
    assert score("a guy riding a bike", *references) > score("a guy eating a pizza", *references)


def test_the_order_of_words_changes_what_depends_on_it_only(shared_data: Path) -> None:
    references = captious.read_references(shared_data / "coco" / "karpathy_test_refs.json.gz")
    texts = [references.texts[start] for start in references.offsets[:300]]
    texts = [text for text in texts if not re.search("photo|picture|image", text)]  # openings are removed
    turned = [" ".join(reversed(text.strip(" .").split())) for text in texts]
    one, other = (
        captious.Concur().features(captious.read_captions([*of_texts], references.texts[1500 : 1500 + len(texts)]))
        for of_texts in (texts, turned)
    )
    for name in ("agreement", "precision", "recall"):
        np.testing.assert_array_equal(one[:, FEATURES.index(name)], other[:, FEATURES.index(name)])


def test_scores_lie_between_0_and_1_whatever_the_caption() -> None:
    for candidate in ("", "!!!", "zzqqxx", "dog " * 500, "\N{SNOWMAN}"):
        assert 0 <= score(candidate) <= 1
    assert 0 <= score("a dog", "", "zzqqxx") <= 1


def test_words_without_a_vector_count_by_their_spelling() -> None:
    assert "zzqqxx" not in WEIGHTS.numbers
    assert "photosynthesizes" not in WEIGHTS.numbers
    references = "a dog zzqqxx", "the zzqqxx of a dog"
    assert score("a dog zzqqxx", *references) > score("a dog bbvvkk", *references)
    assert score("zzqqxx", "zzqqxx") > score("bbvvkk", "zzqqxx")
    words = KnownWords.of(["photosynthesizes", "photosynthesized", "zzqqxx"], WEIGHTS).lexicon(WEIGHTS).directions
    assert words[0] @ words[1] > words[0] @ words[2] + 0.2


@pytest.mark.parametrize(
    ("wrong", "paraphrase", "reference"),
    [
        ("a dog bites a man", "the man is biting a dog", "a man bites a dog"),
        ("three dogs run", "two dogs are running", "two dogs run"),
        ("a blue car next to a red house", "a red car beside a blue house", "a red car next to a blue house"),
        ("a cat lies on the sofa", "a dog is lying on a couch", "a dog lies on the sofa"),
    ],
)
def test_a_copy_with_a_change_scores_lower_than_a_paraphrase(wrong: str, paraphrase: str, reference: str) -> None:
    assert score(wrong, reference) < score(paraphrase, reference) < score(reference, reference)


def test_a_place_that_a_reference_has_several_times_does_not_make_a_caption_its_copy() -> None:
    features = Concur().features(
        table(
            ["a man and a dog and a bird and a tree near some old houses"],
            [["a cat and a woman and a horse and a car in front of water"]],
        )
    )
    assert features[0, FEATURES.index("contradiction")] == 0


def test_omissions_lower_recall_and_additions_lower_precision() -> None:
    scene = "a dog runs across the grass"
    more = "a man holds an umbrella . a red bus stops at the station . two plates of food are on the table"
    captions = table(
        [scene, f"{scene} . {more}", f"{scene} . {more}", scene], [[scene]] * 2 + [[f"{scene} . {more}"]] * 2
    )
    full, longer, both, shorter = Concur().scores(captions).tolist()
    assert full[1:] == pytest.approx([1, 1])
    assert longer[1] < 0.7
    assert longer[2] == pytest.approx(1)
    assert both[1:] == pytest.approx([1, 1])
    assert shorter[1] == pytest.approx(1)
    assert shorter[2] < 0.7
    assert full[0] > longer[0]
    assert both[0] > shorter[0]


def test_the_parts_of_an_explanation_add_up() -> None:
    agreement = Concur().explain("a dog zzqqxx runs over grass", REFERENCES)
    assert sum(word.share for word in agreement.words) == pytest.approx(agreement.centroid, abs=1e-5)
    assert agreement.score == pytest.approx(score("a dog zzqqxx runs over grass"))
    logit = sum(feature.adds for feature in agreement.features)
    assert 1 / (1 + np.exp(-logit)) == pytest.approx(agreement.score)
    by_word = {word.word: word for word in agreement.words}
    assert by_word["dog"].closest == "dog"
    assert by_word["dog"].status == "supported"
    assert by_word["zzqqxx"].status == "unsupported"
    assert by_word["dog"].similarity == pytest.approx(1, abs=1e-5)
    assert by_word["dog"].share > by_word["a"].share
    assert len(agreement.cosines) == len(REFERENCES)


def test_an_explanation_names_what_is_missing_and_what_is_contradicted() -> None:
    agreement = Concur().explain("a man bites a dog", ["a dog bites a man"])
    assert [(word.word, word.instead) for word in agreement.words if word.instead] == [("man", "dog"), ("dog", "man")]
    assert agreement.missing == ()
    agreement = Concur().explain("a man", ["a man holds an umbrella near a train"])
    missing = [word for word, _ in agreement.missing]
    assert {"umbrella", "train"} <= set(missing)
    assert "man" not in missing
    assert sum(loss for _, loss in agreement.missing) <= 1 - agreement.recall + 1e-6
    assert not any(word.instead for word in agreement.words)


def test_an_explanation_shows_where_a_caption_breaks() -> None:
    assert Concur().explain("a dog runs across the grass", REFERENCES).unsound == ()
    assert ("the", "") in Concur().explain("a dog runs across the", REFERENCES).unsound


@pytest.mark.parametrize("name", ["captious", "captious-precision", "captious@full"])
def test_the_name_of_the_package_is_no_metric(name: str) -> None:
    with pytest.raises(UnknownNameError):
        captious.score(["a dog"], [REFERENCES], [name])


def test_german_captions_use_german_weights() -> None:
    german = Concur(language="de")
    references = [["ein Hund rennt über die Wiese", "ein brauner Hund läuft auf Gras"]] * 2
    right, wrong = german.scores(table(["ein Hund läuft auf der Wiese", "eine Frau kocht in der Küche"], references))
    assert right[0] > wrong[0] + 0.3
    assert "weights:concur-de-" in german.signatures()[0]
    report = captious.score(["ein Hund"], [references[0]], ["concur:language=de"])
    assert report["concur:language=de"].score == pytest.approx(german.scores(table(["ein Hund"], references[:1]))[0, 0])


@pytest.mark.filterwarnings("ignore:concur. made for English:captious.CaptiousWarning")
def test_language_of_captions_chooses_bundled_weights() -> None:
    captions = [["ein Hund läuft auf der Wiese"], [["ein Hund rennt über die Wiese"]]]
    german = captious.score(*captions, "concur", settings=captious.Settings(language="de"))
    assert "weights:concur-de-" in german["concur"].signature
    assert not any("made for English" in warning for warning in german.warnings)
    french = captious.score(*captions, "concur", settings=captious.Settings(language="fr"))
    assert f"weights:{WEIGHTS.name}" in french["concur"].signature
    assert any("made for English" in warning for warning in french.warnings)


def test_a_language_is_one_of_the_package_and_excludes_other_weights() -> None:
    with pytest.raises(CaptiousError, match="has no language 'fr'"):
        Concur(language="fr")
    with pytest.raises(CaptiousError, match="chooses among the weights"):
        Concur(language="de", weights=WEIGHTS)


# ---- safe to optimize


def other_captions(shared_data: Path) -> tuple[list[str], list[list[str]]]:
    images = read_json(shared_data / "coco/karpathy_test_refs.json.gz")
    several = [texts for texts in images.values() if len(texts) >= 5][:150]
    return [texts[4] for texts in several], [texts[:4] for texts in several]


def share_above(metric: Concur, texts: list[str], captions: list[str], references: list[list[str]]) -> float:
    better, caption = (metric.scores(table(own, references))[:, 0] for own in (texts, captions))
    return float((better > caption).mean())


def test_strict_scores_captions_higher_than_texts_made_of_references(shared_data: Path) -> None:
    captions, references = other_captions(shared_data)
    strict = Concur(variant="strict")
    joined = [" and ".join(text.strip(" .") for text in own) for own in references]
    words = [[*dict.fromkeys(word for text in own for word in PTB(text))] for own in references]
    keywords = [" ".join(word for word in own[::-1] if word not in NLTK_STOP_WORDS.words) for own in words]
    both = [f"{text.strip(' .')} {own}" for text, own in zip(captions, keywords, strict=True)]
    assert share_above(strict, joined, captions, references) < 0.1
    assert share_above(strict, keywords, captions, references) < 0.1
    assert share_above(strict, both, captions, references) < 0.15
    assert share_above(strict, joined, [own[0] for own in references], references) == 0


def test_another_reference_hardly_ever_lowers_a_score(shared_data: Path) -> None:
    captions, references = other_captions(shared_data)
    for n in (1, 2, 3):
        fewer, more = (Concur().scores(table(captions, [own[:k] for own in references]))[:, 0] for k in (n, n + 1))
        assert (more < fewer).mean() < 0.1


def test_contradictions_are_rare_in_captions_of_real_systems(shared_data: Path) -> None:
    references: dict[int, list[str]] = {}
    for each in read_json(shared_data / "coco/captions_val2014.json.gz")["annotations"]:
        references.setdefault(each["image_id"], []).append(each["caption"])
    systems = sorted((shared_data / "coco/results_val2014").glob("*.json.gz"))
    rows = [row for path in systems for row in read_json(path)[::200]]
    captions = table([row["caption"] for row in rows], [references[row["image_id"]] for row in rows])
    penalties = Concur().features(captions)[:, FEATURES.index("contradiction") :]
    assert len(systems) == 9
    assert (penalties > 0.1).mean(axis=0).max() < 0.01


def test_boilerplate_costs_less_than_an_invented_object(shared_data: Path) -> None:
    captions, references = other_captions(shared_data)
    plain = [text.strip(" .") for text in captions]
    objects = [next(o for o in ("giraffe", "pizza", "clock") if o not in " ".join(r).lower()) for r in references]
    invented = [f"{text} and a {name}." for text, name in zip(plain, objects, strict=True)]
    for said in (
        [f"{text}. The overall atmosphere is calm and serene." for text in plain],
        [f"The image depicts {text[0].lower()}{text[1:]}." for text in plain],
        [f"{text}. The image captures a moment of leisure and enjoyment." for text in plain],
        [f"{text}, adding an element of intrigue and sophistication to the scene." for text in plain],
        [f"{text}. The mood is nostalgic, and the setting feels heartwarming and spontaneous." for text in plain],
    ):
        assert share_above(Concur(), said, invented, references) >= 0.9


@pytest.mark.filterwarnings("ignore:concur@light can be raised:captious.CaptiousWarning")
def test_rewards_use_the_strict_variant_unless_another_is_chosen() -> None:
    references = {1: REFERENCES}
    assert captious.reward(references, "concur").label == "concur@strict"
    assert captious.reward(references, {"concur": 1, "rouge-l": 1}).label == "concur@strict+rouge-l"
    assert captious.reward(references, "concur@light").label == "concur"
    assert captious.reward(references, Concur()).label == "concur"


def test_strict_warns_of_long_references() -> None:
    long = {1: ["A dog runs across the grass with a red ball. " * 5]}
    with pytest.warns(captious.CaptiousWarning, match="concur@strict is made for captions of one sentence.*50 words"):
        captious.reward(long, "concur")
    with pytest.warns(captious.CaptiousWarning, match="concur@strict is made for captions of one sentence.*50 words"):
        captious.score({1: "A dog runs."}, long, "concur@strict")
    assert not any("one sentence" in text for text in captious.score({1: "A dog runs."}, long, "concur").warnings)


# ---- captions of today


@pytest.mark.parametrize(
    "written",
    [
        "**A dog** runs across the grass.",
        "<p>A dog runs across the grass.</p>",
        "A dog \N{DOG FACE} runs across the grass \N{SPARKLES}",
        "Caption: A dog runs across the grass.",
        "\u201cA dog runs across the grass.\u201d",
        "A\u200b dog runs across the\u200b grass.",
        "- A dog runs across the grass",
        "This is a photo of a dog runs across the grass",
        "A dog runs across the grass. The overall atmosphere is calm and serene.",
        "A dog runs across the grass, creating a warm and inviting ambiance.",
        "A dog runs across the grass. The scene exudes a sense of timeless charm.",
        "A dog runs. The atmosphere is lively and vibrant, across the grass.",
    ],
)
def test_markup_and_boilerplate_change_nothing(written: str) -> None:
    assert score(written) == score("A dog runs across the grass.")


def test_words_of_boilerplate_name_no_object() -> None:
    path = Path(plain_captions.__file__).with_name("abstract.txt")
    text, words = path.read_text("utf-8"), {*sections(path)["abstract"].split()}
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
    assert len(words) > 5000
    assert not words & {
        "helicopter",
        "elephant",
        "riding",
        "kitchen",
        "red",
        "three",
        "man",
        "women",
        "street",
        "sunset",
    }


@pytest.mark.parametrize(
    "invented",
    [
        "The atmosphere is lively, with three elephants and a burning bus beside it.",
        "The atmosphere is lively with three elephants and a burning bus beside it.",
        "The mood is set by three elephants and a burning bus.",
        "The scene has three elephants, a burning bus and a sense of calm.",
    ],
)
def test_objects_invented_beside_boilerplate_count(invented: str) -> None:
    alone = score("A dog runs across the grass. Three elephants and a burning bus are beside it.")
    assert score(f"A dog runs across the grass. {invented}") < (score("A dog runs across the grass.") + alone) / 2


def test_the_subject_of_a_caption_may_be_a_framed_picture() -> None:
    framed = "A framed photograph of a woman hangs above a fireplace."
    assert score("A woman hangs above a fireplace.", framed) < score(framed, framed)


def test_a_caption_of_nothing_but_boilerplate_is_scored_as_it_is() -> None:
    assert 0 < score("The overall atmosphere is calm and serene.") < score("A dog runs.")


def test_a_copy_of_the_only_reference_has_one_score_and_an_empty_caption_the_lowest() -> None:
    texts = ["a dog", "Two men in red hats talk.", "zzqqxx bbvvkk", "No dog runs , no dog runs ."]
    assert [score(text, text) for text in texts] == pytest.approx([score(texts[0], texts[0])] * 4, abs=1e-6)
    assert score("") == 0 < score("a") < score("A dog.")


@pytest.mark.parametrize(
    "denial",
    [
        "There is no dog on the grass.",
        "There isn't any dog on the grass.",
        "The dog is not running.",
        "The dog hardly runs.",
        "Nobody sees a dog.",
    ],
)
def test_a_negation_lowers_the_score_of_any_caption(denial: str) -> None:
    assert score(denial) < score("A dog.") - 0.1


@pytest.mark.parametrize(
    ("reference", "same", "opposite"),
    [
        ("There are no people in the room.", "Nobody is in the room.", "There are people in the room."),
        ("There are no people in the room.", "There is no one in the room.", "There are people in the room."),
        ("Nobody sits on the bench.", "No one is on the bench.", "Someone is on the bench."),
        ("A cake without decorations.", "A cake with nothing on it.", "A cake with decorations."),
        ("Two people sit in a room.", "There are people in the room.", "There is nobody in the room."),
    ],
)
def test_nobody_denies_that_there_are_people(reference: str, same: str, opposite: str) -> None:
    assert score(same, reference) > score(opposite, reference) + 0.05


@pytest.mark.parametrize("empty", ["", " ", "..."])
def test_references_without_words_change_nothing(empty: str) -> None:
    references = ["A brown sofa and ottoman with pillows and remotes.", "A couch and ottoman are shown with remotes."]
    candidates = [
        "sofa pillows ottoman remotes brown couch shown with",
        "A brown sofa and an ottoman.",
        "A brown sofa and ottoman with lamps and remotes.",
    ]
    strict = Concur(variant="strict")
    without, padded = (
        strict.scores(table(candidates, [own] * len(candidates))) for own in (references, [*references, empty])
    )
    np.testing.assert_allclose(padded, without, rtol=0, atol=1e-12)


def test_parts_may_change_places_around_symmetric_words_only() -> None:
    references = "A lamp next to a chair in a room.", "Furniture in a room."
    turned = score("A chair next to a lamp in a room.", *references)
    assert turned > score("A chair and a lamp in a room.", *references) - 0.02
    assert turned > score("A dog next to a lamp in a room.", *references) + 0.05
    for verb in ("stands next to", "is sitting beside", "talks with"):
        beside = score(f"A woman {verb} a man.", f"A man {verb} a woman.")
        assert beside > score(f"A dog {verb} a man.", f"A man {verb} a woman.") + 0.1
    assert score("A woman stands on a man.", "A man stands on a woman.") < beside - 0.1
    colors = "a red car next to a blue house"
    assert score("a blue house next to a red car", colors) > score("a blue car next to a red house", colors) + 0.1


def test_words_of_other_meaning_score_low_whatever_their_article() -> None:
    lemon = "A waiter carries a lemon on a silver tray."
    wrong = [score(lemon.replace("a lemon", fruit), lemon) for fruit in ("an onion", "a onion", "a melon")]
    assert max(wrong) - min(wrong) < 0.05
    assert max(wrong) < score(lemon, lemon) - 0.15
    racket = "A girl hits a shuttlecock with a racket."
    assert score(racket.replace("racket", "racquet"), racket) > score(racket, racket) - 0.05
    assert score(racket.replace("racket", "hammer"), racket) < score(racket, racket) - 0.15
    sheets = "A crib with striped sheets beside a window."
    covers, bottles = (score(sheets.replace("sheets", word), sheets) for word in ("covers", "bottles"))
    assert score(sheets, sheets) - covers < 0.1 < score(sheets, sheets) - bottles
    assert bottles < covers - 0.05


@pytest.mark.parametrize(
    ("reference", "alike", "wrong"),
    [
        (
            "A waiter carries a lemon on a tray.",
            "A waiter carries a lemon on the tray.",
            "A waiter carries {} on a tray.",
        ),
        ("A girl hits a ball with a racket.", "A girl hits a ball with a racquet.", "A girl hits a ball with {}."),
        (
            "A crib with sheets beside a window.",
            "A crib with covers beside a window.",
            "A crib with {} beside a window.",
        ),
    ],
)
def test_other_words_contradict_and_synonyms_do_not(reference: str, alike: str, wrong: str) -> None:
    others = [score(wrong.format(word), reference) for word in ("an onion", "a melon", "bottles")]
    assert max(others) < score(alike, reference)


@pytest.mark.parametrize(
    ("reference", "word", "synonym", "other"),
    [
        ("A girl hits a shuttlecock with a racket.", "shuttlecock", "birdie", "ball"),
        ("A crib with striped sheets beside a window.", "crib", "cot", "bed"),
    ],
)
def test_rare_synonyms_cost_nothing(reference: str, word: str, synonym: str, other: str) -> None:
    same, wrong = (reference.replace(word, instead) for instead in (synonym, other))
    assert score(same, reference) == pytest.approx(score(reference, reference), abs=1e-6)
    assert score(wrong, reference) < score(same, reference) - 0.15
    of_both = score(f"A {synonym}", f"A {word}", f"A {synonym}")
    assert of_both == pytest.approx(score("A dog", "A dog"), abs=1e-6)
    found = Concur().explain(same, [reference])
    (agreed,) = (each for each in found.words if each.word == synonym)
    assert (agreed.status, agreed.closest) == ("supported", word)
    assert sum(each.share for each in found.words) == pytest.approx(found.centroid, abs=1e-5)
    pair = [tokens(same)], [[tokens(reference)]]
    np.testing.assert_allclose([score(same, reference)], [expected(*pair)[0][0]], rtol=0, atol=1e-5)  # type: ignore[index]


def test_a_word_that_another_reference_has_costs_nothing_in_the_place_of_another() -> None:
    references = [
        "A plain wooden boat is tied to the dock.",
        "A blue boat at the dock in the morning.",
        "Boats at a dock.",
    ]
    features = Concur().features(table(["A blue wooden boat is tied to the dock."], [references]))[0]
    assert features[FEATURES.index("contradiction")] == 0
    blue, red, none = (
        score(f"A{color} wooden boat is tied to the dock.", *references) for color in (" blue", " red", "")
    )
    assert blue >= none > red


def test_german_compounds_mean_what_they_end_with() -> None:
    reference = "Eine Tischlampe steht neben einem Sofa."
    captions = [f"Eine {word} steht neben einem Sofa." for word in ("Lampe", "Stehlampe", "Vase", "Katze")]
    assert {"tischlampe", "stehlampe"}.isdisjoint(CaptionWeights.load(language="de").numbers)
    lamp, other_lamp, *others = Concur(language="de").scores(table(captions, [[reference]] * 4))[:, 0]
    assert min(lamp, other_lamp) > max(others) + 0.1


@pytest.mark.parametrize(
    "wrong",
    ["Eine Frau steht auf der Straße", "Zwei Männer stehen auf der Straße", "Ein Mann steht nicht auf der Straße"],
)
def test_german_gender_number_and_negation_contradict(wrong: str) -> None:
    references = [["Ein Mann steht auf der Straße"]] * 2
    copy, other = Concur(language="de").scores(table(["Auf der Straße steht ein Mann", wrong], references))[:, 0]
    assert other < copy - 0.15


def test_a_word_of_many_letters_takes_linear_time() -> None:
    started = time.process_time()
    score("colour" * 4_000, "a dog " + "x" * 20_000)
    assert time.process_time() - started < 2
