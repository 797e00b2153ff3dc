"""How many tests of a suite passed, failed and were skipped, and what failed."""

NAMES_MAX = 10  # of tests in the line of a suite that fails


class Outcome:
    def __init__(self, passed=0, failed=0, skipped=0, names=()):
        """The names are of tests that failed, as far as a suite tells them."""
        self.passed, self.failed, self.skipped, self.names = passed, failed, skipped, list(names)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.names += other.names

    def told(self, suite):
        """The line that names what failed; it stands again above the last, where a cut log still has it."""
        more = [f"and {len(self.names) - NAMES_MAX} more"] if len(self.names) > NAMES_MAX else []
        return f"failed in {suite}: {', '.join(self.names[:NAMES_MAX] + more) or 'see above'}"

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")
