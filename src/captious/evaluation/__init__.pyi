"""The public names of evaluation and where they are, which `__init__.py` reads."""

from .caption_warnings import CaptiousWarning as CaptiousWarning
from .comparison import Comparison as Comparison
from .comparison import Difference as Difference
from .comparison import Example as Example
from .comparison import compare as compare
from .comparison import compare_reports as compare_reports
from .groups import GroupDifference as GroupDifference
from .groups import GroupedComparison as GroupedComparison
from .groups import GroupedReport as GroupedReport
from .groups import GroupScore as GroupScore
from .groups import length_groups as length_groups
from .preparing import prepare as prepare
from .reward import Reward as Reward
from .reward import reward as reward
from .run_metrics import evaluate as evaluate
from .run_metrics import score as score
from .score_report import Report as Report
from .score_report import Result as Result
from .stream import Stream as Stream
