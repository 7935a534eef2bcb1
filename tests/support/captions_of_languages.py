"""Captions in languages other than English, written for tests: a candidate and its reference on every line."""

from __future__ import annotations

__all__ = ["CAPTIONS", "ENGLISH"]

_CHINESE = """
一只棕色的狗在草地上奔跑。|一只狗在绿色的草坪上跑。
两个孩子在沙滩上踢足球。|海滩上,两名儿童正在玩足球!
一位穿红色外套的女士骑着自行车。|一个女人穿着红外套,在街上骑自行车。
桌子上放着一杯咖啡和3块蛋糕。|一张木桌,上面有咖啡和三块蛋糕。
一列火车驶进“北京西站”。|火车正在进入车站——北京西。
一名男子在滑雪板上跳起2.5米。|男人在雪山上用滑雪板跳跃(约2.5米)。
厨房里有一台白色的冰箱和LG电视。|白色冰箱放在厨房里,旁边是一台LG电视。
一群人在雨中打着伞等公交车。|雨天,人们撑着雨伞等车。
猫躺在笔记本电脑的键盘上睡觉。|一只灰猫睡在电脑键盘上
一架飞机飞过蓝天,留下白色的尾迹。|蓝色的天空中,有一架飞机。
"""

_JAPANESE = """
茶色の犬が芝生の上を走っている。|犬が緑の草の上を走っています。
二人の子供が砂浜でサッカーをしている。|ビーチで子供たちがサッカーボールで遊んでいる。
赤いコートを着た女性が自転車に乗っている。|赤いコートの女の人が、自転車で道を走る。
テーブルの上にコーヒーとケーキが3つある。|木のテーブルに、コーヒーと3個のケーキが置かれている。
電車が「新宿」駅に入ってくる。|駅のホームに電車が到着する。
男性がスノーボードで2.5メートル跳んでいる。|スノーボーダーが雪山で大きくジャンプする!
台所に白い冷蔵庫とテレビがあります。|白い冷蔵庫が置かれたキッチン。
雨の中、人々が傘をさしてバスを待っている。|バス停で傘をさす人たち
猫がノートパソコンのキーボードの上で寝ている。|灰色の猫がパソコンの上で眠る。
飛行機が青空を飛んでいく。|青い空に一機の飛行機が見える。
"""

_ARABIC = """
كلب بني يركض على العشب.|يجري كلب فوق العشب الأخضر.
طفلان يلعبان كرة القدم على الشاطئ.|يلعب الأطفال بالكرة على الرمال!
امرأة ترتدي معطفًا أحمر تركب دراجة.|سيدة بمعطف أحمر تقود دراجتها في الشارع.
على الطاولة فنجان قهوة و3 قطع من الكعك.|فنجان قهوة، وثلاث قطع كعك على طاولة خشبية.
يدخل القطار إلى محطة «القاهرة».|قطار يصل إلى المحطة.
رجل يقفز ٢٫٥ متر على لوح التزلج.|متزلج يقفز عاليًا فوق الثلج (٢٫٥ م).
مطبخ فيه ثلاجة بيضاء وتلفاز.|ثلاجة بيضاء كبيرة في المطبخ
هل ينتظر الناس الحافلة تحت المطر؟|أناس يحملون المظلات وينتظرون الحافلة.
تنام القطة على لوحة مفاتيح الحاسوب.|قطة رمادية نائمة على حاسوب محمول.
طائرة تحلق في السماء الزرقاء.|تطير طائرة في سماء زرقاء صافية.
"""

_OTHERS = """
Ein brauner Hund läuft über die Wiese.|Ein Hund rennt über grünes Gras.
Zwei Kinder spielen am Strand Fußball, 3:2 steht es.|Kinder spielen mit einem Ball am Strand – mit Spaß!
L'homme n'a pas d'e-mail à 12h30.|Un homme lit son courrier « électronique ».
개가 공원에서 공을 물고 뛴다.|공원에서 갈색 개가 뛰고 있다.
아이들이 해변에서 축구를 한다.|해변에서 두 아이가 축구를 하고 있습니다!
สุนัขสีน้ำตาลวิ่งบนสนามหญ้า|หมาวิ่งบนหญ้า
एक कुत्ता घास पर दौड़ रहा है।|भूरा कुत्ता मैदान में दौड़ता है।
Собака бежит по траве.|Коричневая собака бежит по зелёной траве…
"""

#: A sign, numbers, quotes, entities and marks on which tokenizers differ.
_ENGLISH = """
A man's dog isn't on the couch.|the man's dog is not on a couch
a stop sign that says "STOP" (all way), 5:30 p.m.|A sign: 'stop' -- at 5.30 pm
3,000 people & 2-3 dogs, e.g. on 1/2 of a field...|about 3.000 people &amp; some dogs; on a field
A well-lit kitchen/bathroom with 10-inch tiles.|a kitchen, well lit , with tiles .
50% off!! pizza for $5.00 #1 @ noon|pizza &lt;half off&gt; for five dollars <skipped>
"""


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for a, b in (line.split("|") for line in text.strip().splitlines()))


#: Language -> candidates with a reference each.
CAPTIONS = {
    "chinese": _pairs(_CHINESE),
    "japanese": _pairs(_JAPANESE),
    "arabic": _pairs(_ARABIC),
    "others": _pairs(_OTHERS),
}
ENGLISH = _pairs(_ENGLISH)
