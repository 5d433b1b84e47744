"""The public names of `onlinekern.reports`."""

from .model import ModelPage as ModelPage
from .model import report_html as report_html
