"""The public names of captious.data and where they are. `__init__.py` reads this file."""

from .caption_rows import CaptionRows as CaptionRows
from .caption_sets import CaptionSets as CaptionSets
from .captions import CandidateLayer as CandidateLayer
from .captions import Captions as Captions
from .captions import KeyedByFields as KeyedByFields
from .captions import Layer as Layer
from .captions import ReferenceLayer as ReferenceLayer
from .captions import References as References
from .grouping import Groups as Groups
from .grouping import read_groups as read_groups
from .ids import ImageId as ImageId
from .ids import same_images as same_images
from .image_matching import images_of as images_of
from .image_matching import load as load
from .image_matching import read_references as read_references
from .prepared_files import recorded as recorded
from .prepared_files import write_prepared as write_prepared
from .reading import read_rows as read_rows
from .storing import StorableLayer as StorableLayer
from .storing import Stored as Stored
from .storing import stored_key as stored_key
