import numpy as np
import pytest
import torch

import calibrate


def test_the_temperature_of_overconfident_answers_is_found():
    generator = torch.Generator().manual_seed(1)
    true = torch.randn(4000, 1, 8, generator=generator) * 2
    chances = true.softmax(-1).squeeze(1)
    drawn = torch.multinomial(chances, 1, generator=generator).squeeze(1)
    exact = (drawn == chances.argmax(-1)).tolist()
    fitted = calibrate.fit([(own * 2.5, right) for own, right in zip(true, exact, strict=True)])
    assert fitted.temperature == pytest.approx(2.5, rel=0.1)
    assert fitted.loss_after < fitted.loss_before


def test_the_confidence_in_an_answer_is_the_product_of_its_tokens():
    logits = torch.tensor([[2.0, 0.0], [0.0, 3.0]])
    tokens = logits.softmax(-1).max(-1).values
    assert calibrate.confidences([(logits, True)], 1.0)[0] == pytest.approx(
        float(tokens.prod().log()), rel=1e-5
    )


def test_coverage_is_the_largest_share_that_is_precise_enough():
    logs = np.log(np.array([0.9, 0.8, 0.7, 0.6, 0.5]))
    exact = np.array([True, True, False, True, False])
    assert calibrate.coverage(logs, exact, 0.99) == 0.4
    assert calibrate.coverage(logs, exact, 0.75) == 0.8
    assert calibrate.coverage(logs, ~exact, 0.99) == 0.0
