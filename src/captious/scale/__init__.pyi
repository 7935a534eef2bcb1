"""The public names of captious.scale and where they are. `__init__.py` reads this file."""

from .batches import BATCH_ROWS as BATCH_ROWS
from .batches import Columns as Columns
from .batches import Rows as Rows
from .planning import Plan as Plan
from .planning import plan as plan
from .result_folder import ResultFolder as ResultFolder
from .running import run as run
from .running import score_shards as score_shards
from .shard_report import ShardReport as ShardReport
from .shard_report import ShardResult as ShardResult
from .shards import FileShard as FileShard
from .shards import GeneratedShard as GeneratedShard
from .shards import Shard as Shard
from .shards import as_shards as as_shards
from .sums import ShardSums as ShardSums
