"""COCO captions: tables and figures of Chen et al. 2015."""

from __future__ import annotations

from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run
from captious.words import counted

_HUMAN = Run(
    "human_agreement",
    {
        "references": File("coco/captions_val2014.json"),
        "published": (File("coco2015/cap_c5.json"), File("coco2015/cap_c40.json")),
    },
)
_METRICS = {
    "BLEU-1": "bleu-1",
    "BLEU-2": "bleu-2",
    "BLEU-3": "bleu-3",
    "BLEU-4": "bleu-4",
    "METEOR": "meteor",
    "ROUGE-L": "rouge-l",
    "CIDEr-D": "cider-d",
}
_C5 = (0.663, 0.469, 0.321, 0.217, 0.252, 0.484, 0.854)
_C40 = (0.880, 0.744, 0.603, 0.471, 0.335, 0.626, 0.910)
_RULES_OF_COLLECTION = ("eight words or more", 'not "There is"', "no future or past", "no speech", "no names")
_RULES = Run("collection_rules", {"references": File("coco/captions_val2014.json")})
_WORDS = Run("word_agreement", {"references": File("coco/captions_val2014.json"), "n_words": 50})
_PHR = Run(
    "word_agreement",
    {
        "references": File("coco/captions_val2014.json"),
        "n_words": 50,
        "systems": {"google": File("coco/results_val2014/vinyals-et-al-2017.json")},
    },
)
_EXAMPLE_WORDS = {word: word for word in ("man", "table", "riding", "large")}

PAPER = Paper(
    "coco",
    "Chen, Fang, Lin, Vedantam, Gupta, Dollar, Zitnick 2015: Microsoft COCO captions",
    (
        PaperTable(
            "human-c5",
            "human agreement, c5",
            "Scores of one human caption against five others (a plot draws all numbers of references, c5 and c40).",
            _METRICS,
            [
                PaperColumn("c5, expected from four references", _HUMAN, value="expected"),
                *(PaperColumn(counted(n, "reference"), _HUMAN, value=f"refs_{n}") for n in (1, 2, 3, 4)),
            ],
            {row: (figure, *[None] * 4) for row, figure in zip(_METRICS, _C5, strict=True)},
            comparable=False,
            differs="the published figures are of test images. val2014 has five captions per image, so that one has "
            "four references; the score with five is extrapolated, and not for CIDEr-D, which hardly grows",
        ),
        PaperTable(
            "human-c40",
            "human agreement, c40",
            "Scores of one human caption against forty others.",
            dict.fromkeys(_METRICS, ""),
            [PaperColumn("c40", None)],
            {row: (figure,) for row, figure in zip(_METRICS, _C40, strict=True)},
            needs="forty-one captions of each image, which the challenge keeps private",
        ),
        PaperTable(
            "words",
            "figure 3",
            "Human recall and precision of words, with the model's precision (a plot draws all words).",
            _EXAMPLE_WORDS,
            [PaperColumn(key, _WORDS, value=key, row="word") for key in ("recall", "precision", "model")],
            metrics=False,
            remark="The figure's values are not at hand.",
        ),
        PaperTable(
            "phr",
            "section 4, precision at human recall",
            "Precision of people, and of Google's entry of 2015 at the recall of people (a plot draws all words).",
            _EXAMPLE_WORDS,
            [
                PaperColumn(label, _PHR, value=key, row="word")
                for label, key in (
                    ("human recall", "recall"),
                    ("human precision", "precision"),
                    ("recall", "recall_google"),
                    ("precision at human recall", "phr_google"),
                )
            ],
            metrics=False,
            remark="The paper has no figures of a public system. These captions have no score per word: where a system "
            "recalls a word less often than people, its precision is interpolated.",
        ),
        PaperTable(
            "rules",
            "section 2, collection of captions",
            'Share of human captions that break a rule: eight words or more, not to begin with "There is", and others.',
            {rule: rule for rule in _RULES_OF_COLLECTION},
            [PaperColumn("share that breaks it", _RULES, {"captions_of": "people"}, "share", "rule")],
            metrics=False,
            percent=True,
            digits=2,
            command="captious study rules REFERENCES --system FILE",
            remark="The paper has no figures. No program can check that what is described is important; the last three "
            "rules are judged by words that usually go with breaking them.",
        ),
        PaperTable(
            "server",
            "section 3, evaluation server",
            "Submissions of two files, scored with c5 and c40.",
            command="captious serve, with a challenge of captious challenge init",
        ),
    ),
)
