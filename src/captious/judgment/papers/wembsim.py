"""WEmbSim: tables of Sharif et al. 2020, and of chapter 8 of the thesis."""

from __future__ import annotations

from captious.judgment.papers.paper import (
    ABSTRACT_FILE,
    CHALLENGE_CAPTIONS,
    DISTRACTORS,
    Paper,
    PaperColumn,
    PaperTable,
    Run,
    judged,
    judged_parts,
)

#: The authors' word vectors under names that captious vectors add can give them, and those of the run.
_VECTORS = {
    "E (ELMo)": "",
    "G (GloVe 840B)": "wembsim:vectors=glove-840b",
    "W (GoogleNews)": "wembsim:vectors=google-news",
    "F (fastText wiki)": "wembsim:vectors=fasttext-wiki",
    "the vectors of this run": "wembsim",
}
_ELMO = {"E (ELMo)": "ELMo, which captious cannot read"}
_NO_ELMO = "Nothing here reads ELMo."
_NAMES = (
    "Vectors have the names of the rows if captious vectors add FILE --name NAME adds them as glove-840b, google-news "
    "and fasttext-wiki."
)

PAPER = Paper(
    "wembsim",
    "Sharif, White, Bennamoun, Liu, Shah 2020: WEmbSim, a simple yet effective metric for image captioning",
    (
        PaperTable(
            "systems",
            "system level, COCO 2015",
            "Pearson correlation with M1 and M2 over twelve systems of the COCO challenge.",
            dict.fromkeys([*_VECTORS][:4], ""),
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {
                "E (ELMo)": (0.47, 0.48),
                "G (GloVe 840B)": (0.80, 0.76),
                "W (GoogleNews)": (0.71, 0.64),
                "F (fastText wiki)": (0.83, 0.76),
            },
            digits=2,
            needs=f"{CHALLENGE_CAPTIONS}. Also the vectors of each row; captious cannot read ELMo",
        ),
        PaperTable(
            "pascal-50s",
            "pairwise comparison, PASCAL-50S",
            "How often a metric prefers the human caption of a pair that people prefer.",
            _VECTORS,
            judged_parts("pascal-50s@sharif2019", {"HHC": "HC", "HHI": "HI"}),
            {
                "E (ELMo)": (56.5, 98.3),
                "G (GloVe 840B)": (58.0, 97.6),
                "W (GoogleNews)": (59.3, 98.9),
                "F (fastText wiki)": (60.9, 98.1),
            },
            percent=True,
            digits=1,
            needs=_ELMO,
            remark=f"{_NAMES} The protocol is that of LCEval's table, where METEOR has the published figures: eleven "
            "votes per pair, and the first five references.",
        ),
        PaperTable(
            "abstract-50s",
            "pairwise comparison, ABSTRACT-50S",
            "The same, for abstract scenes.",
            _VECTORS,
            judged_parts("abstract-50s@vedantam2015", {"HHC": "HC", "HHI": "HI"}),
            {
                "E (ELMo)": (55.5, 94.5),
                "G (GloVe 840B)": (56.0, 89.5),
                "W (GoogleNews)": (57.5, 90.5),
                "F (fastText wiki)": (60.5, 90.0),
            },
            percent=True,
            digits=1,
            needs=ABSTRACT_FILE,
            remark=f"{_NAMES} {_NO_ELMO} The tables say 1,000 pairs of correct captions; chapter 7 of the thesis says "
            "200, as others do.",
        ),
        PaperTable(
            "combination",
            "figure 8.3",
            "The mean, maximum and minimum over references.",
            {"mean": "wembsim", "max": "wembsim:combine=max", "min": "wembsim:combine=min"},
            judged("composite@hessel2021", {"Composite, tau-c": "composite@hessel2021"}),
            remark="The figure's values are not at hand. In the paper the mean is best; here, with other vectors, the "
            "maximum.",
        ),
        PaperTable(
            "correlations",
            "figure 8.4",
            "Correlations between metrics over captions, as a heat map in a plot.",
            {name: name for name in ("bleu-4", "rouge-l", "meteor", "cider-d", "spice", "wembsim")},
            [
                PaperColumn(f"with {name}", run, value=name)
                for run in [Run("metric_correlations", {"benchmark": "flickr8k-expert"})]
                for name in ("bleu-4", "rouge-l", "meteor", "cider-d", "spice", "wembsim", "people")
            ],
            remark="The figure's values are not at hand.",
        ),
        PaperTable(
            "sums",
            "figure 8.5",
            "Sums of WEmbSim and other metrics with equal weights, each in standard deviations.",
            {
                "WEmbSim": "wembsim",
                "WEmbSim + SPICE": "sum:wembsim+spice",
                "WEmbSim + CIDEr-D": "sum:wembsim+cider-d",
                "WEmbSim + METEOR": "sum:wembsim+meteor",
            },
            judged("composite@sharif2019-tau-b", {"Composite, tau-b": "composite@sharif2019-tau-b"}),
            remark="The figure's values are not at hand.",
        ),
        PaperTable(
            "distractors",
            "section 8.4",
            "Accuracy on captions with distractors of Hodosh and Hockenmaier 2016 (SP: switched people, SS: switched "
            "scenes, JP: just the person, JS: just the scene).",
            _VECTORS,
            judged_parts("distractors@kilickaya2017", {task: task for task in ("SP", "SS", "JP", "JS")}, "average"),
            {"F (fastText wiki)": (92.5, 91.2, 95.7, 99.6, 94.8)},
            percent=True,
            digits=1,
            needs=DISTRACTORS,
            remark=f"{_NAMES} {_NO_ELMO}",
        ),
    ),
)
