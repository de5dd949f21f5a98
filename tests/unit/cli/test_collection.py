import gc

from zkchat.cli.collection import collect_rarely


def test_garbage_is_looked_for_among_many_new_objects_only() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        assert gc.get_threshold()[0] > 100_000
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
