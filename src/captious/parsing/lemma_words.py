"""Words whose base form no rule of English spelling gives: what ``lemmas`` looks up before it applies its rules.

Facts of English as grammars and dictionaries list them (irregular verbs and plurals, nouns without a singular, verbs in
a silent e), and words where CoreNLP 3.6.0 departs from dictionaries (``clad`` of ``clothe``, ``papers`` as a noun
without a singular), known by its lemmas of captions.
"""

from __future__ import annotations

__all__ = [
    "BARE_STEMS",
    "E_STEMS",
    "INVARIABLE_NOUNS",
    "IRREGULAR_NOUNS",
    "IRREGULAR_VERBS",
    "IRREGULAR_WORDS",
    "UNDIVIDED_VERBS",
    "UNDOUBLED_STEMS",
    "VERB_PREFIXES",
]


def _forms(table: str) -> dict[str, str]:
    """The base of each form, from entries ``base form form ...;``."""
    return {form: base for base, *forms in map(str.split, table.strip(" ;\n").split(";")) for form in forms}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Forms of verbs; those of verbs with a prefix of ``VERB_PREFIXES`` follow.
IRREGULAR_VERBS = _forms("""
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

VERB_PREFIXES = ("under", "with", "over", "fore", "out", "mis", "re", "un", "up")

#: Verbs that look like a form of another but are not.
UNDIVIDED_VERBS = _words("bleed breed exceed feed heed indeed need proceed seed speed succeed uneaten weed")

#: Stems that end in a silent e where the rules would leave them bare.
E_STEMS = _words("""
    ach adher ador alleg aton avalanch bast ben bing cach cahoot centr compet complet conced concret condon connot
    consol contraven conven creat cring delet delineat denot deplet deplor dethron devot dissuad elop emot enthron
    equip excit excret explor fring hast hing ignit ignor impal imped implor incit infring interfer interlop
    interven invit massacr oblig past patrol permeat persever persuad postpon preced privileg procreat profan promot
    reced recit recreat reignit restor reunit rever rout seced secret silhouett spong supersed tast telescop ting
    unit wast
""")

#: Stems without a silent e where the rules would add one.
BARE_STEMS = _words("""
    accustom bang bath begin bias blossom bottom bus canvas clang collar con custom debut fang fathom focus gang gas
    hang margin mouth murmur occur overhang pencil phantom prop random ransom slang smooth stencil strap strip top
    twang
""")

#: Stems in pp, rr, tt or ll that have one letter less without an ending. (Others keep both: purr, boycott, yell.)
UNDOUBLED_STEMS = _words("""
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
IRREGULAR_NOUNS = _forms("""
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
INVARIABLE_NOUNS = _words("""
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
IRREGULAR_WORDS: dict[str, dict[str, str]] = {
    "DT": {"an": "a"},
    "MD": {"'d": "would", "'ll": "will", "ca": "can", "sha": "shall", "wo": "will"},
    "PRP": {"her": "she", "him": "he", "me": "I", "them": "they", "us": "we"},
    "PRP$": {"her": "she", "his": "he", "our": "we", "their": "they", "your": "you"},
    "RB": {"n": "not", "n't": "not"},
}
