"""Lemmas: the base form of a word, given its part of speech, as in CoreNLP 3.6.0.

Only verbs, plural nouns and a few words of closed classes change. Endings are removed by the spelling rules of English,
in the manner of Minnen, Carroll and Pearce (2001), "Applied morphological processing of English": a few regular
suffixes by class, and irregular words. The latter are listed in grammars and dictionaries (irregular verbs and plurals,
nouns without a singular, verbs in a silent e), or are words for which CoreNLP departs from dictionaries (``clad`` of
``clothe``, ``papers`` as a noun without a singular), taken from its lemmas of captions. A misspelled word still gets
the lemma that its spelling suggests: ``vido`` of ``vidoing``.
"""

from __future__ import annotations

from functools import lru_cache


def _forms(table: str) -> dict[str, str]:
    """Return the base of each form, from entries ``base form form ...;``."""
    return {form: base for base, *forms in map(str.split, table.strip(" ;\n").split(";")) for form in forms}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Forms of verbs; those of verbs with a prefix of ``_VERB_PREFIXES`` follow.
_IRREGULAR_VERBS = _forms("""
    abide abode; agree agreed; arise arose arisen; awake awoke awoken; babysit babysat;
    be am is are was were been being 's 'm 're s m re; bear bore born borne; beat beaten; become became;
    befall befell befallen; beget begat begot begotten; begin began begun; behold beheld; bend bent; bereave bereft;
    beseech besought; bespeak bespoke bespoken; bestride bestrode bestridden; bid bade bidden; bind bound;
    bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
    burn burnt; bus buses busses bused bussed busing bussing; buy bought; cache caches; canoe canoes; catch caught;
    choose chose chosen; cling clung; clothe clad; come came; creep crept; deal dealt; die dying; dig dug;
    dive dove; do did done does; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; dwell dwelt;
    eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fling flung;
    fly flew flown; focus focuses; forbear forbore forborne; forbid forbad forbade forbidden;
    forget forgot forgotten; forgive forgave forgiven; forsake forsook forsaken; free freed; freeze froze frozen;
    frolic frolicked frolicking; get got gotten; give gave given; go went gone goes; grind ground; grow grew grown;
    guarantee guaranteed; hang hung; have had has 've 'd; hear heard; heave hove; hew hewn; hide hid hidden;
    hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt;
    leave left; lend lent; lie lain lying; light lit; lose lost; make made; mean meant; meet met;
    mimic mimicked mimicking; mow mown; panic panicked panicking; partake partook partaken; pay paid;
    picnic picnicked picnicking; prove proven; rely relying; rend rent; ride rode ridden; ring rang rung;
    rise rose risen; run ran; saw sawn; say said; see saw seen; seek sought; sell sold; send sent; sew sewn;
    shake shook shaken; shave shaven; shear shorn; shine shone; shoe shod shoes; shoot shot; show shown;
    shrink shrank shrunk shrunken; sic sicked sicking; sing sang sung; sink sank sunk sunken; sit sat;
    ski skied skiing; slay slew slain; sleep slept; slide slid; sling slung; slink slunk; smell smelt;
    smite smote smitten; snowshoe snowshoes; sow sown; speak spoke spoken; speed sped; spell spelt; spend spent;
    spill spilt; spin spun; spit spat; spoil spoilt; spring sprang sprung; stand stood; stave stove;
    steal stole stolen; stick stuck; sting stung; stink stank stunk; strew strewn; stride strode stridden;
    strike struck stricken; string strung; strive strove striven; swear swore sworn; sweep swept; swell swollen;
    swim swam swum; swing swung; take took taken; taxi taxied taxiing; teach taught; tear tore torn; tell told;
    think thought; thrive throve thriven; throw threw thrown; tie tying; tiptoe tiptoes;
    traffic trafficked trafficking; tread trod trodden; understand understood; vie vying; wake woke woken;
    wear wore worn; weave wove woven; weep wept; win won; wind wound; withdraw withdrew withdrawn; wring wrung;
    write wrote written;
""")

_VERB_PREFIXES = ("under", "with", "over", "fore", "out", "mis", "re", "un", "up")

#: Verbs that look like a form of another but are not.
_UNDIVIDED_VERBS = _words("bleed breed exceed feed heed indeed need proceed seed speed succeed uneaten weed")

