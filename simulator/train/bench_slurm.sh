#!/usr/bin/env bash
# UNTESTED. A benchmark run as a Slurm job array: one task a shard, requeued when a node dies.
#
#   N=32
#   JOB=$(sbatch --parsable --array=0-$((N-1)) bench_slurm.sh verified.jsonl results)
#   sbatch --dependency=afterok:$JOB --wrap "ndbg-agent bench report results"
#
#SBATCH --job-name=ndbg-bench
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --output=logs/%x-%A-%a.log
set -euo pipefail

# The folder lies on storage that every node sees; locks on it have to work (flock). Where they do not, give each
# shard a folder of its own and merge them: ndbg-agent bench merge results-* --out results
exec ndbg-agent bench run --tasks "$1" --out "$2" \
  --shard "${SLURM_ARRAY_TASK_ID}/${SLURM_ARRAY_TASK_COUNT}"
