"""Yi et al. 2020, improved BERTScore: its tables."""

from __future__ import annotations

from captious.judgment.papers.paper import CHALLENGE_CAPTIONS, Paper, PaperTable, judged, judged_parts

_STOP_WORDS = "stop_words={yi2020/stop_word_list.txt}"
_OURS = {"ours, BERT": f"yi2020:{_STOP_WORDS}", "ours, unigrams": f"yi2020-unigram:{_STOP_WORDS}"}
_SYSTEMS = f"{CHALLENGE_CAPTIONS}. Also bert-base-uncased and roberta-large (hf download NAME, 2 GB)"

PAPER = Paper(
    "yi2020",
    "Yi, Deng, Hu 2020: Improving image captioning evaluation by considering inter references variance",
    (
        PaperTable(
            "flickr8k",
            "table 3",
            "Kendall's tau-b with the mean of the three experts' ratings.",
            {
                "BLEU-1": "bleu-1",
                "BLEU-4": "bleu-4",
                "ROUGE-L": "rouge-l",
                "METEOR": "meteor",
                "CIDEr": "cider-d",
                "SPICE": "spice",
                "BERTScore": "bertscore-r:model=bert-base-uncased",
                **_OURS,
                "people": "people",
            },
            judged("flickr8k-expert@yi2020", {"Kendall": "flickr8k-expert@yi2020"}),
            {
                "BLEU-1": (0.318,),
                "BLEU-4": (0.140,),
                "ROUGE-L": (0.323,),
                "METEOR": (0.436,),
                "CIDEr": (0.447,),
                "SPICE": (0.458,),
                "BERTScore": (0.393,),
                "ours, BERT": (0.481,),
                "ours, unigrams": (0.471,),
                "people": (0.736,),
            },
            differs="the baseline rows fit four of the five references. Without the first, the second or the last "
            "one, BLEU-1 has .317 to .323, ROUGE-L .320 to .323, METEOR .433 to .434 and CIDEr .445 to .450; the "
            "metric's own row of unigrams has the published figure with all five. The figure of SPICE fits neither: "
            "it is near that of another protocol, tau-c with every rating separately (.447)",
            remark="BLEU-4 of .140 is without smoothing (.144 here); the toolkit's has .321."
            " The stop words are the authors' (yi2020/stop_word_list.txt).",
        ),
        PaperTable(
            "composite",
            "Composite",
            "Kendall's tau-c on Composite.",
            _OURS | {"ours, unigrams": f"yi2020-unigram:tokenizer=ptb,{_STOP_WORDS}"},
            judged("composite@hessel2021", {"Kendall": "composite@hessel2021"}),
            {"ours, BERT": (0.423,), "ours, unigrams": (0.420,)},
            remark="The row of unigrams is that of PTB tokens, where Flickr8k's splits at blanks.",
        ),
        PaperTable(
            "systems",
            "COCO 2015",
            "Pearson correlation with M1 and M2 over twelve systems of the COCO challenge.",
            {"ours, BERT": "", "ours, RoBERTa": "", "ours, unigrams": ""},
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {"ours, BERT": (0.875, 0.797), "ours, RoBERTa": (0.932, 0.869), "ours, unigrams": (0.809, 0.714)},
            needs=_SYSTEMS,
        ),
        PaperTable(
            "parts",
            "table 2",
            "The same without some of the three parts of the metric (T, B, R), and with references as one text (cat).",
            {"T": "", "T, B": "", "cat": ""},
            judged(["coco-2015@m1", "coco-2015@m2"], {"M1": "coco-2015@m1", "M2": "coco-2015@m2"}),
            {"T": (0.822, 0.741), "T, B": (0.867, 0.755), "cat": (0.857, 0.783)},
            needs=_SYSTEMS,
        ),
        PaperTable(
            "pascal-50s",
            "PASCAL-50S",
            "How often a metric prefers the caption of a pair that people prefer.",
            _OURS,
            judged_parts("pascal-50s@fleur2024", {kind: kind for kind in ("HC", "HI", "HM", "MM")}, "all"),
            {"ours, BERT": (65.4, 98.1, 96.4, 60.3, 80.1)},
            percent=True,
            digits=1,
        ),
    ),
)
