#!/usr/bin/env bash
# UNTESTED. A data set as a Slurm job array: one task a shard, requeued when a node dies.
#
#   N=32
#   JOB=$(sbatch --parsable --array=0-$((N-1)) dataset_slurm.sh)
#   sbatch --dependency=afterok:$JOB --wrap "ndbg-agent dataset merge data"
#
#SBATCH --job-name=ndbg-dataset
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --output=logs/%x-%A-%a.log
set -euo pipefail

# The folder lies on storage that every node sees. A requeued task keeps what it has finished.
exec ndbg-agent dataset build --from generated --count 1000000 --out data \
  --shard "${SLURM_ARRAY_TASK_ID}/${SLURM_ARRAY_TASK_COUNT}"
