"""LEIC: tables and figures of Cui et al. 2018."""

from __future__ import annotations

from collections.abc import Mapping

from captious.judgment.papers.paper import CHALLENGE_CAPTIONS, File, Paper, PaperColumn, PaperTable, Run, judged
from captious.learned.leic import CritiqueRecipe
from captious.words import counted

_METRICS = {
    "BLEU-1": "bleu-1",
    "BLEU-4": "bleu-4",
    "ROUGE-L": "rouge-l",
    "METEOR": "meteor",
    "CIDEr": "cider-d",
    "SPICE": "spice",
}
#: Training at full size: 6.7 s of CPU time per epoch of 1,000 images, 30 epochs, 40,504 images, two folds.
_FULL_SIZE = "2.3 hours of CPU time for a system (512 units, 30 epochs, 40,504 images)"
_TRAINED = (
    "critiques that captious learn leic SYSTEM REFERENCES --images FILE trains in two folds, with image features of "
    f"captious learn image-features FOLDER from the photographs of val2014 (6 GB): {_FULL_SIZE}, besides the features"
)
_FEATURES = (
    "image features of the photographs of val2014 (6 GB): captious learn image-features FOLDER -o FILE, and then "
    "--images FILE in the command of this table"
)
_LAYERS = (1, 2)
_CRITIQUES = Run(
    "critique_grid",
    {
        "candidates": File("coco/results_val2014/vinyals-et-al-2017.json"),
        "references": File("coco/captions_val2014.json"),
        "recipe": CritiqueRecipe("leic-small", units=128, hidden=128, width=100, epochs=10),
        "layers": _LAYERS,
        "sample": 2000,
    },
)
_SCORES = {"Google 2015": "score", "people": "human"}
_GRID_ROWS = {
    "reference, augmentation": "yes",
    "reference, no augmentation": "no",
    "image and reference": "",
    "image": "",
}


def _grid_table(
    name: str, place: str, shows: str, rows: Mapping[str, str], columns: Mapping[str, str], row: str
) -> PaperTable:
    """Return a table of critiques that are trained in several ways; columns: label -> key of the records."""
    return PaperTable(
        name,
        place,
        shows,
        rows,
        [
            PaperColumn(
                label, _CRITIQUES, {"layers": 1} if row == "augmentation" else {"augmentation": "yes"}, value, row
            )
            for label, value in columns.items()
        ],
        metrics=False,
        differs="ours are small critiques (128 units, 10 epochs) that see no images, on 2,000 images and one system, "
        f"in two folds; full size takes {_FULL_SIZE}",
        needs={row: _FEATURES for row, request in rows.items() if not request},
        command="captious study critiques SYSTEM REFERENCES --images FEATURES --layers 1,2",
        remark="The figure's values are not at hand.",
    )


_SYSTEM_JUDGMENTS = judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"})
_SYSTEMS = tuple(
    f"{name}-et-al-{year}"
    for name, year in (
        *(("vinyals", 2017), ("shetty", 2016), ("wu", 2016), ("dai", 2017), ("liu", 2017), ("mun", 2017)),
        *(("shetty", 2017), ("tavakoli", 2017), ("zhou", 2017)),
    )
)
_FREQUENCIES = Run(
    "word_frequencies",
    {
        "systems": {name: File(f"coco/results_val2014/{name}.json") for name in _SYSTEMS},
        "references": File("coco/captions_val2014.json"),
        "n_words": 100,
    },
)
_ROBUSTNESS = Run(
    "robustness",
    {
        "references": File("coco/karpathy_test_refs.json"),
        "near": "captions",
        "sample": 1000,
        "strengths": (0.25, 0.5, 0.75, 1),
    },
)
_WORDS = ("BLEU-4", "ROUGE-L", "METEOR", "CIDEr", "SPICE")

