"""The records that the functions of the API give, and the exception that they raise."""

from windrow.config import ConfigError
from windrow.records import Capture as Capture
from windrow.records import Document as Document
from windrow.records import Paragraph as Paragraph
from windrow.records import Signal as Signal

Error = ConfigError
