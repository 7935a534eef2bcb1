"""The public names of captious.data and where they are. `__init__.py` reads this file."""

from .annotation_storage import StorableLayer as StorableLayer
from .annotation_storage import Stored as Stored
from .annotation_storage import stored_key as stored_key
from .caption_file import CaptionFile as CaptionFile
from .caption_rows import CaptionRows as CaptionRows
from .caption_sets import CaptionSets as CaptionSets
from .captions import CandidateLayer as CandidateLayer
from .captions import Captions as Captions
from .captions import KeyedByFields as KeyedByFields
from .captions import Layer as Layer
from .captions import ReferenceLayer as ReferenceLayer
from .captions import References as References
from .groups import Groups as Groups
from .groups import read_groups as read_groups
from .ids import ImageId as ImageId
from .ids import same_images as same_images
from .image_matching import absent_references as absent_references
from .image_matching import read_captions as read_captions
from .image_matching import read_references as read_references
from .prepared_files import recorded as recorded
from .prepared_files import write_prepared as write_prepared
from .readers import read_rows as read_rows
