"""The public names of captious.scale and where they are. `__init__.py` reads this file."""

from .engines import BATCH_ROWS as BATCH_ROWS
from .plan import Plan as Plan
from .plan import ShardReport as ShardReport
from .plan import ShardResult as ShardResult
from .plan import ShardSums as ShardSums
from .plan import plan as plan
from .run import ResultFolder as ResultFolder
from .run import run as run
from .run import score_shards as score_shards
from .shards import FileShard as FileShard
from .shards import GeneratedShard as GeneratedShard
from .shards import RowBatch as RowBatch
from .shards import Shard as Shard
from .shards import ShardColumns as ShardColumns
from .shards import as_shards as as_shards
