"""SMURF: tables and figures of Feinglass and Yang 2021."""

from __future__ import annotations

from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run, judged, judged_parts

__all__ = ["PAPER"]

_PARTS = {"SPARCS": "sparcs", "SPURTS": "spurts", "SMURF": "smurf"}
_MODELS = "distilbert-base-uncased and distilroberta-base"
_SYSTEMS = {name: name for name in ("people", "system 1", "system 2", "system 3")}
_ANALYSIS = Run("smurf_scores", {"scores": File("smurf/karpathy_4captioners.jsonl")})
_FROM_SCORES = (
    "Computed from the scores of the Karpathy test split that the authors publish with their code, so that no model is "
    "needed."
)

PAPER = Paper(
    "smurf",
    "Feinglass, Yang 2021: SMURF, semantic and linguistic understanding fusion for caption evaluation",
    (
        PaperTable(
            "systems",
            "system level, COCO",
            "Pearson correlation with M1 and M2.",
            _PARTS,
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {"SPARCS": (0.874, 0.894), "SPURTS": (0.956, 0.955), "SMURF": (0.984, 0.993)},
            needs=f"the captions of the judged systems, and {_MODELS}",
            remark="Four sets of captions only: a correlation over four points.",
        ),
        PaperTable(
            "flickr8k",
            "table 4, Flickr8k",
            "Kendall's tau-c, every expert's rating by itself.",
            {
                "BLEU-1": "bleu-1",
                "BLEU-2": "bleu-2",
                "ROUGE-L": "rouge-l",
                "METEOR": "meteor",
                "CIDEr": "cider-d",
                "SPARCS": "sparcs",
            },
            judged("flickr8k-expert@spice2016", {"Kendall": "flickr8k-expert@spice2016"}),
            {
                "BLEU-1": (0.305,),
                "BLEU-2": (0.316,),
                "ROUGE-L": (0.277,),
                "METEOR": (0.411,),
                "CIDEr": (0.418,),
                "SPARCS": (0.481,),
            },
            differs="why the baseline rows are lower in the paper is not known; the toolkit has ours on the same file. "
            "BLEU-1, BLEU-2, ROUGE-L and CIDEr have .304, .309, .310 and .421 with four references instead of five, "
            ".313, .332, .302 and .430 with case and punctuation, and .321, .323, .323 and .438 with SMURF's own "
            "preprocessing",
        ),
        PaperTable(
            "composite",
            "table 4, Composite",
            "Kendall's tau-c with ratings of Composite.",
            {"SPARCS": "sparcs"},
            judged("composite@hessel2021", {"Kendall": "composite@hessel2021"}),
            {"SPARCS": (0.431,)},
        ),
        PaperTable(
            "flickr8k-ties",
            "table 4, subset",
            "The same on the captions of Flickr8k without ties.",
            {"SPARCS": "", "people": ""},
            [PaperColumn("Kendall", None)],
            {"SPARCS": (0.716,), "people": (0.655,)},
            needs="the definition of the subset, which is not at hand",
            remark="No subset that was tried has both figures, with tau-b, tau-c and gamma of every rating, of the "
            "mean and of the median: captions on which the experts agree (SPARCS .626 at most, .856 as gamma; people "
            "1), do not agree (people .728), or of which two agree (.749); captions whose mean or median is the "
            "only one of its value for the image (.751, .806); images without tied means (397 captions: .800); "
            "captions with a mean above 1 (.686), with SPARCS above 0 (.742) or untied (.748). Over all 5,664 "
            "captions, .655 is the tau-b of the lowest with the highest rating (.736 is the mean of three pairs; "
            "the owners' file has ratings in ascending order), and Goodman and Kruskal's gamma of SPARCS with the "
            "median rating, which leaves out tied pairs, is .717.",
        ),
        PaperTable(
            "pascal-50s",
            "PASCAL-50S",
            "How often a metric prefers the caption of a pair that people prefer, with the first five references.",
            {"SPARCS": "sparcs", "SMURF": "smurf"},
            judged_parts("pascal-50s@smurf2021", {kind: kind for kind in ("HC", "HI", "HM", "MM")}, "all"),
            {"SPARCS": (0.651, 0.958, 0.896, 0.644, 0.787), "SMURF": (0.621, 0.939, 0.912, 0.610, 0.771)},
            differs="SPARCS is 2 to 4 points higher here in every kind of pair: neither the draw of references (the "
            "first five, or that of Lee et al. 2024) nor what a tie counts (one half, nothing, one) gives the figures",
            needs=f"{_MODELS}, for the row of SMURF",
        ),
        PaperTable(
            "ellipses",
            "figure 1",
            "Semantics and style of people and of three systems, in standard deviations of people's, and the share of "
            "a system's ellipse in that of people (--plot draws them).",
            _SYSTEMS,
            [
                PaperColumn(label, _ANALYSIS, value=value, row="system")
                for label, value in (("SPARCS", "sparcs"), ("SPURTS", "spurts"), ("overlap", "overlap"))
            ],
            metrics=False,
            command="captious study smurf-analysis SYSTEM... REFERENCES, with the models, for other captions",
            remark=_FROM_SCORES,
        ),
        PaperTable(
            "grammar",
            "grammar penalties",
            "The sum of grammar penalties of people and of three systems.",
            _SYSTEMS,
            [PaperColumn("penalty", _ANALYSIS, value="grammar_penalty", row="system")],
            {"people": (-44.93,), "system 1": (-7.47,), "system 2": (-7.56,), "system 3": (-4.46,)},
            metrics=False,
            digits=2,
            command="captious study smurf-analysis SYSTEM... REFERENCES, with the models, for other captions",
            remark=_FROM_SCORES,
        ),
        PaperTable(
            "sentences",
            "figure 5",
            "MIMA of sentences.",
            needs="distilbert-base-uncased, and sentences of which some are ungrammatical",
            command="captious study sentence-scores FILE... -m mima",
        ),
        PaperTable(
            "failures",
            "section 4.5",
            "Critical failures of metrics: the share of pairs of captions of one image, rated very differently, of "
            "which a metric prefers the worse one.",
            {
                "BLEU-4": "bleu-4",
                "ROUGE-L": "rouge-l",
                "METEOR": "meteor",
                "CIDEr": "cider-d",
                "SPICE": "spice",
                "SPARCS": "sparcs",
            },
            [
                PaperColumn(label, Run("critical_failures", {"benchmark": benchmark}), value="rate")
                for label, benchmark in (
                    ("Flickr8k", "flickr8k-expert@spice2016"),
                    ("Composite", "composite@hessel2021"),
                )
            ],
            percent=True,
            digits=1,
            differs="the paper's definition of a failure, its figures and its causes are not at hand; ours is that of "
            "captious study critical-failures, without causes",
            command="captious study critical-failures BENCHMARK",
        ),
    ),
)
