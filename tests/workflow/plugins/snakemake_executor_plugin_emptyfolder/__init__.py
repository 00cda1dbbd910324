"""An executor for tests: every job starts in an empty folder, as on Kubernetes, with the source archive."""

import subprocess
import tempfile

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=True,
    job_deploy_sources=True,
    auto_deploy_default_storage_provider=False,
)


class Executor(RemoteExecutor):
    """Runs each job as a process of its own."""

    def run_job(self, job):
        """Start the command of a job in a new folder."""
        folder = tempfile.mkdtemp(prefix="job-")
        command = self.format_job_exec(job)
        log = open(f"{folder}.log", "w")  # noqa: SIM115, PTH123 - the process writes it
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, stdout=log, stderr=log)
        self.report_job_submission(SubmittedJobInfo(job, external_jobid=folder, aux={"process": process}))

    async def check_active_jobs(self, active_jobs):
        """Report the jobs that have ended, and yield those that run."""
        for info in active_jobs:
            status = info.aux["process"].poll()
            if status is None:
                yield info
            elif status == 0:
                self.report_job_success(info)
            else:
                self.report_job_error(info, msg=f"see {info.external_jobid}.log")

    def cancel_jobs(self, active_jobs):
        """End the processes of jobs."""
        for info in active_jobs:
            info.aux["process"].kill()
