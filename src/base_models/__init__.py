"""Base models: programs that learn a system from a training set.

Each is a module with two commands, `python -m base_models.NAME train …` and `… predict …`, and knows nothing of the
study that runs them. A new base model is a new module, and a row of `config/base_models.yaml`. `formats` reads and
writes the files of each task, and `program` runs the two commands.
"""
