"""The public names of captious.data and where they are. `__init__.py` reads this file."""

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
from .reading.caption_file import CaptionFile as CaptionFile
from .reading.caption_rows import CaptionRows as CaptionRows
from .reading.readers import read_rows as read_rows
from .storage.annotations import StorableLayer as StorableLayer
from .storage.annotations import Stored as Stored
from .storage.annotations import stored_key as stored_key
from .storage.prepared_files import recorded as recorded
from .storage.prepared_files import write_prepared as write_prepared
