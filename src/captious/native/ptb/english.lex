# The English rules of the PTB tokenizer (Penn Treebank), as CoreNLP 3.4.1 applies them in the COCO caption harness.
# lexgen turns this file and unicode.lex into tables; tokenizer.cpp says what each action does with its text.
#
# The longest match wins, its look-ahead (behind the slash) included; among equals, the first rule.
# "quoted text" matches either case; [classes] match exactly. A caption ends where it ends: no rule sees its neighbor.

# ---- building blocks

# A space, and what also counts as one after a token.
SPACE = [\t\u0020\u00A0\u2000-\u200A\u3000]
BEHIND = [{SPACE}\u0085]
ANY = [\u0000-\uFFFF]
APOS = (['\u0092\u2019]|"&apos;")
APOSETC = ({APOS}|[`\u0091\u2018\u201B])
ALNUM = ({ALPHA}|{DIGIT})
HYPHEN = [\-_\u058A\u2010\u2011]
ENTITY = "&" [aeiouAEIOU] ("acute"|"grave"|"uml") ";"
LETTER = ({ALPHA}|{MARK}|{ENTITY})
PART = {LETTER} ({LETTER}|{DIGIT})*
WORD = {PART} ([.!?] {PART})*
AMP = "&amp;"

# A markup tag: <b>, </b>, <a href="x">, <!-- x>.
NAME = [A-Za-z][A-Za-z0-9_:.\-]*
ATTRIBUTE = {NAME} ([\u0020]* "=" [\u0020]* ['"] [^\r\n'"]* ['"])?
TAG = "<" ([!?][A-Za-z\-][^>\r\n]* | {NAME} ([\u0020]+ {ATTRIBUTE})* [\u0020]* "/"? [\u0020]* | "/" {NAME} [\u0020]*) ">"

# What an auxiliary or a possessive leaves behind its apostrophe: 's 'm 'd 're 've 'll.
REDUCED = {APOS} ([msdMSD]|"re"|"ve"|"ll")
NOT = [nN] {APOSETC} [tT]

# An abbreviation that a sentence may end with; and how a sentence goes on behind it.
SENTENCE_END = {BEHIND} ({BEHIND}|{UPPER}|{TAG})
LETTERS_DOTTED = [A-Za-z] ("." [A-Za-z])+
ACRONYM = ({LETTERS_DOTTED} | ("Canada"|"Sino"|"Korean"|"EU"|"Japan"|"non") "-U.S" | "U.S.-" ("U.K"|"U.S.S.R"))
SENTENCE_START = ([A] ("bout"|"ccording"|"dditionally"|"fter"|"n"|"s"|"t")? | [B] "ut" | [E] "arlier" | [H] ("e"|"er"|"ere"|"owever")
    | [I] ("f"|"n"|"t") | [L] "ast" | [M] ("any"|"ore"|"r."|"s.") | [N] "ow" | [O] ("nce"|"ne"|"ther"|"ur") | [S] ("he"|"ince"|"o"|"ome"|"uch")
    | [T] ("hat"|"he"|"heir"|"hen"|"here"|"hese"|"hey"|"his") | [W] ("e"|"hen"|"hile"|"hat") | [Y] ("et"|"ou") | {TAG})

MONTH = ("Jan"|"Feb"|"Mar"|"Apr"|"Jun"|"Jul"|"Aug"|"Sep"|"Sept"|"Oct"|"Nov"|"Dec")
DAY = ("Mon"|"Tue"|"Tues"|"Wed"|"Thu"|"Thurs"|"Fri")
STATE = ("Ala"|"Ariz"|[A]"z"|[A]"rk"|"Calif"|"Colo"|"Conn"|"Ct"|"Dak"|[D]"el"|"Fla"|"Ga"|[I]"ll"|"Ind"|"Kan"|"Kans"|"Ky"|[L]"a"
    |[M]"ass"|"Md"|"Mich"|"Minn"|[M]"iss"|"Mo"|"Mont"|"Neb"|"Nev"|"Okla"|[O]"re"|[P]"a"|"Penn"|"Tenn"|[T]"ex"|"Va"|"Vt"|[W]"ash"
    |"Wis"|"Wisc"|"Wyo")
COMPANY = ("Inc"|"Co"|"Cos"|"Corp"|("p"|"pp") "t" [y] "s"?|"Ltd"|"Plc"|"Rt"|"Bancorp"|"Bhd"|"Assn"|"Univ"|"Intl"|"Sys")
MAY_END = ({MONTH}|{DAY}|{STATE}|{COMPANY}|"tel"|"est"|"ext"|"sq"|"Jr"|"Sr"|"Bros"|("Ed"|"Ph") ".D"|"Blvd"|"Rd"|"Esq"|"etc"|"al"|"seq"|"Bldg") "."
TITLE = ("Mr"|"Mrs"|"Ms"|[M]"iss"|"Drs"|"Dr"|"Profs"|"Prof"|"Sens"|"Sen"|"Reps"|"Rep"|"Attys"|"Atty"|"Lt"|"Col"|"Gen"|"Messrs"|"Govs"|"Gov"
    |"Adm"|"Rev"|"Maj"|"Sgt"|"Cpl"|"Pvt"|"Capt"|"Ste"|"St"|"Ave"|"Pres"|"Lieut"|"Hon"|"Brig"|"Comdr"|"Cmdr"|"Pfc"|"Spc"|"Supts"|"Supt"
    |"Det"|"Mt"|"Ft"|"Adj"|"Adv"|"Asst"|"Assoc"|"Ens"|"Insp"|"Mlle"|"Mme"|"Msgr"|"Sfc")
NEVER_ENDS = ({TITLE}|"vs"|"Alex"|"Wm"|"Jos"|"Cie"|"a.k.a"|"cf"|"TREAS"|"Ph"|{ACRONYM}|[A-Za-z]) "."
NEVER_ENDS_EITHER = ("Invt"|"Elec"|"Natl"|"M" [ft] "g"|"Dept") "."
BEFORE_NUMBER = ("ca"|"fig"|"figs"|"prop"|"no"|"nos"|"art"|"bldg"|"pp"|"op") "."

# Numbers.
NUM = ({DIGIT}+ | {DIGIT}* ([.:,\u00AD\u066B\u066C] {DIGIT}+)+)
NUMBER = [\-+]? {NUM}
SUBSCRIPT = [\u207A\u207B\u208A\u208B]? ([\u2070\u00B9\u00B2\u00B3\u2074-\u2079]+ | [\u2080-\u2089]+)
FRACTION = ({DIGIT}{1,4} [\-\u0020\u00A0])? {DIGIT}{1,4} ("\\"? "/" | [\u2044]) {DIGIT}{1,4}
DATE = {DIGIT}{1,2} [\-/] {DIGIT}{1,2} [\-/] {DIGIT}{2,4}
PHONE = ("(" [0-9]{2,3} ")" [\u0020\u00A0]? | ("++"|"+")? ([0-9]{2,4} [\-\u0020\u00A0])? [0-9]{2,4} [\-\u0020\u00A0])
      [0-9]{3,4} [\-\u0020\u00A0]? [0-9]{3,5}
    | (("++"|"+")? [0-9]{2,4} ".")? [0-9]{2,4} "." [0-9]{3,4} "." [0-9]{3,5}

# Addresses.
URL_END = [^\u0020\t\n\f\r"<>|.!?(){},\-]
FULL_URL = "http" "s"? "://" [^\u0020\t\n\f\r"<>|(){}]+ {URL_END}
PATH = "/" [^\u0020\t\n\f\r"<>|()]+ {URL_END}
LIKELY_URL = ("www." ([^\u0020\t\n\f\r"<>|.!?(){},]+ ".")+ [a-zA-Z]{2,4}
    | ([^\u0020\t\n\f\r"`'<>|.!?(){}$,-_]+ ".")+ ("com"|"net"|"org"|"edu")) {PATH}?
EMAIL_PART = [^\u0020\t\n\f\r"<>|(){}.\u00A0]+
EMAIL = ("<"|"&lt;")? [a-zA-Z0-9] [^\u0020\t\n\f\r"<>|(){}\u00A0]* "@" ({EMAIL_PART} ".")* {EMAIL_PART} (">"|"&gt;")?
USER = "@" [a-zA-Z_] [a-zA-Z_0-9]*
HASHTAG = "#" {LETTER}+
EXTENSION = ("bat"|"bmp"|"c"|"class"|"cgi"|"cpp"|"dll"|"doc"|"docx"|"exe"|"gif"|"gz"|"h"|"htm"|"html"|"jar"|"java"|"jpeg"|"jpg"|"mov"
    |"mp3"|"pdf"|"php"|"pl"|"png"|"ppt"|"ps"|"py"|"sql"|"tar"|"txt"|"wav"|"x"|"xml"|"zip")
FILE_NAME = ({LETTER}|{DIGIT})+ ("." ({LETTER}|{DIGIT})+)* "." {EXTENSION}

# Words with an apostrophe that stay whole.
APOS_WORD = ({APOS} "n" {APOS}? | [lLdDjJ] {APOS} | "Dunkin" {APOS} | "somethin" {APOS} | "ol" {APOS} | {APOS} "em" | [A-HJ-XZn] {APOSETC} {ALPHA}{2} {ALPHA}*
    | {APOS} [2-9] "0s" | {APOS} "til" "l"? | {ALPHA} {ALPHA}* [aeiouyAEIOUY] {APOSETC} [aeiouA-Z] {ALPHA}* | {APOS} "cause" | "cont'd" "."?
    | "'twas" | "nor'easter" | "c'mon" | "e'er" | "s'mores" | "ev'ry" | "li'l" | "nat'l"
    | "O" {APOSETC} "o")

# Words joined by hyphens and slashes.
PREFIX = [dDoOlL] {APOSETC} {ALNUM}
JOINED = ({PREFIX})? {ALNUM}+ ({HYPHEN} ({PREFIX})? {ALNUM}+)*
AMPERSANDED = [A-Z]+ (([+&]|{AMP}) [A-Z]+)+
SLASH_PART = [A-Za-z0-9]+ ("-" [A-Za-z]+){0,2}
SLASHED = {SLASH_PART} ("\\"? "/" {SLASH_PART}){1,2}
HYPHENATED = [A-Za-z0-9] [A-Za-z0-9.,\u00AD]* ("-" ([A-Za-z0-9\u00AD]+ | {ACRONYM} "."))+

BRACKETED = "-" ("RRB"|"LRB"|"RCB"|"LCB"|"RSB"|"LSB") "-"
LISTED = ({BRACKETED} | "C.D.s" | "pro-" | "anti-" | "S" ("&"|{AMP}) "P-500" | "S" ("&"|{AMP}) "Ls" | "Cap" {APOS} "n" | "c" {APOS} "est")
SMILEY = [<>]? [:;=] [\-o*']? [()DPdpO\\{@|\[\]]
SMILEY_EASTERN = ([\-\^x=~<>'] "_" [\-\^x=~<>'] | "(" [\-\^x=~<>'] [_.]? [\-\^x=~<>'] ")")

QUOTE = ({APOS} | "''" | [`\u2018\u2019\u201A\u201B\u201C\u201D\u0091\u0092\u0093\u0094\u201E\u201F\u2039\u203A\u00AB\u00BB]{1,2})
DOUBLE_QUOTE = ([\u0022]|"&quot;")

# ---- rules

text:     "c++"
text:     [cCfF] "#"
text:     "can" / "not"                                            # cannot -> can not
text:     "'t" / ("was"|"is")                                      # 'tis -> 't is
text:     ("gon"|"wan") / "na"                                     # gonna -> gon na
text:     "got" / "ta"
text:     ("lem"|"gim") / "me"
text:     {TAG}
dash:     "&" ("MD"|"mdash"|"ndash") ";" | [\u0096\u0097\u2013-\u2015]
ampersand: {AMP}
text:     "&" ("HT"|"TL"|"UR"|"LR"|"QC"|"QL"|"QR"|"odq"|"cdq"|"#" [0-9]+) ";"
text:     {WORD} / {REDUCED}                                       # dog's -> dog 's
text:     [A-Za-z\u00AD]* [A-MO-Za-mo-z] [\u00AD]* / {NOT}           # isn't -> is n't
text:     {WORD}
text:     {APOS_WORD}                                              # o'clock, ma'am
text:     "y" {APOS} / {ALPHA}                                     # y'all -> y' all
verbatim: {FULL_URL} | {LIKELY_URL} | {EMAIL} | {USER} | {HASHTAG}
clitic:   ({REDUCED}|{NOT}) / [^A-Za-z]
text:     {DATE} | {NUMBER} | {SUBSCRIPT} | {FRACTION}
vulgar_fraction: [\u00BC\u00BD\u00BE\u2153-\u215E]
ampersands: {LISTED}
text:     {SLASHED}                                                # and/or
text:     [A-Z]* "$" | "#"                                         # US$
currency: [\u00A2\u00A3\u00A4\u00A5\u0080\u20A0\u20AC\u060B\u0E3F\u20A4\uFFE0\uFFE1\uFFE5\uFFE6]
initial:  [A-Za-z] "." / {BEHIND}+ {SENTENCE_START} {BEHIND}         # I. He -> i . he
dotted:   {ACRONYM} "." / {BEHIND}+ {SENTENCE_START} {BEHIND}        # U.S. The -> u.s. . the
text:     {BEFORE_NUMBER} / {SPACE}? {DIGIT}                       # no. 5 -> no. 5
text:     ("pty"|"co") "." / {SPACE} ("ltd"|"lim")
dotted:   {MAY_END} / {SENTENCE_END}                               # Inc. A -> inc. . a
text:     {MAY_END} / {ANY} {ANY}
dotted:   {MAY_END}
text:     {NEVER_ENDS}                                             # Mr. Smith -> mr. smith
text:     {NEVER_ENDS_EITHER}
text:     {ACRONYM} / {BEHIND}                                      # U.S.-U.K talk
verbatim: {FILE_NAME} / ({BEHIND}|[.?!,])                            # 5.gif
verbatim: {APOS} [0-9]{2} / {BEHIND}                               # '84
text:     {WORD} "." / [,;:\u3001]                                       # hello., -> hello. ,
bracketed: {PHONE}
open_quote: {DOUBLE_QUOTE} / [A-Za-z0-9$]
close_quote: {DOUBLE_QUOTE}
less:     "&lt;" | "<"
greater:  "&gt;" | ">"
bracketed: {SMILEY} / [^A-Za-z0-9]
bracketed: {SMILEY_EASTERN}
bracket:  [(){}\[\]]
text:     "<<" | ">>"
hyphens:  "-"+
ellipsis: "." {3,5} | ("." [\u0020\u00A0]){2,4} "." | [\u0085\u2026]
text:     "@"+ | "#"+ | "_"+ | "*"+ | ("\\*"){1,3}
text:     [,;:\u3001]
text:     [?!]+
text:     [.\u00A1\u00BF\u037E\u0589\u061F\u06D4\u0700-\u0702\u07FA\u3002]
text:     "=" | "/"
text:     {HYPHENATED} "." / [,;:\u3001]
text:     {HYPHENATED}                                             # t-shirt
text:     {JOINED} "." / [,;:\u3001]
text:     {JOINED}
ampersands: {AMPERSANDED} "." / [,;:\u3001]
ampersands: {AMPERSANDED}                                            # AT&T
opening_apostrophe: "'" / [A-Za-z] [^\u0020\t\n\r\u00A0]          # 'hi' -> ` hi '
clitic:   {REDUCED} | {NOT}
quote:    {QUOTE}
text:     [&%~^|\\<>+] | {SYMBOL}
nothing:  {SPACE}+ | "&nbsp;"
