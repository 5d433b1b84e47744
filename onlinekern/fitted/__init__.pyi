"""Operations that are methods of estimators, each where it is defined."""

from .encoding import new_encoder as new_encoder
from .export.c import export_c as export_c
from .export.onnx import export_onnx as export_onnx
from .grow import grow_model as grow_model
from .save import save_model as save_model
from .save.consistency import complete as complete
