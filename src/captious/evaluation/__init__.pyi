"""The public names of evaluation and where they are, which `__init__.py` reads."""

from .caption_checks.caption_check import CaptionCheck as CaptionCheck
from .caption_checks.caption_check import check as check
from .comparison import Comparison as Comparison
from .comparison import Difference as Difference
from .comparison import Example as Example
from .comparison import compare as compare
from .comparison import compare_reports as compare_reports
from .group_scores import GroupDifference as GroupDifference
from .group_scores import GroupedComparison as GroupedComparison
from .group_scores import GroupedReport as GroupedReport
from .group_scores import GroupScore as GroupScore
from .group_scores import length_groups as length_groups
from .judged_pairs import Preference as Preference
from .judged_pairs import Preferences as Preferences
from .judged_pairs import judge_pairwise as judge_pairwise
from .metric_run import evaluate as evaluate
from .metric_run import score as score
from .pairwise import Corrected as Corrected
from .pairwise import PairwiseComparison as PairwiseComparison
from .preparation import prepare as prepare
from .reward import Reward as Reward
from .reward import reward as reward
from .score_report import Report as Report
from .score_report import Result as Result
from .stream import Stream as Stream
from .systems import Reports as Reports
