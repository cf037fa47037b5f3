"""`python -m netlull`: the `netlull` command."""

import sys

from netlull.cli import main

sys.exit(main())
