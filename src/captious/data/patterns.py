"""Regular expressions of what models and files leave in captions: Markdown, special tokens, refusals, escapes ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from string import ascii_lowercase


@dataclass(frozen=True)
class Pattern:
    """A regular expression, compiled when it is first used: few runs need more than a few of them.

    Args:
        text: the expression.
        flags: those of ``re``.
    """

    text: str
    flags: int = 0

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.text, self.flags)


_FLAGS = re.MULTILINE | re.IGNORECASE | re.VERBOSE

NEVER = Pattern(r"(?!)")
#: Marks that Markdown, or HTML within it, leaves in a text.
MARKDOWN = Pattern(
    r"""
    (\*\*|__)(?=\S)[^\n*_\x00]+\1           # bold
    | ^\ {0,3}\#{1,6}\ +\S                  # a heading
    | \n\ *(?:[-*+•]|\d{1,2}[.)])\ +\S   # an item of a list, after another line
    | `[^`\n]+` | ^```                      # code
    | !?\[[^\]\n]+\]\((?:[^\s()]|\([^\s()]*\))+\)   # a link or an image
    | ^\|.*\|[ \t]*$                        # a row of a table
    | </?(?:br|b|i|em|p|ul|ol|li|strong)\b[^>\n]*>
    | \\(?:boxed|text(?:bf|it|rm)?|mathrm|mathbf)\{   # TeX
    """,
    _FLAGS,
)
TEX = Pattern(r"\$?\\(?:boxed|text(?:bf|it|rm)?|mathrm|mathbf)\{((?:[^{}]|\{[^{}]*\})*)\}\$?", re.IGNORECASE)

_KINDS = (
    *("image", "picture", "photo", "photograph", "figure", "illustration", "video", "clip", "audio", "recording"),
    *("snapshot", "scene"),
)
KIND = f"(?:{'|'.join(_KINDS[:-1])})"
SHOWS = r"shows?|depicts?|features?|displays?|captures?|presents?|portrays?|illustrates?|showcases?"
SAYS = rf"(?:{SHOWS}|contains?|appears\ to\ (?:show|be|depict))"
CAPTION = r"(?:captions?|descriptions?|summary|sentence)"
#: Openings in German, French, Spanish, Chinese and Japanese: "Here is a caption:", and "The image shows".
OPENINGS = Pattern(
    r"""[\s"'„“«*#]*(?:
    (?:natürlich|gerne|klar|selbstverständlich)\s*[!,.:]\s*(?:hier\ (?:ist|sind)\b[^\n:]{0,80}:\s*)?
    | hier\ (?:ist|sind)\ [^\n:]{0,60}?(?:beschreibung|bildunterschrift)\b[^\n:]{0,40}:\s*
    | (?:das|dieses|die|diese)\ (?:bild|foto|abbildung|aufnahme)\ zeigt\b\s*
    | (?:auf|in)\ (?:dem|diesem)\ (?:bild|foto)\ (?:ist|sind)\ (?:folgendes\ )?zu\ sehen\s*[:,]\s*
    | (?:auf|in)\ (?:dem|diesem)\ (?:bild|foto)\ (?:ist\b|sind\b|sieht\ man\b|sehen\ wir\b)\s*
    | (?:bildunterschrift|bildbeschreibung|beschreibung|antwort)\s*:\s*
    | (?:bien\ sûr|certainement|d['’]accord)\s*[!,.:]\s*(?:voici\b[^\n:]{0,80}:\s*)?
    | voici\ [^\n:]{0,60}?(?:description|légende)\b[^\n:]{0,40}:\s*
    | (?:l['’]\s?image|la\ photo|cette\ (?:image|photo))\ (?:montre|représente|présente|illustre)\b\s*
    | (?:sur|dans)\ (?:l['’]\s?image|la\ photo|cette\ (?:image|photo)),?\ (?:on\ (?:peut\ voir|voit)|nous\ voyons)\b\s*
    | (?:on\ (?:peut\ voir|voit)|nous\ voyons)\ (?:sur|dans)\ (?:l['’]\s?image|la\ photo|cette\ (?:image|photo))\b,?\s*
    | (?:légende|réponse)\s*:\s*
    | ¡?(?:claro|por\ supuesto)(?:\ que\ sí)?\s*[!,.:]\s*(?:aquí\ (?:está|tienes?)\b[^\n:]{0,80}:\s*)?
    | aquí\ (?:está|tienes?)\ [^\n:]{0,60}?(?:descripción|leyenda|pie\ de\ foto)\b[^\n:]{0,40}:\s*
    | (?:la|esta)\ (?:imagen|foto|fotografía)\ (?:muestra|presenta|representa)\b\s*
    | en\ (?:la|esta)\ (?:imagen|foto|fotografía),?\ (?:se\ (?:puede\ ver|ve|muestra)|podemos\ ver|vemos)\b\s*
    | (?:se\ (?:puede\ ver|ve|muestra)|podemos\ ver|vemos)\ en\ (?:la|esta)\ (?:imagen|foto|fotografía)\b,?\s*
    | (?:leyenda|descripción|pie\ de\ foto|respuesta)\s*:\s*
    | (?:好的|当然|當然)(?:可以)?[，,。.!！：:]\s*(?:(?:这|這|以下)[^\n：:]{0,40}[：:]\s*)?
    | (?:以下是|这是|這是)[^\n：:]{0,30}(?:描述|标题|标題|說明|说明|標題)[^\n：:]{0,10}[：:]\s*
    | (?:这是|這是)一[张張幅]\s*
    | 在?(?:[这這该該此]?[张張幅]?(?:图片|圖片|照片|图像|圖像|画面|畫面|图|圖))
        (?:[中里裡上]?[，,]?(?:显示|顯示|展示|描绘|描繪|呈现|呈現|(?:我们|我們)?(?:可以|能)看到)了?|[中里裡](?:[是有])?)[，,：:]?\s*
    | (?:标题|標題|描述|说明|說明|答案|回答)\s*[：:]\s*
    | (?:もちろん(?:です)?|はい|承知しました|かしこまりました)[、。!！]\s*
        (?:(?:これは|こちらが|以下は)[^\n：:]{0,40}[：:]\s*)?
    | (?:この)?(?:画像|写真)(?:は|では|には)[、,]?\s*
    | (?:キャプション|説明|回答|答え)\s*[：:]\s*
    )""",
    _FLAGS,
)
#: Verbs at the end of a sentence that belong to an opening of ``OPENINGS``.
CLOSINGS = Pattern(
    r"\s+zu sehen(?=[.!]?$)|的(?:照片|图片|圖片|图像|圖像)(?=[。.]?$)|"
    r"(?:の?(?:様子|場面|光景))?[をが](?:示し|表し|描い|写し|写っ|捉え|映し|映っ)て\w*[。.]?$"
)
GIVEN = r"(?:given\ |provided\ |above\ )?"
IMAGE_SHOWS = rf"""(?:the|this|that)\ (?:{GIVEN}{KIND}\ (?:you\ (?:provided|sent|shared)\ )?{SAYS}
    | scene\ (?:{SHOWS}))\b\s*"""
#: Opening phrases of an assistant's answer, before it describes the image.
PROMPT = Pattern(
    rf"""[\s"'*#]*(?:
    (?:sure|certainly|of\ course|absolutely|okay)\s*[!,.:]\s*
        (?:here(?:'s|\ is|\ are)\b[^\n:]{{0,80}}:\s* | {IMAGE_SHOWS})?
    | here(?:'s|\ is|\ are)\ [^\n:]{{0,60}}?\b{CAPTION}\b[^\n:]{{0,40}}:\s*
    | {IMAGE_SHOWS}
    | in\ (?:the|this)\ {GIVEN}{KIND},\s*(?:(?:we|you|one|i)\ can\ see\s+)?
    | based\ on\ (?:the|this)\ {GIVEN}{KIND},\s*(?:{IMAGE_SHOWS})?
    | the\ (?:final\ )?(?:answer|{CAPTION})\ is\s*:\s*
    | (?:(?:final\ )?answer|caption|title|description|assistant|output|response)\s*:\s* | assistant\s*\n\s*
    | (?:user|human)\s*:[^\x00]*\b(?:assistant|gpt)\s*:\s*
    )""",
    _FLAGS,
)
AT_BEGINNING = Pattern(rf"\A(?:{PROMPT.text}|{OPENINGS.text})", _FLAGS)
#: Every match of ``AT_BEGINNING`` contains one of these, in lower case.
OPENING_MARKS = (
    *":：図图圖",
    *("sure", "certainly", "of course", "absolutely", "okay", "assistant"),
    *(f"{before} {kind}" for before in ("the", "this", "that", "given", "provided", "above") for kind in _KINDS),
    *("natürlich", "gerne", "klar", "selbstverständlich", "zeigt", "em bild", "em foto"),
    *("bien sûr", "certainement", "accord", "montre", "représente", "présente", "illustre"),
    *("on peut voir", "on voit", "nous voyons", "claro", "por supuesto", "imagen", "fotograf", "la foto", "esta foto"),
    *("好的", "当然", "當然", "这是", "這是", "照片", "画面", "畫面"),
    *("もちろん", "はい", "承知しました", "かしこまりました", "画像", "写真"),
)

SENTENCE = Pattern(r"""[.!?]["')\]]*\s+(?=["'(*]*[A-ZÀ-ÖØ-Þ0-9])|[。！？](?=[^\n\x00])""")
SENTENCE_MARKS = (*(end + after for end in ".!?" for after in " \t\n\"')]"), "。", "！", "？")
MARKDOWN_MARKS = ("\n", "**", "__", "`", "](", "|", "#", "<", "\\")

TAG_NAMES = (
    r"a|article|blockquote|body|caption|center|code|div|font|figure|figcaption|h[1-6]|head|hr|html|img|pre|section|small|"
    r"span|sub|sup|table|tbody|td|th|tr|u|answer|description|output|response|result|summary|br|b|i|em|p|ul|ol|li|strong"
)
#: A comment has at most 1,000 characters: beginnings without an end would each be searched to the end of a text.
TAG = Pattern(rf"</?(?:{TAG_NAMES})(?:\s[^<>\n]*)?/?>|<!--(?:[^-]|-(?!->)){{0,1000}}-->", re.IGNORECASE)
TAGS = Pattern(rf"(?:(?:{TAG.text})[ \t]*)+", re.IGNORECASE)
UNKNOWN_TAG = Pattern(r"<[^<>]*>")
#: The beginning of a turn in chat templates, with the name of its speaker.
ROLE = Pattern(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:system|user|assistant)\b(?:\s*<\|end_header_id\|>)?|<start_of_turn>\s*model\b"
    r"|\A\s*(?:<s>\s*)?\[INST\][^\x00]*\[/INST\](?=\s*[^\s<\[])"
    r"|\A\s*(?:#{2,}\s*(?:Human|User|Instruction)\b[^\x00]*?)?#{2,}\s*(?:Assistant|Response)\s*:(?=\s*\w)"
)
#: The channels of gpt-oss: its thoughts, and the marks around its answer.
CHANNEL = Pattern(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:"
    r"(?:analysis|commentary)\b[^\x00]*?(?:<\|end\|>|(?=<\|start\|>|<\|channel\|>)|\Z)|final\s*<\|message\|>)|<\|return\|>"
)
SPECIAL = Pattern(
    r"""
    (?:<box>|<quad>|<\|box_start\|>|<\|quad_start\|>)[\s\d.,()\[\]]*(?:</box>|</quad>|<\|box_end\|>|<\|quad_end\|>)
    | </?(?:ref|box|quad|phrase|object|grounding|delimiter_of_multi_objects/)> | <(?:loc|patch_index)_?\d+>
    | \{(?:<\d+>)+\} | \[\[?(?:\d*\.?\d+,\s*){3}\d*\.?\d+\]\]?
    | (?<=\S)(?<!\#\#)\s*\#{2,}\s*(?:human|user|assistant|instruction|response|input)\b:?[^\x00]*\Z
    | </?s> | <[|｜][^<>|｜\n]{1,40}(?:[|｜]>|$)
    | <(?:pad|eos|bos|sos|sep|cls|mask|start|end|stop|startseq|endseq|nl|eo[tdpcu])(?:_?\d+)?>
    | </?(?:image|img|video|audio)(?:_?\d+)?> | <(?:more_)?detailed_caption>
    | <(?:start|end)_of_(?:turn|image|text|utterance)> | <end_of_utterance> | <extra_id_\d+> | <unused\d+>
    | <im_(?:start|end|patch)> | <0x[0-9A-F]{2}> | <\#\w+\#>
    | \[/?(?:sep|cls|pad|mask|eos|bos|inst)\]
    | \b(?:startseq|endseq)\b | \A\s*bos\b | \beos\s*\Z
    | \#\#(?:start|end|sos|eos|bos|pad|unk)\#\#
    """,
    _FLAGS,
)
UNKNOWN = Pattern(r"(?i:<unk(?:_?\d+)?>|\[unk\])|\bUNK\b")
PIECES = Pattern(r"(?<=[^\sĠ])Ġ|Ġ.*Ġ|Ċ|▁|(?<=\S)\s\#\#[^\W\d_]+(?!\w*\#\#)|[^\W\d_]@@(?:\s|$)|</w>")
HTML = Pattern(rf"&(?:[a-z][a-z0-9]{{1,7}}|\#\d{{1,6}}|\#x[0-9a-f]{{1,5}});|{TAG.text}", re.IGNORECASE)
#: Bytes of UTF-8 read as those of Windows-1252 or Latin-1.
MISREAD = Pattern(r"[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}")
MOJIBAKE = Pattern(
    r"""[ÃÄÅ][\x80-\xa0¡-¿ŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™] | Â[\xa0°©®«»·´¡¿]
    | â(?:€|\x80)[\x80-\xbfŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]
    | ð[\x9fŸ][\x80-\xbf‘’“”„…•–—˜™š›œžŸ€] | (?:[ÐÑ][\x80-\xbfŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]){2,}
    """,
    re.VERBOSE,
)
LOST = Pattern("�|ï¿½")
ANSI = Pattern(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\[\d{1,2}(?:;\d{1,2})*m|[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]"
)
CONTROLS = (*map(chr, range(1, 9)), "\x0b", "\x0c", *map(chr, range(14, 32)), *map(chr, range(127, 160)))
ESCAPES = Pattern(
    r"""(?<!\\)\\(?:[nrt](?![a-z])|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["'])|(?<=[.!?,;\s\w])\\(?!text\w*\{)[nrt]"""
)
SNAKE_CASE = Pattern(r"\A\s*[^\W\d_]+(?:_[^\W\d_]+){2,}[.!?]?\s*\Z")
ESCAPES_OR_SNAKE_CASE = Pattern(f"{ESCAPES.text}|{SNAKE_CASE.text}")
CLOSING_QUOTES = "\"'”“’»«」』"
QUOTED = Pattern(
    r"""\A\s*(?:b?"[^"]+"|“[^“”]+”|„[^„“”]+[“”]|‘.+’|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』|b?'.+'|``.+'')\.?\s*\Z""",
    re.DOTALL,
)
#: What may come before JSON: words such as "Here is the JSON:", and a fence.
BEFORE_JSON = r"\A\s*(?:[^\n{\[]{1,100}:\s*(?=[`{]))?(?:```\w*\s*)?"
JSON = Pattern(
    rf"""{BEFORE_JSON}(?:\{{?\s*["'][\w\ -]+["']\s*:|\{{\s*["'][^{{}}]*["']\s*\}}
        | \[\s*(?:["'].*["']\s*\]|\{{\s*["'][\w\ -]+["']\s*:))""",
    re.VERBOSE | re.DOTALL,
)
THOUGHT = r"(?:think|thinking|thought|reasoning|scratchpad|reflection)"
THINK = Pattern(
    rf"</?{THOUGHT}>|\[/?THINK\]|<\|(?:begin|end)_of_thought\|>|◁/?think▷|<\|channel\|>(?:analysis|commentary)\b",
    re.IGNORECASE,
)
ANSWER = Pattern(r"</?(?:answer|final_answer)>|<\|(?:begin|end)_of_solution\|>", re.IGNORECASE)
FAILURE = Pattern(
    r"""
    \A\W*(?:none|nan|null|nil|n/a|undefined|error|failed|failure|timeout|timed\ out|exception
        |no\ (?:caption|answer|response
        |output|prediction|description)
        |(?:\w+\.)+\w*(?:error|exception)|(?-i:[A-Z]\w*(?:Error|Exception))|\[object\ object\]
        |empty|not\ available|unknown\ error|<none>|missing|todo|tbd|nonetype)\W*\Z
    | \A[\s\[<("'*]*+(?![^\n]*\b(?:screen|laptop|monitor|computer|sign|shirt)\b)
        (?:(?:[a-z]+\.)*[a-z]*(?:error|exception)\b\s*(?:code)?[\]>)]?\s*[:=(\d]
        | (?<=\[)(?:error|failed|failure|none|no\ [a-z]+)\]
        | failed\ to\ (?:obtain|get|generate|call|load|fetch|parse|process
            |receive|produce|open|download|decode|connect|retrieve)\b
        | (?:api|request|server|http|connection|network|inference|generation)
            \ (?:request\ |call\ )?(?:failed|error|timed\ out|timeout)\b
        | (?:an\ )?(?:(?:unexpected|internal|unknown)\ )?(?:server\ )?error
            \ (?:occurred|has\ occurred|while|during|when|generating|processing)\b
        | http\ ?[45]\d\d\b | traceback\ \(most | cuda\ (?:out\ of\ memory|error) | rate\ limit
        | (?:could\ not|couldn't|cannot|unable\ to)\ (?:open|load|read|decode|identify|fetch|download|obtain|get)
            \ (?:an?\ |the\ )?(?:image|answer|response|caption|file|url)
        | the\ (?:server|api|model)\ (?:had|encountered|returned)\ an\ error\b
        | (?:[45]\d\d\ )?(?:internal\ server\ error|bad\ gateway|service\ unavailable|too\ many\ requests
            |gateway\ time-?out))
    | \{\s*["']error["']\s*:
    """,
    _FLAGS,
)
REFUSAL = Pattern(
    r"""
    \A(?!\W*(?:an?|the|two|some|this|words?|text)\b[^.!?\n]*\b
        (?:says?|saying|reads?|reading|written|words?|sign|poster|screen|displays?|displaying)\b)[^\x00]*?(?:
    \A[\s"'*#]*(?:(?:i['’]m|i\ am|we['’]re|we\ are)\ (?:so\ |very\ |deeply\ |really\ )?sorry
        (?=\s*(?:[^\w\s]|but\b|i\b|we\b|that\b|for\b|to\b|about\b|\Z))
        | (?:i\ apologi[sz]e|my\ apologies|apologies)\b
        | (?:sorry|unfortunately)\b[,.!]?\ (?:but\ )?(?:i|we|there|the\ image|this\ image|as\ an)\b)
    | (?:\A[\s"'*#]*|[.,;!?]\s+(?:but\ )?|\bbut\ )(?:i|we)(?:['’]m|['’]re|\ am|\ are)?\ (?:can(?:not|['’]t|\ not)
        | (?:unable|not\ able)\ to | (?:do\ not|don['’]t)\ have
        \ (?:the\ (?:ability|capability|capacity)\ to|(?:any\ |direct\ )?access\ to)
        | won['’]t | will\ not)\ (?:be\ able\ to\ )?(?:directly\ |actually\ |physically\ )?
        (?:(?:see|view|access|display|open)\b[^.\n]{0,20}\b(?:images?|pictures?|photos?|videos?|files?|visual|attach\w*|it)
            | describe|provide|assist|help|identify|process|analy[sz]e|fulfil+|comply|comment|generate|interpret
            |answer|determine|create|caption|recogni[sz]e|discuss|images?|the\ image|visual|see(?=\W*\Z))\b
    | \bas\ an?\ (?:ai|artificial\ intelligence
        |(?:large\ |text-based\ )?language\ model|text-based\ (?:ai|model|assistant))\b
    | \b(?:please|could\ you|can\ you)\ (?:please\ )?(?:provide|upload|share|attach|send|re-?upload)
        \ [^.\n]{0,30}\b(?:image|picture|photo|file|video|audio)\b
    | \b(?:it\ )?(?:seems|looks|appears)\ (?:like\ |that\ |to\ be\ )*
        (?:there\ (?:is|was)\ )?(?:no\ (?:image|picture|photo|attach)
        | you\ (?:did\ not|didn['’]t|have\ not|haven['’]t|forgot)\b)
    | \bno\ (?:image|picture|photo|video|audio)\ (?:was|is|has\ been)
        \ (?:provided|attached|uploaded|given|found|available|visible)\b
    | \A\W*(?:there\ (?:is|was)|i\ (?:see|have|find))\ no\ (?:image|picture|photo|video|audio)
        \ (?:provided|attached|uploaded|given|available|(?:in|with)\ (?:your|the|this)\ (?:message|prompt|request))\b
    | \A\W*(?:the|this|your)\ (?:image|picture|photo|video)\ (?:is|was)\ not
        \ (?:visible|available|accessible|provided|attached|displayed)\b
    | \bresponse\ was\ (?:filtered|blocked)\b | \bcontent\ management\ policy\b
    | \bi\ (?:do\ not|don['’]t|did\ not|didn['’]t)\ (?:see|find|receive|have)\ (?:an?|any|the)
        \ (?:image|picture|photo|video|audio|attach\w*)\b
    | \A\W*(?:the|this|your)\ (?:image|picture|photo|video)\ (?:is|seems|appears)\ (?:to\ be\ )?(?:too|so)\ [\w\ ]{0,30}
        \bto\ (?:describe|identify|caption|make\ out|determine|recogni[sz]e|provide|tell)\b
    | \bi(?:['’]d\ rather\ not|\ (?:must|have\ to|need\ to)\ (?:respectfully\ )?decline)\b | \bcontent[\ _]filter
    | \bi(?:['’]m\ not|\ am\ not|\ do\ not\ feel|\ don['’]t\ feel)\ comfortable\b
    | \b(?:violates?|against)\ (?:our|my|the|openai['’]?s?)\ (?:content|usage|safety|policies|policy|guidelines)\b
    | \A\W*(?:lo\ siento\b | lo\ lamento\b | es\ tut\ mir\ leid\b | tut\ mir\ leid\b | ich\ kann\ [^.\n]{0,60}\bnicht\b
        | leider\ kann\ ich\b | je\ suis\ désolée?\b | désolée?,\ | je\ ne\ peux\ pas\b | mi\ dispiace\b | desculpe\b
        | sinto\ muito\b | no\ puedo\ (?:ver|ayudar|describir)\b | не\ могу\b | извините\b | к\ сожалению\b
        | [很非]?常?抱歉 | 对不起 | 對不起 | 我(?:无法|無法|不能) 
        | 作[为為]一?[个個]?(?:ai|人工智能) | 申し訳(?:ありません|ございません) | すみません | 죄송)
    )""",
    _FLAGS,
)
_FILES = "jpe?g|png|webp|gif|bmp|tiff?|svg|heic|wav|mp3|flac|ogg|m4a|mp4|avi|mkv|mov|webm|npy|json|txt"
FILE_NAME = Pattern(
    rf"\A\s*[^\s|]*\.(?:{_FILES})\s*\Z"
    r"|\A\s*(?:https?://|file://|/[\w.-]+/)\S+\s*\Z|\A\s*+(?:COCO_\w+_|img|image|photo|frame|video|audio|sample)?[\s_#-]*+\d[\d_-]*\s*\Z"
    r"|\A\s*-?\d*\.\d+(?:e-?\d+)?%?\s*\Z|\A\W*[a-z](?: +[a-z])*\W*\Z"
    r"|\A\s*(?:(?:\w+\.)?(?:tensor|array)\()?\[[\[\]\d\s,.+-]*\d[\[\]\d\s,.…e+-]*\](?:,\s*\w+=[\w.:']+)*\)?\s*\Z",
    re.IGNORECASE,
)
#: Every match of ``FILE_NAME`` contains one of these, or no two letters side by side.
FILE_NAME_MARKS = (*"/0123456789", *(f".{name[:2]}" for name in _FILES.split("|")), "")
LETTER_PAIRS = tuple(map("".join, product(ascii_lowercase, repeat=2)))
ITEM = Pattern(r"\A\s*(?:\(?\d{1,4}[.):]|[-*•])\s+(?=\W*[^\W\d])")
#: Words of Latin letters and of Cyrillic or Greek ones that look like them.
LATIN = dict(
    zip(
        map(ord, "аеорсухіјѕԁһАВЕКМНОРСТХІЈЅУοναρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"),
        "aeopcyxijsdhABEKMHOPCTXIJSYovapABEZHIKMNOPTYX",
        strict=True,
    )
)
ALIKE = "".join(map(chr, LATIN))
LOOK_ALIKES = Pattern(rf"\b(?=\w*[A-Za-z])(?=\w*[{ALIKE}])[A-Za-z{ALIKE}]+\b")
DECOMPOSED = Pattern(r"[\u0300-\u036f\u3099\u309a]|[\u1100-\u11ff]{2}")
FORMS = Pattern(r"[ﬀ-ﬆ０-９Ａ-Ｚａ-ｚｦ-ﾟ\U0001d400-\U0001d7ff]+")
INVISIBLE = Pattern(r"[\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?<=[A-Za-z\s.,])[\u200c\u200d]")


# The table.
