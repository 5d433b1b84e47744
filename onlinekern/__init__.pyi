"""The public names of the library, each where it is defined: the one list that all others read.

The package imports a module when one of its names is first needed (`lazy_loader` reads this file).
"""

from . import cli as cli
from . import compat as compat
from . import core as core
from . import distributed as distributed
from . import evaluate as evaluate
from . import extending as extending
from . import plotting as plotting
from . import streams as streams
from ._config import get_include as get_include
from ._config import show_config as show_config
from ._registry import all_estimators as all_estimators
from .fitted.merge.merging import merge as merge
from .fitted.save import load as load
from .fitted.save.foreign import register as register
from .learners.adaptive_filters import KAPARegressor as KAPARegressor
from .learners.adaptive_filters import KLMSRegressor as KLMSRegressor
from .learners.adaptive_filters import QKLMSRegressor as QKLMSRegressor
from .learners.bogd import BOGDClassifier as BOGDClassifier
from .learners.bogd import BOGDRegressor as BOGDRegressor
from .learners.bsgd import BSGDClassifier as BSGDClassifier
from .learners.bsgd import BSGDRegressor as BSGDRegressor
from .learners.budgeted import AhpatronClassifier as AhpatronClassifier
from .learners.budgeted import BPAClassifier as BPAClassifier
from .learners.budgeted import BPARegressor as BPARegressor
from .learners.budgeted import ForgetronClassifier as ForgetronClassifier
from .learners.budgeted import RBPClassifier as RBPClassifier
from .learners.dual_sgd import DualSGDClassifier as DualSGDClassifier
from .learners.dual_sgd import DualSGDRegressor as DualSGDRegressor
from .learners.fogd_nogd import FOGDClassifier as FOGDClassifier
from .learners.fogd_nogd import FOGDRegressor as FOGDRegressor
from .learners.fogd_nogd import NOGDClassifier as NOGDClassifier
from .learners.fogd_nogd import NOGDRegressor as NOGDRegressor
from .learners.kernel_forest import KernelForestClassifier as KernelForestClassifier
from .learners.kernel_forest import KernelForestRegressor as KernelForestRegressor
from .learners.kernel_mean import KernelMeanDetector as KernelMeanDetector
from .learners.kernel_second_order import KernelAROWClassifier as KernelAROWClassifier
from .learners.kernel_second_order import KernelSCWClassifier as KernelSCWClassifier
from .learners.least_squares import KernelRLSClassifier as KernelRLSClassifier
from .learners.least_squares import KernelRLSRegressor as KernelRLSRegressor
from .learners.linear import OGDClassifier as OGDClassifier
from .learners.linear import OGDRegressor as OGDRegressor
from .learners.linear import PegasosClassifier as PegasosClassifier
from .learners.linear import PerceptronClassifier as PerceptronClassifier
from .learners.linear_passive_aggressive import PAClassifier as PAClassifier
from .learners.linear_passive_aggressive import PARegressor as PARegressor
from .learners.local import LOLClassifier as LOLClassifier
from .learners.olla import OLLAClassifier as OLLAClassifier
from .learners.olla import OLLARegressor as OLLARegressor
from .learners.oskl import OSKLClassifier as OSKLClassifier
from .learners.passive_aggressive import KernelPAClassifier as KernelPAClassifier
from .learners.passive_aggressive import KernelPARegressor as KernelPARegressor
from .learners.projection import BOLSSVMClassifier as BOLSSVMClassifier
from .learners.projection import ProjectronClassifier as ProjectronClassifier
from .learners.race.stream import StreamClassifier as StreamClassifier
from .learners.race.stream import StreamRegressor as StreamRegressor
from .learners.recursive_filters import FixedBudgetKRLSRegressor as FixedBudgetKRLSRegressor
from .learners.recursive_filters import KRLSRegressor as KRLSRegressor
from .learners.recursive_filters import KRLSTRegressor as KRLSTRegressor
from .learners.recursive_filters import SlidingWindowKRLSRegressor as SlidingWindowKRLSRegressor
from .learners.sdrogd import SDROGDClassifier as SDROGDClassifier
from .learners.second_order import AROWClassifier as AROWClassifier
from .learners.second_order import AROWRegressor as AROWRegressor
from .learners.second_order import CWClassifier as CWClassifier
from .learners.second_order import SCWClassifier as SCWClassifier
from .learners.spa import SPAClassifier as SPAClassifier
from .learners.spa import SPAOneClass as SPAOneClass
from .learners.spa import SPARegressor as SPARegressor
from .learners.unbudgeted import KernelOGDClassifier as KernelOGDClassifier
from .learners.unbudgeted import KernelOGDRegressor as KernelOGDRegressor
from .learners.unbudgeted import KernelPegasosClassifier as KernelPegasosClassifier
from .learners.unbudgeted import KernelPerceptronClassifier as KernelPerceptronClassifier
from .preprocessing.kernel_features import FourierFeatures as FourierFeatures
from .preprocessing.kernel_features import NystroemFeatures as NystroemFeatures
from .preprocessing.partition_features import PartitionFeatures as PartitionFeatures
from .preprocessing.pipeline import StreamPipeline as StreamPipeline
from .preprocessing.pipeline import make_stream_pipeline as make_stream_pipeline
from .preprocessing.scaler import OnlineStandardScaler as OnlineStandardScaler
from .preprocessing.sketches import FrequentDirections as FrequentDirections
from .preprocessing.tables.encoder import TableEncoder as TableEncoder

__all__: list[str]
__version__: str
