"""Checks of captions as text (debris of models, Markdown, prompts, repetitions), and cleaning of candidates.

``TEXT_KINDS`` is the table: each kind with an example, what is searched for, and the rule that cleans it.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from markdown_it.token import Token


# Search: each pattern has marks, of which every match contains one. They are looked for in the distinct words of all
# texts, then in the joined texts, and only texts with a mark are searched for the pattern: a check costs next to
# nothing for ordinary captions.

_BETWEEN = "\x00"  # between texts
_NEVER = re.compile(r"(?!)")
_FLAGS = re.MULTILINE | re.IGNORECASE | re.VERBOSE


class JoinedTexts:
    """Texts that are searched together.

    Args:
        sides: texts, such as those of candidates and of references; n in total.

    Attributes:
        texts: all of them.
        rows: those of each side.
    """

    def __init__(self, *sides: Sequence[str]) -> None:
        self.texts = texts = tuple(chain.from_iterable(sides))
        ends = np.cumsum([0, *map(len, sides)]).tolist()
        self.rows = list(starmap(slice, pairwise(ends)))
        self._starts = np.cumsum([0, *(len(text) + len(_BETWEEN) for text in texts[:-1])])
        whole = _BETWEEN.join(texts)
        lowered = whole.lower()
        if len(lowered) != len(whole):  # a letter becomes two
            lowered = "".join(letter.lower()[:1] for letter in whole)
        self._lowered = lowered
        self._words = " ".join(set(lowered.replace(_BETWEEN, " ").split()))
        self._is_ascii = whole.isascii()

    def matching(self, pattern: re.Pattern[str], marks: Sequence[str] = ()) -> NDArray[np.bool_]:
        """Return a mask of the texts in which a pattern is found, bool[n].

        Args:
            pattern: what is searched for in each text.
            marks: in lower case; every match contains one of them, in any case. None if every match contains a
                character that is not ASCII; an empty one if all texts are searched.
        """
        mask = np.zeros(len(self.texts), bool)
        places: list[int] = []
        for mark in filter(None, marks):
            for word in mark.split():
                if word not in self._words:
                    break
            else:
                place = self._lowered.find(mark)
                while place >= 0:
                    places.append(place)
                    place = self._lowered.find(mark, place + 1)
        rows: Iterable[int] = ()
        if "" in marks:
            rows = range(len(self.texts))
        elif places:
            rows = np.unique(np.searchsorted(self._starts, np.array(places), side="right") - 1).tolist()
        elif not marks and not self._is_ascii:
            rows = (row for row, text in enumerate(self.texts) if not text.isascii())
        for row in rows:
            mask[row] = pattern.search(self.texts[row]) is not None
        return mask


# Patterns.


def _marks(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


#: Marks that Markdown, or HTML within it, leaves in a text.
MARKDOWN = re.compile(
    r"""
    (\*\*|__)(?=\S)[^\n*_\x00]+\1           # bold
    | ^\ {0,3}\#{1,6}\ +\S                  # a heading
    | \n\ *(?:[-*+•]|\d{1,2}[.)])\ +\S   # an item of a list, after another line
    | `[^`\n]+` | ^```                      # code
    | !?\[[^\]\n]+\]\(\S+\)                 # a link or an image
    | ^\|.*\|[ \t]*$                        # a row of a table
    | </?(?:br|b|i|em|p|ul|ol|li|strong)\b[^>\n]*>
    | \\(?:boxed|text(?:bf|it|rm)?|mathrm|mathbf)\{   # TeX
    """,
    _FLAGS,
)
_TEX = re.compile(r"\$?\\(?:boxed|text(?:bf|it|rm)?|mathrm|mathbf)\{((?:[^{}]|\{[^{}]*\})*)\}\$?", re.IGNORECASE)

_KIND = r"(?:image|picture|photo|photograph|figure|illustration|video|clip|audio|recording|snapshot)"
_SHOWS = r"shows?|depicts?|features?|displays?|captures?|presents?|portrays?|illustrates?|showcases?"
_SAYS = rf"(?:{_SHOWS}|contains?|appears\ to\ (?:show|be|depict))"
_CAPTION = r"(?:captions?|descriptions?|summary|sentence)"
#: Openings in German, French, Spanish, Chinese and Japanese: "Here is a caption:", and "The image shows".
_OPENINGS = re.compile(
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
#: Verbs at the end of a sentence that belong to an opening of ``_OPENINGS``.
_CLOSINGS = re.compile(
    r"\s+zu sehen(?=[.!]?$)|的(?:照片|图片|圖片|图像|圖像)(?=[。.]?$)|"
    r"(?:の?(?:様子|場面|光景))?[をが](?:示し|表し|描い|写し|写っ|捉え|映し|映っ)て\w*[。.]?$"
)
_GIVEN = r"(?:given\ |provided\ |above\ )?"
_IMAGE_SHOWS = rf"""(?:the|this|that)\ (?:{_GIVEN}{_KIND}\ (?:you\ (?:provided|sent|shared)\ )?{_SAYS}
    | scene\ (?:{_SHOWS}))\b\s*"""
#: Opening phrases of an assistant's answer, before it describes the image.
PROMPT = re.compile(
    rf"""[\s"'*#]*(?:
    (?:sure|certainly|of\ course|absolutely|okay)\s*[!,.:]\s*
        (?:here(?:'s|\ is|\ are)\b[^\n:]{{0,80}}:\s* | {_IMAGE_SHOWS})?
    | here(?:'s|\ is|\ are)\ [^\n:]{{0,60}}?\b{_CAPTION}\b[^\n:]{{0,40}}:\s*
    | {_IMAGE_SHOWS}
    | in\ (?:the|this)\ {_GIVEN}{_KIND},\s*(?:(?:we|you|one|i)\ can\ see\s+)?
    | based\ on\ (?:the|this)\ {_GIVEN}{_KIND},\s*(?:{_IMAGE_SHOWS})?
    | the\ (?:final\ )?(?:answer|{_CAPTION})\ is\s*:\s*
    | (?:(?:final\ )?answer|caption|title|description|assistant|output|response)\s*:\s*
    | (?:user|human)\s*:[^\x00]*\b(?:assistant|gpt)\s*:\s*
    )""",
    _FLAGS,
)
_AT_BEGINNING = re.compile(rf"\A(?:{PROMPT.pattern}|{_OPENINGS.pattern})", _FLAGS)

_SENTENCE = re.compile(r"""[.!?]["')\]]*\s+(?=["'(*]*[A-ZÀ-ÖØ-Þ0-9])|[。！？](?=[^\n\x00])""")
_SENTENCE_MARKS = (*(end + after for end in ".!?" for after in " \t\n\"')]"), "。", "！", "？")
_MARKDOWN_MARKS = ("\n", "**", "__", "`", "](", "|", "#", "<", "\\")
_REPEATED = 6  # words that a repetition has at least
_LONG_PIECE = 8  # words: no longer piece is looked for as a repetition
_LONG_TEXT = 25  # words of a text whose end is looked at

_TAG_NAMES = (
    r"a|article|blockquote|body|caption|center|code|div|font|figure|figcaption|h[1-6]|head|hr|html|img|pre|section|small|"
    r"span|sub|sup|table|tbody|td|th|tr|u|answer|description|output|response|result|summary|br|b|i|em|p|ul|ol|li|strong"
)
_TAG = re.compile(rf"</?(?:{_TAG_NAMES})(?:\s[^<>\n]*)?/?>|<!--(?:[^-]|-(?!->))*-->", re.IGNORECASE)
_TAGS = re.compile(rf"(?:(?:{_TAG.pattern})[ \t]*)+", re.IGNORECASE)
_UNKNOWN_TAG = re.compile(r"<[^<>]*>")
#: The beginning of a turn in chat templates, with the name of its speaker.
_ROLE = re.compile(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:system|user|assistant)\b(?:\s*<\|end_header_id\|>)?|<start_of_turn>\s*model\b"
    r"|\A\s*(?:<s>\s*)?\[INST\][^\x00]*\[/INST\](?=\s*[^\s<\[])"
    r"|\A\s*(?:#{2,}\s*(?:Human|User|Instruction)\b[^\x00]*?)?#{2,}\s*(?:Assistant|Response)\s*:(?=\s*\w)"
)
#: The channels of gpt-oss: its thoughts, and the marks around its answer.
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?:"
    r"(?:analysis|commentary)\b[^\x00]*?(?:<\|end\|>|(?=<\|start\|>|<\|channel\|>)|\Z)|final\s*<\|message\|>)|<\|return\|>"
)
_SPECIAL = re.compile(
    r"""
    (?:<box>|<quad>|<\|box_start\|>|<\|quad_start\|>)[\s\d.,()\[\]]*(?:</box>|</quad>|<\|box_end\|>|<\|quad_end\|>)
    | </?(?:ref|box|quad|phrase|object|grounding|delimiter_of_multi_objects/)> | <(?:loc|patch_index)_?\d+>
    | \{(?:<\d+>)+\} | \[\[?(?:\d*\.?\d+,\s*){3}\d*\.?\d+\]\]?
    | (?<=\S)\s*\#{2,}\s*(?:human|user|assistant|instruction|response|input)\b:?[^\x00]*\Z
    | </?s> | <[|｜][^<>|｜\n]{1,40}(?:[|｜]>|$)
    | <(?:pad|eos|bos|sos|sep|cls|mask|start|end|startseq|endseq|image|img|video|audio|nl|eo[tdpcu])(?:_?\d+)?>
    | <(?:start|end)_of_(?:turn|image|text|utterance)> | <end_of_utterance> | <extra_id_\d+> | <unused\d+>
    | <im_(?:start|end|patch)> | <0x[0-9A-F]{2}> | <\#\w+\#>
    | \[/?(?:sep|cls|pad|mask|eos|bos|inst)\]
    | \b(?:startseq|endseq)\b
    """,
    _FLAGS,
)
_UNKNOWN = re.compile(r"(?i:<unk(?:_?\d+)?>|\[unk\])|\bUNK\b")
_PIECES = re.compile(r"(?<=[^\sĠ])Ġ|Ġ.*Ġ|Ċ|▁|(?<=\S)\s\#\#[^\W\d_]+|[^\W\d_]@@(?:\s|$)|</w>")
_HTML = re.compile(rf"&(?:[a-z][a-z0-9]{{1,7}}|\#\d{{1,6}}|\#x[0-9a-f]{{1,5}});|{_TAG.pattern}", re.IGNORECASE)
#: Bytes of UTF-8 read as those of Windows-1252 or Latin-1.
_MISREAD = re.compile(r"[\x80-\xffŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{2,}")
_MOJIBAKE = re.compile(
    r"""[ÃÄÅ][\x80-\xa0¡-¿ŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™] | Â[\xa0°©®«»·´¡¿]
    | â(?:€|\x80)[\x80-\xbfŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]
    | ð[\x9fŸ][\x80-\xbf‘’“”„…•–—˜™š›œžŸ€] | (?:[ÐÑ][\x80-\xbfŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]){2,}
    """,
    re.VERBOSE,
)
_LOST = re.compile("�|ï¿½")
_ANSI = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\[\d{1,2}(?:;\d{1,2})*m|[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]"
)
_CONTROLS = (*map(chr, range(1, 9)), "\x0b", "\x0c", *map(chr, range(14, 32)), *map(chr, range(127, 160)))
_ESCAPES = re.compile(
    r"""(?<!\\)\\(?:[nrt](?![a-z])|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["'])|(?<=[.!?,;\s\w])\\(?!text\w*\{)[nrt]"""
)
_SNAKE_CASE = re.compile(r"\A\s*[^\W\d_]+(?:_[^\W\d_]+){2,}[.!?]?\s*\Z")
_CLOSING_QUOTES = "\"'”“’»«」』"
_QUOTED = re.compile(
    r"""\A\s*(?:b?"[^"]+"|“[^“”]+”|„[^„“”]+[“”]|‘.+’|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』|b?'.+'|``.+'')\.?\s*\Z""",
    re.DOTALL,
)
#: What may come before JSON: words such as "Here is the JSON:", and a fence.
_BEFORE_JSON = r"\A\s*(?:[^\n{\[]{1,100}:\s*(?=[`{]))?(?:```\w*\s*)?"
_JSON = re.compile(
    rf"""{_BEFORE_JSON}(?:\{{?\s*["'][\w\ -]+["']\s*:|\{{\s*["'][^{{}}]*["']\s*\}}
        | \[\s*(?:["'].*["']\s*\]|\{{\s*["'][\w\ -]+["']\s*:))""",
    re.VERBOSE | re.DOTALL,
)
_THOUGHT = r"(?:think|thinking|thought|reasoning|scratchpad|reflection)"
_THINK = re.compile(
    rf"</?{_THOUGHT}>|<\|(?:begin|end)_of_thought\|>|◁/?think▷|<\|channel\|>(?:analysis|commentary)\b", re.IGNORECASE
)
_ANSWER = re.compile(r"</?(?:answer|final_answer)>|<\|(?:begin|end)_of_solution\|>", re.IGNORECASE)
_FAILURE = re.compile(
    r"""
    \A\W*(?:none|nan|null|nil|n/a|undefined|error|failed|failure|timeout|timed\ out|exception
        |no\ (?:caption|answer|response
        |output|prediction|description)
        |(?:\w+\.)+\w*(?:error|exception)|(?-i:[A-Z]\w*(?:Error|Exception))
        |empty|not\ available|unknown\ error|<none>|missing|todo|tbd|nonetype)\W*\Z
    | \A[\s\[<("'*]*(?![^\n]*\b(?:screen|laptop|monitor|computer|sign|shirt)\b)
        (?:(?:[a-z]+\.)*[a-z]*(?:error|exception)\b\s*(?:code)?[\]>)]?\s*[:=(\d]
        | \[(?:error|failed|failure|none|no\ [a-z]+)\]
        | failed\ to\ (?:obtain|get|generate|call|load|fetch|parse|process
            |receive|produce|open|download|decode|connect|retrieve)\b
        | (?:api|request|server|http|connection|network|inference|generation)
            \ (?:request\ |call\ )?(?:failed|error|timed\ out|timeout)\b
        | (?:an\ )?(?:(?:unexpected|internal|unknown)\ )?(?:server\ )?error
            \ (?:occurred|has\ occurred|while|during|when|generating|processing)\b
        | http\ ?[45]\d\d\b | traceback\ \(most | cuda\ (?:out\ of\ memory|error) | rate\ limit
        | (?:could\ not|couldn't|cannot|unable\ to)\ (?:open|load|read|decode|identify|fetch|download|obtain|get)
            \ (?:an?\ |the\ )?(?:image|answer|response|caption|file|url)
        | (?:internal\ server\ error|bad\ gateway|service\ unavailable|too\ many\ requests|gateway\ time-?out))
    | \{\s*["']error["']\s*:
    """,
    _FLAGS,
)
_REFUSAL = re.compile(
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
    | \bresponse\ was\ filtered\b | \bcontent\ management\ policy\b
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
_FILE_NAME = re.compile(
    r"\A\s*[^\s|]*\.(?:jpe?g|png|webp|gif|bmp|tiff?|svg|heic|wav|mp3|flac|ogg|m4a|mp4|avi|mkv|mov|webm|npy|json|txt)\s*\Z"
    r"|\A\s*(?:https?://|file://|/[\w.-]+/)\S+\s*\Z|\A\s*(?:COCO_\w+_|img|image|photo|frame|video|audio|sample)?[\s_#-]*\d[\d_-]*\s*\Z"
    r"|\A\s*-?\d*\.\d+(?:e-?\d+)?%?\s*\Z|\A\W*[a-z](?: +[a-z])*\W*\Z"
    r"|\A\s*(?:(?:\w+\.)?(?:tensor|array)\()?\[[\[\]\d\s,.+-]*\d[\[\]\d\s,.…e+-]*\](?:,\s*\w+=[\w.:']+)*\)?\s*\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\A\s*\(?\d{1,4}[.):]\s+(?=\W*[^\W\d])")
#: Words of Latin letters and of Cyrillic or Greek ones that look like them.
_LATIN = dict(
    zip(
        map(ord, "аеорсухіјѕԁһАВЕКМНОРСТХІЈЅУοναρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"),
        "aeopcyxijsdhABEKMHOPCTXIJSYovapABEZHIKMNOPTYX",
        strict=True,
    )
)
_ALIKE = "".join(map(chr, _LATIN))
_LOOK_ALIKES = re.compile(rf"\b(?=\w*[A-Za-z])(?=\w*[{_ALIKE}])[A-Za-z{_ALIKE}]+\b")
_DECOMPOSED = re.compile(r"[\u0300-\u036f\u3099\u309a]|[\u1100-\u11ff]{2}")
_FORMS = re.compile(r"[ﬀ-ﬆ０-９Ａ-Ｚａ-ｚｦ-ﾟ\U0001d400-\U0001d7ff]+")
_INVISIBLE = re.compile(
    r"[\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?<=[A-Za-z\s.,])[\u200c\u200d]"
)


# The table.


@dataclass(frozen=True)
class Kind:
    """A kind of caption that makes scores misleading.

    Args:
        predicate: the rest of the sentence "12 of 100 candidates ...", from its verb, in the plural.
        advice: the effect on scores, or the cause, and a remedy; ``{metrics}`` stands for the metrics of the run that
            it concerns.
        example: a text of this kind; empty for kinds that are not found by a pattern.
        pattern: what is searched for.
        marks: in lower case; every match contains one of them. None if every match has a character beyond ASCII.
        rule: the rule that cleans it, which the advice ends with; empty for none.
        usual: the share of captions by people that may be of this kind; docs/long-captions.md has the counts.
        least: share of candidates below which it may be chance; 0 for kinds that are never chance.
        needs_references: it is detected by comparison with references.
        of_tokens: it only matters to metrics for English, whatever the references.
        of_length: it only matters to metrics that depend on length.
        before_scoring: only ``check`` reports it; the metrics concerned issue their own warnings.
    """

    predicate: str
    advice: str
    example: str = ""
    pattern: re.Pattern[str] = _NEVER
    marks: tuple[str, ...] = ()
    rule: str = ""
    usual: float = 0.0
    least: float = 0.0
    needs_references: bool = False
    of_tokens: bool = False
    of_length: bool = False
    before_scoring: bool = False

    @property
    def alone(self) -> bool:
        """Whether it matters to metrics without references, too."""
        return not (self.needs_references or self.of_tokens or self.of_length or self.before_scoring)

    def mask(self, texts: JoinedTexts) -> NDArray[np.bool_]:
        """Return a mask of the texts of this kind, bool[n]; none of a side that has so few that it may be chance."""
        mask = texts.matching(self.pattern, self.marks)
        for rows in texts.rows if self.least else ():
            mask[rows] &= mask[rows].sum() >= self.least * len(mask[rows])
        return mask

    def place(self, text: str) -> int:
        """Return where the first match begins."""
        match = self.pattern.search(text)
        return 0 if match is None else match.start()


_WORDS = "metrics take them for words"
#: The table of kinds that are found by a pattern, in the order of messages.
TEXT_KINDS: dict[str, Kind] = {
    "failure": Kind(
        "hold a failure message",
        "ask the captioner again, or leave these images out",
        "Failed to obtain answer via API.",
        _FAILURE,
        _marks(
            "error,exception,fail,none,nan,null,nil,n/a,undefined,timeout,timed out,time-out,"
            "no caption,no answer,no response,no output,no prediction,no description,"
            "empty,missing,not available,"
            "todo,tbd,http,traceback,cuda,rate limit,could,cannot,unable,gateway,service unavailable,"
            "too many requests"
        ),
        usual=2e-5,
    ),
    "refusal": Kind(
        "refuse to describe the image",
        "scores count every word of it",
        "I'm sorry, but I can't assist with that.",
        _REFUSAL,
        _marks(
            "sorry,apolog,unfortunately,cannot,can't,can’t,can not,unable,not able,don't have,don’t have,"
            "do not have,won't,won’t,will not,as an ai,as an artificial,language model,text-based,"
            "provide,upload,share,attach,send,seems,looks,appears,rather not,decline,filter,comfortable,"
            "is not,was not,policy,"
            "no image,no picture,no photo,no video,no audio,don't see,don’t see,do not see,did not,didn't,didn’t,"
            "don't find,don’t find,to describe,to identify,to caption,to make,to determine,to recogni,to tell,"
            "violate,against,siento,lamento,leid,ich kann,"
            "leider,désolé,je ne peux,dispiace,desculpe,sinto,no puedo,не могу,извините,сожалению,抱歉,对不起,"
            "對不起,我,作为,作為,申し訳,すみません,죄송"
        ),
        usual=2e-4,
    ),
    "name": Kind(
        "consist of an id, a file name, an address, numbers or single letters",
        "is this the column of the captions?",
        "photo_000001.jpg",
        _FILE_NAME,
        ("",),
        usual=5e-5,
    ),
    "think": Kind(
        "hold the thoughts of a model",
        "metrics take them for the caption: remove them with",
        "<think>I see a dog.</think> a dog",
        _THINK,
        ("think", "thought>", "thought|>", "reasoning>", "scratchpad>", "reflection>", "<|channel|>"),
        "think",
    ),
    "json": Kind(
        "are JSON",
        "metrics take its keys and marks for words: read the caption from it with",
        '{"caption": "a dog"}',
        _JSON,
        ("{", "[", '":', "':", '" :', "' :"),
        "json",
    ),
    "tokens": Kind(
        "hold special tokens of a model",
        f"{_WORDS}: remove them with",
        "a dog </s> <pad>",
        _SPECIAL,
        ("<", "[", "startseq", "endseq", "##"),
        "tokens",
    ),
    "unknown": Kind(
        "hold marks of unknown words",
        "metrics take them for words, and captions are shorter without them: remove them with",
        "a <unk> runs",
        _UNKNOWN,
        ("unk",),
        "tokens",
    ),
    "pieces": Kind(
        "hold marks of a subword tokenizer",
        "words of references are not found in them: join the pieces with",
        "aĠdog",
        _PIECES,
        ("ġ", "ċ", "▁", "##", "@@", "</w>"),
        "pieces",
    ),
    "mojibake": Kind(
        "hold characters read in the wrong encoding",
        "words with them are unknown to the references: read the file as UTF-8, or repair them with",
        "a cafÃ©",
        _MOJIBAKE,
        ("ã", "ä", "å", "â", "ð", "ñ"),
        "mojibake",
        1e-4,
    ),
    "lost": Kind(
        "hold U+FFFD in place of characters that could not be read",
        "no rule restores them: read the file as it was encoded",
        "a caf�",
        _LOST,
        ("�", "ï¿½"),
        usual=1e-4,
    ),
    "html": Kind(
        "hold entities or tags of HTML",
        f"{_WORDS}: make them text with",
        "a &quot;red&quot; bus",
        _HTML,
        ("&", "<"),
        "html",
        6e-4,
    ),
    "ansi": Kind(
        "hold codes of a terminal or control characters",
        f"{_WORDS}: remove them with",
        "\x1b[32ma dog\x1b[0m",
        _ANSI,
        ("\x1b", "[", *_CONTROLS),
        "ansi",
    ),
    "escapes": Kind(
        "hold escapes in place of characters",
        f"{_WORDS}: replace them with",
        r"a dog.\nIt runs.",
        re.compile(f"{_ESCAPES.pattern}|{_SNAKE_CASE.pattern}"),
        ("\\", "_"),
        "escapes",
        1e-4,
    ),
    "markdown": Kind(
        "hold Markdown",
        "metrics take its marks for words, and lists for one sentence: remove it with",
        "**A dog** runs.",
        MARKDOWN,
        _MARKDOWN_MARKS,
        "markdown",
        1e-4,
    ),
    "prompt": Kind(
        "begin like the answer to a prompt",
        "where references do not, every word of it counts against precision: remove it with",
        "The image shows a dog.",
        _AT_BEGINNING,
        ("",),
        "prompt",
        1e-3,
    ),
    "numbers": Kind(
        "begin with a number, as items of a list do",
        "metrics take it for a word: remove it with",
        "1. a dog runs",
        _NUMBER,
        tuple("0123456789"),
        "prompt",
        least=0.5,
    ),
    "quotes": Kind(
        "are in quotation marks",
        "metrics that keep punctuation count the marks: remove them with",
        '"A dog runs."',
        _QUOTED,
        ('"', "“", "„", "‘", "«", "»", "「", "『", "'"),
        "quotes",
        5e-4,
    ),
    "decomposed": Kind(
        "hold letters and accents as separate characters (NFD)",
        "they differ from the same letters in one character (NFC), as most files have them: compose both sides with",
        "un cafe\u0301",
        _DECOMPOSED,
        rule="compose",
        usual=1e-4,
    ),
    "fullwidth": Kind(
        "hold full-width letters or digits, or ligatures",
        "they differ from ordinary ones: replace them on both sides with",
        "ａ ｄｏｇ",
        _FORMS,
        rule="compose",
        usual=1e-4,
    ),
    "lookalikes": Kind(
        "hold Cyrillic or Greek letters within Latin words",
        "they look like those of references, and differ: replace them on both sides with",
        "a d\u043eg",
        _LOOK_ALIKES,
        rule="compose",
        usual=1e-4,
    ),
    "invisible": Kind(
        "hold invisible characters",
        "words with them differ from those without: remove them on both sides with",
        "a\u200b dog",
        _INVISIBLE,
        rule="compose",
        usual=1e-4,
    ),
}


def kinds_in(*sides: Sequence[str]) -> list[dict[str, NDArray[np.bool_]]]:
    """Return masks of the texts of each kind: those of ``TEXT_KINDS``, empty ones, and several sentences.

    Args:
        sides: texts, such as those of candidates and of references.

    Returns:
        For each side, kind -> bool[n].
    """
    joined = JoinedTexts(*sides)
    masks = {name: kind.mask(joined) for name, kind in TEXT_KINDS.items()}
    masks["prompt"] &= ~masks["refusal"]
    masks["html"] &= ~masks["markdown"]  # whose rule removes both
    masks["empty"] = np.array([not text.strip() for text in joined.texts], bool)
    masks["sentences"] = joined.matching(_SENTENCE, _SENTENCE_MARKS)
    return [{name: mask[rows] for name, mask in masks.items()} for rows in joined.rows]


def is_in_another_script(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts in which most letters are not Latin."""
    mask = np.zeros(len(texts), bool)
    for i, text in enumerate(texts):
        if not text.isascii():
            letters = [character for character in text if character.isalpha()]
            latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
            mask[i] = 2 * latin < len(letters)
    return mask


def repeats_itself(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find captions that repeat one to eight words three times or more in a row, at least six words in total.

    Args:
        ids: tokens of n captions, int32[n_tokens].
        offsets: int64[n + 1].

    Returns:
        bool[n].
    """
    n = len(offsets) - 1
    mask = np.zeros(n, bool)
    caption = np.repeat(np.arange(n), np.diff(offsets))
    for length in range(1, min(_LONG_PIECE, len(ids) // 3) + 1):
        is_repetition = (ids[length:] == ids[:-length]) & (caption[length:] == caption[:-length])
        more = max(2 * length, _REPEATED - length)  # words after the first piece
        total = np.concatenate([[0], np.cumsum(is_repetition)])
        run = total[more:] - total[:-more] == more
        mask[caption[np.flatnonzero(run)]] = True
    return mask


def is_cut_off(texts: Sequence[str], n_words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find long texts that end within a sentence, if most long texts end with a punctuation mark.

    Args:
        texts: n texts.
        n_words: their lengths, int64[n].
    """
    mask = np.zeros(len(texts), bool)
    candidates = np.flatnonzero(n_words >= _LONG_TEXT)
    for i in candidates.tolist():
        last = texts[i].rstrip().rstrip("\"'*_`)]”’»")[-1:]
        mask[i] = last.isalnum() or last in {",", ";", "-", "–"}
    return mask if 2 * mask.sum() < len(candidates) else np.zeros(len(texts), bool)


# Cleaning of candidates before scoring.

_ENDS = tuple(".!?:;,…。！？")


def _plain(text: str) -> str:
    """Convert Markdown to plain text.

    Paragraphs, headings, list items and table cells are joined, with a full stop after those that do not end in a
    punctuation mark. Links become their text, images their description; HTML tags are removed.
    """
    from markdown_it import MarkdownIt

    while _TEX.search(text):
        text = _TEX.sub(r"\1", text)
    text = _tidy(_TAGS.sub(" ", text)) if _TAG.search(text) else text
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks = [block for token in tokens if (block := " ".join(_block(token).split()))]
    sentences = [block if block.endswith(_ENDS) else f"{block}." for block in blocks[:-1]]
    return " ".join([*sentences, *blocks[-1:]]) or text  # such as the definition of a link


def _block(token: Token) -> str:
    if token.type == "inline":
        return "".join(map(_inline, token.children or ()))
    if token.type == "html_block":
        return _UNKNOWN_TAG.sub(" ", token.content)
    return token.content if token.type in ("fence", "code_block") else ""


def _inline(token: Token) -> str:
    if token.type in ("text", "code_inline", "image"):
        return token.content
    return " " if token.type in ("softbreak", "hardbreak", "html_inline") else ""


def _without_opening(text: str) -> str:
    """Remove numbers of items, and openings such as "Sure! Here is a caption:" and "The image shows"."""
    text = _NUMBER.sub("", text)
    match = PROMPT.match(text)
    if match is None:
        match = _OPENINGS.match(text)
        text = text if match is None else _CLOSINGS.sub("", text)
    caption = text if match is None else text[match.end() :].strip()
    if caption[:1] in "\"'*" and caption[-1:] == caption[:1]:
        caption = caption[1:-1]
    return caption or text


def _tidy(text: str) -> str:
    """Remove the blanks that removed pieces leave."""
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _without_thoughts(text: str) -> str:
    """Remove thoughts, up to the last end mark, and the marks of the answer; without an end mark, to the end."""
    text = _ANSWER.sub(" ", _CHANNEL.sub("", text))
    opened = False
    answer, end = "", 0
    for mark in _THINK.finditer(text):
        if mark[0].startswith(("</", "◁/", "<|end")):
            answer, opened = ("" if not opened else answer), False
        elif not opened:
            answer, opened = answer + text[end : mark.start()], True
        end = mark.end()
    return _tidy(answer if opened else answer + text[end:])


_CAPTION_KEYS = ("caption", "description", "answer", "response", "output", "text", "result", "content")


def _caption_of(value: Any) -> str | None:
    """Return the caption in a document of JSON; None if there is not exactly one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | set):
        return _caption_of(next(iter(value))) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    for wanted in _CAPTION_KEYS:
        if found := [item for key, item in value.items() if wanted in str(key).lower()]:
            return _caption_of(found[0]) if len(found) == 1 else None
    return _caption_of([*value.values()])


def _from_json(text: str) -> str:
    """Return the caption in a JSON document, also one in a fence, in Python's notation or cut off."""
    content = re.sub(rf"{_BEFORE_JSON}|\s*```\s*\Z", "", text).strip()
    content = content if content[:1] in ("{", "[") else f"{{{content.rstrip(',')}}}"
    for read in (json.loads, literal_eval):
        try:
            caption = _caption_of(read(content))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return text if caption is None else caption.strip()
    cut = re.search(r""""(?:\w*_)?(?:caption|description|answer)"\s*:\s*"((?:[^"\\]|\\.)*)""", content, re.IGNORECASE)
    return (cut and cut[1].replace('\\"', '"').strip()) or text


def _joined_pieces(text: str) -> str:
    """Join the pieces of byte-level BPE, sentencepiece, wordpiece and subword-nmt."""
    if re.search("[ĠĊ]", text):
        if re.search(r"\S Ġ", text):  # pieces with blanks between them
            text = text.replace(" ", "")
        text = re.sub(r"[^\s]+", lambda word: _of_bytes(word[0]), text)
    if "▁" in text:
        text = (text.replace(" ", "") if re.search(r"\S ▁", text) else text).replace("▁", " ")
    if 2 * text.count("</w>") > len(text.split()):  # at the end of each word
        text = text.replace(" ", "")
    return " ".join(re.sub(r"\s##(?=\w)|@@(?:\s|$)", "", text.replace("</w>", " ")).split())


def _of_bytes(word: str) -> str:
    """Return the text of byte-level BPE, whose letters stand for bytes; white space if its bytes are not UTF-8."""
    others = [byte for byte in range(256) if not (33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255)]
    byte_of = {chr(byte): byte for byte in range(256)} | {chr(256 + i): byte for i, byte in enumerate(others)}
    try:
        return bytes(byte_of[letter] for letter in word).decode()
    except (KeyError, UnicodeDecodeError):
        return word.replace("Ġ", " ").replace("Ċ", "\n")


def _as_utf8(run: re.Match[str]) -> str:
    """Read characters of Windows-1252 or Latin-1 as the bytes of UTF-8 that they were, if they can be."""
    try:
        return b"".join(letter.encode("latin-1" if letter <= "\xff" else "cp1252") for letter in run[0]).decode()
    except UnicodeError:
        return run[0]


_ESCAPED = {"n": "\n", "r": "\n", "t": "\t", '"': '"', "'": "'"}


def _without_escapes(text: str) -> str:
    if _SNAKE_CASE.match(text):
        return text.replace("_", " ").strip()
    return _ESCAPES.sub(lambda escape: _ESCAPED.get(escape[0][1].lower()) or chr(int(escape[0][2:], 16)), text).strip()


def _without_quotes(text: str) -> str:
    inner = text.strip().removeprefix("b")  # as Python writes bytes
    marks = 2 if inner.startswith("``") else 1
    stop = "." if inner.endswith(".") and inner[-2:-1] in _CLOSING_QUOTES else ""
    inner = inner.removesuffix(stop)[marks:-marks].strip()
    return inner if inner.endswith(_ENDS) else inner + stop


def composed(text: str) -> str:
    """Return a text with each letter and its accents as one character, without invisible and full-width characters."""
    text = _LOOK_ALIKES.sub(lambda word: word[0].translate(_LATIN), text)
    plain = _FORMS.sub(lambda letters: unicodedata.normalize("NFKC", letters[0]), _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", plain)


#: The rules by name, in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {
    "ansi": lambda text: _tidy(_ANSI.sub("", text)),
    "pieces": _joined_pieces,
    "mojibake": lambda text: _MISREAD.sub(_as_utf8, text),
    "tokens": lambda text: _tidy(_UNKNOWN.sub(" ", _SPECIAL.sub(" ", _ROLE.sub(" ", _CHANNEL.sub(" ", text))))),
    "think": _without_thoughts,
    "json": _from_json,
    "escapes": _without_escapes,
    "html": lambda text: _tidy(html.unescape(_TAG.sub(" ", text))),
    "markdown": _plain,
    "prompt": _without_opening,
    "quotes": _without_quotes,
    "compose": composed,
}
#: The rule that references follow, too: it changes no visible character.
OF_BOTH_SIDES = "compose"


def rules_of(clean: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of cleaning rules in the order in which they are applied.

    Args:
        clean: names of rules, or one text with commas between them.

    Raises:
        UnknownNameError: no such rule.
        ParameterError: neither a text nor texts.
    """
    if not isinstance(clean, str | Iterable):
        raise ParameterError(f"clean is {clean!r}", hint=f"give the names of rules: {', '.join(RULES)}")
    names = [name.strip() for name in clean.split(",")] if isinstance(clean, str) else [*clean]
    for name in names:
        if name and name not in RULES:
            raise UnknownNameError(
                f"there is no rule {name!r} to clean captions by", hint=f"the rules are {', '.join(RULES)}"
            )
    return tuple(rule for rule in RULES if rule in names)


def cleaned(texts: Sequence[str], rules: Sequence[str]) -> tuple[str, ...]:
    """Clean texts. Texts to which no rule applies are returned as they are.

    Args:
        texts: n texts.
        rules: names of ``RULES``.
    """
    result = [*texts]
    for rule in rules:
        joined = JoinedTexts(result)
        masks = [kind.mask(joined) for kind in TEXT_KINDS.values() if kind.rule == rule]
        for i in np.flatnonzero(np.any(masks, axis=0)).tolist():
            result[i] = RULES[rule](result[i])
    return tuple(result)
