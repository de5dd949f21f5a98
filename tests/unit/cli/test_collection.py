import gc

from zkchat.cli.collection import collect_rarely, skip_last_collection


def test_garbage_is_looked_for_among_many_new_objects_only() -> None:
    before = gc.get_threshold()
    try:
        collect_rarely()
        assert gc.get_threshold()[0] > 100_000
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_nothing_is_left_to_be_looked_at_when_the_process_ends() -> None:
    try:
        skip_last_collection()
        assert len(gc.get_objects()) < 1_000
    finally:
        gc.unfreeze()
