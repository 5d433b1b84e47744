"""The public names of `onlinekern.evaluate`."""

from .bounds import RegretBound as RegretBound
from .bounds import SketchBound as SketchBound
from .bounds import regret_bound as regret_bound
from .bounds import sketch_bound as sketch_bound
from .comparing import compare as compare
from .delayed import delays_of as delays_of
from .importance import StreamImportance as StreamImportance
from .methods import METHODS as METHODS
from .methods import Method as Method
from .queries import LabelQuery as LabelQuery
from .results import Comparison as Comparison
from .results import MethodResult as MethodResult
from .search import Parameter as Parameter
from .test_then_train import PrequentialResult as PrequentialResult
from .test_then_train import prequential as prequential
