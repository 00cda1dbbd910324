"""Figures: functions from tables to pictures; `config/figures.yaml` names the function and the tables of each."""
