"""The records that the functions of the API give, and the exception that they raise."""

from windrow.config import ConfigError
from windrow.data import Capture as Capture
from windrow.data import Document as Document
from windrow.data import Paragraph as Paragraph
from windrow.data import Signal as Signal

Error = ConfigError