#: Stems that end in a silent e where the rules would leave them bare.
_E_STEMS = _words("""
    ach adher ador alleg aton avalanch bast ben bing cach cahoot centr compet complet conced concret condon connot
    consol contraven conven creat cring delet delineat denot deplet deplor dethron devot dissuad elop emot enthron
    equip excit excret explor fring hast hing ignit ignor impal imped implor incit infring interfer interlop
    interven invit massacr oblig past patrol permeat persever persuad postpon preced privileg procreat profan promot
    reced recit recreat reignit restor reunit rever rout seced secret silhouett spong supersed tast telescop ting
    unit wast
""")

#: Stems without a silent e where the rules would add one.
_BARE_STEMS = _words("""
    accustom bang bath begin bias blossom bottom bus canvas clang collar con custom debut fang fathom focus gang gas
    hang margin mouth murmur occur overhang pencil phantom prop random ransom slang smooth stencil strap strip top
    twang
""")

#: Stems in pp, rr, tt or ll that have one letter less without an ending. (Others keep both: purr, boycott, yell.)
_UNDOUBLED_STEMS = _words("""
    abett abhorr abutt acquitt admitt allott averr backdropp barr batt befitt besett bett blott blurr butt cancell
    capp catnapp channell chapp charr chatt chipp chopp clapp clipp clopp clott committ compell concurr conferr
    controll counsell cropp cupp cutt debarr deferr demurr deterr dipp disinterr dispell dott dripp dropp eavesdropp
    emitt entrapp equall equipp excell expell extoll fatt fitt flapp flatt flipp flitt flopp forgett frett fuell
    furr gapp gett gripp gritt gutt handicapp hitt hopp hott impell incurr inferr initiall interr jarr jett jott
    jutt kidnapp kitt kneecapp knitt knott labell lapp lett levell lopp lott mapp marr marshall marvell matt modell
    mopp napp nett nipp nutt occurr omitt outcropp outfitt outstripp outwitt overlapp panell parcell patroll patt
    pedall pencill pepp permitt pett pipp pitt plopp plott popp pott preferr prepp propell propp putt quarrell quipp
    quitt rapp ratt rebell rebutt recapp recurr referr refitt regrett remitt repell retrofitt ripp rivall rott rutt
    sapp scarr scatt scrapp sett shipp shopp shovell shutt signall sipp sitt skipp slapp slipp slitt slott slurr
    snapp snipp sopp sparr spirall spitt splitt spott spurr squatt starr stepp stirr stopp strapp stripp strutt
    submitt swapp swatt swivell tapp tarr tipp topp tott transferr transmitt trapp travell tripp trott tunnell
    unravell unwrapp unzipp upsett vett warr wett whipp whirr witt worshipp wrapp yapp zapp zipp
""")

#: Plurals.
_IRREGULAR_NOUNS = _forms("""
    ache aches; alias aliases; aloe aloes; analysis analyses; apache apaches; apparatus apparatuses; atlas atlases;
    avalanche avalanches; basis bases; bias biases; birdie birdies; bonus bonuses; bookie bookies;
    bookshelf bookshelves; bowtie bowties; brownie brownies; bus buses busses; cache caches; cactus cactuses;
    calf calves; calorie calories; campus campuses; canoe canoes; canvas canvases; census censuses; child children;
    chorus choruses; circus circuses; collie collies; cookie cookies; creche creches; crisis crises;
    crocus crocuses; dais daises; datum data; diagnosis diagnoses; dwarf dwarves; elf elves; emu emus; floe floes;
    foot feet; fungus funguses; gas gases; genie genies; genius geniuses; gnu gnus; goalie goalies; goose geese;
    guru gurus; half halves; headache headaches; hippie hippies; hippopotamus hippopotamuses; hoof hooves;
    horseshoe horseshoes; housewife housewives; hypothesis hypotheses; iris irises; knife knives; leaf leaves;
    lens lenses; life lives; lira lire; loaf loaves; louse lice; magpie magpies; menu menus; midwife midwives;
    minibus minibuses; money monies; mouse mice; moustache moustaches; movie movies; necktie neckties; niche niches;
    nucleus nucleuses; oasis oases; oboe oboes; octopus octopuses; ox oxen; penknife penknives; pixie pixies;
    platypus platypuses; posse posses; potpie potpies; prairie prairies; quiche quiches; rookie rookies;
    scarf scarves; self selves; sheaf sheaves; shelf shelves; shoe shoes; sinus sinuses; snowshoe snowshoes;
    status statuses; surplus surpluses; thesis theses; thief thieves; tiptoe tiptoes; tooth teeth;
    toothache toothaches; tutu tutus; virus viruses; walrus walruses; werewolf werewolves; wharf wharves;
    wife wives; wolf wolves; zombie zombies;
""")

