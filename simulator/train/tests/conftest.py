import sys
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import samples  # noqa: E402


@pytest.fixture(scope="session")
def step_data(tmp_path_factory):
    """A data set of the step grammar: token shards and their tokenizer."""
    return samples.write_step_data(tmp_path_factory.mktemp("step"))


@pytest.fixture(scope="session")
def text_data(tmp_path_factory):
    """A data set of the trajectory grammar: JSON lines and the special tokens."""
    return samples.write_text_data(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A causal language model of Hugging Face with a tokenizer that knows no special tokens."""
    return samples.write_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)
