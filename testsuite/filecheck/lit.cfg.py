# The suite runs these files in its own process; this lets LLVM's `lit` run them too: `lit testsuite/filecheck`, with neap-opt and
# FileCheck on the PATH.
import os

import lit.formats

config.name = "neap"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.environ["PATH"]
