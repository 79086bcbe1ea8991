import numpy as np

from batches import collate, plan_epoch
from shards import read_samples


def test_an_epoch_has_every_sample_once_in_batches_that_fit(step_data):
    samples = read_samples([step_data], "train", 256)
    plan = plan_epoch(samples, 1, 0, 512)
    assert sorted(np.concatenate(plan)) == list(range(len(samples)))
    assert all(len(batch) * samples.length[batch].max() <= 512 for batch in plan)
    padding = sum(len(batch) * samples.length[batch].max() for batch in plan)
    assert padding < 1.1 * samples.length.sum()


def test_the_order_depends_on_seed_and_epoch_alone(step_data):
    samples = read_samples([step_data], "train", 256)

    def order(seed, epoch):
        return [tuple(batch) for batch in plan_epoch(samples, seed, epoch, 512)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_a_row_is_a_sample_and_predicts_its_own_tokens(step_data):
    samples = read_samples([step_data], "train", 256)
    chosen = np.array([0, 5, 9])
    batch = collate(samples, chosen, 4)
    assert batch.ids.shape[1] % 4 == 0
    for row, sample in enumerate(chosen):
        own = samples.ids(sample)
        assert batch.ids[row, : len(own)].tolist() == own.tolist()
        wanted = own[samples.mask(sample) == 1].tolist()
        targets = batch.targets[row]
        assert targets[targets >= 0].tolist() == wanted
        at = batch.at[row, : len(wanted)]
        assert batch.ids[row, at + 1].tolist() == wanted


def test_a_sample_longer_than_the_limit_is_cut_and_one_without_an_answer_dropped(step_data):
    everything = read_samples([step_data], "train", 256)
    short = read_samples([step_data], "train", 10)
    assert short.length.max() == 10
    assert short.dropped > 0
    assert short.dropped + len(short) == len(everything)
    assert short.predicted.min() > 0
