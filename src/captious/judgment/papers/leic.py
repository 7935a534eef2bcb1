"""LEIC: tables and figures of Cui et al. 2018."""

from __future__ import annotations

from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run, judged

__all__ = ["PAPER"]

_METRICS = {
    "BLEU-1": "bleu-1",
    "BLEU-4": "bleu-4",
    "ROUGE-L": "rouge-l",
    "METEOR": "meteor",
    "CIDEr": "cider-d",
    "SPICE": "spice",
}
_TRAINED = "weights that captious learn critique trains on a system's captions and image features; a GPU for full size"
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
            _METRICS | {"LEIC": "", "people": "people"},
            [
                *judged("flickr8k-expert@tau-b", {"Expert": "flickr8k-expert@tau-b"}),
                *judged("flickr8k-cf", {"CrowdFlower": "flickr8k-cf@hessel2021"}),
            ],
            {"LEIC": (0.466, 0.295), "people": (0.736, None)},
            needs=f"{_TRAINED}, for LEIC's own row",
            remark="Published figures of the other metrics are not at hand.",
        ),
        PaperTable(
            "systems",
            "system level, COCO 2015",
            "Pearson correlation with M1 and M2 over the systems of the COCO challenge.",
            _METRICS | {"LEIC": "", "LEIC without augmentation": ""},
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {"LEIC": (0.939, 0.949), "LEIC without augmentation": (0.821, 0.807)},
            needs=f"the captions of the twelve judged systems on val2014, and {_TRAINED}, for LEIC's own rows",
            remark="Published figures of the other metrics are not at hand.",
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
            needs=f"the captions of these systems, and {_TRAINED}",
            command="captious learn leic scores a system in two folds",
        ),
        PaperTable(
            "words",
            "figure 4",
            "Frequencies of words in human and machine captions.",
            needs="a study of word frequencies, which captious has not",
        ),
        PaperTable("grid", "figure 5", "Scores by augmentation and features.", needs=_TRAINED),
        PaperTable(
            "scatter",
            "figure 7",
            "Scores of systems against M1 and M2.",
            needs=f"the captions of the systems, and {_TRAINED}",
        ),
        PaperTable("layers", "figure 8", "Scores by the number of layers.", needs=_TRAINED),
        PaperTable("grid-robustness", "figure 9", "Robustness by augmentation and features.", needs=_TRAINED),
    ),
)
