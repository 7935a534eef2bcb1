"""The public names of captious.data and where they are. `__init__.py` reads this file."""

from .groups import Groups as Groups
from .groups import read_groups as read_groups
from .ids import Ids as Ids
from .ids import ImageId as ImageId
from .ids import same_images as same_images
from .matching import Match as Match
from .matching import OfSeveral as OfSeveral
from .matching import Several as Several
from .matching import absent_references as absent_references
from .matching import read_captions as read_captions
from .matching import read_references as read_references
from .prepared import StorableLayer as StorableLayer
from .prepared import Stored as Stored
from .prepared import recorded as recorded
from .prepared import stored_key as stored_key
from .prepared import write_prepared as write_prepared
from .readers import read_rows as read_rows
from .rows import CaptionFile as CaptionFile
from .rows import CaptionRows as CaptionRows
from .tables import CandidateLayer as CandidateLayer
from .tables import Captions as Captions
from .tables import CaptionSets as CaptionSets
from .tables import KeyedByFields as KeyedByFields
from .tables import Layer as Layer
from .tables import ReferenceLayer as ReferenceLayer
from .tables import References as References
