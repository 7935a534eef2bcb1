"""The table of kinds of text that make scores misleading: what is found, what is not, and how rules clean it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import captious
from captious.data.checks import TEXT_KINDS, kinds_in
from captious.data.cleaning import RULES, cleaned


def kinds_of(text: str) -> set[str]:
    return {name for name, mask in kinds_in(["a dog runs"] * 2 + [text]).items() if mask[2]}


@pytest.mark.parametrize("name", TEXT_KINDS)
def test_each_example_is_found_and_cleaned_by_its_rule(name: str) -> None:
    kind = TEXT_KINDS[name]
    assert kinds_in([kind.example])[name].all()
    assert (kind.rule or "compose") in RULES
    if kind.rule:
        assert name not in kinds_of(*cleaned([kind.example], (kind.rule,)))


FAILURES = (
    "Failed to obtain answer via API.",
    "Error: timeout",
    "None",
    "nan",
    "NaN",
    "null",
    "[ERROR]",
    "N/A",
    "ValueError: bad image",
    "openai.RateLimitError: Error code: 429",
    "Error code: 429 - {}",
    "Traceback (most recent call last):",
    "API call failed",
    "ERROR: CUDA out of memory",
    "Request timed out.",
    '{"error": "no image"}',
    "no caption",
    "<no answer>",
    "Error code: 500: Internal Server Error",
    "openai.error.RateLimitError",
    "RateLimitError",
    "429 Too Many Requests",
    "The server had an error while processing your request",
    "[object Object]",
)
REFUSALS = (
    "Response was blocked due to SAFETY",
    "I'm sorry, but I can't assist with that.",
    "I cannot assist with that request.",
    "I’m unable to view images.",
    "Unfortunately, I can't see the picture.",
    "As a language model, I can not see.",
    "I apologize, but I am not able to describe people.",
    "Please upload the image you want me to describe.",
    "It seems that there is no image attached.",
    "I don't feel comfortable describing this person.",
    "I must decline to describe it.",
    "I won't be able to describe this.",
    "There is no image attached.",
    "There is no image available.",
    "I don't see an image in your message.",
    "The image is too blurry to describe.",
    "I'm sorry, I can't read the sign.",
    "抱歉，我无法查看图片。",
    "申し訳ありませんが、画像を表示できません。",
    "Es tut mir leid, ich kann das Bild nicht sehen.",
    "Lo siento, no puedo ver la imagen.",
    "Je suis désolé, je ne peux pas voir l'image.",
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify "
    "your prompt and retry.",
    "The image is not visible to me.",
)
NAMES = ("photo_000001.jpg", "COCO_val2014_000000000042", "42", "000123", "https://a.org/b.png", "/data/images/7.png")
NUMBERS = (
    "0.93",
    "[101, 1037, 3899]",
    "tensor([101, ...])",
    "tensor([[ 101, 1037]], device='cuda:0')",
    "array([1 2])",
    "a",
    "B.",
    "a d o g",
)
#: Captions of people, and texts that are nearly of a kind.
ORDINARY = (
    "a man with 2 dogs",
    "a sign that says error on a screen",
    "Nancy has none",
    "a banana and a bus",
    'a sign says "stop" and "go"',
    "a man's dog and a woman's dog",
    "a cat (asleep) [on a bed]",
    "x < 3 and y > 4 are written on a board",
    "a glass of R&B and M&M's",
    "the score is 3:2",
    "a plane at 10,000 ft.",
    "don't walk",
    "a person we can't see the face of",
    "une café à São Paulo, ñandú, Ærø, Ångström",
    "NÃO PARE",
    "#1 fan holds a sign",
    "C:\\new folder on a screen",
    "a shirt with a # sign and the number 42",
    "a picture of a dog",
    "an image of a cat on a wall",
    "the sorry state of a house",
    "a network of pipes failed in winter",
    "I am sorry sign on a door",
    "A sign that says I'm sorry, I cannot help",
    "Error 404 page on a laptop screen",
    "HTTP 404 page on a screen",
    "a dog on a 10.5 foot leash",
    "a plane at 5 μm and Ωmega, μTorrent",
    "собака бежит",
    "terror",
    "a file called my_old_name",
    "3 dogs run",
    "1. a dog among others",
)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("failure", text) for text in FAILURES),
        *(("refusal", text) for text in REFUSALS),
        *(("name", text) for text in (*NAMES, *NUMBERS)),
    ],
)
def test_what_is_not_a_caption_is_of_one_kind(kind: str, text: str) -> None:
    assert kinds_of(text) - {"json", "sentences"} == {kind}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_captions_are_of_no_kind(text: str) -> None:
    assert kinds_of(text) == set()


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        ("tokens", "a dog </s> <pad> <pad>", "a dog"),
        ("tokens", "<|im_start|>assistant\na dog runs<|im_end|>", "a dog runs"),
        ("tokens", "[CLS] a dog [SEP]", "a dog"),
        ("tokens", "startseq a dog endseq", "a dog"),
        ("tokens", "<s> a <unk> dog <|endoftext|>", "a dog"),
        ("tokens", "<image> a dog", "a dog"),
        ("tokens", "a dog <|im_end", "a dog"),
        ("tokens", "##START## a dog ##END##", "a dog"),
        ("tokens", "bos a dog eos", "a dog"),
        ("tokens", "<MORE_DETAILED_CAPTION> a dog </image> <STOP>", "a dog"),
        ("pieces", "a big ##ger dog ##END##", "a bigger dog ##END##"),
        ("think", "[THINK]Is it a dog?[/THINK] a dog", "a dog"),
        ("prompt", "assistant\na dog", "a dog"),
        ("prompt", "- a dog runs", "a dog runs"),
        ("pieces", "aĠyellowĠtram", "a yellow tram"),
        ("pieces", "a Ġyel low Ġtram", "a yellow tram"),
        ("pieces", "cafÃ©ĠnoirĊ", "café noir"),
        ("pieces", "▁a▁dog", "a dog"),
        ("pieces", "▁a ▁yel low ▁tram", "a yellow tram"),
        ("pieces", "a dog run ##ning fast", "a dog running fast"),
        ("pieces", "a dog run@@ ning", "a dog running"),
        ("tokens", "a UNK dog <eoc>", "a dog"),
        ("tokens", "[INST] Describe it. [/INST] a dog", "a dog"),
        (
            "tokens",
            "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant<|channel|>final<|message|>a dog",
            "a dog",
        ),
        ("pieces", "a</w> dog</w> run ning</w>", "a dog running"),
        ("html", "<center>a <!-- small -->dog</center>", "a dog"),
        ("html", "a &quot;red&quot; bus &amp; more&#33;", 'a "red" bus & more!'),
        ("html", "<answer>a dog</answer>", "a dog"),
        ("mojibake", "a cafÃ© â€™tis a manâ€™s", "a café ’tis a man’s"),
        ("mojibake", "caf\ufffd", "caf\ufffd"),
        ("ansi", "\x1b[32ma dog\x1b[0m", "a dog"),
        ("ansi", "[1ma dog[0m", "a dog"),
        ("quotes", '"A dog runs."', "A dog runs."),
        ("quotes", "“A dog”.", "A dog."),
        ("quotes", "b'a dog'", "a dog"),
        ("json", '{"caption": "a dog"}', "a dog"),
        ("json", '```json\n{"image": "1.jpg", "caption": "a dog"}\n```', "a dog"),
        ("json", "{'description': 'a dog'}", "a dog"),
        ("json", '["a dog"]', "a dog"),
        ("json", 'Here is the JSON: {"caption": "a dog"}', "a dog"),
        ("json", 'Here is the JSON:\n\n```json\n{"caption": "a dog"}\n```', "a dog"),
        ("json", '{"caption": "a dog is cut', "a dog is cut"),
        ("json", '{"a": 1, "b": 2}', '{"a": 1, "b": 2}'),
        ("think", "<think>I see.</think> a dog", "a dog"),
        ("think", "<think>I see a dog", ""),
        ("think", "so it is</think>\n\na dog", "a dog"),
        ("think", "<think>a</think>b<think>c</think> a dog", "b a dog"),
        ("think", "<think>I see.</think><answer>a dog</answer>", "a dog"),
        (
            "think",
            "<|channel|>analysis<|message|>I see.<|end|><|start|>assistant<|channel|>final<|message|>a dog",
            "a dog",
        ),
        ("escapes", "a dog.\\nIt runs \\u00e0 Paris.", "a dog.\nIt runs à Paris."),
        ("compose", "un cafe\u0301", "un café"),
        ("compose", "ａ ｄｏｇ， ２ ﬁsh", "a dog， 2 fish"),
        ("compose", "a\u200b dog\ufeff", "a dog"),
        ("compose", "a d\u043eg \u0441\u0430t \u0440\u0438\u0441", "a dog cat \u0440\u0438\u0441"),
        ("compose", "\u0391 do\u03bfr", "\u0391 door"),
        ("escapes", r"a dog\truns\nfast", "a dog\truns\nfast"),
        ("escapes", "a_brown_dog_runs.", "a brown dog runs."),
        ("markdown", r"$\boxed{\text{a dog}}$", "a dog"),
        ("markdown", r"The answer is \boxed{a dog}.", "The answer is a dog."),
        ("json", '"caption": "a dog"', "a dog"),
        ("json", "'caption': 'a dog',", "a dog"),
        ("json", "{'a brown dog'}", "a brown dog"),
        ("tokens", "<ref>a dog</ref><box>(10,20),(30,40)</box> runs", "a dog runs"),
        ("tokens", "<|object_ref_start|>a dog<|object_ref_end|><|box_start|>(1,2),(3,4)<|box_end|>", "a dog"),
        ("tokens", "a dog<loc_12><loc_345> runs", "a dog runs"),
        ("tokens", "<grounding><phrase>a dog</phrase><object><patch_index_0044></object>", "a dog"),
        ("tokens", "a dog [[10, 20, 30, 40]] runs {<1><2><3><4>}", "a dog runs"),
        ("tokens", "a dog runs. ### Human: And now? ### Assistant: a cat", "a dog runs."),
        ("tokens", "### Human: What is it? ### Assistant: a dog", "a dog"),
        ("prompt", "Die Abbildung zeigt einen Hund.", "einen Hund."),
        ("prompt", "Auf dem Bild ist ein Hund.", "ein Hund."),
        ("prompt", "On voit sur l'image un chien.", "un chien."),
        ("prompt", "Aquí está el pie de foto: un perro", "un perro"),
        ("prompt", "Se ve en la imagen un perro.", "un perro."),
        ("prompt", "这是一张狗在跑的照片。", "狗在跑。"),
        ("prompt", "图中是一只狗。", "一只狗。"),
        ("prompt", "在这张照片中，一只狗在跑。", "一只狗在跑。"),
        ("prompt", "画面中，一只狗在跑。", "一只狗在跑。"),
        ("prompt", "画像は犬です。", "犬です。"),
        ("prompt", "この写真は、犬です。", "犬です。"),
        ("prompt", "この画像は犬です。", "犬です。"),
        ("prompt", "写真には犬がいます。", "犬がいます。"),
        ("prompt", "Final answer: a dog", "a dog"),
        ("prompt", "The caption is: a dog", "a dog"),
        ("prompt", "Based on the image, a dog runs.", "a dog runs."),
        ("prompt", "Title: A dog", "A dog"),
        ("prompt", "Certainly! The image captures a dog.", "a dog."),
        ("prompt", "Das Bild zeigt einen Hund.", "einen Hund."),
        ("prompt", "Auf dem Bild ist ein Hund zu sehen.", "ein Hund."),
        ("prompt", "Auf dem Bild ist zu sehen: ein Hund", "ein Hund"),
        ("prompt", "USER: What is it? ASSISTANT: a dog", "a dog"),
        ("prompt", "Human: hi\nAssistant: a dog", "a dog"),
        ("prompt", "Natürlich! Hier ist eine Bildbeschreibung: ein Hund", "ein Hund"),
        ("prompt", "Cette image montre un chien.", "un chien."),
        ("prompt", "Sur l'image, on voit un chien.", "un chien."),
        ("prompt", "Bien sûr ! Voici une description : un chien", "un chien"),
        ("prompt", "La imagen muestra un perro.", "un perro."),
        ("prompt", "En la imagen se ve un perro.", "un perro."),
        ("prompt", "Claro, aquí está la descripción: un perro", "un perro"),
        ("prompt", "图片显示一只狗在跑。", "一只狗在跑。"),
        ("prompt", "在这张图片中，我们可以看到一只狗。", "一只狗。"),
        ("prompt", "好的，以下是图片的描述：一只狗", "一只狗"),
        ("prompt", "この画像は、犬が走っている様子を示しています。", "犬が走っている"),
        ("prompt", "この画像には犬が写っています。", "犬"),
    ],
)
def test_rules_leave_the_caption(rule: str, text: str, expected: str) -> None:
    assert cleaned([text, "a dog"], (rule,)) == (expected, "a dog")


#: Marks around a caption, or the beginning of one.
AROUND = (
    *("<p>{}</p>", "<ul><li>{}</li></ul>", "<div>\n<b>{}</b>\n</div>", "<foo>\n{}\n</foo> **b**", "<!-- {} --> {}"),
    *("```{}", "```\n{}\n```", "[{}]: https://a.org `x`", "# {}", "![{}](a.png)", "**{}**", "- x\n- {}", "|{}|\n|-|"),
    *(
        "[INST] {} [/INST]",
        "<s>{}</s>",
        "UNK {}",
        "<|im_start|>assistant\n{}<|im_end|>",
        "<|channel|>final<|message|>{}",
    ),
    *("The image shows {}", "Caption: {}", "USER: {} ASSISTANT: ", "Sure! Here is a caption: {}", '"{}"', "b'{}'"),
    *(
        '{{"caption": "{}"}}',
        "Here: {{'a': '{}'}}",
        '["{}"]',
        "<answer>{}</answer>",
        "{}</think>{}",
        "\x1b[1m{}\x1b[0m",
    ),
    *("{}\\n", "&lt;{}&gt;", "{}@@ s", "Ġ{}", "▁{}", "{}</w>", "ï¿½ {} Ã©"),
)


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_empties_a_caption_with_words(rule: str) -> None:
    captions = ("a dog runs", "Caption:", "ein Hund", "一只狗", "The image shows", "Answer")
    texts = [around.format(caption, caption) for around in AROUND for caption in captions]
    texts += [outer.format(text, text) for outer in AROUND for text in texts[::7]]
    assert [text for text, left in zip(texts, cleaned(texts, (rule,)), strict=True) if not left.strip()] == []


@pytest.mark.parametrize(
    "text",
    ["<p>a dog runs</p>", "<ul><li>a dog runs</li></ul>", "<div><p>a **dog** runs</p></div>", "<b>a dog</b> runs"],
)
def test_the_rule_that_is_named_for_html_works(text: str) -> None:
    (kind,) = kinds_of(text)
    assert cleaned([text], (TEXT_KINDS[kind].rule,)) == ("a dog runs",)


def test_numbers_are_removed_where_most_captions_have_them() -> None:
    numbered = ["1. a dog runs", "2) The image shows a cat", "(3) two men", "4: a bus", "a tram"]
    assert cleaned(numbered, ("prompt",)) == ("a dog runs", "a cat", "two men", "a bus", "a tram")
    assert kinds_in(numbered)["numbers"].tolist() == [True, True, True, True, False]
    few = ["1. a dog runs", "two men", "a bus"]
    assert cleaned(few, ("prompt",)) == tuple(few)
    assert not kinds_in(few)["numbers"].any()


def test_the_caption_that_is_shorter_without_unknown_words_is_said_to_be() -> None:
    candidates = {1: "a <unk> runs", 2: "two men"}
    with pytest.warns(captious.CaptiousWarning, match='captions are shorter without them: .*clean="tokens"'):
        captious.score(candidates, {1: ["a dog runs", "a dog"], 2: ["two men", "men"]}, "bleu-1")


def test_all_rules_together_leave_ordinary_captions_alone() -> None:
    assert cleaned(ORDINARY, tuple(RULES)) == ORDINARY


def test_rules_apply_in_one_order_whatever_order_they_are_named_in() -> None:
    answer = '<think>Hm.</think> ```json\n{"caption": "The image shows a &quot;dog&quot;"}\n```<|im_end|>'
    captions = captious.read_captions({1: answer}, {1: ["a dog"]}, clean="prompt,html,json,think,tokens")
    assert captions.candidates == ('a "dog"',)
    assert captions.clean == ("tokens", "think", "json", "html", "prompt")


def _captions_of_people(data: Path) -> Iterator[tuple[str, list[str]]]:
    with gzip.open(data / "coco" / "captions_val2014.json.gz") as file:
        yield "coco", [each["caption"] for each in json.load(file)["annotations"]]
    with gzip.open(data / "flickr8k" / "captions.jsonl.gz", "rt", encoding="utf-8") as file:
        yield "flickr8k", [text for line in file for text in json.loads(line)["captions"]]
    for language in ("en", "de"):
        texts = []
        for i in range(1, 6):
            with gzip.open(data / "multi30k" / f"train.{i}.{language}.gz", "rt", encoding="utf-8") as file:
                texts += [line.rstrip("\n") for line in file]
        yield language, texts


#: How many captions of people are of a kind: the reason for ``usual`` in the table.
OF_PEOPLE = {
    "coco": (202_654, {"refusal": 31, "prompt": 44}),
    "flickr8k": (40_455, {"name": 2, "prompt": 3}),
    "en": (145_000, {"refusal": 2, "html": 82, "markdown": 1, "prompt": 38}),
    "de": (145_000, {"refusal": 1, "markdown": 1, "prompt": 152}),
}


def test_captions_of_people_are_hardly_ever_of_a_kind(shared_data: Path) -> None:
    found = {}
    for name, texts in _captions_of_people(shared_data):
        counts = {kind: int(mask.sum()) for kind, mask in kinds_in(texts).items() if kind in TEXT_KINDS}
        found[name] = (len(texts), {kind: n for kind, n in counts.items() if n})
    assert found == OF_PEOPLE