PAPER = Paper(
    "leic",
    "Cui, Yang, Veit, Huang, Belongie 2018: Learning to evaluate image captioning",
    (
        PaperTable(
            "flickr8k",
            "table 1",
            "Kendall's tau on Flickr8k: with every expert's rating, and with the share of people who say yes.",
            _METRICS | {"LEIC": "leic@paper:weights={leic/flickr8k.safetensors}", "people": "people"},
            [
                *judged("flickr8k-expert@tau-b", {"Expert": "flickr8k-expert@tau-b"}),
                *judged("flickr8k-cf", {"CrowdFlower": "flickr8k-cf@hessel2021"}),
            ],
            {"LEIC": (0.466, 0.295), "people": (0.736, None)},
            needs={"LEIC": "captious reproduce --images FILE with features of the photographs of Flickr8k"},
            remark="The program in training/leic trains the weights of LEIC from photographs of Flickr8k in an hour of "
            "CPU time. Smaller critiques (256 units, ResNet-152 replaced by EfficientNet-Lite0) have .390 and .255, "
            "and without images .355 and .246. Published figures of the other metrics are not at hand.",
        ),
        PaperTable(
            "systems",
            "system level, COCO 2015",
            "Pearson correlation with M1 and M2 over the systems of the COCO challenge.",
            _METRICS | {"LEIC": "", "LEIC without augmentation": ""},
            _SYSTEM_JUDGMENTS,
            {
                "BLEU-4": (-0.019, -0.005),
                "ROUGE-L": (0.090, 0.096),
                "METEOR": (0.606, 0.594),
                "CIDEr": (0.438, 0.440),
                "SPICE": (0.759, 0.750),
                "LEIC": (0.939, 0.949),
                "LEIC without augmentation": (0.821, 0.807),
            },
            needs=dict.fromkeys(("LEIC", "LEIC without augmentation"), f"{CHALLENGE_CAPTIONS}; and {_TRAINED}"),
            comparable=False,
            differs="the published figures are of captions of val2014 by twelve systems, ours of the leaderboard's "
            "scores (c40, test2014) of the ten systems whose judged entry has some. The leaderboard has entries of "
            "eleven of the twelve, of any date: with those, the figures with M1 are .351, .347, .383, .557, .499 and "
            ".604, and with c5 .311, .363, .366, .559, .491 and .568, in the order of the rows",
            remark="The published figures of the other metrics are as Zhang et al. 2020 (BERTScore, table 5) quote "
            "them; that of BLEU-1 is not at hand.",
        ),
        PaperTable(
            "robustness",
            "sections 3.3 and 3.4",
            "Area under the normalized score of human captions that are increasingly corrupted; lower is better.",
            {name: _METRICS[name] for name in _WORDS},
            [
                PaperColumn(name, _ROBUSTNESS, {"pathology": name}, "area")
                for name in ("captions of near images", "random captions", "word permutation", "random words")
            ],
            remark="Published figures are not at hand. Ours are of 1,000 images and five strengths; near are images "
            "whose references have the same words, where the paper has image features.",
        ),
        PaperTable(
            "generators",
            "README of the official code",
            "Score of three systems by critiques trained on each.",
            {"NeuralTalk": "", "Show and Tell": "", "Show, Attend and Tell": ""},
            [PaperColumn("score", None)],
            {"NeuralTalk": (0.038,), "Show and Tell": (0.056,), "Show, Attend and Tell": (0.077,)},
            needs=f"the captions of these systems on val2014, and {_TRAINED}",
            command="captious learn leic SYSTEM REFERENCES --images FILE",
        ),
        PaperTable(
            "words",
            "figure 4",
            "Occurrences of words per 1,000 words of human and machine captions (a plot draws how much of all text the "
            "most frequent words make up).",
            {word: word for word in ("a", "on", "the", "with", "and", "man", "sitting", "her", "two", "blue")},
            [PaperColumn(name, _FREQUENCIES, value=name, row="word") for name in ("people", *_SYSTEMS)],
            metrics=False,
            digits=1,
            remark="The figure's values are not at hand. Ours are of val2014 and nine systems published there.",
        ),
        _grid_table(
            "grid",
            "figure 5",
            "Scores of a system and of people by features and augmentation.",
            _GRID_ROWS,
            _SCORES,
            "augmentation",
        ),
        PaperTable(
            "scatter",
            "figure 7",
            "Scores of systems against M1 and M2: Pearson correlations (a plot draws a point with its name for each "
            "system).",
            _METRICS | {"LEIC": ""},
            _SYSTEM_JUDGMENTS,
            needs={"LEIC": f"{CHALLENGE_CAPTIONS}; and {_TRAINED}"},
            remark="The figure's values are not at hand. Ours are of the leaderboard's scores, as in systems.",
        ),
        _grid_table(
            "layers",
            "figure 8",
            "Scores of a system and of people by the number of layers of the LSTM, with augmentation.",
            {counted(n, "layer"): str(n) for n in _LAYERS},
            _SCORES,
            "layers",
        ),
        _grid_table(
            "grid-robustness",
            "figure 9",
            "Scores of people's captions, intact and corrupted, by features and augmentation; the more they differ, "
            "the more robust.",
            _GRID_ROWS,
            {"intact": "human"} | {name: name for name in ("random captions", "word permutation", "random words")},
            "augmentation",
        ),
    ),
)
