"""The public names of captious.judgment.studies and where they are, which `__init__.py` reads."""

from .correlations import critical_failures as critical_failures
from .correlations import metric_correlations as metric_correlations
from .correlations import scoring_time as scoring_time
from .correlations import system_correlations as system_correlations
from .critiques import critique_grid as critique_grid
from .distributions import item_scores as item_scores
from .distributions import score_distributions as score_distributions
from .distributions import sentence_scores as sentence_scores
from .distributions import smurf_analysis as smurf_analysis
from .distributions import smurf_scores as smurf_scores
from .people import collection_rules as collection_rules
from .people import human_agreement as human_agreement
from .references import reference_counts as reference_counts
from .references import robustness as robustness
from .training import feature_ablation as feature_ablation
from .training import network_depth as network_depth
from .training import training_epochs as training_epochs
from .training import training_size as training_size
from .words import word_agreement as word_agreement
from .words import word_frequencies as word_frequencies
