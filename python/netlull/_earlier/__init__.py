"""Earlier homes of public names: `netlull.result` is `netlull.results.result`. They stay importable."""