#: Nouns in s without a singular, singulars that look like plurals, and nouns in i and men that are not Latin or men.
_INVARIABLE_NOUNS = _words("""
    accoutrements acrobatics aerobatics amends athletics barracks belongings billiards binoculars blinders blues
    bowels brussels checkers christmas clothes contents crossbones crossroads denims downstairs economics edibles
    electronics fives fours fries furnishings gallows goggles goods gras grits grounds gymnastics handcuffs
    handlebars headquarters hers hors innards jeans knickers leavings leftovers leggings makings mathematics means
    mercedes metropolis news oats odds oils olympics outdoors outskirts overalls pajamas panties pants papers
    parenthesis pliers politics premises pyjamas pyrotechnics remains rhinoceros rights savings scissors seconds
    series shades shallows shears shorts slacks smalls species specifics statistics suds supplies surroundings
    suspenders teens tetris thanks thermos tights toiletries travels troops tropics trousers tweezers underclothes
    underpants undies upstairs wares whites workings writings

    abdomen alibi bikini broccoli chili confetti deli hymen israeli khaki kiwi kohlrabi macaroni omen pepperoni
    pepsi rabbi ramen ravioli regimen rigatoni safari salami sari semen ski spaghetti specimen stamen taxi tsunami
    yemen zucchini
""")

#: Words of closed classes.
_IRREGULAR_WORDS: dict[str, dict[str, str]] = {
    "DT": {"an": "a"},
    "MD": {"'d": "would", "'ll": "will", "ca": "can", "sha": "shall", "wo": "will"},
    "PRP": {"her": "she", "him": "he", "me": "I", "them": "they", "us": "we"},
    "PRP$": {"her": "she", "his": "he", "our": "we", "their": "they", "your": "you"},
    "RB": {"n": "not", "n't": "not"},
}

_VOWELS = frozenset("aeiou")
_VOWELS_AND_Y = frozenset("aeiouy")

# What a stem in a consonant, a vowel and a consonant ends in: always before a silent e (``hik-ing``), never
# (``open-ing``). With other pairs stems of one syllable have the e (``hop-ing``, ``develop-ing``).
_WITH_E = frozenset(
    (
        *("ab", "ad", "ag", "ak", "am", "ap", "ar", "at", "av", "az", "ev", "ib", "id", "ik", "il", "im", "in", "ir"),
        *("iv", "iz", "ob", "od", "ok", "om", "ov", "ub", "ud", "uk", "ul", "um", "ur", "ut", "yl", "ym", "yn", "yp"),
        "yr",
    )
)
_WITHOUT_E = frozenset(("eb", "ed", "ef", "eg", "ek", "el", "en", "ep", "er", "et", "ig", "of", "og", "ug"))


@lru_cache(maxsize=1 << 16)
def lemma(word: str, tag: str) -> str:
    """Return the lemma of a word, in lower case except for proper names and ``I``.

    Args:
        word: the word, as written.
        tag: its Penn Treebank part of speech.
    """
    if tag in ("NNP", "NNPS"):
        return word
    word = word.lower()
    if tag == "NNS":
        base = _singular
    elif tag.startswith("V"):
        base = _infinitive
    else:
        return _IRREGULAR_WORDS.get(tag, {}).get(word, word)
    if word.startswith("-"):
        return f"{word}_{tag}"  # brackets, which the official program leaves with their tags
    first, hyphen, last = word.rpartition("-")
    return first + hyphen + base(last)


