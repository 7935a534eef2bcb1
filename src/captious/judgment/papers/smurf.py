"""SMURF: tables and figures of Feinglass and Yang 2021."""

from __future__ import annotations

from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run, judged, judged_parts

_PARTS = {"SPARCS": "sparcs", "SPURTS": "spurts", "SMURF": "smurf"}
_FLICKR8K = {
    "BLEU-1": "bleu-1",
    "BLEU-2": "bleu-2",
    "ROUGE-L": "rouge-l",
    "METEOR": "meteor",
    "CIDEr": "cider-d",
    "SPARCS": "sparcs",
}
_UNTIED = "flickr8k-expert@smurf2021-untied"
_SYSTEMS = {name: name for name in ("people", "system 1", "system 2", "system 3")}
_ANALYSIS = Run("smurf_scores", {"scores": File("smurf/karpathy_4captioners.jsonl")})
_SCORES_REMARK = (
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
            dict.fromkeys(_PARTS, ""),
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {"SPARCS": (0.874, 0.894), "SPURTS": (0.956, 0.955), "SMURF": (0.984, 0.993)},
            needs="the captions of the four judged sets, which the paper does not publish",
            remark="Four sets of captions only: a correlation over four points.",
        ),
        PaperTable(
            "flickr8k",
            "table 4, Flickr8k",
            "Kendall's tau-c, every expert's rating separately.",
            _FLICKR8K,
            judged("flickr8k-expert@spice2016", {"Kendall": "flickr8k-expert@spice2016"}),
            {
                "BLEU-1": (0.305,),
                "BLEU-2": (0.316,),
                "ROUGE-L": (0.277,),
                "METEOR": (0.411,),
                "CIDEr": (0.418,),
                "SPARCS": (0.481,),
            },
            differs="the baseline rows fit four of the five references, except for ROUGE-L. Without the first, the "
            "second or the last one, BLEU-1 has .303 to .308, BLEU-2 .307 to .311, METEOR .403 to .405 and CIDEr .419 "
            "to .422, but ROUGE-L .308 to .311. With five, .313, .332, .302 and .430 are those of BLEU-1, BLEU-2, "
            "ROUGE-L and CIDEr with case and punctuation, and .321, .323, .323 and .438 with SMURF's own preprocessing",
            remark="SPARCS has .481 with the tokens of BERT without word pieces, or with recall of the mean "
            "reference. Both are in a comment of the first published code, which ours follows otherwise. On "
            "Composite, they have .437 and .433.",
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
            "Kendall's tau-b among the captions of an image, averaged over the images whose captions all have "
            "different mean ratings; an image with a single caption, or where a metric scores all the same, counts as "
            "0.",
            _FLICKR8K,
            judged(_UNTIED, {"Kendall": _UNTIED}),
            {"SPARCS": (0.716,)},
            remark="The paper does not define the subset; this is how a script that was written for its evaluation "
            "chooses and compares captions. People have .655 there, which is the mean over images of tau-b between the "
            "experts' mean ratings and the crowd's shares of yes, ties or not: .653 here, over the 299 images where it "
            "is defined (the normalized file lacks 542 of 47,830 judgments of the crowd). In captious judge, people "
            "are the three experts with each other, on the images without ties: .741.",
        ),
        PaperTable(
            "pascal-50s",
            "PASCAL-50S",
            "How often a metric prefers the caption of a pair that people prefer, with the first five references.",
            {"SPARCS": "sparcs", "SMURF": "smurf"},
            judged_parts("pascal-50s@smurf2021", {kind: kind for kind in ("HC", "HI", "HM", "MM")}, "all"),
            {"SPARCS": (0.651, 0.958, 0.896, 0.644, 0.787), "SMURF": (0.621, 0.939, 0.912, 0.610, 0.771)},
            differs="the published figures fit captions whose last word is lost with its full stop. Split at "
            "blanks, in lower case and without words that contain punctuation, SPARCS has .659, .970, .902, .643 and "
            ".794 (with ties for the second caption, .658, .962, .899, .643 and .790); the published code deletes full "
            "stops first, which gives ours. Nothing else comes as near with five references: not their draw (the first "
            "five, or that of Lee et al. 2024), what a tie counts, the tokens of BERT (.686, .987, .932, .680), recall "
            "of the mean reference (.676, .986, .909, .679), precision, recall or the best reference alone (.655 to "
            ".666 for HC, .981 and more for HI)",
        ),
        PaperTable(
            "ellipses",
            "figure 1",
            "Semantics and style of people and of three systems, in standard deviations of people's, and the share of "
            "a system's ellipse in that of people (a plot draws them).",
            _SYSTEMS,
            [
                PaperColumn(label, _ANALYSIS, value=value, row="system")
                for label, value in (("SPARCS", "sparcs"), ("SPURTS", "spurts"), ("overlap", "overlap"))
            ],
            metrics=False,
            command="captious study smurf SYSTEM... REFERENCES, with the models, for other captions",
            remark=_SCORES_REMARK,
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
            command="captious study smurf SYSTEM... REFERENCES, with the models, for other captions",
            remark=_SCORES_REMARK,
        ),
        PaperTable(
            "sentences",
            "figure 5",
            "MIMA of sentences.",
            needs="distilbert-base-uncased (hf download distilbert-base-uncased, 270 MB), and files of sentences, of "
            "which some are ungrammatical",
            command="captious study sentences FILE... -m mima --plot DIR",
            remark="The paper's sentences are not at hand. MIMA needs no references, and neither does this study.",
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
            differs="the paper's definition of a failure, its figures and its causes are not at hand. Here, two "
            "captions of an image whose mean ratings are three quarters of the scale apart are a failure if the worse "
            "one scores higher, and half a failure if both score the same; causes are not told apart",
            command="captious study failures BENCHMARK --gap .75",
        ),
    ),
)
