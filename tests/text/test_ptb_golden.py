"""Captions of every kind with the tokens that the official tokenizer, CoreNLP 3.4.1, gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.text import PTB, PTB_RAW

#: One caption a line, each tokenized alone: {"caption": ..., "tokens": [...]}, punctuation included.
GOLDEN = [json.loads(line) for line in Path(__file__).with_name("ptb_golden.jsonl").read_text("utf-8").splitlines()]

#: What the COCO harness drops, after tokens were lower-cased: so it never sees -LRB-.
DROPPED = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"}

#: The official tokens of captions that show the rules at work.
TABLE = {
    "A man's dog isn't on the couch.": "a man 's dog is n't on the couch .",
    "Two people -- one in red -- don't stop... really?!": ("two people -- one in red -- do n't stop ... really ?!"),
    # Another dot follows where the official program sees that the next caption starts with "The".
    'A "stop" sign (red) at 5:30 p.m. in the U.S.': "a `` stop '' sign -lrb- red -rrb- at 5:30 p.m. in the u.s.",
    "The U.S. flag near a t-shirt and a 50-cent coin.": "the u.s. flag near a t-shirt and a 50-cent coin .",
    "Mr. Smith's $5.00 pizza, 1/2 off; it's 3,000 lbs.": ("mr. smith 's $ 5.00 pizza , 1/2 off ; it 's 3,000 lbs ."),
    "cannot gonna wanna gimme it'll they've I'm we'd 'tis": (
        "can not gon na wan na gim me it 'll they 've i 'm we 'd 't is"
    ),
    "A woman w/ a hot-dog @ the park #1": "a woman w / a hot-dog @ the park # 1",
    "the dogs' bowl and the 1990's car": "the dogs ' bowl and the 1990 's car",
    "café naïve “quoted” text – dash — em…": "café naïve `` quoted '' text -- dash -- em ...",
    "{curly} [square] <angle>": "-lcb- curly -rcb- -lsb- square -rsb- <angle>",
    "no.5 and No. 5 at 8 a.m.": "no. 5 and no. 5 at 8 a.m.",
    "rock 'n' roll o'clock y'all ma'am": "rock 'n' roll o'clock y' all ma'am",
    "C++ and C# and .NET": "c++ and c# and . net",
    "A man: \"Hello,\" he said, 'hi'.": "a man : `` hello , '' he said , ` hi ' .",
    "a man’s dog isn’t here": "a man 's dog is n't here",
    'a 5" disc and 6\'2" man': "a 5 '' disc and 6 ' 2 '' man",
    "the “big” ‘small’ dog": "the `` big '' ` small ' dog",
    "$5 and US$5 and £5 and 5¢ 10%": "$ 5 and us$ 5 and # 5 and 5 cents 10 %",
    "It's 5:30pm/6pm": "it 's 5:30 pm/6pm",
    "dogs- cat -bird - mouse": "dogs - cat - bird - mouse",
    "a_b c*d e=f ~g ^h |i": "a_b c * d e = f ~ g ^ h | i",
    "#hashtag @user :) :-( <3": "#hashtag @user :-rrb- :--lrb- < 3",
    "'cause 'em 'n the '90s": "'cause 'em 'n the '90s",
    "hello.world / end.Next sentence / a--b / a...b": "hello.world / end.next sentence / a -- b / a. . . b",
    "\"\"double\"\" | ''x'' | ``y``": "'' `` double '' '' | '' x '' | `` y ``",
    "shouldn't've y'all'd": "should n't 've y' all 'd",
    'a "quoted phrase." Then': "a `` quoted phrase . '' then",
    "dogs 3 1/2 ft. tall": "dogs 3\u00a01/2 ft. tall",
}


@pytest.mark.parametrize("caption", TABLE)
def test_ptb_tokens_equal_the_table(caption: str) -> None:
    assert PTB_RAW(caption) == TABLE[caption].split(" ")


@pytest.mark.parametrize("number", range(0, len(GOLDEN), 20))
def test_ptb_tokens_equal_the_official_ones(number: int) -> None:
    block = GOLDEN[number : number + 20]
    assert {g["caption"]: PTB_RAW(g["caption"]) for g in block} == {g["caption"]: g["tokens"] for g in block}


def test_ptb_drops_the_official_punctuation() -> None:
    for golden in GOLDEN:
        raw = PTB_RAW(golden["caption"])
        assert PTB(golden["caption"]) == [token for token in raw if token not in DROPPED]


def test_golden_holds_no_caption_twice() -> None:
    assert len({golden["caption"] for golden in GOLDEN}) == len(GOLDEN) > 400
