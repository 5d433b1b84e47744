"""The public names of `onlinekern.streams`."""

from .errors import StreamError as StreamError
from .files import Blocks as Blocks
from .files import open_source as open_source
from .files import read_blocks as read_blocks
from .files import read_tables as read_tables
from .formats.reading import Reading as Reading
from .generators.agrawal import Agrawal as Agrawal
from .generators.chaotic import lorenz as lorenz
from .generators.chaotic import mackey_glass as mackey_glass
from .generators.concepts import LED as LED
from .generators.concepts import SEA as SEA
from .generators.concepts import STAGGER as STAGGER
from .generators.concepts import Mixed as Mixed
from .generators.concepts import Sine as Sine
from .generators.drifting import ConceptDrift as ConceptDrift
from .generators.drifting import DriftStream as DriftStream
from .generators.moving import Hyperplane as Hyperplane
from .generators.moving import RandomRBF as RandomRBF
from .generators.synthetic import chess_board as chess_board
from .generators.synthetic import gaussian_mixture as gaussian_mixture
from .generators.synthetic import gaussian_mixture_blocks as gaussian_mixture_blocks
from .generators.synthetic import two_normals as two_normals
from .generators.synthetic import two_spirals as two_spirals
from .source import Source as Source
