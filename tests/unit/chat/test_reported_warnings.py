from zkchat.chat.reported_warnings import ReportedWarnings
from zkchat.model.events import Warned


def test_a_warning_is_new_once() -> None:
    reported = ReportedWarnings()
    broken, empty = Warned(text="Broken."), Warned(text="Empty.", hint="Fill it.")
    assert reported.new_ones([broken, broken]) == [broken]
    assert not reported.is_new("Broken.")
    assert reported.new_ones([broken, empty]) == [empty]
