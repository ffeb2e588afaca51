"""Exceptions of this package that Python has no name for."""


class UnknownAttributeError(ValueError, KeyError):
    """An attribute that the domain does not have."""

    def __str__(self) -> str:
        # KeyError would show the repr of the message.
        return str(self.args[0]) if self.args else ""
