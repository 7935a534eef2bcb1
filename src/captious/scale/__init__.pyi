"""The public names of captious.scale and where they are. `__init__.py` reads this file."""

from .execution import run as run
from .execution import score_shards as score_shards
from .result_folder import ResultFolder as ResultFolder
from .scoring_plan import Plan as Plan
from .scoring_plan import plan as plan
from .shard_report import ShardReport as ShardReport
from .shard_report import ShardResult as ShardResult
from .shard_rows import BATCH_ROWS as BATCH_ROWS
from .shard_rows import RowBatch as RowBatch
from .shard_rows import ShardColumns as ShardColumns
from .shards import FileShard as FileShard
from .shards import GeneratedShard as GeneratedShard
from .shards import Shard as Shard
from .shards import as_shards as as_shards
from .sums import ShardSums as ShardSums