def _infinitive(word: str) -> str:
    """Return the infinitive of a form of a verb: be of is, hike of hiking, carry of carried, watch of watches."""
    if word in _UNDIVIDED_VERBS:
        return word
    irregular = _IRREGULAR_VERBS.get(word) or _prefixed(word)
    if irregular:
        return irregular
    if not word.isalpha():
        return word
    if word.endswith("ing") and not _VOWELS_AND_Y.isdisjoint(word[:-3]):
        return _completed(word[:-3], past=False)
    if word.endswith("ed") and not word.endswith("eed") and not _VOWELS_AND_Y.isdisjoint(word[:-2]):
        if word.endswith("ied") and len(word) > 4:
            return word[:-3] + "y"
        return _completed(word[:-2], past=True)
    return _remove_s(word)


def _prefixed(word: str) -> str:
    """Return the infinitive of an irregular verb with a prefix, overtake of overtaken; empty if it is not one."""
    for prefix in _VERB_PREFIXES:
        if word.startswith(prefix) and len(word) > len(prefix) + 2:
            base = _IRREGULAR_VERBS.get(word[len(prefix) :])
            if base:
                return prefix + base
    return ""


def _completed(stem: str, past: bool) -> str:
    """Complete the stem of a verb without ``ing`` (or, if ``past``, ``ed``): hike of hik, sit of sitt, walk."""
    if stem in _E_STEMS:
        return stem + "e"
    if stem in _BARE_STEMS or len(stem) < 2:
        return stem
    before, last = stem[-2], stem[-1]
    if before == last and len(stem) > 2:
        if (last in "bdgkmn" and stem != "add") or stem in _UNDOUBLED_STEMS:
            return stem[:-1]
        if last in "sz":
            return stem
    return stem + "e" if _has_silent_e(stem, before, last, past) else stem


def _has_silent_e(stem: str, before: str, last: str, past: bool) -> bool:
    """Return whether a verb ends in an e that its stem lacks, by the last two letters of the stem."""
    if last in "csuvz":
        return True
    if last in "aei":
        return before not in ("i" if last == "i" else _VOWELS_AND_Y)
    if last == "o":
        return past and before not in _VOWELS and stem not in ("echo", "lasso", "veto")
    if last == "y":
        return past and len(stem) == 2
    if last == "h":
        return before in _VOWELS or (before == "t" and stem[-3:-2] in _VOWELS)
    if last in "wxq":
        return False
    if before not in _VOWELS_AND_Y:
        if last == "l":
            return before not in "lrw"
        if last == "g":
            return before in "dlr" or (before == "n" and stem[-3:-2] in ("a", "e", "u"))
        return False
    if _ends_in_two_vowels(stem[:-1]):
        return stem.endswith(("iat", "uat"))
    pair = before + last
    return pair in _WITH_E or (pair not in _WITHOUT_E and _is_one_syllable(stem))


def _ends_in_two_vowels(text: str) -> bool:
    """Return whether a text ends in two vowels, not counting the u of qu and gu."""
    return text[-2:-1] in _VOWELS and text[-3:-1] not in ("qu", "gu")


def _is_one_syllable(stem: str) -> bool:
    syllables = 0
    in_vowels = False
    for i, letter in enumerate(stem):
        vowel = letter in _VOWELS or (letter == "y" and i > 0)
        syllables += vowel and not in_vowels
        in_vowels = vowel
    return syllables == 1


def _singular(word: str) -> str:
    """Return the singular of a plural: dog of dogs, woman of women, leaf of leaves, cactus of cacti."""
    irregular = _IRREGULAR_NOUNS.get(word)
    if irregular:
        return irregular
    if word in _INVARIABLE_NOUNS or word.endswith(("sis", "polis")):
        return word
    if not word.isalpha():
        return word[:-1] if word.endswith("s") and (word[:-1].isdigit() or "'" in word) else word
    if word.endswith("men"):
        return word[:-2] + "an"
    if word.endswith("i") and len(word) > 1:
        return word[:-1] + "us"
    return _remove_s(word)


def _remove_s(word: str) -> str:
    """Remove the s of plurals and third persons from a word."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or len(word) < 2:
        return word
    if word.endswith("ies") and len(word) > 4 and word[-4] not in _VOWELS:
        return word[:-3] + "y"
    if word.endswith(("ches", "oes", "shes", "sses", "xes", "zzes")) and len(word) > 4:
        return word[:-2]
    return word[:-1]
