"""American spellings of British words, as the official parser looks words up.

Its lexicon was counted on American newspapers. The words themselves stay as they are in trees. The list
is that of CoreNLP 3.6.0.
"""

from __future__ import annotations

import re

__all__ = ["american"]

_SHORTEST = 4
_SHORTEST_FOR_PATTERNS = 6

#: Months and weekdays, which become capitalised: not march and may, which are also other words.
_NAMES = """
    april august december february friday january july june monday november october saturday september sunday thursday
    tuesday wednesday
"""
#: ``our`` becomes ``or``.
_OUR = """
    Labour armoured candour clamour coloured colourful colouring discolour discoloured discolouring discolours
    endeavour endeavoured endeavouring endeavours favour favoured favouring favourite favourites favours fervour
    flavour flavoured flavouring flavours harbour harbours honour honourable honoured honouring honours humour
    humoured humouring humours labour laboured labouring labours misdemeanour misdemeanours neighbour neighbourhood
    neighbourhoods neighbours rumoured rumouring savour savoured savouring savours splendour splendours
"""
#: ``is`` becomes ``iz``.
_IS = """
    capitalisation capitalise capitalised finalise finalised finalising localise localised maximise maximised
    maximising minimise minimised minimising modernise modernised modernising organisation organisations penalise
    penalised popularise popularised popularises popularising pressurise pressurised pressurises pressurising realise
    realised realises realising recognise recognised recognises recognising
"""
_OTHERS = """
    Defence/Defense anaesthetic/anesthetic analogue/analog analogues/analogs analyse/analyze analysed/analyzed
    analysing/analyzing cancelled/canceled cancelling/canceling centre/center chimaeric/chimeric defence/defense
    encyclopaedia/encyclopedia fibre/fiber fibres/fibers grey/gray homologue/homolog homologues/homologs kerb/curb
    labelled/labeled labelling/labeling leant/leaned learnt/learned manoeuvre/maneuver manoeuvres/maneuvers
    meagre/meager oestrogen/estrogen oestrogens/estrogens practise/practice practised/practiced theatre/theater
    theatres/theaters titre/titer titres/titers travelled/traveled travelling/traveling
"""
_STAYS_OUR = """
    abatjour beflour bonjour calambour carrefour cornflour contour detour devour dortour dyvour downpour giaour
    glamour holour inpour outpour pandour paramour pompadour recontour repour ryeflour sompnour tambour troubadour
    tregetour velour
"""

_AMERICAN = {
    **{word: word.capitalize() for word in _NAMES.split()},
    **{word: word.replace("our", "or") for word in _OUR.split()},
    **{word: word.replace("is", "iz") for word in _IS.split()},
    **{british: american for british, american in (pair.split("/") for pair in _OTHERS.split())},
}
_PATTERNS = (
    (re.compile(r"haem(at)?o"), r"hem\1o"),
    (re.compile(r"aemia$"), "emia"),
    (re.compile(r"leukaem"), "leukem"),
    (re.compile(r"programme(s?)$"), r"program\1"),
    (re.compile(rf"^(?!.*(?:{'|'.join(_STAYS_OUR.split())}))([a-z]{{3,}})our(s?)$"), r"\1or\2"),
)


def american(word: str) -> str:
    """The spelling that a word is looked up by: ``gray`` for ``grey``; most words are as they are."""
    if len(word) < _SHORTEST:
        return word
    if word in _AMERICAN:
        return _AMERICAN[word]
    if len(word) < _SHORTEST_FOR_PATTERNS:
        return word
    for pattern, spelling in _PATTERNS:
        if pattern.search(word):
            return pattern.sub(spelling, word)
    return word
