"""What is used of `bfcl-eval`, imported in one place: it makes folders where it is told to, so that must be first."""

import os
from functools import partial
from tempfile import TemporaryDirectory

_FOLDER = TemporaryDirectory(prefix="proverl-bfcl-")
_NAMED = os.environ.get("BFCL_PROJECT_ROOT")
os.environ["BFCL_PROJECT_ROOT"] = _NAMED or _FOLDER.name

from bfcl_eval import utils  # noqa: E402
from bfcl_eval.constants import default_prompts as prompts  # noqa: E402
from bfcl_eval.constants import executable_backend_config as backends  # noqa: E402
from bfcl_eval.constants.enums import ModelStyle  # noqa: E402
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # noqa: E402
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker as checker  # noqa: E402
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils as execution  # noqa: E402
from bfcl_eval.model_handler import utils as decoding  # noqa: E402
from bfcl_eval.utils import (  # noqa: E402
    MULTI_TURN_FUNC_DOC_PATH,
    PROMPT_PATH,
    add_language_specific_hint_to_function_doc,
    load_file,
    populate_test_cases_with_predefined_functions,
)

# its data is only read, so no lock is needed; without locks the folder is not either, and a killed process leaves none
vars(utils)["load_file"] = load_file = partial(load_file, use_lock=False)
_FOLDER.cleanup()
if not _NAMED:
    del os.environ["BFCL_PROJECT_ROOT"]

__all__ = [
    "GORILLA_TO_OPENAPI",
    "MULTI_TURN_FUNC_DOC_PATH",
    "PROMPT_PATH",
    "ModelStyle",
    "add_language_specific_hint_to_function_doc",
    "backends",
    "checker",
    "decoding",
    "execution",
    "load_file",
    "populate_test_cases_with_predefined_functions",
    "prompts",
]
