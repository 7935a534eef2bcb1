"""The public names of captious.judgment and where they are, which `__init__.py` reads."""

from .benchmarks.names import Benchmark as Benchmark
from .benchmarks.names import Figure as Figure
from .benchmarks.names import Files as Files
from .files import DataFolder as DataFolder
from .items import CaptionPair as CaptionPair
from .items import PairReferences as PairReferences
from .items import RankedSystem as RankedSystem
from .items import RatedCaption as RatedCaption
from .judging import judge as judge
from .judging import load_judgments as load_judgments
from .judgments import HumanJudgments as HumanJudgments
from .judgments import Protocol as Protocol
from .judgments import Rule as Rule
from .papers.paper import Paper as Paper
from .papers.paper import PaperTable as PaperTable
from .reproduction.reproduce import reproduce as reproduce
from .results import Agreement as Agreement
from .results import BenchmarkResult as BenchmarkResult
from .results import Judgment as Judgment
from .results import Study as Study
